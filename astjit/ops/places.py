"""Where extremes are: an element and its index as one integer, so that one reduction finds both.

    x.argmax(1)  =>  the index in amax(order(x) * 2^32 + (2^31 - 1 - index) * 2), over axis 1

Of equal elements the first is found, and NaN is above (or below) all others, as in eager. The
lowest bit tells -0.0, which equals 0.0, when the element itself is wanted. Elements of 64 bits are
left to PyTorch, and so are axes of 2^31 elements.
"""

from collections.abc import Callable, Sequence

from astjit.ops.gather import unsqueezed
from astjit.ops.layout import elementwise_type
from astjit.ops.rules import normal_axis, reduced_type
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
from astjit.types.dtype import BOOL, F32, I64, DType
from astjit.types.shape import Dim, mul
from astjit.types.tensor import TensorType, Type

X = (Operand("input"),)
DIM, KEEPDIM = Field("dim", FieldKind.INT), Field("keepdim", FieldKind.BOOL, False)
ANY_DIM = Field("dim", FieldKind.INT, None)
HIGH, LAST = 2**32, 2**31 - 1  # of a key: what an element counts, the last index
TOP, BOTTOM = 2**31 - 1, -(2**31)  # the order of NaN


# -- order ----------------------------------------------------------------------------------------
def _infer_order(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    if not source.dtype.is_float or source.dtype.bits > 32:
        raise TypeError(f"expected a float of at most 32 bits, not {source.dtype}")
    return (elementwise_type(call, I64),)


def _infer_float_of(call: Call) -> tuple[Type, ...]:
    if call.tensor(0).dtype is not I64:
        raise TypeError(f"expected int64, not {call.tensor(0).dtype}")
    return (elementwise_type(call, F32),)


ORDER = (
    Op(
        name="order",
        kind=Kind.ELEMENTWISE,
        rule=Rule(_infer_order, lambda call: (F32,), (("f32[3, 4]",), ("bf16[4]",), ("f16[4]",))),
        operands=X,
        spell={"c": "order_of({0})"},
        host="(lambda b: torch.where(b < 0, b ^ 0x7fffffff, b).long())"
        "(({0}.float() + 0.0).view(torch.int32))",
        doc="an integer as large as the float is among floats; -0.0 is 0.0",
    ),
    Op(
        name="float_of",
        kind=Kind.ELEMENTWISE,
        rule=Rule(_infer_float_of, lambda call: (I64,), (("i64[3, 4]",),)),
        operands=X,
        spell={"c": "float_of({0})"},
        host="(lambda b: torch.where(b < 0, b ^ 0x7fffffff, b).view(torch.float32))"
        "({0}.to(torch.int32))",
        doc="the float32 of which the integer is the order",
    ),
)


# -- extremes -------------------------------------------------------------------------------------
def _axis(call: Call) -> int | None:
    """The axis over which an extreme is looked for, None for all.

    Raises:
        IndexError: if there is nothing to find.
    """
    source, dim = call.tensor(0), call.fields["dim"]
    axis = None if dim is None else normal_axis(call.integer("dim"), source.rank)
    for size in source.dims if axis is None else source.dims[axis : axis + 1]:
        if size == 0 or (call.sizes.hints and call.sizes.holds("==", size, 0)):
            raise IndexError("the extreme of no elements")
    return axis


def _infer_place(call: Call) -> tuple[Type, ...]:
    source, axis = call.tensor(0), _axis(call)
    if source.dtype is BOOL:
        raise TypeError("argmax and argmin are not implemented for bool")
    axes = tuple(range(source.rank)) if axis is None else (axis,)
    return (reduced_type(source, axes, call.flag("keepdim"), I64),)


def _infer_both(call: Call) -> tuple[Type, ...]:
    source, axis = call.tensor(0), _axis(call)
    assert axis is not None
    kinds = (reduced_type(source, (axis,), call.flag("keepdim"), d) for d in (source.dtype, I64))
    return tuple(kinds)


def _order(emit: Emitter, x: Ref, nan: int) -> Ref:
    """An element's order as int64."""
    dtype = tensor_of(x).dtype
    if dtype.bits > 32:
        raise NotImplementedError(f"of {dtype} is PyTorch's")
    if not dtype.is_float:
        return emit.emit("to", x, dtype=I64)
    return emit.emit("where", emit.emit("ne", x, x), nan, emit.emit("order", x))


def _negative_zero(emit: Emitter, x: Ref) -> Ref:
    """1 for -0.0, else 0, as int64."""
    zero = emit.emit("logical_and", emit.emit("eq", x, 0), emit.emit("signbit", x))
    return emit.emit("to", zero, dtype=I64)


def _best(emit: Emitter, x: Ref, axis: int, *, largest: bool, keepdim: bool, signs: bool) -> Ref:
    """The key of the extreme along an axis."""
    kind = tensor_of(x)
    size: Dim = kind.dims[axis]
    index = emit.emit("iota", size=size, device=kind.device)
    if largest:
        index = emit.emit("sub", LAST, index)
    index = unsqueezed(emit, index, 0, kind.rank - axis - 1)
    low = emit.emit("mul", index, 2)
    if signs:
        low = emit.emit("add", low, _negative_zero(emit, x))
    high = emit.emit("mul", _order(emit, x, TOP if largest else BOTTOM), HIGH)
    key = emit.emit("add", high, low)
    return emit.emit("amax" if largest else "amin", key, dim=(axis,), keepdim=keepdim)


def _index_of(emit: Emitter, best: Ref, *, largest: bool) -> Ref:
    """The index that a key holds."""
    low = emit.emit("bitwise_right_shift", emit.emit("bitwise_and", best, HIGH - 1), 1)
    return emit.emit("sub", LAST, low) if largest else low


def _value_of(emit: Emitter, best: Ref, dtype: DType) -> Ref:
    """The element that a key holds."""
    order = emit.emit("bitwise_right_shift", best, 32)
    if not dtype.is_float:
        return emit.emit("to", order, dtype=dtype)
    value = emit.emit("float_of", order)
    sign = emit.emit("ne", emit.emit("bitwise_and", best, 1), 0)
    value = emit.emit("where", sign, -0.0, value)
    return value if dtype is F32 else emit.emit("to", value, dtype=dtype)


def _place(*, largest: bool) -> Callable[..., Sequence[Ref]]:
    def expand(emit: Emitter, x: Ref, *, dim: int | None, keepdim: bool) -> Sequence[Ref]:
        kind = tensor_of(x)
        axis = 0 if dim is None else normal_axis(dim, kind.rank)
        if dim is None and kind.rank > 1:
            if not kind.is_contiguous:
                raise NotImplementedError("of axes that do not lie in order is PyTorch's")
            x = emit.emit("view", x, shape=(kind.numel,))
        elif not kind.rank:
            raise NotImplementedError("of a tensor without axes is PyTorch's")
        keep = keepdim and dim is not None
        best = _best(emit, x, axis, largest=largest, keepdim=keep, signs=False)
        made = _index_of(emit, best, largest=largest)
        return (unsqueezed(emit, made, kind.rank if keepdim and not keep else 0, 0),)

    return expand


def _both(*, largest: bool) -> Callable[..., Sequence[Ref]]:
    def expand(emit: Emitter, x: Ref, *, dim: int, keepdim: bool) -> Sequence[Ref]:
        dtype, axis = tensor_of(x).dtype, normal_axis(dim, tensor_of(x).rank)
        best = _best(emit, x, axis, largest=largest, keepdim=keepdim, signs=dtype.is_float)
        return _value_of(emit, best, dtype), _index_of(emit, best, largest=largest)

    return expand


SAMPLES = tuple(
    (text,)
    for text in (
        *("f32[3, 4]", "f32[2, 3, 5]", "f32[2, 3, 5] order(2,0,1)", "bf16[3, 33]", "f16[4]"),
        *("i32[3, 4]", "i8[4]", "u8[3, 4]", "i16[3, 4]"),
    )
)
ROWS = (
    *ORDER,
    *(
        Op(
            name=f"arg{which}",
            kind=Kind.COMPOSITE,
            rule=Rule(_infer_place, None, SAMPLES),
            operands=X,
            fields=(ANY_DIM, KEEPDIM),
            host=f"torch.arg{which}({{0}}, {{dim}}, {{keepdim}})",
            expand=_place(largest=which == "max"),
            doc=f"where the {word} element is, the first of equals, along `dim` or in all",
        )
        for which, word in (("max", "largest"), ("min", "smallest"))
    ),
    *(
        Op(
            name=f"{which}_along",
            kind=Kind.COMPOSITE,
            rule=Rule(_infer_both, None, (*SAMPLES, ("bool[3, 4]",))),
            operands=X,
            fields=(DIM, KEEPDIM),
            results=2,
            host=f"torch.{which}({{0}}, {{dim}}, {{keepdim}})",
            expand=_both(largest=which == "max"),
            doc=f"the {word} elements along `dim` and where they are, the first of equals",
        )
        for which, word in (("max", "largest"), ("min", "smallest"))
    ),
)


# -- spellings ------------------------------------------------------------------------------------
def _short(emit: Emitter, kind: TensorType, axis: int | None) -> bool:
    """Whether an index takes 31 bits."""
    size: Dim = 1
    for dim in kind.dims if axis is None else kind.dims[axis : axis + 1]:
        size = mul(size, dim)
    return emit.sizes.holds("<", size, 2**31)


def _find(name: str) -> Callable[..., object]:
    def build(emit: Emitter, x: Ref, *, dim: int | None, keepdim: bool) -> object:
        kind = tensor_of(x)
        if not kind.rank or (kind.dtype is BOOL and name.startswith("arg")):
            return NotImplemented
        axis = None if dim is None else normal_axis(dim, kind.rank)
        if not _short(emit, kind, axis):
            return NotImplemented
        made = emit.emit_all(name, x, dim=dim, keepdim=keepdim)
        return made[0] if len(made) == 1 else made

    return build


def _both_ends(emit: Emitter, x: Ref, *, dim: int | None, keepdim: bool) -> object:
    kind = tensor_of(x)
    if not kind.rank or (dim is None and keepdim):
        return NotImplemented
    axes = () if dim is None else (dim,)
    return tuple(emit.emit(name, x, dim=axes, keepdim=keepdim) for name in ("amin", "amax"))


SPELLINGS = (
    *(
        Spelling(
            torch=both(name),
            signature="input, dim=None, keepdim=False, *, out=None",
            build=_find(name),
            fields=(ANY_DIM, KEEPDIM),
        )
        for name in ("argmax", "argmin")
    ),
    *(
        Spelling(
            torch=both(name),
            signature="input, dim, keepdim=False, *, out=None",
            build=_find(f"{name}_along"),
            fields=(DIM, KEEPDIM),
        )
        for name in ("max", "min")
    ),
    Spelling(
        torch=both("aminmax"),
        signature="input, *, dim=None, keepdim=False, out=None",
        build=_both_ends,
        fields=(ANY_DIM, KEEPDIM),
    ),
)
