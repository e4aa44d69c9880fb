"""Rows whose values at the edges matter: NaN, halves between integers, zeros, division by zero."""

import math

import pytest
import torch

from astjit.ops.spec import Trait
from astjit.ops.table import OPS
from tests.ops import rows

EDGES = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1e30, math.inf, -math.inf, math.nan]


def same(found, wanted):
    wanted = torch.tensor(wanted, dtype=found.dtype)
    torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)
    zero = (found == 0) & (wanted == 0)
    if found.dtype.is_floating_point:
        assert torch.equal(found[zero].signbit(), wanted[zero].signbit())


@pytest.mark.parametrize(
    "name",
    ["floor", "ceil", "trunc", "round", "neg", "abs", "reciprocal", "isnan", "isinf", "isfinite",
     "logical_not"],
)  # fmt: skip
def test_one_operand_at_the_edges(name):
    op = OPS[name]
    (found,) = rows.run(op, [torch.tensor(EDGES, dtype=torch.float64)], {})
    same(found, [op.evaluate(v) for v in EDGES])


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "div", "maximum", "minimum", "lt", "le", "gt", "ge", "eq", "ne"]
)
def test_two_operands_at_the_edges(name):
    op = OPS[name]
    x = torch.tensor(EDGES, dtype=torch.float64)
    a, b = x.repeat_interleave(len(x)), x.repeat(len(x))
    if name in ("maximum", "minimum"):  # of 0.0 and -0.0 either may win
        keep = ~((a == 0) & (b == 0))
        a, b = a[keep], b[keep]
    (found,) = rows.run(op, [a, b], {})
    same(found, [op.evaluate(p, q) for p, q in zip(a.tolist(), b.tolist(), strict=True)])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "remainder", "pow", "lt", "eq"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_numbers_beside_halves_are_rounded_first_unless_the_row_says_wide(name, dtype):
    """What eager does on the CPU, for every 16-bit value."""
    op = OPS[name]
    x = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype)
    x = x[torch.isfinite(x)] if name != "pow" else x[x > 0]
    number = 0.1 if dtype is torch.float16 else 1 / 3
    (found,) = rows.run(op, [x, number], {})
    for wide in (True, False):
        other = torch.tensor(number)
        other = other if wide else other.to(dtype).float()
        (whole,) = rows.run(op, [x.float(), other], {})
        equal = (whole.to(found.dtype) == found) | (found != found)
        if wide == op.wide_numbers:
            assert bool(equal.all())
        elif name in ("add", "sub", "mul", "div"):
            assert not bool(equal.all())


def test_only_exact_rows_may_be_folded():
    exact = {op.name for op in OPS.values() if Trait.EXACT in op.traits and op.max_ulp}
    assert exact == set()
    assert Trait.EXACT not in OPS["exp"].traits
    assert Trait.EXACT in OPS["div"].traits


def test_division_of_python_numbers_by_zero():
    divide = OPS["div"].evaluate
    assert divide(1.0, 0.0) == math.inf
    assert divide(1.0, -0.0) == -math.inf
    assert math.isnan(divide(0.0, 0.0))
    assert math.isnan(divide(math.nan, 0.0))
