"""Elementwise rows: arithmetic, comparisons, casts, functions.

A spelling is an expression of C or C++ in {0}, {1}, ...; operands already have the dtype the rule
computes in. On the CPU target an operand may be a vector of lanes (GCC vector types), for which
`+ - * / < ?:` and the helper functions under templates/cpu/helpers are overloaded.
"""

import math
import operator

from astjit.ops.rules import CAST, COMPARE, FLOAT, FLOAT_ONE, PROMOTE, PROMOTE_ONE, WHERE
from astjit.ops.spec import Field, FieldKind, Kind, Op, Operand, Rule, Trait

X, TWO = (Operand("input"),), (Operand("input"), Operand("other"))
EXACT, COMMUTES = Trait.EXACT, Trait.EXACT | Trait.COMMUTATIVE


def _binary(name: str, rule: Rule, sign: str, evaluate: object, traits: Trait, method: str, doc: str) -> Op:
    return Op(
        name=name,
        kind=Kind.ELEMENTWISE,
        rule=rule,
        operands=TWO,
        torch=(f"torch.{name}", f"Tensor.{name}", f"Tensor.__{method}__"),
        signature="input, other, *, alpha=1, out=None"
        if name in ("add", "sub")
        else "input, other, *, out=None",
        spell={"c": f"{{0}} {sign} {{1}}", "py": f"{{0}} {sign} {{1}}"},
        evaluate=evaluate,  # type: ignore[arg-type]  # operator functions
        traits=traits,
        doc=doc,
    )


def _function(name: str, doc: str, evaluate: object, max_ulp: float, **more: object) -> Op:
    return Op(
        name=name,
        kind=Kind.ELEMENTWISE,
        rule=FLOAT_ONE,
        operands=X,
        torch=(f"torch.{name}", f"Tensor.{name}", f"torch.special.{name}"),
        signature="input, *, out=None",
        doc=doc,
        evaluate=evaluate,  # type: ignore[arg-type]
        max_ulp=max_ulp,
        **{"spell": {"cpu": f"{name}({{0}})", "cuda": f"{name}f({{0}})", "cuda.f64": f"{name}({{0}})"}, **more},  # type: ignore[arg-type]
    )


ROWS = (
    _binary("add", PROMOTE, "+", operator.add, COMMUTES, "add", "`input + other`"),
    _binary("sub", PROMOTE, "-", operator.sub, EXACT, "sub", "`input - other`"),
    _binary("mul", PROMOTE, "*", operator.mul, COMMUTES, "mul", "`input * other`"),
    _binary("div", FLOAT, "/", operator.truediv, EXACT, "truediv", "true division"),
    _binary("lt", COMPARE, "<", operator.lt, EXACT, "lt", "`input < other`"),
    _function("exp", "e to the power of the input", math.exp, 1.0),
    _function("tanh", "hyperbolic tangent", math.tanh, 1.5),
    Op(
        name="rsqrt",
        kind=Kind.ELEMENTWISE,
        rule=FLOAT_ONE,
        operands=X,
        torch=("torch.rsqrt", "Tensor.rsqrt"),
        signature="input, *, out=None",
        doc="`1 / sqrt(input)`, rounded as eager does: square root, then division",
        spell={"cpu": "rsqrt({0})", "cuda": "1.0f / sqrtf({0})", "cuda.f64": "1.0 / sqrt({0})"},
        evaluate=lambda x: 1 / math.sqrt(x),
        domain=(1e-3, 1e3),
        traits=EXACT,
    ),
    Op(
        name="where",
        kind=Kind.ELEMENTWISE,
        rule=WHERE,
        operands=(Operand("condition"), Operand("input"), Operand("other")),
        torch=("torch.where",),
        signature="condition, input, other, *, out=None",
        doc="`input` where the condition is true, else `other`",
        spell={"c": "{0} ? {1} : {2}", "py": "{1} if {0} else {2}"},
        evaluate=lambda c, a, b: a if c else b,
        traits=EXACT,
    ),
    Op(
        name="to",
        kind=Kind.ELEMENTWISE,
        rule=CAST,
        operands=X,
        fields=(Field("dtype", FieldKind.DTYPE),),
        doc="the input converted to another dtype",
        host="{0}.to({dtype})",
        traits=EXACT,
    ),
    Op(
        name="neg",
        kind=Kind.ELEMENTWISE,
        rule=PROMOTE_ONE,
        operands=X,
        torch=("torch.neg", "Tensor.neg", "Tensor.__neg__", "torch.negative", "Tensor.negative"),
        signature="input, *, out=None",
        doc="`-input`",
        spell={"c": "-{0}", "py": "-{0}"},
        evaluate=operator.neg,
        traits=EXACT | Trait.INVOLUTION,
    ),
)
