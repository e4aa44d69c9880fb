"""Torch's names for reductions, casts, selection and norms that are arrangements of rows, exactly.

x.max()  =>  amax(x)        x.float()  =>  to(x, f32)        x.std(1, False)  =>  std(x, ...)
"""

from collections.abc import Callable, Sequence

from astjit.ops.arithmetic import pair
from astjit.ops.held import held, includes
from astjit.ops.scaled import brought, common_dtype
from astjit.ops.spec import (
    Emitter,
    Field,
    FieldKind,
    Operand,
    Ref,
    Spelling,
    both,
    is_tensor,
    tensor_of,
    type_of,
)
from astjit.types.dtype import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    DType,
)
from astjit.types.tensor import ScalarType, TensorType

Number = Ref | float
Maybe = object  # a Ref or NotImplemented
X, XY = (Operand("input"),), (Operand("input"), Operand("other"))
KEEPDIM = Field("keepdim", FieldKind.BOOL, False)
EPSILON = {F16: 2.0**-10, BF16: 2.0**-7, F32: 2.0**-23, F64: 2.0**-52}


def _extreme_all(name: str) -> Callable[..., Ref]:
    def build(emit: Emitter, x: Ref) -> Ref:
        return emit.emit(name, x, dim=(), keepdim=False)

    return build


def _extremepair(name: str) -> Callable[..., Maybe]:
    def build(emit: Emitter, x: Ref, other: Number) -> Maybe:
        return emit.emit(name, x, other) if is_tensor(type_of(other)) else NotImplemented

    return build


def _truth(name: str) -> Callable[..., Maybe]:
    """any or all; of other dtypes through a comparison with 0 (uint8 stays PyTorch's)."""

    def build(emit: Emitter, x: Ref, *, dim: tuple[int, ...] | None, keepdim: bool) -> Maybe:
        dtype = tensor_of(x).dtype
        if dtype is U8:
            return NotImplemented
        truth = x if dtype is BOOL else emit.emit("ne", x, 0)
        return emit.emit(name, truth, dim=dim, keepdim=keepdim)

    return build


def _prod_all(emit: Emitter, x: Ref, *, dtype: DType | None) -> Maybe:
    kind = tensor_of(x)
    if not kind.is_contiguous or not kind.rank:
        return NotImplemented
    flat = emit.emit("view", x, shape=(kind.numel,))
    return emit.emit("prod", flat, dim=(0,), keepdim=False, dtype=dtype)


def _prod(emit: Emitter, x: Ref, *, dim: int, keepdim: bool, dtype: DType | None) -> Ref:
    return emit.emit("prod", x, dim=(dim,), keepdim=keepdim, dtype=dtype)


def _unbiased(name: str) -> Callable[..., Ref | Sequence[Ref]]:
    """The older signatures, with `unbiased` for `correction`."""

    def build(
        emit: Emitter,
        x: Ref,
        *,
        unbiased: bool,
        dim: tuple[int, ...] | None = None,
        keepdim: bool = False,
    ) -> Ref | Sequence[Ref]:
        made = emit.emit_all(name, x, dim=dim, correction=int(unbiased), keepdim=keepdim)
        return made[0] if len(made) == 1 else made

    return build


def _to(emit: Emitter, x: Ref, *, dtype: DType) -> Ref:
    return x if tensor_of(x).dtype == dtype else emit.emit("to", x, dtype=dtype)


def _to_fixed(dtype: DType) -> Callable[..., Ref]:
    def build(emit: Emitter, x: Ref) -> Ref:
        return _to(emit, x, dtype=dtype)

    return build


def _to_other(emit: Emitter, x: Ref, other: Ref) -> Maybe:
    same = tensor_of(x).device == tensor_of(other).device
    return _to(emit, x, dtype=tensor_of(other).dtype) if same else NotImplemented


def _where_method(emit: Emitter, x: Ref, condition: Ref, other: Number) -> Ref:
    return emit.emit("where", condition, x, other)


def _masked_fill(emit: Emitter, x: Ref, mask: Ref, value: Number) -> Maybe:
    """`where`, dense in order; the value becomes x's dtype unless it is of a higher category."""
    kind, given = tensor_of(x), type_of(value)
    if tensor_of(mask).dtype is not BOOL or given is None:
        return NotImplemented
    category = given.category if isinstance(given, ScalarType) else given.dtype.category
    if not held(value, kind.dtype):
        return NotImplemented
    if category > kind.dtype.category or (isinstance(given, TensorType) and given.dims):
        return NotImplemented
    if isinstance(given, TensorType) and not includes(kind.dtype, given.dtype):
        return NotImplemented  # eager raises where the value does not fit
    made = emit.emit("where", mask, brought(emit, value, kind.dtype), x)
    return made if tensor_of(made).is_contiguous else emit.emit("contiguous", made)


def _clamp_side(*, low: bool) -> Callable[..., Maybe]:
    def build(emit: Emitter, x: Ref, bound: Number) -> Maybe:
        if not held(bound, common_dtype(x, bound)):
            return NotImplemented
        return emit.emit("clamp", x, bound, None) if low else emit.emit("clamp", x, None, bound)

    return build


def _relu6(emit: Emitter, x: Ref) -> Maybe:
    return _hardtanh(emit, x, 0, 6)


def _hardtanh(emit: Emitter, x: Ref, min_val: Number, max_val: Number) -> Maybe:
    """Of integers it keeps the dtype or fails: PyTorch's."""
    dtype = tensor_of(x).dtype
    fits = dtype.is_float and held(min_val, dtype) and held(max_val, dtype)
    return emit.emit("clamp", x, min_val, max_val) if fits else NotImplemented


def _rms_norm(
    emit: Emitter,
    x: Ref,
    weight: Ref | None,
    eps: Number | None,
    *,
    normalized_shape: tuple[object, ...],
) -> Maybe:
    """Without an eps it is that of the dtype computed in: float32's for 16-bit floats."""
    dtype = tensor_of(x).dtype
    if dtype not in EPSILON or (weight is not None and tensor_of(weight).dtype != dtype):
        return NotImplemented
    given = EPSILON[dtype.compute] if eps is None else eps
    return emit.emit("rms_norm", x, weight, given, normalized_shape=normalized_shape)


def _softmax_of(name: str) -> Callable[..., Ref]:
    def build(emit: Emitter, x: Ref, *, dim: int, dtype: DType | None) -> Ref:
        return emit.emit(name, x, dim=dim, dtype=dtype)

    return build


def _softmin(emit: Emitter, x: Ref, *, dim: int, dtype: DType | None) -> Ref:
    return emit.emit("softmax", emit.emit("neg", x), dim=dim, dtype=dtype)


OUT = "input, other, *, out=None"
UNBIASED = Field("unbiased", FieldKind.BOOL)
AXES = Field("dim", FieldKind.AXES)
DTYPE = Field("dtype", FieldKind.DTYPE, None)
F = "torch.nn.functional."

REDUCTIONS = (
    *(
        Spelling(torch=both(name), signature="input", build=_extreme_all(row))
        for name, row in (("max", "amax"), ("min", "amin"))
    ),
    *(
        pair(both(name), _extremepair(row), OUT)
        for name, row in (("max", "maximum"), ("min", "minimum"))
    ),
    *(
        Spelling(
            torch=both(name),
            signature="input, dim=None, keepdim=False, *, out=None",
            build=_truth(name),
            fields=(Field("dim", FieldKind.AXES, None), KEEPDIM),
        )
        for name in ("any", "all")
    ),
    Spelling(
        torch=both("prod"), signature="input, *, dtype=None", build=_prod_all, fields=(DTYPE,)
    ),
    Spelling(
        torch=both("prod"),
        signature="input, dim, keepdim=False, *, dtype=None, out=None",
        build=_prod,
        fields=(Field("dim", FieldKind.INT), KEEPDIM, DTYPE),
    ),
    *(
        Spelling(torch=torch, signature=signature, build=_unbiased(name), fields=fields)
        for name, torch in (
            ("var", both("var")),
            ("std", both("std")),
            ("var_mean", ("torch.var_mean",)),
            ("std_mean", ("torch.std_mean",)),
        )
        for signature, fields in (
            ("input, unbiased", (UNBIASED,)),
            ("input, dim, unbiased, keepdim=False", (AXES, UNBIASED, KEEPDIM)),
        )
    ),
)

CASTS = (
    Spelling(
        torch=("Tensor.to", "Tensor.type"),
        signature="input, dtype, non_blocking=False, copy=False, *, memory_format=None",
        build=_to,
        fields=(Field("dtype", FieldKind.DTYPE),),
    ),
    pair(("Tensor.to", "Tensor.type_as"), _to_other),
    *(
        Spelling(
            torch=(f"Tensor.{name}",), signature="input, memory_format=None", build=_to_fixed(dtype)
        )
        for name, dtype in (
            ("float", F32),
            ("double", F64),
            ("half", F16),
            ("bfloat16", BF16),
            ("long", I64),
            ("int", I32),
            ("short", I16),
            ("char", I8),
            ("byte", U8),
            ("bool", BOOL),
        )
    ),
)

SELECTION = (
    Spelling(
        torch=("Tensor.where",),
        signature="input, condition, other",
        build=_where_method,
        operands=(*X, Operand("condition"), Operand("other")),
    ),
    Spelling(
        torch=both("masked_fill"),
        signature="input, mask, value",
        build=_masked_fill,
        operands=(*X, Operand("mask"), Operand("value")),
    ),
    *(
        Spelling(
            torch=both(f"clamp_{side}"),
            signature=f"input, {side}, *, out=None",
            build=_clamp_side(low=side == "min"),
            operands=(*X, Operand(side)),
        )
        for side in ("min", "max")
    ),
    Spelling(torch=(f"{F}relu6",), signature="input, inplace=False", build=_relu6),
    Spelling(
        torch=(f"{F}hardtanh",),
        signature="input, min_val=-1.0, max_val=1.0, inplace=False",
        build=_hardtanh,
        operands=(*X, Operand("min_val"), Operand("max_val")),
    ),
)

NORMS = (
    Spelling(
        torch=(f"{F}rms_norm", "torch.rms_norm"),
        signature="input, normalized_shape, weight=None, eps=None",
        build=_rms_norm,
        operands=(*X, Operand("weight", optional=True), Operand("eps", optional=True)),
        fields=(Field("normalized_shape", FieldKind.SIZES),),
    ),
    *(
        Spelling(
            torch=(f"{F}{name}",),
            signature="input, dim=None, _stacklevel=3, dtype=None",
            build=build,
            fields=(Field("dim", FieldKind.INT), DTYPE),
        )
        for name, build in (
            ("softmax", _softmax_of("softmax")),
            ("log_softmax", _softmax_of("log_softmax")),
            ("softmin", _softmin),
        )
    ),
)

SPELLINGS = (*REDUCTIONS, *CASTS, *SELECTION, *NORMS)
