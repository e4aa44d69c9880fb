import functools
import warnings

import pytest
import torch

from astjit.frontend.marks import disable
from astjit.frontend.stops import Stop
from astjit.location import Location
from astjit.runtime.splits import MOST_ALIKE, Family, Split, may_be_compiled

X = torch.ones(3)


class Dispatcher:
    is_useful = False


class Part:
    """Stands for a compiled function: it counts its calls."""

    def __init__(self, function, split):
        self.function, self.split, self.calls = function, split, 0
        self.dispatcher = Dispatcher()

    def call(self, *args):
        self.calls += 1
        return self.function(*args)


def halves(x):
    a = x * 2
    b = a + 1
    print(end="")
    return b * a


def helper(x):
    y = x + 1
    print(end="")
    return y


class Layer(torch.nn.Module):
    def forward(self, x):
        return x * 2


def split_of(function):
    family = Family(Part)
    return family.split_of(function)


def stopped_at(line, column=None):
    stop = Stop("it is noted")
    stop.own = Location(__file__, line, column)
    return stop


def line_of(function, offset):
    return function.__code__.co_firstlineno + offset


def test_a_stop_marks_its_statement_and_cuts_there():
    split = split_of(halves)
    assert split.runner() is None
    assert split.stopped(stopped_at(line_of(halves, 3)))
    state = split.marks.state()
    assert split.stopped(stopped_at(line_of(halves, 3)))  # nothing new, and still cut
    assert split.marks.state() == state
    run = split.runner()
    assert torch.equal(run(X), halves(X))
    assert [part.calls for part in split.parts.values()] == [1, 1]
    assert split.runner() is run
    assert not split.only  # calls of the whole may be captured whole again


def test_parts_live_on_where_another_is_cut():
    split = split_of(halves)
    split.stopped(stopped_at(line_of(halves, 3)))
    split.runner()(X)
    first, second = split.parts.values()
    assert first.split.stopped(stopped_at(line_of(halves, 1)))
    assert first.split.only
    run = split.runner()
    assert torch.equal(run(X), halves(X))
    assert second.calls == 2  # the same one
    assert len(split.parts) == 3  # and one for `b = a + 1`
    assert torch.equal(first.split.runner()(X)[0], X * 2 + 0)


def test_a_stop_without_a_place_is_found_by_halves():
    split = split_of(halves)
    assert split.stopped(Stop("somewhere"))
    split.runner()(X)
    assert len(split.parts) == 2
    for _ in range(4):
        for part in list(split.parts.values()):
            part.split.stopped(Stop("somewhere"))
        assert torch.equal((split.runner() or halves)(X), halves(X))
    assert split.runner() is not None  # `print` may be called compiled
    assert {line for line, _ in split.marks.python} == {line_of(halves, n) for n in range(1, 5)}


def test_what_is_about_the_whole_or_cannot_be_cut_is_left():
    split = split_of(halves)
    assert not split.stopped(Stop("marked", whole=True))
    assert not split_of(lambda x: x).stopped(Stop("somewhere"))
    space = {}
    exec("def unseen(x):\n    return x", space)
    assert not split_of(space["unseen"]).stopped(Stop("somewhere"))


def test_segments_without_tensors_are_left_to_python():
    split = split_of(halves)
    split.stopped(stopped_at(line_of(halves, 3)))
    split.runner()(X)
    first, _ = split.parts.values()
    first.split.worthless()
    split.runner()(X)
    assert first.calls == 1


def test_callees_are_the_users_functions_methods_and_modules():
    family = Family(Part)
    for library in (print, functools.reduce, torch.relu, torch.nn.functional.gelu, warnings.warn):
        assert family.callee(library) is library
    compiled = family.callee(helper)
    assert compiled == family.callee(helper)
    assert compiled.__self__.function is helper
    layer = Layer()
    bound = family.callee(layer)
    assert bound.__self__ is layer
    assert torch.equal(bound(X), X * 2)
    layer.register_forward_hook(lambda m, args, y: y + 1)
    assert family.callee(layer) is layer
    family.leave(helper)
    assert family.callee(helper) is helper
    assert not may_be_compiled(disable(helper))


def test_functions_made_again_and_again_are_not_compiled_for_ever():
    family = Family(Part)

    def made(k):
        return lambda x: x + k

    found = [made(k) for k in range(MOST_ALIKE + 3)]
    assert sum(family.callee(each) is not each for each in found) == MOST_ALIKE


def test_clearing_forgets_marks_and_callees():
    split = split_of(halves)
    split.stopped(stopped_at(line_of(halves, 3)))
    split.family.callee(helper)
    split.clear()
    assert split.runner() is None
    assert (split.parts, split.family.members) == ({}, {})
    assert isinstance(split, Split)


@pytest.mark.parametrize(("offset", "column"), [(1, 8), (1, None), (3, 4)])
def test_the_place_of_a_stop_finds_its_statement(offset, column):
    split = split_of(halves)
    split.stopped(stopped_at(line_of(halves, offset), column))
    ((line, _),) = split.marks.python
    assert line == line_of(halves, offset)
