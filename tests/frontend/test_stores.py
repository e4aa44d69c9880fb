"""Where a store to an attribute goes, and what is guarded for it."""

import threading
import types

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured


class Box:
    kind = 1

    def __init__(self, **held):
        vars(self).update(held)


class Doubling:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        return instance.__dict__[self.name]

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value * 2


class Described:
    h = Doubling()

    def __init__(self):
        self.h = 1


def stores(function, owner):
    """The stores of a call, each as one text."""
    captured = Captured(function, owner, torch.ones(2))
    return captured, [f"{s.how} {s.owner}{s.place}" for s in captured.reads.stores]


def sets(o, x):
    o.h = x + 1
    return o.h


def test_a_plain_store():
    owner = Box()
    captured, found = stores(sets, owner)
    assert found == ["set o.h"]
    assert vars(owner) == {}
    assert any("hasattr" in test and "'h'" in test for test in captured.tests)


def test_a_counter_is_arithmetic_and_pinned_stops():
    def counts(o, x):
        o.n += 1
        return x

    captured, found = stores(counts, Box(n=3))
    assert found == ["set o.n"]
    assert captured.reads.stores[0].value.text == "(o.n + 1)"
    assert "type(o.n) is int" in captured.tests

    def needed(o, x):
        o.n += 1
        return x + {4: 1, 5: 2}[o.n]

    with pytest.raises(Stop, match=r"o\.n is a counter"):
        stores(needed, Box(n=3))

    def asked(o, x):
        o.n += 1
        return x if o.n > 2 else -x

    assert stores(asked, Box(n=3))[1] == ["set o.n"]


def test_descriptors_written_in_python():
    def function(o, x):
        o.h = x
        return o.h

    assert stores(function, Described())[1] == ["set o.__dict__['h']"] or stores(
        function, Described()
    )[1] == ["set o.h"]


def test_what_is_not_simply_stored_stops():
    def dunder(o, x):
        o.__doc__ = x

    def class_attribute(o, x):
        Box.kind = x

    def of_function(o, x):
        sets.calls = x

    def of_tensor(o, x):
        x.tag = 1

    for function, reason in [
        (dunder, "a store to Box.__doc__"),
        (class_attribute, "a store to Box.kind"),
        (of_function, "a store to sets.calls"),
        (of_tensor, r"a store to a tensor \(.tag = ...\)"),
    ]:
        with pytest.raises(Stop, match=reason):
            stores(function, Box())
    with pytest.raises(Stop, match=r"a store to o\.h, a _?local"):
        stores(sets, threading.local())
    with pytest.raises(AttributeError, match="'object' object has no attribute 'h'"):
        stores(sets, object())


def test_modules_store_buffers_and_plain_attributes():
    norm = torch.nn.Linear(2, 2)
    norm.register_buffer("mean", torch.zeros(2))

    def function(o, x):
        o.mean = o.mean + x
        o.h = o.mean * 2
        return o.h

    _, found = stores(function, norm)
    assert sorted(found) == ["set o._buffers['mean']", "set o.h"]
    assert not hasattr(norm, "h")

    def weight(o, x):
        o.weight = None

    with pytest.raises(Stop, match="a parameter or module, is replaced"):
        stores(weight, norm)


def test_objects_that_are_written_are_no_others():
    def function(o, x):
        o.a.h = x
        return o.b.h

    captured, _ = stores(function, Box(a=Box(h=1), b=Box(h=2), c=types.SimpleNamespace()))
    (test,) = [t for t in captured.tests if t.startswith("apart")]
    assert test in ("apart((o.a,), (o, o.b, ))", "apart((o.a,), (o, o.b,))")
    one = Box(h=1)
    assert test in captured.failing(Box(a=one, b=one), torch.ones(2))
