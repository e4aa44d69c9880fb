"""Python's own functions during capture."""

import collections
import itertools
import math
import operator

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured, same


def x():
    return torch.randn(3, 4)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, v: x * abs(-v[0]) + min(v) + max(v) + max(3, v[1]),
        lambda x, v: sum(a * b for a, b in zip(v, reversed(v), strict=True)) * x,
        lambda x, v: [x * i + w for i, w in enumerate(v)],
        lambda x, v: list(map(operator.mul, [x, x], v)),
        lambda x, v: x * len(list(filter(lambda a: a > 1, v))),
        lambda x, v: x * sorted(v, key=lambda a: -a)[0],
        lambda x, v: x if all(v) and any(v) else -x,
        lambda x, v: x * len({*v}) * len(set(v)) * len(frozenset(v)),
        lambda x, v: x * next(iter(v)) + next(iter([]), 5),
        lambda x, v: x * list(itertools.accumulate(v))[-1],
        lambda x, v: x * operator.add(v[0], 1) + operator.itemgetter(0)(v),
        lambda x, v: x * math.floor(v[0]) + math.prod(v),
        lambda x, v: x * int(float(v[0])) + round(v[0]) + bool(v),
        lambda x, v: x * len(str(v)) + len(repr(v[0])) + len(f"{v}"),
        lambda x, v: x * collections.Counter(v)[2],
        lambda x, v: x * collections.deque(v, maxlen=1)[0],
        lambda x, v: x * v.index(2) + v.count(2),
        lambda x, v: x * tuple(v)[1] + list(range(v[1]))[-1],
        lambda x, v: x * isinstance(v[0], int) + callable(v) + issubclass(bool, int),
        lambda x, v: x * len(",".join(str(a) for a in v)) + ["a", "b"].index("b"),
        lambda x, v: x * hash((1, 2)) ** 0 + ord("a") + len(bytes(2)),
        lambda x, v: [*map(torch.neg, [x]), *list(x)],
    ],
)
def test_pure_functions_run(function):
    argument, values = x(), [1, 2]
    captured = Captured(function, argument, values)
    assert same(captured.run(), function(argument, values))
    assert captured.failing(argument, values) == []


@pytest.mark.parametrize(
    ("function", "given", "other"),
    [
        (lambda x, v: x * sum(v), [1, 2], [1, 2, 3]),
        (lambda x, v: x * len(sorted(v)), [1, 2], [2, 1]),
        (lambda x, v: x * v.get("a", 2.0), {}, {"a": 1.0}),
        (lambda x, v: x * v.get("a", 2.0), {"a": 1.0}, {}),
        (lambda x, v: x * len(v.keys()), {"a": 1}, {"a": 1, "b": 2}),
        (lambda x, v: [x * k for k in v.values()], {"a": 1.0}, {"b": 1.0}),
        (lambda x, v: x * len(v), {1, 2}, {1}),
        (lambda x, v: x * max(v)[0], [[1], [2]], [[3], [2]]),
        (lambda x, v: x * len(sorted(v)), [(2, 1), (1, 2)], [(1, 2), (2, 1)]),
        (lambda x, v: x * isinstance(v, list), [1], (1,)),
        (lambda x, v: x if hasattr(v, "append") else -x, [1], (1,)),
        (lambda x, v: x * int(v[0]), [1], [1.0]),
        (lambda x, v: x * len(f"{v[0]}"), [1], [10]),
        (lambda x, v: x * v.index(2), [1, 2], [2, 1]),
        (
            lambda x, v: x * 2 if isinstance(v, torch.nn.Parameter) else x,
            torch.ones(1),
            "parameter",
        ),
    ],
)
def test_what_they_read_is_guarded(function, given, other):
    if other == "parameter":
        other = torch.nn.Parameter(torch.ones(1), requires_grad=False)
    captured = Captured(function, x(), given)
    assert captured.failing(x(), given) == []
    assert captured.failing(x(), other) != []


def test_tensors_in_outside_containers_are_given_to_torch_as_inputs():
    def function(x, items):
        return torch.stack(items), torch.cat([*items, x]), sum(items), max(items, key=len) * 2

    argument, items = x(), [x(), x()]
    captured = Captured(function, argument, items)
    assert same(captured.run(), function(argument, items))
    assert captured.failing(argument, [*items, x()]) == ["len(items) == 2"]


def test_only_the_item_that_was_asked_for_is_read():
    captured = Captured(lambda x, v: x * v.get("a"), x(), {"a": 1.0, "b": object()})
    assert captured.failing(x(), {"b": 1, "a": 3.0}) == []


def test_containers_made_during_capture_change_freely():
    def function(x, v):
        items, table, names = [x], {}, set()
        items.append(v)
        items.extend(v)
        items.insert(0, x + 1)
        table.setdefault("k", items.pop())
        table.update(a=x)
        names.add("a")
        items.reverse()
        return items[-1], table["k"] * x, table["a"], sorted(names), items[0] is v

    value = [2.0]
    argument = x()
    assert same(Captured(function, argument, value).run(), function(argument, value))


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x, v: operator.setitem(v, 0, x), "setitem"),
        (lambda x, v: operator.iadd(v, [x]), "iadd"),
        (lambda x, v: print(x), r"print\(\) is an effect"),
        (
            lambda x, v: open("f"),  # noqa: SIM115
            r"open\(\) is an effect",
        ),
        (lambda x, v: input(), r"input\(\) is an effect"),
        (lambda x, v: id(x), r"id\(\) of an object"),
        (lambda x, v: float(x), r"float\(\) reads the values"),
        (lambda x, v: str(x), "formatting a tensor"),
        (lambda x, v: type("C", (), {}), "a result of type type, made during the call"),
        (lambda x, v: max(x, x + 1), "a tensor"),
        (lambda x, v: globals(), r"globals\(\)"),
    ],
)
def test_effects_stop_and_change_nothing(function, reason):
    value = [3, 1]
    with pytest.raises(Stop, match=reason):
        Captured(function, x(), value)
    assert value == [3, 1]


@pytest.mark.parametrize(
    ("change", "stores"),
    [
        (lambda x, v: v.append(x), [("v", ".append", "call")]),
        (lambda x, v: list.append(v, x), [("v", ".append", "call")]),
        (lambda x, v: v.__setitem__(0, x), [("v", "[0]", "set")]),
        (lambda x, v: v.sort(key=lambda n: -n), []),
        (lambda x, v: v.reverse(), [("v", "[0]", "set"), ("v", "[1]", "set")]),
    ],
)
def test_changes_of_outside_lists_come_last(change, stores):
    value = [3, 1]
    captured = Captured(change, x(), value)
    assert value == [3, 1]
    assert [(s.owner, s.place, s.how) for s in captured.reads.stores] == stores
