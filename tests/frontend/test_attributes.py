"""`owner.name` as Python looks it up, and stale answers noticed."""

import dataclasses
import enum
import functools
from typing import ClassVar

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured, same


def x():
    return torch.randn(3, 4)


class Base:
    rate = 0.5
    mode = "a"

    def __init__(self):
        self.scale = 2.0
        self.flag = True
        self.bias = torch.ones(4)

    def method(self, x):
        return x * self.scale

    @property
    def double(self):
        return self.scale * 2

    @staticmethod
    def half(x):
        return x / 2

    @classmethod
    def name(cls):
        return cls.mode


class Derived(Base):
    def method(self, x):
        return super().method(x) + 1

    def explicit(self, x):
        return super(Derived, self).method(x)  # noqa: UP008


class Slotted:
    __slots__ = ("scale",)

    def __init__(self):
        self.scale = 3.0


class Fallback:
    def __getattr__(self, name):
        if name == "other":
            return self.scale
        raise AttributeError(name)


class Cached:
    @functools.cached_property
    def value(self):
        return 2.0


class Mapped:
    names: ClassVar = {"width": "scale"}

    def __init__(self):
        self.scale, self.bias = 2.0, torch.ones(4)

    def __getattribute__(self, name):
        if name != "names" and name in super().__getattribute__("names"):
            name = super().__getattribute__("names")[name]
        return object.__getattribute__(self, name)

    def method(self, x):
        return x * self.width


class Colour(enum.Enum):
    RED = 2


@dataclasses.dataclass(frozen=True)
class Options:
    scale: float = 2.0


def uses_everything(x, thing):
    y = thing.method(x) + thing.rate + thing.double + thing.half(x) + thing.bias
    return y if thing.flag and thing.name() == "a" and type(thing).mode == "a" else -y


def test_instance_class_and_descriptors():
    for make in (Base, Derived):
        thing, value = make(), x()
        captured = Captured(uses_everything, value, thing)
        assert same(captured.run(), uses_everything(value, thing))
        assert captured.failing(value, thing) == []
        other = make()
        other.scale, other.bias = 7.0, torch.zeros(4)
        assert captured.failing(value, other) == []
        assert same(captured.run(value, other), uses_everything(value, other))


def changed(thing, name, value):
    setattr(thing, name, value)
    return thing


@pytest.mark.parametrize(
    ("change", "test"),
    [
        (lambda t: changed(t, "flag", False), "thing.flag is True"),
        (lambda t: changed(t, "scale", 2), "type(thing.scale) is float"),
        (lambda t: changed(t, "mode", "b"), None),
        (lambda t: changed(t, "method", lambda x: x), "'method' not in thing.__dict__"),
        (lambda t: changed(t, "half", lambda x: x), None),
        (lambda t: Derived(), "type(thing) is Base"),
    ],
)
def test_what_changes_an_answer_fails_a_guard(change, test):
    value = x()
    captured = Captured(uses_everything, value, Base())
    failing = captured.failing(value, change(Base()))
    if test is not None:
        assert any(test in f for f in failing)
    else:
        thing = change(Base())
        assert failing or same(captured.run(value, thing), uses_everything(value, thing))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", "b"),
        ("rate", 3),
        ("method", lambda self, x: x),
        ("double", property(lambda self: 1.0)),
        ("half", staticmethod(lambda x: x * 9)),
        ("name", classmethod(lambda cls: "z")),
    ],
)
def test_a_change_of_the_class_fails_a_guard(name, value, monkeypatch):
    argument, thing = x(), Base()
    captured = Captured(uses_everything, argument, thing)
    monkeypatch.setattr(Base, name, value)
    assert captured.failing(argument, thing) != []


def test_a_class_attribute_that_is_a_number_is_followed(monkeypatch):
    argument, thing = x(), Base()
    captured = Captured(uses_everything, argument, thing)
    monkeypatch.setattr(Base, "rate", 0.75)
    assert captured.failing(argument, thing) == []
    assert same(captured.run(), uses_everything(argument, thing))


@pytest.mark.parametrize(
    ("function", "thing"),
    [
        (lambda x, t: x * t.scale, Slotted()),
        (lambda x, t: x * t.scale, Options()),
        (lambda x, t: t.explicit(x), Derived()),
        (lambda x, t: x * t.RED.value if t.RED.name == "RED" else x, Colour),
        (lambda x, t: x * getattr(t, "missing", 3.0), Base()),
        (lambda x, t: x if hasattr(t, "missing") else -x, Base()),
        (lambda x, t: x * t.__class__.rate, Base()),
        (lambda x, t: x * len(t.__name__), Base.method),
        (lambda x, t: x * t.pi, __import__("math")),
        (lambda x, t: t.method(x) * t.width + t.bias, Mapped()),
        (lambda x, t: x * len(t.__dict__) + t.__dict__["scale"], Base()),
        (lambda x, t: x * t.__dict__.get("missing", 2.0), Mapped()),
    ],
)
def test_other_owners(function, thing):
    argument = x()
    assert same(Captured(function, argument, thing).run(), function(argument, thing))


def test_python_attribute_hooks_are_looked_into():
    thing = Fallback()
    thing.scale = 2.0
    captured = Captured(lambda x, t: x * t.other, x(), thing)
    thing.scale = 5.0
    argument = torch.ones(2, 2)
    assert captured.run(argument, thing).tolist() == [[5.0, 5.0]] * 2


def test_a_getattribute_of_python_code_is_looked_into(monkeypatch):
    def function(x, t):
        return x * t.width if hasattr(t, "scale") and not hasattr(t, "other") else x

    argument, thing = x(), Mapped()
    captured = Captured(function, argument, thing)
    thing.scale = 5.0
    assert captured.failing(argument, thing) == []
    assert same(captured.run(argument, thing), function(argument, thing))
    thing.other = 1
    assert "'other' not in t.__dict__" in captured.failing(argument, thing)
    del thing.other
    with monkeypatch.context() as m:
        m.setitem(Mapped.names, "other", "scale")
        assert captured.failing(argument, thing) != []
    monkeypatch.setattr(Mapped, "__getattribute__", lambda self, name: 1.0)
    assert captured.failing(argument, thing) != []


def test_an_attribute_that_appears_fails_a_guard():
    captured = Captured(lambda x, t: x if hasattr(t, "missing") else -x, x(), Base())
    later = Base()
    later.missing = 1
    assert captured.failing(x(), later) == ["not hasattr(t, 'missing')"]


def test_attributes_that_the_caller_gave_a_tensor():
    weight = torch.ones(4)
    weight.rate = 2.0
    captured = Captured(lambda x, w: x * w * getattr(w, "rate", 1.0), x(), weight)
    plain = Captured(lambda x, w: x * w * getattr(w, "rate", 1.0), x(), torch.ones(4))
    weight.rate = 3.0
    assert captured.run(torch.ones(2, 4), weight).tolist() == [[3.0] * 4] * 2
    assert plain.failing(x(), weight) == ["not hasattr(w, 'rate')"]
    with pytest.raises(AttributeError):
        Captured(lambda x: x.kind, x())


def test_a_cached_property_is_computed_through_the_capture():
    captured = Captured(lambda x, t: x * t.value, x(), Cached())
    assert captured.run(torch.ones(1, 1), Cached()).item() == 2.0


@pytest.mark.parametrize(
    ("function", "thing", "reason"),
    [
        (lambda x, t: x * t.__reduce__()[0], Cached(), "__reduce__"),
    ],
)
def test_owners_that_stop(function, thing, reason):
    with pytest.raises(Stop, match=reason):
        Captured(function, x(), thing)
