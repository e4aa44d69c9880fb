"""Views: other index maps of the same memory."""

from astjit.ops.spec import Call, Field, FieldKind, Kind, Op, Operand, Rule, View
from astjit.types.shape import Dim, add, floordiv, mul, sub
from astjit.types.tensor import TensorType, Type

X = (Operand("input"),)


def dense_or_strided(source: TensorType, dims: tuple[Dim, ...], strides: tuple[Dim, ...]) -> TensorType:
    """The type of a view; recognised as dense when some order of the axes makes it so."""
    running: Dim = 1
    left = [a for a in range(len(dims)) if dims[a] != 1]
    order: list[int] = []
    while left:
        inner = next((a for a in reversed(left) if strides[a] == running), None)
        if inner is None:
            return TensorType(source.dtype, dims, None, strides, source.device)
        order.insert(0, inner)
        running = mul(running, dims[inner])
        left.remove(inner)
    for axis in range(len(dims)):
        if dims[axis] == 1:
            order.insert(axis, axis)
    return TensorType(source.dtype, dims, tuple(order), None, source.device)


def _slice_bounds(call: Call) -> tuple[int, Dim, Dim, int]:
    """Axis, start, stop and step with Python's clamping, decided by the sizes' hints."""
    source = call.tensor(0)
    axis = call.integer("dim") % max(source.rank, 1)
    size = source.dims[axis]
    bounds: list[Dim] = []
    for name, absent in (("start", 0), ("stop", size)):
        bound = call.fields[name]
        value: Dim = absent if bound is None else bound  # type: ignore[assignment]
        if call.sizes.holds("<", value, 0):
            value = add(value, size)
            value = 0 if call.sizes.holds("<", value, 0) else value
        bounds.append(size if value != size and call.sizes.holds("<", size, value) else value)
    start, stop = bounds
    return axis, start, (start if call.sizes.holds("<", stop, start) else stop), call.integer("step")


def _infer_slice(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
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


def _infer_squeeze(call: Call) -> tuple[Type, ...]:
    source = call.tensor(0)
    kept = [a for a in _squeeze_axes(call) if a is not None]
    strides = source.element_strides()
    return (
        dense_or_strided(source, tuple(source.dims[a] for a in kept), tuple(strides[a] for a in kept)),
    )


def _squeeze_axes(call: Call) -> tuple[int | None, ...]:
    source = call.tensor(0)
    given = call.axes("dim")
    gone = {a % max(source.rank, 1) for a in (range(source.rank) if given is None else given)}
    return tuple(
        a for a in range(source.rank) if a not in gone or not call.sizes.equal(source.dims[a], 1)
    )


def _no_offset(call: Call) -> Dim:
    return 0


ROWS = (
    Op(
        name="slice",
        kind=Kind.VIEW,
        rule=Rule(_infer_slice, None, (("f32[5, 4]",),)),
        operands=X,
        fields=(
            Field("dim", FieldKind.INT, 0),
            Field("start", FieldKind.SIZE, None),
            Field("stop", FieldKind.SIZE, None),
            Field("step", FieldKind.INT, 1),
        ),
        view=View(_slice_offset, lambda call: None),
        host="torch.ops.aten.slice.Tensor({0}, {dim}, {start}, {stop}, {step})",
        doc="`input[start:stop:step]` along one axis",
    ),
    Op(
        name="squeeze",
        kind=Kind.VIEW,
        rule=Rule(_infer_squeeze, None, (("f32[3, 1, 4]",),)),
        operands=X,
        fields=(Field("dim", FieldKind.AXES, None),),
        view=View(_no_offset, _squeeze_axes),
        torch=("torch.squeeze", "Tensor.squeeze"),
        signature="input, dim=None",
        doc="without the axes of size 1",
    ),
)
