"""Ops given to PyTorch's own kernels, and the row for any torch function without a row of its own."""

from dataclasses import dataclass

from astjit.ops.rules import promoted
from astjit.ops.spec import Call, Field, FieldKind, Kind, Op, Operand, Rule
from astjit.types.shape import Dim, broadcast
from astjit.types.tensor import TensorType, Type


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of an operand in the template of a library call; prints as `$0`."""

    index: int


def _infer_matmul(call: Call) -> tuple[Type, ...]:
    a, b = call.tensor(0), call.tensor(1)
    if a.dtype != b.dtype:
        raise TypeError(f"expected operands of one dtype, got {a.dtype} and {b.dtype}")
    if not a.rank or not b.rank:
        raise ValueError("both arguments of matmul need at least one dim")
    inner = b.dims[-2] if b.rank > 1 else b.dims[0]
    if not call.sizes.equal(a.dims[-1], inner):
        raise ValueError(f"inner sizes {a.dims[-1]} and {inner} do not fit")
    batch = broadcast(call.sizes, a.dims[:-2], b.dims[:-2])
    rows: tuple[Dim, ...] = a.dims[-2:-1] if a.rank > 1 else ()
    cols: tuple[Dim, ...] = b.dims[-1:] if b.rank > 1 else ()
    return (TensorType(promoted(call), (*batch, *rows, *cols), device=a.device),)


def _infer_library(call: Call) -> tuple[Type, ...]:
    types = call.fields["types"]
    assert isinstance(types, tuple)
    return types


ROWS = (
    Op(
        name="matmul",
        kind=Kind.LIBRARY,
        rule=Rule(_infer_matmul, None, (("f32[3, 4]", "f32[4, 5]"), ("f32[2, 3, 4]", "f32[4]"))),
        operands=(Operand("input"), Operand("other")),
        torch=("torch.matmul", "Tensor.matmul", "Tensor.__matmul__"),
        signature="input, other, *, out=None",
        doc="matrix product",
    ),
    Op(
        name="library",
        kind=Kind.LIBRARY,
        rule=Rule(_infer_library),
        operands=(Operand("inputs", variadic=True),),
        fields=(
            Field("target", FieldKind.TEXT),  # dotted name, such as "torch.sort"
            Field("template", FieldKind.ANY, ()),  # (args, kwargs) with Slot(i) for operand i
            Field("types", FieldKind.TYPES, ()),  # result types, found on meta tensors (D13)
        ),
        results=None,
        doc="any torch function without a row",
    ),
)
