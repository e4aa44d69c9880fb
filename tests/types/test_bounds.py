"""What the form of a size says holds for all values of its symbols."""

import itertools

from astjit.types import shape as algebra
from astjit.types.bounds import never_negative, never_one
from astjit.types.shape import Sym

A, B, C = Sym("a"), Sym("b"), Sym("c")
HALF = algebra.floordiv(A, 2)
SIZES = [dict(zip("abc", v, strict=True)) for v in itertools.product((0, 2, 3, 4), repeat=3)]


def values(dim):
    return {algebra.evaluate(dim, sizes) for sizes in SIZES}


def test_what_is_never_one():
    never = [A, algebra.mul(A, B), algebra.add(A, B), algebra.add(A, 2), algebra.mul(2, HALF), 0]
    never += [algebra.minimum(A, B), algebra.maximum(A, algebra.mul(B, C)), algebra.mul(A, HALF)]
    assert [str(dim) for dim in never if not never_one(dim) or 1 in values(dim)] == []
    maybe = [HALF, algebra.add(A, 1), algebra.sub(A, 1), algebra.minimum(A, 1), algebra.mod(A, 2)]
    maybe += [1, algebra.sub(A, B), algebra.mul(HALF, HALF)]
    assert [str(dim) for dim in maybe if never_one(dim) or 1 not in values(dim)] == []


def test_what_is_never_negative():
    never = [A, 3, HALF, algebra.mul(A, B), algebra.add(A, 1), algebra.mod(algebra.sub(A, 9), 2)]
    assert [str(dim) for dim in never if not never_negative(dim) or min(values(dim)) < 0] == []
    maybe = [-1, algebra.sub(A, 1), algebra.mul(-2, B), algebra.minimum(A, algebra.sub(B, 1))]
    assert [str(dim) for dim in maybe if never_negative(dim) or min(values(dim)) >= 0] == []
