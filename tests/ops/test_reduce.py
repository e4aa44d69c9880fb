"""Reductions: which rows combine what, empty dims, degrees of freedom."""

import math

import pytest
import torch

from astjit.codegen.pieces import pieces
from astjit.ops.reduce import COMBINES
from astjit.ops.spec import Call, Kind, Trait
from astjit.ops.table import OPS
from astjit.types.dtype import F32
from astjit.types.shape import Sizes, Sym
from astjit.types.tensor import TensorType
from tests.ops import rows

REDUCTIONS = [op for op in OPS.values() if op.kind is Kind.REDUCE]


@pytest.mark.parametrize("op", REDUCTIONS, ids=str)
def test_a_reduction_folds_with_its_combine(op):
    """Combining element by element with the named row gives the reduction."""
    combine = COMBINES[op.combine]
    x = torch.tensor([[0.5, -2.0, 3.0], [1.5, 0.0, -0.25]])
    if op.name in ("any", "all"):
        x = x > 1
    found = x[:, 0]
    for column in x.T[1:]:
        (found,) = rows.run(OPS[combine.op], [found, column], {})
    (wanted,) = rows.run(op, [x], {"dim": (1,)})
    assert torch.equal(found, wanted)


@pytest.mark.parametrize("combine", COMBINES.values(), ids=lambda c: c.name)
def test_a_combine_may_be_reordered(combine):
    assert Trait.COMMUTATIVE in OPS[combine.op].traits


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_nan_wins_in_extremes(name):
    x = torch.tensor([[1.0, math.nan, 2.0], [math.inf, -math.inf, 0.0]])
    (found,) = rows.run(OPS[name], [x], {"dim": (1,)})
    assert math.isnan(found[0])


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_an_extreme_of_nothing_is_refused(name):
    op = OPS[name]
    for size in (0, Sym("n", 0)):
        call = Call(
            (TensorType(F32, (4, size)),), {"dim": (1,), "keepdim": False}, Sizes(hints=True)
        )
        with pytest.raises(IndexError, match="no identity"):
            op.rule.infer(call)
    with pytest.raises(IndexError):
        torch.amax(torch.ones(4, 0), 1)


def test_capture_guards_that_a_reduced_size_is_not_0():
    sizes = Sizes(hints=True)
    call = Call((TensorType(F32, (4, Sym("n", 3))),), {"dim": (1,), "keepdim": False}, sizes)
    OPS["amax"].rule.infer(call)
    assert [str(fact) for fact in sizes.assumed] == ["n != 0"]
    # a pass knows no hints and asks nothing
    OPS["amax"].rule.infer(Call(call.types, call.fields, Sizes()))


@pytest.mark.parametrize("name", ["sum", "mean", "var", "prod", "amax"])
@pytest.mark.parametrize("dim", [(2,), (-3,), (0, 0), (0, -2)])
def test_axes_out_of_range_or_given_twice_are_refused(name, dim):
    op, x = OPS[name], torch.ones(3, 4)
    with pytest.raises((IndexError, ValueError)):
        rows.infer(op, [rows.type_of_tensor(x)], {"dim": dim})
    with pytest.raises((IndexError, RuntimeError, TypeError)):
        rows.run(op, [x], {"dim": dim})


@pytest.mark.filterwarnings("ignore:.*degrees of freedom:UserWarning")
@pytest.mark.parametrize("correction", [0, 1, 2, 7])
@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_degrees_of_freedom(name, correction):
    op = OPS[name]
    for count in (1, 2, 5):
        x = torch.randn(3, count, dtype=torch.float64)
        emit = rows.TorchEmitter()
        made = op.expand(emit, emit.value(x), dim=(1,), correction=correction, keepdim=False)
        wanted = rows.run(op, [x], {"dim": (1,), "correction": correction})
        for a, b in zip(rows.tensors(made), wanted, strict=True):
            torch.testing.assert_close(a, b, equal_nan=True)


def test_the_count_of_a_mean_is_a_size():
    emit = rows.TorchEmitter()
    OPS["mean"].expand(emit, emit.value(torch.ones(3, 4)), dim=(1,), keepdim=False, dtype=None)
    assert emit.names == ["sum", "size", "div"]


@pytest.mark.parametrize("combine", COMBINES.values(), ids=lambda c: c.name)
def test_combines_of_vectors_are_those_that_the_cpu_helper_can_run(combine):
    """`reduce` of templates/cpu/helpers needs `chains`; the others go element by element."""
    found = [p.text for p in pieces("cpu").values() if f"struct {combine.struct} {{" in p.text]
    assert len(found) == 1
    declared = found[0].split(f"struct {combine.struct} {{")[1].split("};")[0]
    assert ("chains" in declared) == combine.vectors
