"""Activations beyond those of composite.py: ELU and its kin, shrinks, hard ones, GLU.

Expansions are of ATen's own formulas; where a row rounds once, 16-bit operands are widened before.
"""

from collections.abc import Callable, Sequence

from astjit.ops.held import LARGEST, held
from astjit.ops.rules import FLOATING_ONE, FLOATING_TENSORS, normal_axis
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
    is_tensor,
    tensor_of,
    type_of,
)
from astjit.types.dtype import F16
from astjit.types.shape import floordiv, mod, mul
from astjit.types.tensor import ScalarType, Type

Number = Ref | float
Maybe = object  # a Ref or NotImplemented
X = (Operand("input"),)
F = "torch.nn.functional."
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def _first(*numbers: str) -> Rule:
    """The type of the first operand, a float; Python numbers after it do not promote."""

    def infer(call: Call) -> tuple[Type, ...]:
        if not all(isinstance(kind, ScalarType) for kind in call.types[1:]):
            raise TypeError("expected Python numbers after the first operand")
        return FLOATING_ONE.infer(Call(call.types[:1], call.fields, call.sizes, call.default))

    return Rule(infer, None, tuple((*sample, *numbers) for sample in FLOATING_ONE.samples))


def _elu(emit: Emitter, x: Ref, alpha: Number) -> Sequence[Ref]:
    below = emit.emit("mul", emit.emit("expm1", x), alpha)
    return (emit.emit("where", emit.emit("lt", x, 0), below, x),)


def _selu(emit: Emitter, x: Ref) -> Sequence[Ref]:
    below = emit.emit("mul", emit.emit("expm1", x), SELU_ALPHA * SELU_SCALE)
    return (emit.emit("where", emit.emit("lt", x, 0), below, emit.emit("mul", x, SELU_SCALE)),)


def _celu(emit: Emitter, x: Ref, alpha: Number, inverse: Number) -> Sequence[Ref]:
    below = emit.emit("mul", emit.emit("expm1", emit.emit("mul", x, inverse)), alpha)
    return (emit.emit("where", emit.emit("lt", x, 0), below, x),)


def _six(emit: Emitter, x: Ref) -> Ref:
    """x + 3, at least 0 and at most 6."""
    return emit.emit("minimum", emit.emit("maximum", emit.emit("add", x, 3), 0), 6)


def _hardsigmoid(emit: Emitter, x: Ref) -> Sequence[Ref]:
    return (emit.emit("div", _six(emit, x), 6),)


def _hardswish(emit: Emitter, x: Ref) -> Sequence[Ref]:
    return (emit.emit("div", emit.emit("mul", x, _six(emit, x)), 6),)


def _hardshrink(emit: Emitter, x: Ref, low: Number, high: Number) -> Sequence[Ref]:
    inside = emit.emit("logical_and", emit.emit("ge", x, low), emit.emit("le", x, high))
    return (emit.emit("where", inside, 0, x),)


def _softshrink(emit: Emitter, x: Ref, low: Number, high: Number) -> Sequence[Ref]:
    """0 between the bounds; NaN stays."""
    less, more = emit.emit("sub", x, high), emit.emit("sub", x, low)
    zero = emit.emit("where", emit.emit("ne", x, x), x, 0)
    inner = emit.emit("where", emit.emit("lt", x, low), more, zero)
    return (emit.emit("where", emit.emit("gt", x, high), less, inner),)


def _threshold(emit: Emitter, x: Ref, threshold: Number, value: Number) -> Sequence[Ref]:
    return (emit.emit("where", emit.emit("le", x, threshold), value, x),)


def _glu(emit: Emitter, x: Ref, gate: Ref) -> Sequence[Ref]:
    return (emit.emit("mul", x, emit.emit("sigmoid", gate)),)


def _row(
    name: str,
    expand: Callable[..., Sequence[Ref]],
    doc: str,
    *,
    torch: tuple[str, ...] = (),
    signature: str = "",
    numbers: tuple[str, ...] = (),
    checked: tuple[str, ...] = (),
    host: str = "",
) -> Op:
    return Op(
        name=name,
        kind=Kind.COMPOSITE,
        rule=_first(*(["float"] * len(numbers))),
        operands=(*X, *(Operand(n) for n in numbers)),
        torch=torch,
        signature=signature,
        rounds="once",
        expand=expand,
        checked=checked,
        host=host,
        doc=doc,
    )


ROWS = (
    _row(
        "elu",
        _elu,
        "`input` above 0, else `alpha * expm1(input)`",
        torch=(f"{F}elu",),
        signature="input, alpha=1.0, inplace=False",
        numbers=("alpha",),
    ),
    _row(
        "selu",
        _selu,
        "elu with the constants of self-normalizing networks",
        torch=(f"{F}selu", "torch.selu"),
        signature="input, inplace=False",
    ),
    _row(
        "celu",
        _celu,
        "`input` above 0, else `alpha * expm1(input * inverse)`",
        numbers=("alpha", "inverse"),
        host="torch.celu({0}, {1})",
    ),
    _row(
        "hardsigmoid",
        _hardsigmoid,
        "`min(max(x + 3, 0), 6) / 6`",
        torch=(f"{F}hardsigmoid",),
        signature="input, inplace=False",
    ),
    _row(
        "hardswish",
        _hardswish,
        "`x * min(max(x + 3, 0), 6) / 6`",
        torch=(f"{F}hardswish",),
        signature="input, inplace=False",
    ),
    _row(
        "hardshrink",
        _hardshrink,
        "0 from `low` to `high`, else the input",
        numbers=("low", "high"),
        host="torch.hardshrink({0}, {2})",
    ),
    _row(
        "softshrink",
        _softshrink,
        "the input moved towards 0, and 0 from `low` to `high`",
        numbers=("low", "high"),
        host="torch.nn.functional.softshrink({0}, {2})",
    ),
    _row(
        "threshold",
        _threshold,
        "`value` where the input is at most `threshold`",
        torch=(f"{F}threshold", f"{F}_threshold", "torch.threshold"),
        signature="input, threshold, value, inplace=False",
        numbers=("threshold", "value"),
        checked=("threshold", "value"),
    ),
    Op(
        name="gated",
        kind=Kind.COMPOSITE,
        rule=FLOATING_TENSORS,
        operands=(*X, Operand("gate")),
        host="({0}) * torch.sigmoid({1})",
        rounds="once",
        expand=_glu,
        doc="`input * sigmoid(gate)`, which glu does to the halves of a tensor",
    ),
)


def _glu_of(emit: Emitter, x: Ref, *, dim: int) -> Maybe:
    kind = tensor_of(x)
    axis = normal_axis(dim, kind.rank)
    if not kind.rank or not kind.dtype.is_float:
        return NotImplemented
    if not emit.sizes.equal(mod(kind.dims[axis], 2), 0):
        raise RuntimeError(f"Halving dimension must be even, but dimension {axis} is odd")
    half = floordiv(kind.dims[axis], 2)
    first = emit.emit("slice", x, dim=axis, start=0, stop=half)
    second = emit.emit("slice", x, dim=axis, start=half, stop=mul(half, 2))
    made = emit.emit("gated", first, second)
    return made if tensor_of(made).is_contiguous else emit.emit("contiguous", made)


def _celu_of(emit: Emitter, x: Ref, alpha: Number) -> Maybe:
    """An alpha of 0 raises in eager."""
    if isinstance(alpha, int | float):
        return emit.emit("celu", x, alpha, 1.0 / alpha) if alpha else NotImplemented
    return NotImplemented


def _hardshrink_of(emit: Emitter, x: Ref, lambd: Number) -> Maybe:
    if not isinstance(lambd, int | float) or not held(lambd, tensor_of(x).dtype):
        return NotImplemented
    return emit.emit("hardshrink", x, -lambd, lambd)


def _softshrink_of(emit: Emitter, x: Ref, lambd: Number) -> Maybe:
    """A negative bound raises in eager, as one that the dtype does not hold."""
    if not isinstance(lambd, int | float) or not 0 <= lambd <= LARGEST[F16]:
        return NotImplemented
    return emit.emit("softshrink", x, -lambd, lambd)


def _softsign(emit: Emitter, x: Ref) -> Ref:
    return emit.emit("div", x, emit.emit("add", emit.emit("abs", x), 1))


def _tanhshrink(emit: Emitter, x: Ref) -> Ref:
    return emit.emit("sub", x, emit.emit("tanh", x))


def _prelu(emit: Emitter, x: Ref, weight: Ref) -> Maybe:
    """One weight, or one for each channel: of axis 1."""
    kind, given = tensor_of(x), tensor_of(weight)
    if given.dtype is not kind.dtype or not kind.dtype.is_float or given.rank > 1:
        return NotImplemented
    if given.rank == 1 and given.dims != (1,):
        if kind.rank < 2 or not emit.sizes.equal(given.dims[0], kind.dims[1]):
            return NotImplemented
        shape = (1, given.dims[0], *(1 for _ in kind.dims[2:]))
        weight = emit.emit("view", weight, shape=shape)
    elif given.rank == 1:
        weight = emit.emit("view", weight, shape=(1,) * kind.rank)
    return emit.emit("where", emit.emit("gt", x, 0), x, emit.emit("mul", weight, x))


def _rrelu(emit: Emitter, x: Ref, lower: Number, upper: Number) -> Maybe:
    if not tensor_of(x).dtype.is_float or is_tensor(type_of(lower)) or is_tensor(type_of(upper)):
        return NotImplemented
    if isinstance(lower, int | float) and isinstance(upper, int | float):
        return emit.emit("leaky_relu", x, (lower + upper) / 2)
    return NotImplemented


def _same(emit: Emitter, x: Ref, **fields: object) -> Ref:
    """Nothing is dropped: the input itself."""
    return x


def _sign(emit: Emitter, x: Ref) -> Ref:
    return emit.emit("sign", x)


TRAINING = "training=False, inplace=False"
SPELLINGS = (
    Spelling(
        torch=(f"{F}celu", "torch.celu"),
        signature="input, alpha=1.0, inplace=False",
        build=_celu_of,
        operands=(*X, Operand("alpha")),
    ),
    Spelling(
        torch=(f"{F}hardshrink", *both("hardshrink")),
        signature="input, lambd=0.5",
        build=_hardshrink_of,
        operands=(*X, Operand("lambd")),
    ),
    Spelling(
        torch=(f"{F}softshrink",),
        signature="input, lambd=0.5",
        build=_softshrink_of,
        operands=(*X, Operand("lambd")),
    ),
    Spelling(torch=(f"{F}softsign",), signature="input", build=_softsign),
    Spelling(torch=(f"{F}tanhshrink",), signature="input", build=_tanhshrink),
    Spelling(
        torch=(f"{F}prelu", *both("prelu")),
        signature="input, weight",
        build=_prelu,
        operands=(*X, Operand("weight")),
    ),
    Spelling(
        torch=(f"{F}rrelu",),
        signature=f"input, lower=0.125, upper=0.3333333333333333, {TRAINING}",
        build=_rrelu,
        operands=(*X, Operand("lower"), Operand("upper")),
    ),
    *(
        Spelling(
            torch=(f"{F}{name}",),
            signature=f"input, p=0.5, {TRAINING}",
            build=_same,
            fields=(Field("p", FieldKind.NUMBER),),
        )
        for name in ("dropout", "alpha_dropout", "feature_alpha_dropout")
    ),
    Spelling(
        torch=(f"{F}glu",),
        signature="input, dim=-1",
        build=_glu_of,
        fields=(Field("dim", FieldKind.INT),),
    ),
    Spelling(torch=both("sgn"), signature="input, *, out=None", build=_sign),
)
