"""Tensors of sizes and numbers, and triangles of tensors: kernels compute them where they are read.

torch.ones(n, n).tril()   =>  where(j <= i, 1.0, 0.0) at (i, j), in the kernel that reads it
"""

from collections.abc import Callable, Sequence

from astjit.ops.gather import unsqueezed
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
    both,
    tensor_of,
)
from astjit.types.dtype import BOOL, F32, F64, I32, I64, Category, DType
from astjit.types.shape import Dim, sub
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


def _value(number: int, dtype: DType | None) -> float:
    """0 or 1 as a number of a dtype, None being the default float."""
    if dtype is None or dtype.is_float:
        return float(number)
    return bool(number) if dtype is BOOL else number


def _place(device: str | None) -> str | None:
    """A device as types name it; None where only PyTorch knows which it is."""
    if device is None or device == "cpu":
        return "cpu"
    return device if ":" in device else None


def _filled(number: int) -> Callable[..., object]:
    def build(
        emit: Emitter, *, size: tuple[Dim, ...], dtype: DType | None, device: str | None
    ) -> object:
        where = _place(device)
        if where is None:
            return NotImplemented
        return emit.emit("full", _value(number, dtype), size=size, dtype=dtype, device=where)

    return build


def _full(
    emit: Emitter,
    value: float | Ref,
    *,
    size: tuple[Dim, ...],
    dtype: DType | None,
    device: str | None,
) -> object:
    where = _place(device)
    if where is None or (dtype is not None and not held(value, dtype)):
        return NotImplemented
    return emit.emit("full", value, size=size, dtype=dtype, device=where)


def _new(number: int) -> Callable[..., object]:
    def build(emit: Emitter, x: Ref, *, size: tuple[Dim, ...], dtype: DType | None) -> object:
        wanted = dtype or tensor_of(x).dtype
        device = tensor_of(x).device
        return emit.emit("full", _value(number, wanted), size=size, dtype=wanted, device=device)

    return build


def _arange(
    emit: Emitter, *, end: Dim, dtype: DType | None, device: str | None, start: Dim = 0
) -> object:
    """Integers with a step of 1."""
    where = _place(device)
    if where is None or dtype not in (None, I64, I32, F32, F64):
        return NotImplemented
    if not emit.sizes.holds("<=", start, end):
        return NotImplemented  # an error of eager's
    made = emit.emit("iota", size=sub(end, start), device=where)
    if start != 0:
        made = emit.emit("add", made, emit.emit("size", value=start))
    return made if dtype in (None, I64) else emit.emit("to", made, dtype=dtype)


def _eye(
    emit: Emitter, *, n: Dim, dtype: DType | None, device: str | None, m: Dim | None = None
) -> object:
    where = _place(device)
    if where is None:
        return NotImplemented
    rows = emit.emit("unsqueeze", emit.emit("iota", size=n, device=where), dim=-1)
    columns = emit.emit("iota", size=n if m is None else m, device=where)
    equal = emit.emit("eq", rows, columns)
    if dtype is BOOL:
        return equal
    made = emit.emit("where", equal, 1.0, 0.0)
    return made if dtype is None else emit.emit("to", made, dtype=dtype)


# -- triangles ------------------------------------------------------------------------------------
def _infer_triangle(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    if source.rank < 2:
        raise ValueError("input tensor must have at least 2 dimensions")
    return (source.with_(dims=source.dims),)


def _triangle(*, lower: bool) -> Callable[..., Sequence[Ref]]:
    def expand(emit: Emitter, x: Ref, *, diagonal: int) -> Sequence[Ref]:
        kind = tensor_of(x)
        row = emit.emit("iota", size=kind.dims[-2], device=kind.device)
        column = emit.emit("iota", size=kind.dims[-1], device=kind.device)
        row = unsqueezed(emit, row, 0, 1)
        if diagonal:
            row = emit.emit("add", row, diagonal)
        inside = emit.emit("le" if lower else "ge", column, row)
        made = emit.emit("where", inside, x, _value(0, kind.dtype))
        return (made if tensor_of(made).is_contiguous else emit.emit("contiguous", made),)

    return expand


DTYPE = Field("dtype", FieldKind.DTYPE, None)
DEVICE = Field("device", FieldKind.TEXT, None)
SIZE = Field("size", FieldKind.SIZES)
MADE = "*, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False"
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
    *(
        Op(
            name=name,
            kind=Kind.COMPOSITE,
            rule=Rule(_infer_triangle, None, (("f32[3, 4]",), ("bool[2, 3, 3]",), ("i32[4, 2]",))),
            operands=X,
            fields=(Field("diagonal", FieldKind.INT, 0),),
            torch=both(name),
            signature="input, diagonal=0, *, out=None",
            expand=_triangle(lower=name == "tril"),
            doc=f"the elements {side} the diagonal, 0 elsewhere",
        )
        for name, side in (("tril", "on and below"), ("triu", "on and above"))
    ),
)

SPELLINGS = (
    *(
        Spelling(
            torch=(f"torch.{name}",),
            signature=f"*size, {MADE[3:]}",
            build=_filled(number),
            operands=(),
            fields=(SIZE, DTYPE, DEVICE),
        )
        for name, number in (("zeros", 0), ("ones", 1))
    ),
    *(
        Spelling(
            torch=(f"Tensor.new_{name}",),
            signature=f"input, *size, {MADE[3:]}",
            build=_new(number),
            fields=(SIZE, DTYPE),
        )
        for name, number in (("zeros", 0), ("ones", 1))
    ),
    Spelling(
        torch=("torch.full",),
        signature=f"size, fill_value, {MADE}",
        build=_full,
        operands=(Operand("fill_value"),),
        fields=(SIZE, DTYPE, DEVICE),
    ),
    Spelling(
        torch=("torch.arange",),
        signature=f"end, {MADE}",
        build=_arange,
        operands=(),
        fields=(Field("end", FieldKind.SIZE), DTYPE, DEVICE),
    ),
    Spelling(
        torch=("torch.arange",),
        signature=f"start, end, step=1, {MADE}",
        build=_arange,
        operands=(),
        fields=(Field("start", FieldKind.SIZE), Field("end", FieldKind.SIZE), DTYPE, DEVICE),
    ),
    Spelling(
        torch=("torch.eye",),
        signature=f"n, {MADE}",
        build=_eye,
        operands=(),
        fields=(Field("n", FieldKind.SIZE), DTYPE, DEVICE),
    ),
    Spelling(
        torch=("torch.eye",),
        signature=f"n, m, {MADE}",
        build=_eye,
        operands=(),
        fields=(Field("n", FieldKind.SIZE), Field("m", FieldKind.SIZE), DTYPE, DEVICE),
    ),
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
