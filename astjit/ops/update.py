"""What writing to a view does to the memory behind it, as rows without effect.

    x[1:3] = v      =>   %x_1 = slice_update %x, %v {dim=0, start=1, stop=3}
    x.t().copy_(v)  =>   %0 = copy %v {order=[1, 0]} ; %x_1 = permute %0 {dims=[1, 0]}

An update gives the whole source as it is afterwards, in the source's layout. Functions of torch
that write to operands and have no row are `mutate`: they are given copies.
"""

from collections.abc import Callable, Mapping

from astjit.ops.layout import dense_or_strided
from astjit.ops.spec import (
    Call,
    Emitter,
    Field,
    FieldKind,
    FieldValue,
    Kind,
    Op,
    Operand,
    Ref,
    Rule,
    tensor_of,
)
from astjit.types.tensor import TensorType, Type

X = (Operand("input"),)
UPDATE = (Operand("input"), Operand("value"))
Update = Callable[[Emitter, Ref, Ref, Mapping[str, FieldValue]], Ref]


def by_row(name: str) -> Update:
    """The update that the row `name` does, with the fields of the view."""

    def update(emit: Emitter, source: Ref, new: Ref, fields: Mapping[str, FieldValue]) -> Ref:
        return emit.emit(name, source, new, **fields)

    return update


def reshaped(emit: Emitter, source: Ref, new: Ref, fields: Mapping[str, FieldValue]) -> Ref:
    """All elements are new: the view the other way round."""
    return emit.emit("view", new, shape=tensor_of(source).dims)


def permuted_back(emit: Emitter, source: Ref, new: Ref, fields: Mapping[str, FieldValue]) -> Ref:
    """All elements are new: the axes in their places again."""
    axes = fields["dims"]
    assert isinstance(axes, tuple)
    rank = len(axes)
    back = sorted(range(rank), key=lambda at: axes[at] % rank)
    return emit.emit("permute", new, dims=tuple(back))


def refused(emit: Emitter, source: Ref, new: Ref, fields: Mapping[str, FieldValue]) -> Ref:
    """Several elements of the view may be one element of the source.

    Raises:
        ValueError: unless nothing was repeated.
    """
    if tensor_of(source).dims != tensor_of(new).dims:
        raise ValueError("more than one element of the written-to tensor is one memory location")
    return new


def _infer_copy(call: Call) -> tuple[Type, ...]:
    kind, order = call.tensor(0), call.axes("order")
    if not kind.rank:  # in a kernel's body: one element
        return (kind,)
    if order is None or sorted(order) != list(range(kind.rank)):
        raise ValueError(f"copy(order): {order} does not name each of {kind.rank} axes once")
    return (TensorType(kind.dtype, kind.dims, order, None, kind.device),)


def _infer_restride(call: Call) -> tuple[Type, ...]:
    kind = call.tensor(0)
    return (dense_or_strided(kind, kind.dims, call.dims("strides")),)


def _infer_source(call: Call) -> tuple[Type, ...]:
    return (call.tensor(0),)


def _infer_types(call: Call) -> tuple[Type, ...]:
    types = call.fields["types"]
    assert isinstance(types, tuple)
    return types


def _update(name: str, fields: tuple[Field, ...], host: str, doc: str) -> Op:
    return Op(
        name=name,
        kind=Kind.LIBRARY,
        rule=Rule(_infer_source),
        operands=UPDATE,
        fields=fields,
        host=host,
        doc=doc,
    )


TARGET = Field("target", FieldKind.TEXT)
TEMPLATE = Field("template", FieldKind.ANY, ())

ROWS = (
    Op(
        name="copy",
        kind=Kind.ELEMENTWISE,
        rule=Rule(_infer_copy, lambda call: (call.tensor(0).dtype.compute,)),
        operands=X,
        fields=(Field("order", FieldKind.AXES),),
        host=(
            "torch.empty_permuted({0}.shape, {order}, dtype={0}.dtype, device={0}.device)"
            ".copy_({0})"
        ),
        spell={"c": "{0}"},
        doc="a dense copy, axes laid out in this order",
    ),
    Op(
        name="restride",
        kind=Kind.LIBRARY,
        rule=Rule(_infer_restride),
        operands=X,
        fields=(Field("strides", FieldKind.SIZES),),
        host=(
            "torch.empty_strided({0}.shape, {strides}, dtype={0}.dtype, device={0}.device)"
            ".copy_({0})"
        ),
        doc="a copy with these strides",
    ),
    _update(
        "slice_update",
        (
            Field("dim", FieldKind.INT, 0),
            Field("start", FieldKind.SIZE, None),
            Field("stop", FieldKind.SIZE, None),
            Field("step", FieldKind.INT, 1),
        ),
        "torch.slice_scatter({0}, {1}, {dim}, {start}, {stop}, {step})",
        "the input with a slice of it replaced",
    ),
    _update(
        "select_update",
        (Field("dim", FieldKind.INT), Field("index", FieldKind.SIZE)),
        "torch.select_scatter({0}, {1}, {dim}, {index})",
        "the input with what lies at one index of an axis replaced",
    ),
    _update(
        "diagonal_update",
        (
            Field("offset", FieldKind.INT, 0),
            Field("dim1", FieldKind.INT, 0),
            Field("dim2", FieldKind.INT, 1),
        ),
        "torch.diagonal_scatter({0}, {1}, {offset}, {dim1}, {dim2})",
        "the input with diagonals replaced",
    ),
    Op(
        name="mutate",
        kind=Kind.LIBRARY,
        rule=Rule(_infer_types),
        operands=(Operand("inputs", variadic=True),),
        fields=(
            TARGET,
            TEMPLATE,
            Field("written", FieldKind.AXES),  # the operands it writes to, which are copied first
            Field("picks", FieldKind.ANY, None),  # where in its result the new tensors are
            Field("types", FieldKind.TYPES, ()),  # of the written operands, then of new tensors
        ),
        results=None,
        doc="a torch function that writes to operands, on copies of them",
    ),
    Op(
        name="view_update",
        kind=Kind.LIBRARY,
        rule=Rule(_infer_source),
        operands=(Operand("inputs", variadic=True),),  # the source, the new elements, others
        fields=(
            TARGET,
            TEMPLATE,
            Field("pick", FieldKind.ANY, ()),  # which of the views it returns is written to
        ),
        doc="the input with the elements replaced that a view of it by a torch function shows",
    ),
)
