import itertools

import pytest
import torch

from astjit.types import dtype as dt

NUMBERS = {dt.Category.BOOL: True, dt.Category.INTEGER: 3, dt.Category.FLOAT: 2.5}


def tensor(dtype, dims):
    return torch.ones(dims, dtype=getattr(torch, dtype.torch))


def torch_name(result):
    return str(result).removeprefix("torch.")


@pytest.mark.parametrize(("left", "right"), list(itertools.product([(2,), ()], repeat=2)))
def test_promote_two_tensors_is_result_type(left, right):
    for a, b in itertools.product(dt.DTYPES, repeat=2):
        dims = tuple(t for t, d in ((a, left), (b, right)) if d)
        zero = tuple(t for t, d in ((a, left), (b, right)) if not d)
        wanted = torch.result_type(tensor(a, left), tensor(b, right))
        assert dt.promote(dims, zero).torch == torch_name(wanted), (a, left, b, right)


@pytest.mark.parametrize("dims", [(2,), ()])
@pytest.mark.parametrize("category", list(dt.Category))
def test_promote_tensor_and_number_is_result_type(dims, category):
    for a in dt.DTYPES:
        own = ((a,), ()) if dims else ((), (a,))
        wanted = torch.result_type(tensor(a, dims), NUMBERS[category])
        assert dt.promote(*own, weak=(category,)).torch == torch_name(wanted), a


def test_promote_three_operands_is_the_type_of_their_sum():
    for a, b, c in itertools.product(dt.DTYPES, repeat=3):
        wanted = torch.result_type(tensor(a, (2,)) + tensor(b, (2,)), tensor(c, (2,)))
        assert dt.promote((a, b, c)).torch == torch_name(wanted), (a, b, c)


@pytest.mark.parametrize("default", [dt.F32, dt.F64, dt.BF16])
def test_a_float_number_makes_an_integer_the_default_float(default):
    assert dt.promote((dt.I64,), weak=(dt.Category.FLOAT,), default=default) is default
    assert dt.promote((dt.F16,), weak=(dt.Category.FLOAT,), default=default) is dt.F16


def test_promote_needs_an_operand():
    with pytest.raises(ValueError, match="at least one operand"):
        dt.promote(())


@pytest.mark.parametrize("dtype", dt.DTYPES, ids=str)
def test_facts_are_torch_s(dtype):
    own = getattr(torch, dtype.torch)
    assert dtype.itemsize == own.itemsize
    assert dtype.is_float == own.is_floating_point
    assert dtype.signed == own.is_signed
    assert dt.BY_NAME[str(dtype)] is dt.BY_TORCH[dtype.torch] is dtype


def test_halves_compute_in_f32():
    assert [d.name for d in dt.DTYPES if d.is_half] == ["f16", "bf16"]
    assert [d.compute.name for d in (dt.F16, dt.BF16, dt.F32, dt.F64, dt.I8)] == [
        "f32",
        "f32",
        "f32",
        "f64",
        "i8",
    ]
