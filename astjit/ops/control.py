"""Rows with regions, whose types follow from the signatures of these.

%c = while %a : i64[] {               Values of Python's own kinds stand for elements: where
  test(%i: i64[]):                    an arm or a body yields a literal, or a loop starts at
    %0 = lt %i, 10 : bool[]           one, the other side says of which dtype it is.
    yield %0
  body(%i.1: i64[]):
    %1 = add %i.1, 1 : i64[]
    yield %1
}
"""

from functools import partial

from astjit.ops.layout import elementwise_type
from astjit.ops.spec import Call, Field, FieldKind, Kind, Op, Operand, Rule
from astjit.types.dtype import BOOL, F64, I64, Category, DType
from astjit.types.shape import Dim
from astjit.types.tensor import ScalarType, TensorType, Type

FLAG, COUNT = TensorType(BOOL, ()), TensorType(I64, ())
_ELEMENT = {Category.BOOL: BOOL, Category.INTEGER: I64, Category.FLOAT: F64}
_BREAKS = Field("breaks", FieldKind.BOOL, False)


def _stands_for(given: Type, wanted: Type) -> bool:
    """Whether a value is one of a type: of that type, or a number for an element of its kind."""
    if isinstance(given, ScalarType) and isinstance(wanted, TensorType):
        return wanted.rank == 0 and wanted.dtype.category is given.category
    return given == wanted


def _fit(given: tuple[Type, ...], wanted: tuple[Type, ...]) -> bool:
    return len(given) == len(wanted) and all(map(_stands_for, given, wanted))


def _infer_if(call: Call) -> tuple[Type, ...]:
    """Both arms take nothing and yield the same types."""
    condition = call.types[0]
    if not (isinstance(condition, TensorType) and condition.dtype is BOOL and condition.rank == 0):
        raise TypeError(f"the condition must be bool[], not {condition}")
    (taken, then), (given, other) = call.regions
    if taken or given:
        raise TypeError(f"the arms take {_shown(taken)} and {_shown(given)}, not ()")
    if len(then) == len(other) and any(isinstance(t, TensorType) and t.rank for t in then):
        if all(map(partial(_one_type, call), then, other)):
            return then
    elif len(then) == len(other):
        joined = tuple(
            b if isinstance(a, ScalarType) else a for a, b in zip(then, other, strict=True)
        )
        if _fit(then, joined) and _fit(other, joined):
            return joined
    raise TypeError(f"the arms yield {_shown(then)} and {_shown(other)}")


def _infer_for(call: Call) -> tuple[Type, ...]:
    """One region (index, carried...) -> (carried..., stacked...); the stacked gain an axis."""
    carried = tuple(t for t in call.types if t is not None)
    ((parameters, results),) = call.regions
    if parameters[1:] != carried:
        raise TypeError(f"the body takes {_shown(parameters[1:])}, carried are {_shown(carried)}")
    ends = results[: len(carried)]
    if len(ends) < len(carried) or not all(map(partial(_one_type, call), ends, carried)):
        raise TypeError(f"the body yields {_shown(results)}, carried are {_shown(carried)}")
    trip: Dim = call.fields["trip"]  # type: ignore[assignment]  # a SIZE field
    return (*carried, *(_stacked(t, trip) for t in results[len(carried) :]))


def _one_type(call: Call, one: Type, other: Type) -> bool:
    """Whether two types are one, sizes that were found equal being equal."""
    if one == other or isinstance(one, ScalarType) or isinstance(other, ScalarType):
        return one == other
    if len(one.dims) != len(other.dims) or one.order is None or one.order != other.order:
        return False
    alike = all(map(call.sizes.equal, one.dims, other.dims))
    return alike and one.dtype is other.dtype and one.device == other.device


def _stacked(kind: Type, trip: Dim) -> TensorType:
    if isinstance(kind, ScalarType):
        raise TypeError("only tensors can be stacked")
    return kind.with_(dims=(trip, *kind.dims))


def _infer_while(call: Call) -> tuple[Type, ...]:
    """Regions test(carried...) -> bool and body(carried...) -> carried..."""
    (asked, answer), (carried, results) = call.regions
    if asked != carried:
        raise TypeError(f"the test takes {_shown(asked)}, the body {_shown(carried)}")
    if not _fit(answer, (FLAG,)):
        raise TypeError(f"the test yields {_shown(answer)}, not bool[]")
    return _carried(call, call.types, carried, results)


def _infer_range(call: Call) -> tuple[Type, ...]:
    """One region body(index, carried...) -> carried..."""
    ((parameters, results),) = call.regions
    bounds = call.types[:3]
    if not all(kind is not None and _stands_for(kind, COUNT) for kind in bounds):
        raise TypeError(f"start, stop and step must be i64[], not {_shown(bounds)}")
    if parameters[:1] != (COUNT,):
        raise TypeError(f"the body takes {_shown(parameters)}, and no index i64[] first")
    return _carried(call, call.types[3:], parameters[1:], results)


def _carried(
    call: Call, given: tuple[Type | None, ...], carried: tuple[Type, ...], results: tuple[Type, ...]
) -> tuple[Type, ...]:
    """What a loop carries: the types of its body's parameters, with which it starts and goes on."""
    starts = tuple(t for t in given if t is not None)
    if not _fit(starts, carried):
        raise TypeError(f"the body takes {_shown(carried)}, carried are {_shown(starts)}")
    wanted = (FLAG, *carried) if call.flag("breaks") else carried
    if not _fit(results, wanted):
        raise TypeError(f"the body yields {_shown(results)}, not {_shown(wanted)}")
    return carried


def _infer_map(call: Call) -> tuple[Type, ...]:
    """One region on elements of the operands; the results have the operands' broadcast shape.

    Elements lie nowhere: their types are without device. A number is an element as wide as
    Python's own.
    """
    ((parameters, results),) = call.regions
    if len(parameters) != len(call.types):
        raise TypeError(f"the body takes {len(parameters)} values, there are {len(call.types)}")
    wanted = tuple(TensorType(_dtype(kind), ()) for kind in call.types if kind is not None)
    if parameters != wanted:
        raise TypeError(f"the body takes {_shown(parameters)}, the elements are {_shown(wanted)}")
    return tuple(elementwise_type(call, _result(call, kind)) for kind in results)


def _dtype(kind: Type) -> DType:
    return kind.dtype if isinstance(kind, TensorType) else _ELEMENT[kind.category]


def _result(call: Call, kind: Type) -> DType:
    """The dtype of a result: a number is of the dtype that torch gives it."""
    if isinstance(kind, ScalarType):
        return call.default if kind.category is Category.FLOAT else _ELEMENT[kind.category]
    if kind.rank:
        raise TypeError(f"the body yields {kind}, which is no element")
    return kind.dtype


def _shown(types: tuple[Type | None, ...]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"


ROWS = (
    Op(
        name="if",
        kind=Kind.CONTROL,
        rule=Rule(_infer_if),
        operands=(Operand("condition"),),
        regions=("then", "else"),
        results=None,
        doc="regions then() and else(): the yields of the arm taken",
    ),
    Op(
        name="for",
        kind=Kind.CONTROL,
        rule=Rule(_infer_for),
        operands=(Operand("carried", variadic=True),),
        fields=(
            Field("trip", FieldKind.SIZE),
            Field("index", FieldKind.TEXT, ""),
            Field("backward", FieldKind.AXES, ()),
        ),
        regions=("body",),
        results=None,
        doc="region body(index, carried...) run `trip` times; yields carried and stacked values. "
        "`index` names the number of the iteration in sizes of the body; the stacked values at "
        "the positions `backward` are stacked from the end",
    ),
    Op(
        name="while",
        kind=Kind.CONTROL,
        rule=Rule(_infer_while),
        operands=(Operand("carried", variadic=True),),
        fields=(_BREAKS, Field("limit", FieldKind.INT, None)),
        regions=("test", "body"),
        results=None,
        doc="regions test(carried...) and body(carried...), run while the test is true; with "
        "`breaks` the body yields first whether to stop after it; the call fails where the body "
        "would run more than `limit` times",
    ),
    Op(
        name="range",
        kind=Kind.CONTROL,
        rule=Rule(_infer_range),
        operands=(
            Operand("start"),
            Operand("stop"),
            Operand("step"),
            Operand("carried", variadic=True),
        ),
        fields=(_BREAKS,),
        regions=("body",),
        results=None,
        doc="region body(index, carried...) run as Python's range(start, stop, step) counts, the "
        "step not 0; with `breaks` as in while",
    ),
    Op(
        name="map",
        kind=Kind.CONTROL,
        rule=Rule(_infer_map),
        operands=(Operand("inputs", variadic=True),),
        regions=("body",),
        results=None,
        doc="region body(elements...) applied to every element of the broadcast inputs",
    ),
)
