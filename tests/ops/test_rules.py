"""Type rules: promotion with numbers and 0-d tensors, what is computed in which dtype."""

import itertools

import pytest
import torch

from astjit.ops import rules
from astjit.ops.spec import Call
from astjit.types.dtype import BF16, BOOL, DTYPES, F16, F32, F64, I32, I64, U8
from astjit.types.shape import Sizes
from astjit.types.tensor import PY_BOOL, PY_FLOAT, PY_INT, TensorType

NUMBERS = {PY_BOOL: True, PY_INT: 2, PY_FLOAT: 2.5}


def call(*kinds, **fields):
    return Call(kinds, fields, Sizes())


def tensor(dtype, *dims):
    return TensorType(dtype, dims)


def real(kind):
    if kind in NUMBERS:
        return NUMBERS[kind]
    return torch.ones(kind.dims, dtype=getattr(torch, kind.dtype.torch))


def test_promotion_is_that_of_torch_for_every_pair():
    kinds = [tensor(d, *dims) for d in DTYPES for dims in ((3,), ())] + list(NUMBERS)
    for a, b in itertools.product(kinds, repeat=2):
        if a in NUMBERS and b in NUMBERS:
            continue
        wanted = torch.result_type(real(a), real(b))
        assert f"torch.{rules.promoted(call(a, b)).torch}" == str(wanted), (str(a), str(b))


def test_integers_become_the_default_float():
    assert rules.float_of(call(tensor(I64, 3))) is F32
    assert rules.float_of(Call((tensor(I64, 3),), {}, Sizes(), F64)) is F64
    assert rules.float_of(call(tensor(F16, 3), PY_FLOAT)) is F16


@pytest.mark.parametrize(
    ("rule", "kinds", "result", "computes"),
    [
        (rules.PROMOTE, (tensor(BF16, 3), PY_FLOAT), BF16, (F32, F32)),
        (rules.PROMOTE, (tensor(F16, 3), tensor(BF16, 3)), F32, (F32, F32)),
        (rules.PROMOTE, (tensor(I32, 3), PY_FLOAT), F32, (F32, F32)),
        (rules.PROMOTE, (tensor(F64, 3), tensor(F32, 3)), F64, (F64, F64)),
        (rules.FLOAT, (tensor(I64, 3), tensor(U8, 3)), F32, (F32, F32)),
        (rules.FLOAT_ONE, (tensor(BOOL, 3),), F32, (F32,)),
        (rules.COMPARE, (tensor(BF16, 3), PY_INT), BOOL, (F32, F32)),
        (rules.LOGICAL, (tensor(BF16, 3), tensor(I32, 3)), BOOL, (BOOL, BOOL)),
        (rules.CLASSIFY, (tensor(I32, 3),), BOOL, (F32,)),
        (rules.WHERE, (tensor(BOOL, 3), tensor(F16, 3), PY_FLOAT), F16, (BOOL, F32, F32)),
        (rules.BITWISE, (tensor(U8, 3), tensor(I32, 3)), I32, (I32, I32)),
    ],
)
def test_result_and_arithmetic(rule, kinds, result, computes):
    (made,) = rule.infer(call(*kinds))
    assert (made.dtype, made.dims) == (result, (3,))
    assert rule.computes(call(*kinds)) == computes


def test_numbers_alone_give_a_number():
    assert rules.PROMOTE.infer(call(PY_INT, PY_FLOAT)) == (PY_FLOAT,)
    assert rules.PROMOTE.infer(call(PY_BOOL, PY_BOOL)) == (PY_INT,)  # True + True is 2
    assert rules.FLOAT.infer(call(PY_INT, PY_INT)) == (PY_FLOAT,)
    assert rules.COMPARE.infer(call(PY_INT, PY_FLOAT)) == (PY_BOOL,)
    assert rules.BITWISE.infer(call(PY_BOOL, PY_BOOL)) == (PY_BOOL,)
    assert rules.WHERE.infer(call(PY_BOOL, PY_INT, PY_FLOAT)) == (PY_FLOAT,)


@pytest.mark.parametrize(
    ("rule", "kinds"),
    [
        (rules.NUMERIC, (tensor(BOOL, 3), tensor(BOOL, 3))),
        (rules.NUMERIC_ONE, (tensor(BOOL, 3),)),
        (rules.BITWISE, (tensor(F32, 3), tensor(I32, 3))),
        (rules.FLOATING, (tensor(I32, 3), tensor(I32, 3))),
        (rules.WHERE, (tensor(F32, 3), tensor(F32, 3), tensor(F32, 3))),
    ],
)
def test_dtypes_that_a_rule_does_not_take(rule, kinds):
    with pytest.raises(TypeError):
        rule.infer(call(*kinds))


def test_sizes_that_do_not_broadcast_are_refused():
    with pytest.raises(ValueError, match=r"\[3\] and \[4\]"):
        rules.PROMOTE.infer(call(tensor(F32, 3), tensor(F32, 4)))


def test_axes_are_counted_from_0_and_sorted():
    assert rules.normal_axes(None, 3) == (0, 1, 2)
    assert rules.normal_axes((), 2) == (0, 1)
    assert rules.normal_axes((-1, 0), 3) == (0, 2)
    assert rules.normal_axes((0,), 0) == ()
    assert rules.normal_axis(-1, 3) == 2
    with pytest.raises(IndexError, match=r"expected \[-3, 2\], got 3"):
        rules.normal_axis(3, 3)
    with pytest.raises(ValueError, match="twice"):
        rules.normal_axes((0, -3), 3)


def test_a_reduction_of_integers_is_int64_and_of_halves_a_half():
    fields = {"dim": None, "keepdim": False, "dtype": None}
    for dtype, wanted in ((BOOL, I64), (U8, I64), (I32, I64), (BF16, BF16), (F64, F64)):
        (made,) = rules.SUM.infer(call(tensor(dtype, 3, 4), **fields))
        assert (made.dtype, made.dims) == (wanted, ())
    with pytest.raises(TypeError, match="floating"):
        rules.MEAN.infer(call(tensor(I64, 3), **fields))
