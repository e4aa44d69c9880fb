import abc
import enum

import pytest
import torch

from astjit.runtime.classes import changing, deciding, found_on, sources


class Base:
    power = 2

    def run(self):
        pass


class Getter:
    def __get__(self, owner, cls):
        return 1


class Value:
    pass


class Derived(Base):
    value, getter = Value(), Getter()

    @property
    def doubled(self):
        return 4

    @staticmethod
    def twice(x):
        return x

    @classmethod
    def made(cls):
        return cls()

    got = classmethod(Getter())


class Kind(type):
    def __getattr__(cls, name):
        return name


class Odd(metaclass=Kind):
    x = 1


Abstract = abc.ABCMeta("Abstract", (), {"x": 1})


class Flag(enum.Enum):
    RED = 1


CONSTANTS = {"Derived": Derived, "Odd": Odd, "Flag": Flag, "run": Base.run, "Tensor": torch.Tensor}


@pytest.mark.parametrize(
    ("cls", "name", "decide"),
    [
        (Derived, "run", (Derived, type)),
        (Derived, "doubled", (Derived, type)),
        (Derived, "twice", (Derived, type)),
        (Derived, "made", (Derived, type)),
        (Derived, "power", (Derived, type, int)),
        (Derived, "value", (Derived, type, Value)),
        (Derived, "absent", (Derived, type)),
        (Abstract, "x", (Abstract, abc.ABCMeta, int)),
        (torch.Tensor, "size", (torch.Tensor, type(torch.Tensor))),
        (Derived, "getter", ()),
        (Derived, "got", ()),
        (Derived, "__name__", ()),
        (Derived, "__bases__", ()),
        (Derived, "mro", ()),
        (Odd, "x", ()),
        (Odd, "absent", ()),
        (Flag, "RED", ()),
    ],
)
def test_what_decides_an_attribute_of_a_class(cls, name, decide):
    assert sources(cls, name) == decide


@pytest.mark.parametrize(
    ("test", "decided"),
    [
        ("Derived.run is run", True),
        ("Derived.power is None", True),
        ("Derived.run is not Derived.twice", True),
        ("not hasattr(Derived, 'bias')", True),
        ("Tensor.size is run", True),
        ("not hasattr(Derived, 'run')", False),
        ("Derived.power == 2", False),
        ("Derived.run.__code__ is run", False),
        ("Derived.run is other", False),
        ("'x' in Derived.power", False),
        ("hasattr(Odd, 'y')", False),
        ("Flag.RED is run", False),
        ("x is None", False),
        ("run is None", False),
        ("f(Derived)", False),
    ],
)
def test_what_decides_a_test(test, decided):
    assert bool(deciding(test, CONSTANTS)) is decided


def test_classes_that_cannot_change_are_left_out():
    assert changing((Derived, type, int, Derived, Base)) == [Derived, Base]


def test_the_nearest_base_is_found():
    assert found_on(Derived, "power") == 2
    assert found_on(Derived, "run") is Base.run
