"""The rules for operators, conditions, iteration and stores."""

import collections
import dataclasses
import enum

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured, same

Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Point:
    a: float = 1.0


class Sized:
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.items[index]


class Truthy:
    def __bool__(self):
        return True


class Counting:
    def __getitem__(self, index):
        raise IndexError


class Pairs:
    def __iter__(self):
        return iter([self.scale, 2.0])


class Vector:
    def __add__(self, other):
        return other


class Mode(enum.Enum):
    FAST = 1


def x():
    return torch.randn(3, 4)


@pytest.mark.parametrize(
    ("function", "given", "other", "test"),
    [
        (lambda x, v: x * sum(v + v), [1, 2], [1, 2, 3], "len(v) == 2"),
        (lambda x, v: x if v == [1, 2] else -x, [1, 2], [1, 3], "(v[1] == 2)"),
        (lambda x, v: x if v else -x, [1], [], "len(v) == 1"),
        (lambda x, v: x if not v else -x, {}, {"a": 1}, "len(v) == 0"),
        (lambda x, v: x * 2 if "a" in v else x, {"a": 1}, {}, "'a' in v"),
        (lambda x, v: x * 2 if "a" not in v else x, {}, {"a": 1}, "not ('a' in v)"),
        (lambda x, v: x * 2 if 3 in v else x, [1, 3], [1, 4], "(v[1] == 3)"),
        (lambda x, v: sum(x * i for i in v), [1.0, 2.0], [1.0], "len(v) == 2"),
        (lambda x, v: x * (*v, 1.0)[0], (2.0,), (2.0, 3.0), "len(v) == 1"),
        (lambda x, v: {**v}["a"] * x, {"a": 1.0}, {"b": 1.0}, "[*v] == ['a']"),
        (lambda x, v: x * v[-1], [1.0, 2.0], [3.0], "len(v) == 2"),
        (lambda x, v: x * len(v[1:]), [1, 2, 3], [1], "len(v) == 3"),
        (lambda x, v: x * v["k"][0], {"k": [1.0]}, {"k": (1.0,)}, "type(v['k']) is list"),
        (lambda x, v: x * (2 if f"{v}" == "[1]" else 3), [1], [2], "v[0] == 1"),
        (lambda x, v: x if v is Mode.FAST else -x, Mode.FAST, None, "v is Mode_FAST"),
        (lambda x, v: x if v is None else x * v, None, 2.0, "v is None"),
        (lambda x, v: x * v.a, Pair(1.0, 2.0), Point(), "type(v) is Pair"),
    ],
)
def test_reads_of_containers_are_guarded(function, given, other, test):
    argument = x()
    captured = Captured(function, argument, given)
    assert same(captured.run(), function(argument, given))
    assert captured.failing(argument, given) == []
    assert test in captured.tests
    assert test in captured.failing(argument, other)


def test_items_that_were_not_asked_for_are_not_guarded():
    captured = Captured(lambda x, v: x * v["a"], x(), {"a": 1.0, "b": [1]})
    assert captured.failing(x(), {"a": 2.0, "c": None}) == []
    assert not any("'b'" in test for test in captured.tests)


def test_identity_of_two_tensors_is_guarded_both_ways():
    def function(x, y):
        return x + 1 if x is y else x * y

    one, two = x(), x()
    different = Captured(function, one, two)
    assert different.failing(one, one) == ["x is not y"]
    equal = Captured(function, one, one)
    assert equal.failing(one, two) == ["y is x"]
    assert same(equal.run(), function(one, one))


def test_a_match_on_containers_and_constants():
    def function(x, v):
        match v:
            case {"k": [a, b]} if a > 1:
                return x * b
            case {"k": [a, _]}:
                return x * a
            case Mode.FAST:
                return x

    argument = x()
    for value in ({"k": [2, 3.0]}, {"k": [1, 2.0]}, Mode.FAST):
        captured = Captured(function, argument, value)
        assert same(captured.run(), function(argument, value))
        assert captured.failing(argument, value) == []
    assert Captured(function, argument, {"k": [2, 3.0]}).failing(argument, {"k": [1, 3.0]}) != []


def test_methods_of_containers_defined_in_python_are_looked_into():
    class Holder(Sized):
        def __init__(self):
            self.items = [2.0, 3.0]

    holder = Holder()
    captured = Captured(lambda x, h: x * h[1] * len(h), x(), holder)
    holder.items = [0.0, 5.0]
    assert captured.run(torch.ones(1, 1), holder).tolist() == [[10.0]]


def test_iteration_defined_in_python_is_looked_into():
    pairs = Pairs()
    pairs.scale = 3.0
    captured = Captured(lambda x, v: [x * s for s in v], x(), pairs)
    pairs.scale = 4.0
    first, _ = captured.run(torch.ones(1, 1), pairs)
    assert first.item() == 4.0


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (lambda x, v: x if v else -x, Truthy()),
        (lambda x, v: v + x, Vector()),
        (lambda x, v: x if v == Point() else -x, Point()),
        (lambda x, v: [x for _ in v], Counting()),
        (lambda x, v: x * len(f"{v}"), Point()),
    ],
)
def test_what_python_code_decides_is_looked_into(function, value):
    argument = x()
    captured = Captured(function, argument, value)
    assert same(captured.run(), function(argument, value))


@pytest.mark.parametrize(
    ("function", "value", "reason"),
    [
        (lambda x, v: [x for _ in v], iter([1]), "iteration over v, a list_iterator"),
        (lambda x, v: x * next(v), iter([1]), "next\\(\\) advances an iterator of the caller"),
        (lambda x, v: f"{v}", object(), "the text of a object, which shows its address"),
        (lambda x, v: x if x in v else -x, [1], "`in` reads the values of a tensor"),
    ],
)
def test_what_python_code_would_decide_unseen_stops(function, value, reason):
    with pytest.raises(Stop, match=reason):
        Captured(function, x(), value)


def match_tensor(x):
    match x:
        case 1:
            return x


def with_other(x):
    with open("nowhere") as f:
        return f


def with_lock(x, lock):
    with lock:
        return x


@pytest.mark.parametrize(
    ("function", "args", "reason"),
    [
        (match_tensor, (), "a condition on the values of a tensor"),
        (with_other, (), r"open\(\) is an effect"),
        (with_lock, (__import__("threading").Lock(),), "with lock"),
    ],
)
def test_statements_that_stop(function, args, reason):
    with pytest.raises(Stop, match=reason):
        Captured(function, x(), *args)


def test_stores_to_what_capture_made_are_plain():
    def function(x):
        point, items = Point(), [0, 0]
        point.a = x
        items[1] = point.a * 2
        table = {}
        table["k"] = items
        return table["k"][1]

    assert same(Captured(function, x()).run(torch.ones(2, 2)), function(torch.ones(2, 2)))
