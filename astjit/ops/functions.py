"""Rows for the functions of analysis: exponentials, logarithms, circular and hyperbolic ones.

The published worst error is of the spelling in float32, in ulp against float64 (decision D8): the
larger of the CPU target's, measured over all floats, and CUDA's, as NVIDIA documents it.
"""

import math
from collections.abc import Callable

from astjit.ops.rules import FLOAT_ONE
from astjit.ops.spec import Kind, Op, Operand

X = (Operand("input"),)


def _function(
    name: str,
    doc: str,
    evaluate: Callable[..., object],
    max_ulp: float,
    *,
    torch: tuple[str, ...] = (),
    domain: tuple[float, float] = (-4.0, 4.0),
) -> Op:
    """A function of one float that both targets have under torch's name."""
    return Op(
        name=name,
        kind=Kind.ELEMENTWISE,
        rule=FLOAT_ONE,
        operands=X,
        torch=(f"torch.{name}", f"Tensor.{name}", *torch),
        signature="input, *, out=None",
        doc=doc,
        evaluate=evaluate,
        max_ulp=max_ulp,
        domain=domain,
        spell={
            "cpu": f"{name}({{0}})",
            "cuda": f"{name}f({{0}})",
            "cuda.f64": f"{name}({{0}})",
        },
    )


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    """A logarithm of Python's math with -inf at 0."""
    return lambda x: function(x) if x > 0 else -math.inf if x == 0 else math.nan


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
