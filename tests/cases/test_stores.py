"""Stores to objects that were there before: each of several calls leaves what eager leaves."""

import collections
import contextlib
import dataclasses
import itertools
import types
import warnings

import pytest
import torch

import astjit
from tests.programs.compare import Observed, difference

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def interpreted(monkeypatch):
    """Programs run through PyTorch: what is tested is their meaning."""
    monkeypatch.setenv("CXX", "/nonexistent")
    warnings.filterwarnings("ignore", message="kernels run through PyTorch")


class State:
    """A plain object."""

    limit = 3

    def __init__(self, **held):
        self.__dict__.update(held)


def observed(function, state, x):
    """What a call returns, raises and leaves."""
    seen = Observed()
    try:
        with torch.no_grad():
            result = function(state, x)
    except Exception as error:
        seen.facts["exception"] = {"exception": (type(error).__name__, str(error))}
    else:
        seen.look("result", result)
    seen.look("state", state)
    seen.look("x", x)
    return seen


def compare(function, make, *, programs, calls=4):
    """Call a function and what is compiled of it on states that live on, and compare all of it.

    Returns the warnings and the state that the compiled calls left.
    """
    compiled = astjit.compile(function)
    eager_state, state, told, raised = make(), make(), [], False
    for number in range(calls):
        torch.manual_seed(number)
        x = torch.randn(3, 4)
        eager = observed(function, eager_state, x.clone())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ours = observed(compiled, state, x.clone())
        told += [str(w.message) for w in caught if "no C++ compiler" not in str(w.message)]
        assert difference(eager, ours) is None, f"call {number}: {difference(eager, ours)}"
        raised = raised or "exception" in eager.facts
    assert compiled.cache_info().programs == programs, (told, compiled.cache_info())
    assert raised or bool(told) is (programs == 0), told
    return told, state


# --- attributes ---


def test_an_attribute_is_read_back_and_left():
    def function(s, x):
        s.h = x + 1
        s.h = s.h * 2
        return s.h

    compare(function, lambda: State(h=None), programs=1)  # None first, then a tensor
    compare(function, lambda: State(), programs=1)  # not there first


def test_a_recurrent_state():
    def function(s, x):
        s.h = torch.tanh(x + s.h)
        return s.h.sum()

    compare(function, lambda: State(h=torch.zeros(3, 4)), programs=1)


def test_a_counter_whose_value_nothing_needs_is_arithmetic():
    def function(s, x):
        s.calls += 1
        s.total = s.total + 0.5
        return x * 2

    _, state = compare(function, lambda: State(calls=0, total=1.0), programs=1, calls=12)
    assert (state.calls, state.total) == (12, 7.0)


def test_a_counter_that_enters_arithmetic():
    def function(s, x):
        s.step = s.step + 1
        return x * s.step

    compare(function, lambda: State(step=1), programs=1, calls=12)


def test_a_counter_whose_value_is_needed_stops():
    def function(s, x):
        s.calls += 1
        return x.view(-1)[: int(s.calls)] if s.names[s.calls % 2] else x

    told, _ = compare(function, lambda: State(calls=0, names=["a", "b"]), programs=0)
    assert "counter" in told[0]


def test_a_counter_that_is_a_size_and_whose_value_is_needed_is_left_to_python():
    def function(s, x):
        s.calls += 1
        return x.view(-1)[: s.calls] * s.factors[s.calls]

    def make():
        return State(calls=0, factors={number: number + 2 for number in range(1, 9)})

    told, _ = compare(function, make, programs=8, calls=8)
    assert told == []


def test_a_counter_that_is_a_size_is_one_program():
    def function(s, x):
        s.calls += 1
        return x.view(-1)[: s.calls]

    compiled, state = astjit.compile(function), State(calls=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first call runs eagerly, the second finds it varies
        for number in range(3, 12):
            assert compiled(state, torch.ones(3, 4)).shape == (number,)
    assert (state.calls, compiled.cache_info().programs) == (11, 1)


def test_a_flag_makes_two_programs():
    def function(s, x):
        if s.first:
            s.first = False
            return x + 1
        return x - 1

    compare(function, lambda: State(first=True), programs=2)


def test_set_and_restored_is_not_written():
    def function(s, x):
        old = s.mode
        s.mode = "fast"
        try:
            return x + (1 if s.mode == "fast" else 2)
        finally:
            s.mode = old

    compare(function, lambda: State(mode="slow"), programs=1)
    source = astjit.compile(function).program_source(State(mode="slow"), torch.randn(3))
    assert "s.mode = " not in source


def test_swapped():
    def function(s, x):
        s.a, s.b = s.b, s.a
        s.p, s.q = s.q, s.p
        return s.a + x, s.p

    make = lambda: State(a=torch.ones(4), b=torch.zeros(4), p=[1], q={})  # noqa: E731
    with warnings.catch_warnings():
        compare(function, make, programs=2, calls=4)


def test_deleted_and_stored_again_comes_last():
    def function(s, x):
        del s.a
        s.c = x + 1
        s.a = x + 2

    compare(function, lambda: State(a=1, b=2), programs=1)


def test_a_deleted_attribute_is_gone():
    def function(s, x):
        del s.a
        missing = not hasattr(s, "a")
        with contextlib.suppress(AttributeError):
            s.a  # noqa: B018
        s.__dict__["a"] = x * 2 if missing else x
        return getattr(s, "gone", None), missing

    compare(function, lambda: State(a=1), programs=1)


def test_delattr_setattr_by_name():
    def function(s, x):
        for name in ("a", "b"):
            setattr(s, name, x + len(name))
        delattr(s, "c")
        s.c = s.__dict__["a"] + s.b if hasattr(s, "a") else x
        return s.c

    compare(function, lambda: State(c=1, a=None), programs=1)


def test_class_attributes_stay():
    def function(s, x):
        s.limit = s.limit + 1
        return x * State.limit + s.limit

    compare(function, lambda: State(), programs=1, calls=6)


def test_objects_inside_objects():
    def function(s, x):
        inner = s.inner
        inner.h = x + 1
        s.inner.deep.k = inner.h * 2
        s.inner, s.other = s.other, s.inner
        s.inner.tag = x
        return s.inner.tag, s.other

    make = lambda: State(inner=State(deep=State()), other=State(deep=State()))  # noqa: E731
    compare(function, make, programs=1, calls=5)


def test_two_paths_to_one_object():
    def function(s, x):
        s.a.h = x + 1
        return s.b.h

    def alike():
        one = State(h=torch.zeros(3, 4))
        return State(a=one, b=one)

    compare(function, alike, programs=1)
    compare(function, lambda: State(a=State(h=None), b=State(h=torch.ones(3))), programs=1)


def test_two_objects_that_become_one():
    """A program for two objects must not serve a call where they are one."""

    def function(s, x):
        s.a.h = x + 1
        s.a.xs.append(1)
        return s.b.h * 2, len(s.b.xs)

    compiled = astjit.compile(function)
    for one in (False, True, False, True):
        for called in (function, compiled):
            a = State(h=torch.zeros(3), xs=[])
            b = a if one else State(h=torch.zeros(3), xs=[])
            with torch.no_grad():
                found, count = called(State(a=a, b=b), torch.ones(3))
            assert torch.equal(found, torch.full((3,), 4.0 if one else 0.0))
            assert count == (1 if one else 0)
    assert compiled.cache_info().programs == 2


def test_two_lists_that_become_one():
    def function(s, x):
        s.xs.append(1)
        return len(s.ys) + x

    compiled = astjit.compile(function)
    for one in (False, True, False):
        xs = []
        state = State(xs=xs, ys=xs if one else [])
        with torch.no_grad():
            assert compiled(state, torch.zeros(1)).item() == (1 if one else 0)


class Slotted:
    __slots__ = ("__weakref__", "h", "n")

    def __init__(self):
        self.h, self.n = None, 0


def test_slots():
    def function(s, x):
        s.h = x + 1
        s.n += 1
        return s.h

    compiled, state = astjit.compile(function), Slotted()
    for number in range(3):
        with torch.no_grad():
            result = compiled(state, torch.ones(2))
        assert state.h is result
        assert state.n == number + 1
    assert compiled.cache_info().programs == 1

    def wrong(s, x):
        s.k = x + 1

    with pytest.raises(AttributeError), torch.no_grad():
        astjit.compile(wrong)(Slotted(), torch.ones(2))


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int = 1


def test_frozen_dataclasses_raise_as_eager():
    def function(s, x):
        s.inner.a = x

    compare(function, lambda: State(inner=Frozen()), programs=0)


class Checked:
    """Redefines `__setattr__`, and has properties."""

    def __init__(self):
        object.__setattr__(self, "log", [])
        self.h = None

    def __setattr__(self, name, value):
        self.log.append(name)
        super().__setattr__(name, value)


class Property:
    def __init__(self):
        self._h = None

    @property
    def h(self):
        return self._h

    @h.setter
    def h(self, value):
        self._h = value * 2

    @property
    def fixed(self):
        return 1


def test_python_setters_are_called():
    def function(s, x):
        s.h = x + 1
        return s.h

    compare(function, Checked, programs=1)
    compare(function, Property, programs=1)

    def wrong(s, x):
        s.fixed = x

    compare(wrong, Property, programs=0)


def test_modules_attributes_and_buffers():
    class Norm(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.zeros(4))
            self.seen, self.last = 0, None

        def forward(self, x):
            self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
            self.seen += 1
            self.last = x - self.mean
            return self.last

    def function(s, x):
        return s.norm(x)

    compare(function, lambda: State(norm=Norm()), programs=1, calls=6)

    def replaced(s, x):
        s.norm.weight = torch.nn.Parameter(x)

    compare(replaced, lambda: State(norm=Norm()), programs=0)


counter = 0
shared_module = types.ModuleType("shared_module")
shared_module.h = None


def test_a_module_attribute():
    def function(s, x):
        shared_module.h = x + 1
        return shared_module.h * 2

    compiled = astjit.compile(function)
    for _ in range(3):
        with torch.no_grad():
            result = compiled(State(), torch.ones(2))
        assert torch.equal(result, torch.full((2,), 4.0))
        assert torch.equal(shared_module.h, torch.full((2,), 2.0))
    assert compiled.cache_info().programs == 1


def test_globals_and_outer_variables():
    total, last = 0, None

    def function(s, x):
        global counter
        nonlocal total, last
        counter += 1
        counter = counter + 1
        total += x.shape[0]
        last = x + counter
        return last * 2, counter

    compiled = astjit.compile(function)
    for number in range(1, 5):
        with torch.no_grad():
            result, count = compiled(State(), torch.zeros(3))
        assert (count, counter, total) == (2 * number, 2 * number, 3 * number)
        assert torch.equal(last, torch.full((3,), 2.0 * number))
        assert torch.equal(result, last * 2)
    assert compiled.cache_info().programs == 1


def test_a_helper_stores_to_the_same_variable():
    last = None

    def helper(x):
        nonlocal last
        last = x + 1
        return last

    def function(s, x):
        y = helper(x)
        return last is y, last * 2

    compiled = astjit.compile(function)
    for _ in range(3):
        with torch.no_grad():
            same, result = compiled(State(), torch.zeros(3))
        assert same
        assert torch.equal(result, torch.full((3,), 2.0))
        assert torch.equal(last, torch.ones(3))
    assert compiled.cache_info().programs == 1


def test_a_class_attribute_stops():
    class Local:
        h = 1

    def function(s, x):
        Local.h = x

    compiled = astjit.compile(function)
    with pytest.warns(astjit.AstjitWarning, match="a store to Local.h"), torch.no_grad():
        compiled(State(), torch.ones(2))
    assert torch.equal(Local.h, torch.ones(2))


# --- lists ---


def test_append_does_not_look_at_the_list():
    def function(s, x):
        s.xs.append(x + 1)
        s.xs.extend((x, x * 2))
        return s.xs[-1]

    compare(function, lambda: State(xs=[]), programs=1, calls=10)


def test_a_cache_in_a_list():
    def function(s, x):
        for i in range(2):
            s.cache[i] = torch.cat([s.cache[i], x])
        return [k.sum() for k in s.cache]

    make = lambda: State(cache=[torch.zeros(2, 4), torch.zeros(2, 4)])  # noqa: E731
    compare(function, make, programs=1)


@pytest.mark.parametrize(
    "change",
    [
        lambda xs, x: xs.insert(0, x + 1),
        lambda xs, x: xs.insert(-1, x + 1),
        lambda xs, x: xs.pop(),
        lambda xs, x: xs.pop(0),
        lambda xs, x: xs.reverse(),
        lambda xs, x: xs.clear(),
        lambda xs, x: xs.append(xs),
        lambda xs, x: xs.append(xs[0]),
        lambda xs, x: xs.__setitem__(1, x * 3),
        lambda xs, x: xs.__setitem__(slice(1, 3), [x]),
        lambda xs, x: xs.__delitem__(slice(None, None, 2)),
        lambda xs, x: xs.__delitem__(-1),
        lambda xs, x: xs.extend(xs),
        lambda xs, x: xs.sort(key=lambda item: str(type(item))),
        lambda xs, x: xs.remove(3),
        lambda xs, x: xs.index("a"),
        lambda xs, x: (xs.append(1), xs.pop()),
        lambda xs, x: [xs.append(item) for item in list(xs)],
    ],
)
def test_every_change_of_a_list(change):
    def function(s, x):
        before = len(s.xs)
        found = change(s.xs, x)
        return found, before, len(s.xs), [*s.xs], s.xs[1:], x + 1

    compare(function, lambda: State(xs=[3, "a", (), None, torch.ones(2)]), programs=1, calls=1)


def test_statements_that_change_a_list():
    def function(s, x):
        s.xs += [x]
        s.xs[0] = x + 1
        s.xs[1:2] = [x, x]
        del s.xs[-1]
        s.xs[0] += 1
        s.ys *= 2
        a, *b = s.xs
        return a, b, s.xs

    compare(function, lambda: State(xs=[1, 2, 3], ys=[1]), programs=1, calls=1)


def test_items_that_nobody_looked_at_move():
    def function(s, x):
        s.xs.pop(0)
        s.xs.append(x + 1)
        s.ys.insert(1, s.ys.pop())
        s.d.pop("a")
        s.d["a"] = x
        del s.zs[:2]

    def make():
        parts = [torch.ones(1), object, [1], "a"]
        return State(xs=parts, ys=[*parts], d={"a": 1, "b": parts, "c": 2}, zs=[*parts, *parts])

    compare(function, make, programs=1, calls=1)


def test_a_list_that_grows_while_it_is_iterated_over():
    def function(s, x):
        for item in s.xs:
            if len(s.xs) < 6:
                s.xs.append(item * 2)
        for i, item in enumerate(s.ys):
            s.ys[i] = item + x
        return s.xs, s.ys

    make = lambda: State(xs=[torch.ones(2)], ys=[torch.ones(4)] * 2)  # noqa: E731
    compare(function, make, programs=1, calls=1)


def test_iterators_follow_later_changes():
    def function(s, x):
        chained, plain = itertools.chain(s.xs, s.ys), iter(s.xs)
        pairs = zip(s.xs, itertools.count(), strict=False)
        keys = s.d.keys()
        next(plain)
        s.xs.append(x)
        s.xs[1] = 9
        s.d["n"] = x
        return list(chained), list(plain), list(pairs), list(keys), len(keys)

    make = lambda: State(xs=[1, 2], ys=[7], d={"a": 1})  # noqa: E731
    compare(function, make, programs=1, calls=1)


def test_one_list_under_two_paths():
    def function(s, x):
        s.a.append(x + 1)
        return s.b[-1], len(s.b)

    def make():
        one = []
        return State(a=one, b=one)

    compare(function, make, programs=4)  # its length is asked for


class Listened(list):
    def append(self, value):
        super().append((len(self), value))


def test_subclasses_of_list_and_dict():
    def function(s, x):
        s.xs.append(x + 1)
        return s.xs

    compare(function, lambda: State(xs=Listened()), programs=0)
    compare(function, lambda: State(xs=collections.deque()), programs=0)


def test_a_method_that_a_list_lacks():
    def function(s, x):
        s.xs.add(x)

    compare(function, lambda: State(xs=[]), programs=0)


# --- dicts and sets ---


def test_keys_that_are_stored_are_not_looked_at():
    def function(s, x):
        s.d["h"] = x + 1
        s.d["k"] = s.d["h"] * 2
        return s.d["k"], s.d.get("h"), "h" in s.d, "z" in s.d

    compare(function, lambda: State(d={"other": object}), programs=1)


@pytest.mark.parametrize(
    "change",
    [
        lambda d, x: d.update(a=x, z=1),
        lambda d, x: d.update({"b": x}, c=x + 1),
        lambda d, x: d.update([("q", x)]),
        lambda d, x: d.pop("a"),
        lambda d, x: d.pop("zz", x + 1),
        lambda d, x: d.pop("zz"),
        lambda d, x: d.setdefault("a", x),
        lambda d, x: d.setdefault("new", x),
        lambda d, x: d.popitem(),
        lambda d, x: d.clear(),
        lambda d, x: (d.clear(), d.update(n=x)),
        lambda d, x: d.__delitem__("b"),
        lambda d, x: d.__setitem__("self", d),
        lambda d, x: (d.pop("a"), d.__setitem__("a", x)),
        lambda d, x: (d.__setitem__("n", x), d.pop("n")),
        lambda d, x: (d.__setitem__("a", x), d.__delitem__("a"), d.__setitem__("a", 1)),
        lambda d, x: d.__ior__({"b": x}),
        lambda d, x: d.__setitem__(("t", 1), x),
        lambda d, x: d.__setitem__(torch.float32, x),
        lambda d, x: d.__setitem__(State, x),
        lambda d, x: d["zz"],
    ],
)
@pytest.mark.parametrize("look", [False, True])
def test_every_change_of_a_dict(change, look):
    def function(s, x):
        before = list(s.d) if look else None
        found = change(s.d, x)
        after = [*s.d], [*s.d.values()], len(s.d), bool(s.d)
        return found, before, "a" in s.d, s.d.get("b"), after if look else x + 1

    compiled = astjit.compile(function)
    for kind in (dict, collections.OrderedDict):
        states = [State(d=kind(a=torch.ones(2), b=2, c="c")) for _ in range(2)]
        x = torch.ones(2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = observed(compiled, states[1], x)
        assert difference(observed(function, states[0], x), ours) is None


def test_a_dict_that_changes_while_it_is_iterated_over():
    def function(s, x):
        for key in s.d:
            s.d[key + "2"] = x

    compare(function, lambda: State(d={"a": 1}), programs=0, calls=1)

    def allowed(s, x):
        for key, value in s.d.items():
            s.d[key] = value + x
        return s.d

    compare(allowed, lambda: State(d={"a": torch.ones(3, 4), "b": torch.ones(3, 4)}), programs=1)


def test_sets():
    def function(s, x):
        s.seen.add("new")
        s.seen.discard("a")
        s.seen |= {"b", "c"}
        return sorted(s.seen), len(s.seen), "a" in s.seen, x + 1

    compare(function, lambda: State(seen={"a", "d"}), programs=2)

    def taken(s, x):
        return s.seen.pop()

    compare(taken, lambda: State(seen={"a", "d", "e"}), programs=0, calls=2)


def test_truth_of_what_became_empty():
    def function(s, x):
        s.d.clear()
        s.xs.append(1)
        one = s.d or x + 1
        two = s.xs and x + 2
        return (x if s.d else -x), (x if not s.xs else x * 2), one, two

    compare(function, lambda: State(d={"a": 1}, xs=[]), programs=1, calls=1)


# --- what is stored and returned ---


class Output(collections.OrderedDict):
    """Like the outputs of transformers: items and attributes are one."""

    def __post_init__(self):
        for field in dataclasses.fields(self):
            if (value := getattr(self, field.name)) is not None:
                self[field.name] = value

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)


@dataclasses.dataclass
class Pair:
    a: object
    b: object = None
    rest: list = dataclasses.field(default_factory=list)


class Point(collections.namedtuple("Point", "x y")):
    __slots__ = ()


class Plain:
    __slots__ = ("__dict__", "kept")

    def __init__(self, kept):
        self.kept = kept
        self.other = [kept]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: Pair(x + 1, b=(x, 1)),
        lambda x: Plain(x + 1),
        lambda x: Point(x, x + 1),
        lambda x: types.SimpleNamespace(a=x + 1, b=[x]),
        lambda x: collections.OrderedDict(a=x + 1, b=2),
        lambda x: collections.deque([x, x + 1], maxlen=3),
        lambda x: {"a": [x + 1], "b": {1, 2}, "c": frozenset("a")},
        lambda x: State(h=State(k=x + 1)),
    ],
)
def test_fresh_objects_are_made_again(make):
    def function(s, x):
        made = make(x)
        s.held = made
        s.xs.append(made)
        return made, [made], x + 2

    _, state = compare(function, lambda: State(xs=[], held=None), programs=1)
    assert state.held is state.xs[-1]
    assert state.xs[-1] is not state.xs[-2]


def test_shared_parts_stay_shared():
    def function(s, x):
        part = [x + 1]
        pair = (part, part)
        s.a, s.b = pair, part
        s.d["p"] = part
        part.append(x)
        return pair, pair, part

    _, state = compare(function, lambda: State(a=None, d={}, b=None), programs=1)
    assert state.a[0] is state.a[1] is state.b is state.d["p"]


def test_a_cycle_is_left_to_python():
    def function(s, x):
        made = [x + 1]
        made.append(made)
        s.xs = made

    compare(function, lambda: State(xs=None), programs=1, calls=2)


def test_an_old_value_is_returned():
    def function(s, x):
        old, xs = s.h, s.xs
        s.h = x + 1
        s.xs = [old]
        x.mul_(2)
        return old, xs, s.n, x

    compare(function, lambda: State(h=torch.ones(3, 4), xs=[], n=3), programs=1)


def test_an_exception_half_way_leaves_what_eager_leaves():
    def function(s, x):
        s.h = x + 1
        s.xs.append(s.h)
        if s.fails:
            raise ValueError("no")
        s.k = x + 2
        return x @ torch.ones(5) if s.fails is None else x

    for fails in (True, None, False):
        programs = 0 if fails is not False else 1
        compare(
            function, lambda f=fails: State(h=1, xs=[], fails=f, k=0), programs=programs, calls=1
        )


def test_a_store_that_is_caught():
    def function(s, x):
        try:
            s.h = x + 1
            raise ValueError
        except ValueError:
            s.k = s.h * 2
        return s.k

    compare(function, lambda: State(h=None), programs=1)


def test_stored_tensors_share_memory_as_in_eager():
    def function(s, x):
        y = x + 1
        s.rows = y[0]
        s.same = y
        s.whole = x
        return y, s.rows

    compare(function, lambda: State(rows=None, same=None, whole=None), programs=1)


def test_views_of_inputs_and_sizes_are_stored():
    def function(s, x):
        s.row = x[0]
        s.size = x.shape[0] + 1
        s.shape = x.shape
        return s.size

    compare(function, lambda: State(row=None, size=0, shape=None), programs=1)


def test_the_program_reads_well():
    def function(s, x):
        s.h = x + 1
        s.xs.append(s.h)
        return s.h

    state = State(h=None, xs=[])
    source = astjit.compile(function).program_source(state, torch.randn(3))
    ending = [line.strip() for line in source.splitlines()][-3:]
    assert ending[0].startswith("s.h = ")
    assert ending[1].startswith("xs.append(")
    assert ending[2].startswith("return ")


def test_guards_of_other_calls_see_what_was_stored():
    def function(s, x):
        s.kind = "b" if s.kind == "a" else "a"
        return x + (1 if s.kind == "a" else 2)

    compare(function, lambda: State(kind="a"), programs=2, calls=6)
