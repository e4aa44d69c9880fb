"""Objects made again are like the first one, and no Python code of their classes runs."""

import collections
import dataclasses
import types

import pytest

from astjit.frontend.rebuild import rebuilt


class Output(collections.OrderedDict):
    def __init__(self, **items):
        raise AssertionError("not called again")

    __setitem__ = __setattr__ = __init__


def output():
    made = collections.OrderedDict.__new__(Output)
    for name in ("b", "a"):
        collections.OrderedDict.__setitem__(made, name, [name])
        object.__setattr__(made, name, name)
    return made


class Base:
    __slots__ = ("one",)


class Mixed(Base):
    __slots__ = ("__dict__", "two")

    def __init__(self):
        self.two, self.three = 2, 3


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: int
    b: list


class Listed(list):
    pass


def listed():
    made = Listed([1, 2])
    made.name = "n"
    return made


@pytest.mark.parametrize(
    "make",
    [
        output,
        Mixed,
        lambda: Frozen(1, [2]),
        listed,
        lambda: types.SimpleNamespace(a=1, b=[2]),
        lambda: collections.defaultdict(list, {"a": 1}),
        lambda: collections.OrderedDict(z=1, a=2),
        lambda: collections.deque([1, 2], maxlen=4),
    ],
)
def test_objects_are_made_again(make):
    first = make()
    how, parts = rebuilt(first)
    again = how(*parts)
    assert type(again) is type(first)
    assert again is not first
    for name in ("__dict__", "maxlen", "default_factory", "one", "two", "a", "b"):
        assert getattr(again, name, None) == getattr(first, name, None)
    if hasattr(first, "__len__"):
        assert list(again) == list(first)
    if isinstance(first, dict):
        assert list(again.values()) == list(first.values())


@pytest.mark.parametrize(
    "value",
    [
        object(),
        iter([]),
        ValueError("x"),
        lambda: 1,
        collections.defaultdict(lambda: 1),
        collections.OrderedDict({object(): 1}),
        collections.Counter("a"),
        (v for v in ()),
    ],
)
def test_others_are_not(value):
    known = isinstance(value, collections.Counter)
    assert (rebuilt(value) is None) is not known
