"""Reads at an index that is a value: rows of a table, elements along an axis, one-hot vectors.

Kernels know one such read, `pick`, which takes an index for one axis and broadcasts the others;
every other row here expands into it. An index out of range fails the call, which then runs as eager
and raises (decision D17).
"""

from collections.abc import Sequence

from astjit.ops.layout import device_of, iterator_order
from astjit.ops.rules import normal_axis
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
    Trait,
    both,
    tensor_of,
)
from astjit.types.dtype import I32, I64
from astjit.types.shape import Dim, add, broadcast
from astjit.types.tensor import TensorType, Type

TWO = (Operand("input"), Operand("index"))
DIM = Field("dim", FieldKind.INT)


def _indices(kind: TensorType) -> TensorType:
    if kind.dtype not in (I32, I64):
        raise IndexError(f"expected indices of int32 or int64, not {kind.dtype}")
    return kind


def _infer_pick(call: Call) -> tuple[Type, ...]:
    source, index = call.tensor(0), _indices(call.tensor(1))
    axis = normal_axis(call.integer("dim"), source.rank)
    kinds = [k for k in call.types[1:] if isinstance(k, TensorType)]
    if source.rank == 0 or any(k.rank != source.rank for k in kinds):
        raise ValueError(f"pick from {source} at {index}: one rank is needed")
    rest: tuple[Dim, ...] = (*source.dims[:axis], 1, *source.dims[axis + 1 :])
    dims = broadcast(call.sizes, rest, *(k.dims for k in kinds))
    return (TensorType(source.dtype, dims, device=device_of(call)),)


def _infer_iota(call: Call) -> tuple[Type, ...]:
    size = call.fields["size"]
    assert isinstance(size, Dim)
    return (TensorType(I64, (size,), device=str(call.fields["device"])),)


def _infer_index_select(call: Call) -> tuple[Type, ...]:
    source, index = call.tensor(0), _indices(call.tensor(1))
    if index.rank > 1:
        raise IndexError("index_select expects a vector of int32 or int64")
    axis = normal_axis(call.integer("dim"), source.rank)
    dims = list(source.dims)
    if dims:
        dims[axis] = index.dims[0] if index.rank else 1
    return (source.with_(dims=tuple(dims)),)


def _infer_gather(call: Call) -> tuple[Type, ...]:
    source, index = call.tensor(0), _indices(call.tensor(1))
    axis = normal_axis(call.integer("dim"), source.rank)
    if source.rank != index.rank:
        raise ValueError("Index tensor must have the same number of dimensions as input tensor")
    for at, (have, want) in enumerate(zip(source.dims, index.dims, strict=True)):
        equal = at == axis or call.sizes.equal(have, want)
        if not equal and call.sizes.holds("<", have, want):
            raise ValueError(f"size of the index, {want}, does not fit {have} at dimension {at}")
    return (index.with_(dtype=source.dtype, dims=index.dims),)


def _infer_embedding(call: Call) -> tuple[Type, ...]:
    index, weight = call.tensor(0), call.tensor(1)
    if index.dtype not in (I32, I64):
        raise TypeError(f"expected indices of int32 or int64, not {index.dtype}")
    if weight.rank != 2:
        raise ValueError("'weight' must be 2-D")
    return (weight.with_(dims=(*index.dims, weight.dims[1])),)


def _infer_index(call: Call) -> tuple[Type, ...]:
    """Laid as TensorIterator does for the source, with strides of 0 at the index, and the index."""
    source, index, axis = call.tensor(0), _indices(call.tensor(1)), call.integer("dim")
    if not 0 <= axis < source.rank:
        raise IndexError(f"too many indices for tensor of dimension {source.rank}")
    after = source.rank - axis - 1
    dims = (*source.dims[:axis], *index.dims, *source.dims[axis + 1 :])
    own = source.element_strides()
    strides = (*own[:axis], *(0 for _ in index.dims), *own[axis + 1 :])
    read = TensorType(source.dtype, dims, None, strides, source.device)
    ones = (1,) * after
    at = TensorType(index.dtype, (*index.dims, *ones), None, (*index.element_strides(), *ones))
    order = iterator_order(call.sizes, [read, at], dims)
    return (TensorType(source.dtype, dims, order, None, source.device),)


def _infer_one_hot(call: Call) -> tuple[Type, ...]:
    index, classes = call.tensor(0), call.fields["num_classes"]
    assert isinstance(classes, Dim)
    if index.dtype is not I64:
        raise TypeError("one_hot is only applicable to index tensor of type LongTensor.")
    return (index.with_(dims=(*index.dims, classes)),)


# -- expansions -----------------------------------------------------------------------------------
def unsqueezed(emit: Emitter, x: Ref, before: int, after: int) -> Ref:
    """x with axes of size 1 more, at the front and at the end."""
    for _ in range(before):
        x = emit.emit("unsqueeze", x, dim=0)
    for _ in range(after):
        x = emit.emit("unsqueeze", x, dim=-1)
    return x


def picked_rows(emit: Emitter, source: Ref, index: Ref, axis: int) -> Ref:
    """The source with its axis replaced by the axes of the index."""
    kind, rank = tensor_of(source), tensor_of(index).rank
    at = unsqueezed(emit, index, axis, kind.rank - axis - 1)
    if not rank:
        return emit.emit(
            "squeeze",
            emit.emit("pick", source, emit.emit("unsqueeze", at, dim=axis), dim=axis),
            dim=(axis,),
        )
    for _ in range(rank - 1):
        source = emit.emit("unsqueeze", source, dim=axis)
    return emit.emit("pick", source, at, dim=axis + rank - 1)


def _index_select(emit: Emitter, source: Ref, index: Ref, *, dim: int) -> Sequence[Ref]:
    kind = tensor_of(source)
    if not kind.rank or not tensor_of(index).rank:
        raise NotImplementedError("of a tensor without axes")
    return (picked_rows(emit, source, index, normal_axis(dim, kind.rank)),)


def _gather(emit: Emitter, source: Ref, index: Ref, *, dim: int) -> Sequence[Ref]:
    kind, wanted = tensor_of(source), tensor_of(index)
    axis = normal_axis(dim, kind.rank)
    if not kind.rank:
        raise NotImplementedError("of a tensor without axes")
    for at, (have, want) in enumerate(zip(kind.dims, wanted.dims, strict=True)):
        if at != axis and not emit.sizes.equal(have, want):
            source = emit.emit("slice", source, dim=at, start=0, stop=want)
    return (emit.emit("pick", source, index, dim=axis),)


def _embedding(emit: Emitter, index: Ref, weight: Ref) -> Sequence[Ref]:
    return (picked_rows(emit, weight, index, 0),)


def wrapped(emit: Emitter, index: Ref, size: Dim) -> Ref:
    """An index that may count from the end."""
    count = emit.emit("size", value=size)
    if tensor_of(index).dtype is not I64:
        index = emit.emit("to", index, dtype=I64)
    last = emit.emit("add", index, count)
    return emit.emit("where", emit.emit("lt", index, 0), last, index)


def _index(emit: Emitter, source: Ref, index: Ref, *, dim: int) -> Sequence[Ref]:
    kind = tensor_of(source)
    axis = normal_axis(dim, kind.rank)
    return (picked_rows(emit, source, wrapped(emit, index, kind.dims[axis]), axis),)


def _one_hot(emit: Emitter, index: Ref, *, num_classes: Dim) -> Sequence[Ref]:
    """The index itself is picked from 0, 1, 2, ...: that checks it."""
    kind = tensor_of(index)
    classes = emit.emit("iota", size=num_classes, device=kind.device)
    source = unsqueezed(emit, classes, kind.rank, 0)
    found = emit.emit("pick", source, emit.emit("unsqueeze", index, dim=-1), dim=-1)
    return (emit.emit("to", emit.emit("eq", classes, found), dtype=I64),)


# -- spellings ------------------------------------------------------------------------------------
def _take_along_dim(emit: Emitter, source: Ref, index: Ref, *, dim: int) -> object:
    """Eager takes indices modulo the size: what is out of range is left to it."""
    kind, wanted = tensor_of(source), tensor_of(index)
    fits = kind.rank == wanted.rank > 0 and wanted.dtype is I64 and kind.device == "cpu"
    if not fits:
        return NotImplemented
    axis = normal_axis(dim, kind.rank)
    for at, (have, want) in enumerate(zip(kind.dims, wanted.dims, strict=True)):
        if at != axis and not emit.sizes.equal(have, want):
            return NotImplemented
    return emit.emit("gather", source, wrapped(emit, index, kind.dims[axis]), dim=axis)


def _one_hot_of(emit: Emitter, index: Ref, *, num_classes: Dim) -> object:
    if not emit.sizes.holds("<", 0, num_classes):
        return NotImplemented
    return emit.emit("one_hot", index, num_classes=num_classes)


def _embedding_of(
    emit: Emitter,
    index: Ref,
    weight: Ref,
    *,
    padding_idx: Dim | None,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> object:
    """What is padding matters to gradients only, but it must be a row."""
    del scale_grad_by_freq, sparse
    rows = tensor_of(weight).dims[0]
    if padding_idx is not None:
        last = add(padding_idx, rows)
        if not emit.sizes.holds("<", padding_idx, rows) or emit.sizes.holds("<", last, 0):
            return NotImplemented
    return emit.emit("embedding", index, weight)


def _op(name: str, infer: object, expand: object, doc: str, **more: object) -> Op:
    made: dict[str, object] = {
        "operands": TWO,
        "fields": (DIM,),
        **more,
        "rule": Rule(infer, None, more.get("samples", ())),  # type: ignore[arg-type]
        "traits": Trait.RAISES,
    }
    made.pop("samples", None)
    return Op(name=name, kind=Kind.GATHER, expand=expand, doc=doc, **made)  # type: ignore[arg-type]


ROWS = (
    Op(
        name="pick",
        kind=Kind.GATHER,
        rule=Rule(_infer_pick),
        operands=(*TWO, Operand("where", optional=True)),
        fields=(DIM, Field("checked", FieldKind.BOOL, True)),
        host="(lambda found, where: found if where is None else torch.where(where, found, "
        "torch.zeros_like(found)))(torch.take_along_dim({0}, {1}.long(), {dim}), {2})",
        doc="the elements along `dim` at the indices, 0 where `where` is false",
    ),
    Op(
        name="iota",
        kind=Kind.FACTORY,
        rule=Rule(_infer_iota),
        fields=(Field("size", FieldKind.SIZE), Field("device", FieldKind.TEXT, "cpu")),
        host="torch.arange({size}, device={device})",
        doc="0, 1, 2, ... as int64",
    ),
    _op(
        "index_select",
        _infer_index_select,
        _index_select,
        "the slices of `input` along `dim` at the indices",
        torch=both("index_select"),
        signature="input, dim, index, *, out=None",
        samples=(
            ("f32[5, 4]", "i64[3]"),
            ("bf16[5, 4] order(1,0)", "i32[2]"),
            ("f32[5, 4]", "i64[0]"),
        ),
    ),
    _op(
        "gather",
        _infer_gather,
        _gather,
        "the elements of `input` along `dim` at the indices",
        torch=both("gather"),
        signature="input, dim, index, *, sparse_grad=False, out=None",
        samples=(
            ("f32[5, 4]", "i64[3, 4]"),
            ("i64[5, 4] order(1,0)", "i64[7, 2]"),
            ("f64[5]", "i64[2]"),
        ),
    ),
    _op(
        "embedding",
        _infer_embedding,
        _embedding,
        "the rows of `weight` at the indices",
        operands=(Operand("input"), Operand("weight")),
        fields=(),
        host="torch.nn.functional.embedding({0}, {1})",
        samples=(("i64[3, 2]", "f32[5, 4]"), ("i32[]", "bf16[5, 4]")),
    ),
    _op(
        "index",
        _infer_index,
        _index,
        "`input[index]` at one axis; indices may count from the end",
        host="torch.ops.aten.index.Tensor({0}, (None,) * {dim} + ({1},))",
        samples=(
            ("f32[5, 5]", "i64[3]"),
            ("f32[5, 4, 5]", "i64[]"),
            ("bf16[5, 5] order(1,0)", "i32[2, 3]"),
            ("f64[5, 2, 5] order(2,0,1)", "i64[4]"),
            ("f32[5, 2, 5] order(1,2,0)", "i64[2, 3] order(1,0)"),
        ),
    ),
    _op(
        "one_hot",
        _infer_one_hot,
        _one_hot,
        "1 at the index, else 0",
        operands=(Operand("index"),),
        fields=(Field("num_classes", FieldKind.SIZE),),
        host="torch.nn.functional.one_hot({0}, {num_classes})",
        samples=(("i64[3, 2]",), ("i64[]",)),
    ),
)

SPELLINGS = (
    Spelling(
        torch=("torch.nn.functional.embedding",),
        signature="input, weight, padding_idx=None, max_norm=None, norm_type=2.0, "
        "scale_grad_by_freq=False, sparse=False",
        build=_embedding_of,
        operands=(Operand("input"), Operand("weight")),
        fields=(
            Field("padding_idx", FieldKind.SIZE, None),
            Field("scale_grad_by_freq", FieldKind.BOOL),
            Field("sparse", FieldKind.BOOL),
        ),
    ),
    Spelling(
        torch=both("take_along_dim"),
        signature="input, indices, dim, *, out=None",
        build=_take_along_dim,
        operands=(Operand("input"), Operand("indices")),
        fields=(DIM,),
    ),
    Spelling(
        torch=("torch.nn.functional.one_hot",),
        signature="tensor, num_classes",
        build=_one_hot_of,
        operands=(Operand("tensor"),),
        fields=(Field("num_classes", FieldKind.SIZE),),
    ),
)
