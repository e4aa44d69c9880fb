"""Rows for the functions of analysis: exponentials, logarithms, circular and hyperbolic ones.

The published worst error is of the spelling in float32, in ulp against float64 (decision D8): the
larger of the CPU target's, measured over all floats, and CUDA's, as NVIDIA documents it.
"""

import math
from collections.abc import Callable

from astjit.ops.rules import FLOAT, FLOAT_ONE, FLOATING_TENSORS, WIDE
from astjit.ops.spec import Kind, Op, Operand, Rule, Trait, both

X, XY = (Operand("input"),), (Operand("input"), Operand("other"))


def _function(
    name: str,
    doc: str,
    evaluate: Callable[..., object],
    max_ulp: float,
    *,
    torch: tuple[str, ...] = (),
    domain: tuple[float, float] = (-4.0, 4.0),
    rule: Rule = FLOAT_ONE,
    operands: tuple[Operand, ...] = X,
    traits: Trait = Trait.NONE,
) -> Op:
    """A function of floats that both targets have under torch's name."""
    names = ", ".join(operand.name for operand in operands)
    places = ", ".join(f"{{{i}}}" for i in range(len(operands)))
    return Op(
        name=name,
        kind=Kind.ELEMENTWISE,
        rule=rule,
        operands=operands,
        torch=(f"torch.{name}", f"Tensor.{name}", *torch),
        signature=f"{names}, *, out=None",
        doc=doc,
        evaluate=evaluate,
        max_ulp=max_ulp,
        traits=traits,
        domain=domain,
        spell={
            "cpu": f"{name}({places})",
            "cuda": f"{name}f({places})",
            "cuda.f64": f"{name}({places})",
        },
    )


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    """A logarithm of Python's math with -inf at 0."""
    return lambda x: function(x) if x > 0 else -math.inf if x == 0 else math.nan


def _arc(name: str) -> tuple[str, ...]:
    """torch's longer name."""
    return both(f"arc{name[1:]}")


UNIT = (-0.99, 0.99)
POSITIVE = (1e-3, 1e3)

ROWS = (
    _function("exp", "e to the power of the input", math.exp, 2.0),
    _function(
        "exp2",
        "2 to the power of the input",
        lambda x: 2.0**x,
        2.0,
        torch=("torch.special.exp2",),
    ),
    _function(
        "expm1",
        "`exp(input) - 1`, exact near 0",
        math.expm1,
        2.0,
        torch=("torch.special.expm1",),
    ),
    _function("log", "natural logarithm", _logarithm(math.log), 1.0, domain=POSITIVE),
    _function("log2", "logarithm to base 2", _logarithm(math.log2), 1.0, domain=POSITIVE),
    _function("log10", "logarithm to base 10", _logarithm(math.log10), 2.0, domain=POSITIVE),
    _function(
        "log1p",
        "`log(1 + input)`, exact near 0",
        math.log1p,
        1.5,
        torch=("torch.special.log1p",),
        domain=(-0.9, 1e3),
    ),
    _function("sin", "sine", math.sin, 2.0),
    _function("cos", "cosine", math.cos, 2.0),
    _function(
        "tanh",
        "hyperbolic tangent",
        math.tanh,
        2.0,
        torch=("torch.nn.functional.tanh",),
    ),
    _function("erf", "error function", math.erf, 2.0, torch=("torch.special.erf",)),
    _function("erfc", "`1 - erf(input)`", math.erfc, 2.0, torch=("torch.special.erfc",)),
    _function("tan", "tangent", math.tan, 2.0, domain=(-1.5, 1.5)),
    _function("sinh", "hyperbolic sine", math.sinh, 2.0),
    _function("cosh", "hyperbolic cosine", math.cosh, 2.0),
    *(
        _function(name, doc, evaluate, ulp, torch=_arc(name), domain=domain)
        for name, doc, evaluate, ulp, domain in (
            ("asin", "inverse sine", math.asin, 2.0, UNIT),
            ("acos", "inverse cosine", math.acos, 2.0, UNIT),
            ("atan", "inverse tangent", math.atan, 2.0, (-4.0, 4.0)),
            ("asinh", "inverse hyperbolic sine", math.asinh, 2.0, (-4.0, 4.0)),
            ("acosh", "inverse hyperbolic cosine", math.acosh, 2.0, (1.0, 1e3)),
            ("atanh", "inverse hyperbolic tangent", math.atanh, 2.0, UNIT),
        )
    ),
    _function(
        "atan2",
        "the angle of the point (other, input)",
        math.atan2,
        2.0,
        torch=both("arctan2"),
        rule=FLOATING_TENSORS,
        operands=XY,
    ),
    _function(
        "hypot",
        "`sqrt(input^2 + other^2)` without overflow",
        math.hypot,
        2.0,
        rule=FLOATING_TENSORS,
        operands=XY,
        traits=Trait.COMMUTATIVE,
    ),
    _function(
        "copysign",
        "the size of `input` with the sign of `other`",
        math.copysign,
        0.0,
        rule=FLOAT,
        operands=XY,
        traits=Trait.EXACT,
    ),
    _function(
        "nextafter",
        "the next float from `input` towards `other`",
        math.nextafter,
        0.0,
        rule=WIDE,
        operands=XY,
        traits=Trait.EXACT,
    ),
    Op(
        name="sigmoid",
        kind=Kind.ELEMENTWISE,
        rule=FLOAT_ONE,
        operands=X,
        torch=(
            "torch.sigmoid",
            "Tensor.sigmoid",
            "torch.special.expit",
            "torch.nn.functional.sigmoid",
        ),
        signature="input, *, out=None",
        doc="`1 / (1 + exp(-input))`",
        spell={
            "cpu": "1.0f / (1.0f + exp(-{0}))",
            "cuda": "1.0f / (1.0f + expf(-{0}))",
            "cuda.f64": "1.0 / (1.0 + exp(-{0}))",
        },
        evaluate=lambda x: 1 / (1 + math.exp(-x)),
        max_ulp=2.5,
    ),
)
