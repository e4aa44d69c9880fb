"""What a capture that ended says of the `if`s in it."""

import sys

import pytest

from astjit.frontend import branches
from astjit.frontend.branches import MOST, Branch, Branches, Either, Unbranched, is_single
from astjit.frontend.memory import Storage
from astjit.frontend.stops import Stop
from astjit.ir.value import Param
from astjit.types.dtype import F32
from astjit.types.shape import Sizes, Sym
from astjit.types.tensor import TensorType

SITE, OTHER = ("a.py", 3, 7), ("a.py", 5, 7)


def test_an_if_is_tried_once():
    known = Branches()
    assert known.settle(Branch(SITE), loops=False)
    assert known.inside("a.py") == {(3, 7)}
    assert known.inside("b.py") == set()
    assert not known.settle(Stop("a condition on the values of a tensor"), loops=False)


def test_what_ends_an_arm_ends_its_if():
    known = Branches({SITE: True, OTHER: True})
    known.open += [SITE, OTHER]
    assert known.settle(ValueError(), loops=False)
    assert known.taken == {SITE: True, OTHER: False}
    assert known.open == []


def test_a_later_doubt_names_its_if():
    known = Branches({SITE: True, OTHER: True})
    assert known.settle(Unbranched("written", SITE), loops=False)
    assert known.taken == {SITE: False, OTHER: True}


def test_other_ends():
    known = Branches({SITE: True})
    assert not known.settle(Stop("print() is an effect"), loops=False)
    assert not known.settle(ValueError(), loops=True)
    assert known.settle(ValueError(), loops=False)
    assert known.taken == {SITE: False}
    assert not known.settle(ValueError(), loops=False)


def test_memory_that_may_be_other_memory():
    kind = TensorType(F32, (4,))
    made, home, free = (Storage(Param(kind, name)) for name in "abc")
    either = Either()
    either.note(made, SITE, (home,))
    assert either.homes(made) == (home,)
    either.check(home, "is returned")
    either.check(free, "is written", others=True)
    for storage, others in ((made, False), (home, True)):
        with pytest.raises(Unbranched) as raised:
            either.check(storage, "is written", others=others)
        assert raised.value.site == SITE


def test_one_element():
    sizes = Sizes()
    assert is_single(TensorType(F32, ()), sizes)
    assert is_single(TensorType(F32, (1, 1)), sizes)
    assert not is_single(TensorType(F32, (1, 2)), sizes)
    assert not is_single(TensorType(F32, (Sym("n"),)), sizes)


def test_an_if_is_not_captured_over_and_over():
    known = Branches({SITE: True})
    known.met[SITE] = MOST - 1
    known.begin(SITE)
    with pytest.raises(Unbranched):
        known.begin(SITE)
    assert known.settle(Unbranched("so often", SITE), loops=False)
    assert known.taken == {SITE: False}


def test_many_ifs_are_all_left_to_python(monkeypatch):
    monkeypatch.setattr(branches, "user_frame", sys._getframe)
    known = Branches()
    for line in range(branches.MOST_TRIED):
        assert known.settle(Branch(("f.py", line, 4)), loops=False)
    assert all(known.taken.values())
    assert known.asked() is not None
    assert known.settle(Branch(("f.py", 99, 4)), loops=False)
    assert not any(known.taken.values())
    assert known.asked() is None
