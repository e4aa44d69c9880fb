"""Tensors put together, padded and turned: reads by pieces.

    cat(a, b)  =>  where(i < n, a[i], b[i - n])        flip(x)  =>  x[size - 1 - i]

Alone they are PyTorch's own copies; in a kernel they are index maps and cost no memory.
"""

from collections.abc import Sequence

from astjit.ops.gather import unsqueezed
from astjit.ops.layout import device_of
from astjit.ops.rules import normal_axes, normal_axis, promoted
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
from astjit.types.dtype import Category
from astjit.types.shape import Dim, add, sub
from astjit.types.tensor import TensorType, Type

TENSORS, X = (Operand("tensors", variadic=True),), (Operand("input"),)
DIM = Field("dim", FieldKind.INT, 0)
CHANNELS_LAST = ((0, 2, 3, 1), (0, 2, 3, 4, 1))


def _joined(call: Call) -> list[TensorType]:
    kinds = [call.tensor(i) for i in range(len(call.types))]
    if not kinds:
        raise ValueError("expected a non-empty list of tensors")
    return kinds


def _infer_cat(call: Call) -> tuple[Type, ...]:
    kinds = _joined(call)
    first = kinds[0]
    if any(k.rank != first.rank for k in kinds) or not first.rank:
        raise TypeError("cat needs tensors of one rank, at least 1")
    axis = normal_axis(call.integer("dim"), first.rank)
    for kind in kinds[1:]:
        for a, (have, want) in enumerate(zip(kind.dims, first.dims, strict=True)):
            if a != axis and not call.sizes.equal(have, want):
                raise ValueError(f"sizes must match except in dimension {axis}: {kind}, {first}")
    dims = list(first.dims)
    dims[axis] = add(*(k.dims[axis] for k in kinds))
    made = TensorType(promoted(call), tuple(dims), device=device_of(call))
    last = first.order in CHANNELS_LAST and not any(k.is_contiguous for k in kinds)
    if last and all(k.order == first.order for k in kinds):
        return (TensorType(made.dtype, made.dims, first.order, None, made.device),)
    return (made,)


def _infer_stack(call: Call) -> tuple[Type, ...]:
    kinds = _joined(call)
    first = kinds[0]
    for kind in kinds[1:]:
        same = kind.rank == first.rank and all(
            call.sizes.equal(a, b) for a, b in zip(kind.dims, first.dims, strict=True)
        )
        if not same:
            raise ValueError(f"stack expects each tensor to be equal size: {kind}, {first}")
    axis = normal_axis(call.integer("dim"), first.rank + 1)
    dims = (*first.dims[:axis], len(kinds), *first.dims[axis:])
    return (TensorType(promoted(call), dims, device=device_of(call)),)


# -- expansions -----------------------------------------------------------------------------------
def _steps(emit: Emitter, kind: TensorType, axis: int, size: Dim) -> Ref:
    """0, 1, 2, ... along one axis."""
    found = emit.emit("iota", size=size, device=kind.device)
    return unsqueezed(emit, found, axis, kind.rank - axis - 1)


def _less(emit: Emitter, a: Ref | int, b: Dim) -> Ref:
    return emit.emit("lt", a, emit.emit("size", value=b))


def _cast(emit: Emitter, x: Ref, like: TensorType) -> Ref:
    return x if tensor_of(x).dtype is like.dtype else emit.emit("to", x, dtype=like.dtype)


def _result(emit: Emitter, kinds: Sequence[TensorType]) -> TensorType:
    made = promoted(Call(tuple(kinds), {}, emit.sizes))
    return TensorType(made, kinds[0].dims, device=kinds[0].device)


def _cat(emit: Emitter, *tensors: Ref, dim: int) -> Sequence[Ref]:
    kind = _result(emit, [tensor_of(x) for x in tensors])
    axis = normal_axis(dim, kind.rank)
    if len(tensors) == 1:
        return (emit.emit("contiguous", tensors[0]),)
    sizes = [tensor_of(x).dims[axis] for x in tensors]
    i = _steps(emit, kind, axis, add(*sizes))
    pieces: list[tuple[Ref, Ref]] = []
    start: Dim = 0
    for at, (x, size) in enumerate(zip(tensors, sizes, strict=True)):
        stop = add(start, size)
        last = at == len(tensors) - 1
        below = i if last else _less(emit, i, stop)
        inside = emit.emit("ge", i, emit.emit("size", value=start)) if at else below
        if 0 < at < len(tensors) - 1:
            inside = emit.emit("logical_and", inside, below)
        index = emit.emit("sub", i, emit.emit("size", value=start)) if at else i
        found = emit.emit("pick", _cast(emit, x, kind), index, inside, dim=axis, checked=False)
        pieces.append((below, found))
        start = stop
    made = pieces[-1][1]
    for below, found in reversed(pieces[:-1]):
        made = emit.emit("where", below, found, made)
    return (made,)


def _stack(emit: Emitter, *tensors: Ref, dim: int) -> Sequence[Ref]:
    kinds = [tensor_of(x) for x in tensors]
    kind, rank = _result(emit, kinds), kinds[0].rank + 1
    axis = normal_axis(dim, rank)
    parts = [emit.emit("unsqueeze", _cast(emit, x, kind), dim=axis) for x in tensors]
    if len(parts) == 1:
        return (emit.emit("contiguous", parts[0]),)
    whole = TensorType(kind.dtype, (1,) * rank, device=kind.device)
    i = _steps(emit, whole, axis, len(parts))
    made = parts[-1]
    for at in range(len(parts) - 2, -1, -1):
        made = emit.emit("where", _less(emit, i, at + 1), parts[at], made)
    return (made,)


def _flip(emit: Emitter, x: Ref, *, dims: tuple[int, ...]) -> Sequence[Ref]:
    kind = tensor_of(x)
    for axis in normal_axes(dims, kind.rank) if dims else ():
        size = kind.dims[axis]
        last = emit.emit("size", value=sub(size, 1))
        index = emit.emit("sub", last, _steps(emit, kind, axis, size))
        x = emit.emit("pick", x, index, dim=axis, checked=False)
    return (emit.emit("contiguous", x),)


def _infer_flip(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    if not source.is_contiguous:
        raise NotImplementedError("flip of what does not lie in order is left to PyTorch")
    normal_axes(call.axes("dims"), source.rank)
    return (source.with_(dims=source.dims),)


def _infer_pad(call: Call) -> tuple[Type, ...]:
    source, pad = call.tensor(0), call.dims("pad")
    if len(pad) % 2 or len(pad) // 2 > source.rank:
        raise ValueError(f"Padding length {len(pad)} for {source}")
    if not source.is_contiguous:
        raise TypeError("padding of what does not lie in order is left to PyTorch")
    dims = list(source.dims)
    for at in range(len(pad) // 2):
        before, after = pad[2 * at], pad[2 * at + 1]
        for amount in (before, after):
            if call.sizes.holds("<", amount, 0):
                raise TypeError("negative padding is left to PyTorch")
        dims[-1 - at] = add(dims[-1 - at], before, after)
    return (source.with_(dims=tuple(dims)),)


def _pad(emit: Emitter, x: Ref, value: Ref | float, *, pad: tuple[Dim, ...]) -> Sequence[Ref]:
    for at in range(len(pad) // 2):
        kind = tensor_of(x)
        axis, before, after = kind.rank - 1 - at, pad[2 * at], pad[2 * at + 1]
        if before == 0 and after == 0:
            continue
        size = kind.dims[axis]
        i = _steps(emit, kind, axis, add(size, before, after))
        inside = emit.emit("ge", i, emit.emit("size", value=before))
        inside = emit.emit("logical_and", inside, _less(emit, i, add(before, size)))
        index = emit.emit("sub", i, emit.emit("size", value=before))
        found = emit.emit("pick", x, index, inside, dim=axis, checked=False)
        x = emit.emit("where", inside, found, value)
    return (emit.emit("contiguous", x),)


def _pad_of(
    emit: Emitter, x: Ref, value: Ref | float | None, *, pad: tuple[Dim, ...], mode: str
) -> object:
    kind = tensor_of(x)
    number = 0 if value is None else value
    whole = isinstance(number, int) and not isinstance(number, bool)
    if mode != "constant" or not (kind.dtype.is_float or whole):
        return NotImplemented
    if kind.dtype.category is Category.BOOL or all(amount == 0 for amount in pad):
        return NotImplemented
    if not kind.is_contiguous or any(emit.sizes.holds("<", amount, 0) for amount in pad):
        return NotImplemented
    return emit.emit("pad", x, number, pad=pad)


def _flip_of(emit: Emitter, x: Ref, *, dims: tuple[int, ...]) -> object:
    return emit.emit("flip", x, dims=dims) if tensor_of(x).is_contiguous else NotImplemented


def _roll(emit: Emitter, x: Ref, *, shifts: tuple[Dim, ...], dims: tuple[int, ...]) -> object:
    """Two slices, joined; the shift is taken modulo the size."""
    kind = tensor_of(x)
    if not kind.is_contiguous or len(shifts) != len(dims) or not dims:
        return NotImplemented
    for shift, dim in zip(shifts, dims, strict=True):
        size = kind.dims[normal_axis(dim, kind.rank)]
        low, zero = emit.sizes.holds("<", shift, size), emit.sizes.holds("<", 0, shift)
        if not low or not zero:
            if not emit.sizes.holds("<", shift, 0) or emit.sizes.holds("<", add(shift, size), 1):
                return NotImplemented
            shift = add(shift, size)
        end = emit.emit("slice", x, dim=dim, start=sub(size, shift), stop=size)
        x = emit.emit(
            "cat", end, emit.emit("slice", x, dim=dim, start=0, stop=sub(size, shift)), dim=dim
        )
    return x


ROWS = (
    Op(
        name="cat",
        kind=Kind.GATHER,
        rule=Rule(
            _infer_cat,
            None,
            (
                ("f32[3, 4]", "f32[2, 4]"),
                ("f32[3]", "i64[4]"),
                ("f32[2, 4]", "bf16[2, 4]", "i32[2, 4]"),
                ("f32[2, 3, 4, 5] order(0,2,3,1)", "f32[1, 3, 4, 5] order(0,2,3,1)"),
            ),
        ),
        operands=TENSORS,
        fields=(DIM,),
        torch=("torch.cat", "torch.concat", "torch.concatenate"),
        signature="tensors, dim=0, *, out=None",
        expand=_cat,
        doc="the tensors one after the other along `dim`",
    ),
    Op(
        name="stack",
        kind=Kind.GATHER,
        rule=Rule(_infer_stack, None, (("f32[3, 4]", "f32[3, 4]"), ("f32[]", "i64[]"))),
        operands=TENSORS,
        fields=(DIM,),
        torch=("torch.stack",),
        signature="tensors, dim=0, *, out=None",
        expand=_stack,
        doc="the tensors along a new axis",
    ),
    Op(
        name="flip",
        kind=Kind.GATHER,
        rule=Rule(_infer_flip, None, (("f32[3, 4]",), ("i64[2, 1, 3]",))),
        operands=X,
        fields=(Field("dims", FieldKind.AXES),),
        host="torch.flip({0}, {dims})",
        expand=_flip,
        doc="the axes `dims` from their ends",
    ),
    Op(
        name="pad",
        kind=Kind.GATHER,
        rule=Rule(_infer_pad, None, (("f32[3, 4]", "float"), ("i64[2, 1, 3]", "int"))),
        operands=(*X, Operand("value")),
        fields=(Field("pad", FieldKind.SIZES),),
        host="torch.nn.functional.pad({0}, {pad}, 'constant', {1})",
        expand=_pad,
        doc="the input with `value` around it, from the last axis on",
    ),
)

SPELLINGS = (
    Spelling(
        torch=("torch.nn.functional.pad",),
        signature="input, pad, mode='constant', value=None",
        build=_pad_of,
        operands=(*X, Operand("value", optional=True)),
        fields=(Field("pad", FieldKind.SIZES), Field("mode", FieldKind.TEXT)),
    ),
    Spelling(
        torch=both("flip"),
        signature="input, *dims",
        build=_flip_of,
        fields=(Field("dims", FieldKind.AXES),),
    ),
    Spelling(
        torch=both("roll"),
        signature="input, shifts, dims=()",
        build=_roll,
        fields=(Field("shifts", FieldKind.SIZES), Field("dims", FieldKind.AXES)),
    ),
)
