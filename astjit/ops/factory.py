"""Rows that make a tensor from sizes and numbers."""

from collections.abc import Callable

from astjit.ops.held import held
from astjit.ops.spec import (
    Call,
    Emitter,
    Field,
    FieldKind,
    Kind,
    Op,
    Operand,
    Ref,
    Rule,
    Spelling,
    tensor_of,
)
from astjit.types.dtype import BOOL, I64, Category, DType
from astjit.types.tensor import ScalarType, TensorType, Type

X = (Operand("input"),)


def _infer_full(call: Call) -> tuple[Type, ...]:
    value, dtype = call.types[0], call.dtype("dtype")
    if not isinstance(value, ScalarType):
        raise TypeError(f"the fill value must be a Python number, not {value}")
    if dtype is None:
        dtype = {Category.BOOL: BOOL, Category.INTEGER: I64}.get(value.category, call.default)
    return (TensorType(dtype, call.dims("size"), device=str(call.fields["device"])),)


def _compute_full(call: Call) -> tuple[DType, ...]:
    (kind,) = _infer_full(call)
    assert isinstance(kind, TensorType)
    return (kind.dtype.compute,)


def _full_like(emit: Emitter, x: Ref, value: float | Ref, *, dtype: DType | None) -> object:
    kind = tensor_of(x)
    if not kind.is_contiguous or not held(value, dtype or kind.dtype):
        return NotImplemented
    return emit.emit("full", value, size=kind.dims, dtype=dtype or kind.dtype, device=kind.device)


def _filled_like(value: int) -> Callable[..., object]:
    def build(emit: Emitter, x: Ref, *, dtype: DType | None) -> object:
        return _full_like(emit, x, value, dtype=dtype)

    return build


DTYPE = Field("dtype", FieldKind.DTYPE, None)
PLAIN = "layout=None, device=None, requires_grad=False, pin_memory=False"
LIKE = f"*, dtype=None, {PLAIN}, memory_format=None".replace(", pin_memory=False", "")

ROWS = (
    Op(
        name="full",
        kind=Kind.FACTORY,
        rule=Rule(_infer_full, _compute_full, (("float",), ("int",), ("bool",))),
        operands=(Operand("fill_value"),),
        fields=(
            Field("size", FieldKind.SIZES),
            DTYPE,
            Field("device", FieldKind.TEXT, "cpu"),
        ),
        host="torch.full({size}, {0}, dtype={dtype}, device={device})",
        doc="a dense tensor with one value everywhere",
    ),
)

SPELLINGS = (
    Spelling(
        torch=("torch.full_like",),
        signature=f"input, fill_value, {LIKE}",
        build=_full_like,
        operands=(*X, Operand("fill_value")),
        fields=(DTYPE,),
    ),
    *(
        Spelling(
            torch=(f"torch.{name}_like",),
            signature=f"input, {LIKE}",
            build=_filled_like(value),
            fields=(DTYPE,),
        )
        for name, value in (("zeros", 0), ("ones", 1))
    ),
)
