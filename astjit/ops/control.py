"""Rows with regions: `if`, `for`, `map`. Their types take the regions' signatures (D26)."""

from astjit.ops.spec import Call, Field, FieldKind, Kind, Op, Operand, Rule
from astjit.types.dtype import BOOL
from astjit.types.shape import Dim
from astjit.types.tensor import ScalarType, TensorType, Type


def _infer_if(call: Call) -> tuple[Type, ...]:
    """Both arms take nothing and yield the same types."""
    condition = call.types[0]
    if not (isinstance(condition, TensorType) and condition.dtype is BOOL and condition.rank == 0):
        raise TypeError(f"the condition must be bool[], not {condition}")
    (_, then), (_, other) = call.regions
    if then != other:
        raise TypeError(f"the arms yield {_shown(then)} and {_shown(other)}")
    return then


def _infer_for(call: Call) -> tuple[Type, ...]:
    """One region (index, carried...) -> (carried..., stacked...); the stacked gain an axis."""
    carried = tuple(t for t in call.types if t is not None)
    ((parameters, results),) = call.regions
    if parameters[1:] != carried:
        raise TypeError(f"the body takes {_shown(parameters[1:])}, carried are {_shown(carried)}")
    if results[: len(carried)] != carried:
        raise TypeError(f"the body yields {_shown(results)}, carried are {_shown(carried)}")
    trip: Dim = call.fields["trip"]  # type: ignore[assignment]  # a SIZE field
    return (*carried, *(_stacked(t, trip) for t in results[len(carried) :]))


def _stacked(kind: Type, trip: Dim) -> TensorType:
    if isinstance(kind, ScalarType):
        raise TypeError("only tensors can be stacked")
    return kind.with_(dims=(trip, *kind.dims))


def _infer_map(call: Call) -> tuple[Type, ...]:
    """One region on rank-0 values of the operands' dtypes; results have the operands' shape."""
    first = call.tensor(0)
    ((parameters, results),) = call.regions
    if len(parameters) != len(call.types):
        raise TypeError(f"the body takes {len(parameters)} values, there are {len(call.types)}")
    return tuple(
        first.with_(dtype=r.dtype, dims=first.dims) for r in results if isinstance(r, TensorType)
    )


def _shown(types: tuple[Type, ...]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"


ROWS = (
    Op(
        name="if",
        kind=Kind.CONTROL,
        rule=Rule(_infer_if),
        operands=(Operand("condition"),),
        results=None,
        doc="regions then() and else(): the yields of the arm taken",
    ),
    Op(
        name="for",
        kind=Kind.CONTROL,
        rule=Rule(_infer_for),
        operands=(Operand("carried", variadic=True),),
        fields=(Field("trip", FieldKind.SIZE),),
        results=None,
        doc="region body(index, carried...) run `trip` times; yields carried and stacked values",
    ),
    Op(
        name="map",
        kind=Kind.CONTROL,
        rule=Rule(_infer_map),
        operands=(Operand("inputs", variadic=True),),
        results=None,
        doc="region body(elements...) applied to every element",
    ),
)
