"""Views: other index maps of the same memory."""

from collections.abc import Callable

from astjit.ops.layout import dense_or_strided, resolved_shape, settled, view_strides
from astjit.ops.rules import normal_axis
from astjit.ops.spec import Call, Field, FieldKind, Kind, Op, Operand, Rule, View, Walk
from astjit.ops.update import by_row, permuted_back, refused, reshaped
from astjit.types.shape import Dim, Sizes, add, floordiv, minimum, mul, product, sub
from astjit.types.tensor import Type

X = (Operand("input"),)
DIM = Field("dim", FieldKind.INT)


def _size_field(call: Call, name: str) -> Dim:
    value = call.fields[name]
    assert value is not None
    return value  # type: ignore[return-value]  # a SIZE field


def _no_offset(call: Call) -> Dim:
    return 0


def _by_axes(axes: Callable[[Call], tuple[int | None, ...]]) -> Callable[[Call], tuple[Type, ...]]:
    """The type of a view that keeps, drops, reorders or adds (size 1) axes."""

    def infer(call: Call) -> tuple[Type, ...]:
        source = call.tensor(0)
        chosen = axes(call)
        own = source.element_strides()
        dims = tuple(1 if a is None else source.dims[a] for a in chosen)
        strides = tuple(1 if a is None else own[a] for a in chosen)
        return (dense_or_strided(source, dims, strides),)

    return infer


def _permute_axes(call: Call) -> tuple[int | None, ...]:
    source = call.tensor(0)
    axes = tuple(normal_axis(a, source.rank) for a in call.axes("dims") or ())
    if sorted(axes) != list(range(source.rank)):
        raise ValueError(f"permute(dims): {axes} does not name each of {source.rank} axes once")
    return axes


def _squeeze_axes(call: Call) -> tuple[int | None, ...]:
    source = call.tensor(0)
    gone = {normal_axis(a, source.rank) for a in call.axes("dim") or ()}
    sizes = call.sizes
    return tuple(
        a for a in range(source.rank) if a not in gone or not _is_one(sizes, source.dims[a])
    )


def _is_one(sizes: Sizes, size: Dim) -> bool:
    return size == 1 or sizes.equal(size, 1)


def _unsqueeze_axes(call: Call) -> tuple[int | None, ...]:
    source = call.tensor(0)
    at = normal_axis(call.integer("dim"), source.rank + 1)
    axes: list[int | None] = list(range(source.rank))
    axes.insert(at, None)
    return tuple(axes)


def _expanded(call: Call) -> tuple[tuple[Dim, ...], tuple[int | None, ...]]:
    """Sizes and source axes of an expand."""
    source, wanted = call.tensor(0), call.dims("size")
    new = len(wanted) - source.rank
    if new < 0:
        raise ValueError(f"expand to {len(wanted)} dims, the tensor has {source.rank}")
    dims: list[Dim] = list(settled(call.sizes, wanted[:new]))
    axes: list[int | None] = [None] * new
    if -1 in dims:
        raise ValueError("the size of a new dim cannot be -1")
    for axis, (have, want) in enumerate(zip(source.dims, wanted[new:], strict=True)):
        if want == -1 or have == want or (have != 1 and call.sizes.equal(have, want)):
            dims.append(have)
            axes.append(axis)
        elif have == 1:
            (size,) = settled(call.sizes, (want,))
            dims.append(1 if size == -1 else size)
            axes.append(None)
        else:
            raise ValueError(f"expanded size {want} must match the existing size {have}")
    return tuple(dims), tuple(axes)


def _infer_expand(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    dims, axes = _expanded(call)
    own = source.element_strides()
    return (dense_or_strided(source, dims, tuple(0 if a is None else own[a] for a in axes)),)


def _expand_axes(call: Call) -> tuple[int | None, ...]:
    return _expanded(call)[1]


def _infer_reshape(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    dims = resolved_shape(call.sizes, source.numel, call.dims("shape"))
    strides = view_strides(call.sizes, source, dims)
    if strides is None:
        raise ValueError("view size is not compatible with input tensor's size and stride")
    return (dense_or_strided(source, dims, strides),)


def _slice_bounds(call: Call) -> tuple[int, Dim, Dim, int]:
    """Axis, start, stop and step with Python's clamping, decided by the sizes' hints."""
    source = call.tensor(0)
    axis = normal_axis(call.integer("dim"), source.rank)
    size = source.dims[axis]
    bounds: list[Dim] = []
    for name, absent in (("start", 0), ("stop", size)):
        bound = call.fields[name]
        value: Dim = absent if bound is None else bound  # type: ignore[assignment]  # a SIZE field
        if call.sizes.holds("<", value, 0):
            value = add(value, size)
            value = 0 if call.sizes.holds("<", value, 0) else value
        bounds.append(size if value != size and call.sizes.holds("<", size, value) else value)
    start, stop = bounds
    below = start != 0 and call.sizes.holds("<", stop, start)
    return axis, start, start if below else stop, call.integer("step")


def _infer_slice(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    if not source.rank:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if call.integer("step") <= 0:
        raise ValueError("slice step must be positive")
    axis, start, stop, step = _slice_bounds(call)
    dims, strides = list(source.dims), list(source.element_strides())
    dims[axis] = floordiv(add(sub(stop, start), step - 1), step)
    strides[axis] = mul(strides[axis], step)
    return (dense_or_strided(source, tuple(dims), tuple(strides)),)


def _slice_offset(call: Call) -> Dim:
    axis, start, _, _ = _slice_bounds(call)
    return mul(start, call.tensor(0).element_strides()[axis])


def _selected(call: Call) -> tuple[int, Dim]:
    """Axis and index counted from 0."""
    source = call.tensor(0)
    if not source.rank:
        raise IndexError("invalid index of a 0-dim tensor.")
    axis = normal_axis(call.integer("dim"), source.rank)
    index, size = _size_field(call, "index"), source.dims[axis]
    if call.sizes.holds("<", index, 0):
        index = add(index, size)
    if call.sizes.holds("<", index, 0) or not call.sizes.holds("<", index, size):
        raise IndexError(f"index out of range for dimension {axis} with size {size}")
    return axis, index


def _select_axes(call: Call) -> tuple[int | None, ...]:
    axis = normal_axis(call.integer("dim"), call.tensor(0).rank)
    return tuple(a for a in range(call.tensor(0).rank) if a != axis)


def _infer_select(call: Call) -> tuple[Type, ...]:
    _selected(call)  # raises where the index is out of range
    return _by_axes(_select_axes)(call)


def _select_offset(call: Call) -> Dim:
    axis, index = _selected(call)
    return mul(index, call.tensor(0).element_strides()[axis])


def _at_offset(call: Call) -> Dim:
    axis = normal_axis(call.integer("dim"), call.tensor(0).rank)
    return mul(_size_field(call, "index"), call.tensor(0).element_strides()[axis])


def _diagonal_axes(call: Call) -> tuple[int, int]:
    source = call.tensor(0)
    one = normal_axis(call.integer("dim1"), source.rank)
    two = normal_axis(call.integer("dim2"), source.rank)
    if one == two:
        raise ValueError(f"diagonal dimensions cannot be identical {one}, {two}")
    return one, two


def _infer_diagonal(call: Call) -> tuple[Type, ...]:
    source, offset = call.tensor(0), call.integer("offset")
    one, two = _diagonal_axes(call)
    down, right = source.dims[one], source.dims[two]
    shorter = (sub(down, -offset), right) if offset < 0 else (down, sub(right, offset))
    length = minimum(*shorter)
    if call.sizes.holds("<", length, 0):
        length = 0
    own = source.element_strides()
    rest = [a for a in range(source.rank) if a not in (one, two)]
    dims = (*(source.dims[a] for a in rest), length)
    return (dense_or_strided(source, dims, (*(own[a] for a in rest), add(own[one], own[two]))),)


def _diagonal_offset(call: Call) -> Dim:
    one, two = _diagonal_axes(call)
    own, offset = call.tensor(0).element_strides(), call.integer("offset")
    return mul(-offset, own[one]) if offset < 0 else mul(offset, own[two])


def _slice_walks(call: Call) -> tuple[Walk, ...]:
    axis, start, _, step = _slice_bounds(call)
    rank = call.tensor(0).rank
    sliced = Walk((axis,), start, step, part=True)
    return tuple(sliced if a == axis else Walk((a,)) for a in range(rank))


def _select_walks(call: Call) -> tuple[Walk, ...]:
    axis, index = _selected(call)
    rank = call.tensor(0).rank
    others = (Walk((a if a < axis else a - 1,)) for a in range(rank))
    return tuple(
        Walk((), index, part=True) if a == axis else other for a, other in enumerate(others)
    )


def _reshape_walks(call: Call) -> tuple[Walk, ...] | None:
    """Runs of axes of the source and of the view that have as many elements, from the left."""
    source = call.tensor(0).dims
    dims = resolved_shape(call.sizes, call.tensor(0).numel, call.dims("shape"))
    walks: list[Walk] = []
    here = there = 0
    while here < len(source):
        run = next(
            (
                (i, j)
                for i in range(here + 1, len(source) + 1)
                for j in range(there, len(dims) + 1)
                if _as_many(call.sizes, product(source[here:i]), product(dims[there:j]))
            ),
            None,
        )
        if run is None:
            return None
        axes = tuple(a for a in range(there, run[1]) if dims[a] != 1)
        for a in range(here, run[0]):
            below, first = product(source[a + 1 : run[0]]), a == here
            alone = run[0] == here + 1
            walks.append(Walk(axes, 0, 1, below, None if alone or first else source[a]))
        here, there = run
    return tuple(walks)


def _as_many(sizes: Sizes, a: Dim, b: Dim) -> bool:
    return a == b or (not sizes.hints and sizes.equal(a, b))


def _none(call: Call) -> tuple[int | None, ...] | None:
    return None


def _view(
    name: str,
    infer: Callable[[Call], tuple[Type, ...]],
    view: View,
    doc: str,
    *,
    fields: tuple[Field, ...],
    signature: str = "",
    torch: tuple[str, ...] = (),
    host: str = "",
    samples: tuple[tuple[str, ...], ...] = (("f32[3, 1, 4]",),),
) -> Op:
    return Op(
        name=name,
        kind=Kind.VIEW,
        rule=Rule(infer, None, samples),
        operands=X,
        fields=fields,
        view=view,
        torch=torch,
        signature=signature,
        host=host,
        doc=doc,
    )


ROWS = (
    _view(
        "slice",
        _infer_slice,
        View(_slice_offset, _none, by_row("slice_update"), _slice_walks),
        "`input[start:stop:step]` along one axis",
        fields=(
            Field("dim", FieldKind.INT, 0),
            Field("start", FieldKind.SIZE, None),
            Field("stop", FieldKind.SIZE, None),
            Field("step", FieldKind.INT, 1),
        ),
        host="torch.ops.aten.slice.Tensor({0}, {dim}, {start}, {stop}, {step})",
    ),
    _view(
        "select",
        _infer_select,
        View(_select_offset, _none, by_row("select_update"), _select_walks),
        "the slice at one index of an axis, which goes",
        fields=(DIM, Field("index", FieldKind.SIZE)),
        torch=("torch.select", "Tensor.select"),
        signature="input, dim, index",
    ),
    _view(
        "select_at",
        _by_axes(_select_axes),
        View(_at_offset, _none, by_row("select_update")),
        "select where a loop stands: the index is made of the loop's, and known to be in range",
        fields=(DIM, Field("index", FieldKind.SIZE)),
        host="torch.select({0}, {dim}, {index})",
    ),
    _view(
        "permute",
        _by_axes(_permute_axes),
        View(_no_offset, _permute_axes, permuted_back),
        "the axes in another order",
        fields=(Field("dims", FieldKind.AXES),),
        torch=("torch.permute", "Tensor.permute"),
        signature="input, *dims",
        host="torch.permute({0}, {dims})",
    ),
    _view(
        "squeeze",
        _by_axes(_squeeze_axes),
        View(_no_offset, _squeeze_axes, reshaped),
        "without those of the axes `dim` that have size 1",
        fields=(Field("dim", FieldKind.AXES),),
        host="torch.squeeze({0}, {dim})",
    ),
    _view(
        "unsqueeze",
        _by_axes(_unsqueeze_axes),
        View(_no_offset, _unsqueeze_axes, reshaped),
        "with an axis of size 1 more",
        fields=(DIM,),
        torch=("torch.unsqueeze", "Tensor.unsqueeze"),
        signature="input, dim",
    ),
    _view(
        "expand",
        _infer_expand,
        View(_no_offset, _expand_axes, refused),
        "axes of size 1 repeated without a copy; -1 keeps a size",
        fields=(Field("size", FieldKind.SIZES),),
        torch=("Tensor.expand", "torch.broadcast_to", "Tensor.broadcast_to"),
        signature="input, *size",
        host="{0}.expand({size})",
    ),
    _view(
        "view",
        _infer_reshape,
        View(_no_offset, _none, reshaped, _reshape_walks, whole=True),
        "the same memory with other sizes",
        fields=(Field("shape", FieldKind.SIZES),),
        torch=("Tensor.view",),
        signature="input, *shape",
        host="{0}.view({shape})",
    ),
    _view(
        "diagonal",
        _infer_diagonal,
        View(_diagonal_offset, _none, by_row("diagonal_update")),
        "the diagonals of two axes as the last axis",
        fields=(
            Field("offset", FieldKind.INT, 0),
            Field("dim1", FieldKind.INT, 0),
            Field("dim2", FieldKind.INT, 1),
        ),
        torch=("torch.diagonal", "Tensor.diagonal"),
        signature="input, offset=0, dim1=0, dim2=1",
        samples=(("f32[3, 4]",),),
    ),
)
