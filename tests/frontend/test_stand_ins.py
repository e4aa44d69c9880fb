"""Stand-ins: C code runs the Python code of objects through the capture, with guards."""

import torch

from astjit.frontend.stand_ins import StandIns, all_stood_for, stood_for
from tests.frontend.replay import Captured

BY = 2.0


class Scaled:
    def __init__(self, k):
        self.k = k

    def __mul__(self, t):
        return t * (self.k * BY)

    def __lt__(self, other):
        return self.k * BY < other.k * BY

    def __eq__(self, other):
        return isinstance(other, Scaled) and self.k == other.k


class More(Scaled):
    def __hash__(self):
        return hash(self.k)


class Caller:
    def __init__(self):
        self.called = []

    def call(self, function, *args, **kwargs):
        self.called.append(function)
        return function(*args, **kwargs)

    def bound(self, function, owner):
        return function.__get__(owner)


def test_classes_are_mirrored_and_methods_called_through_the_caller():
    caller = Caller()
    made = StandIns(caller)
    one, other = Scaled(1), Scaled(2)
    assert made.of(one) is made.of(one)
    assert (made.of(one) < made.of(other)) is True
    assert [m.__func__ for m in caller.called] == [Scaled.__lt__]
    assert type(made.of(one)).__name__ == "Scaled"
    assert type(made.of(one)).__hash__ is None
    assert hash(made.of(More(3))) == hash(3)
    assert isinstance(made.of(More(3)), type(made.of(one)))


def test_results_hold_the_objects_themselves():
    made, one = StandIns(Caller()), Scaled(1)
    held = made.of(one)
    assert stood_for(held) is one
    assert all_stood_for([held, (held, 1), {"a": held}]) == [one, (one, 1), {"a": one}]
    plain = [1, [2]]
    assert all_stood_for(plain) is plain


def test_a_global_that_an_operator_reads_is_followed(monkeypatch):
    captured = Captured(lambda x: Scaled(3.0) * x, torch.ones(1, 2))
    monkeypatch.setitem(globals(), "BY", 5.0)
    assert captured.run(torch.ones(1, 2)).tolist() == [[15.0, 15.0]]


def test_what_a_comparison_inside_sorted_reads_is_guarded(monkeypatch):
    def function(x, v):
        return x * sorted(v)[0].k

    objects = [Scaled(2.0), Scaled(1.0)]
    captured = Captured(function, torch.ones(1, 2), objects)
    assert captured.run(torch.ones(1, 2), objects).tolist() == [[1.0, 1.0]]
    objects[1].k = 7.0
    assert captured.failing(torch.ones(1, 2), objects) != []
