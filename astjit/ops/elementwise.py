"""Elementwise rows: arithmetic, comparisons, logic, selection, rounding, casts.

A spelling is an expression of C or C++ in {0}, {1}, ...; operands already have the dtype the rule
computes in. On the CPU target an operand may be a vector of lanes (GCC vector types), for which
`+ - * / < ! ?:` and the helper functions under templates/cpu/helpers are overloaded. An operand
that is itself an expression arrives in parentheses.
"""

import math
import operator
from collections.abc import Callable

from astjit.ops.rules import (
    BITWISE,
    BITWISE_ONE,
    CAST,
    CLASSIFY,
    COMPARE,
    CONTIGUOUS,
    FLOAT,
    FLOAT_ONE,
    FLOATING,
    LOGICAL,
    LOGICAL_ONE,
    NUMERIC,
    NUMERIC_ONE,
    PROMOTE,
    PROMOTE_ONE,
    WHERE,
)
from astjit.ops.spec import Field, FieldKind, Kind, Op, Operand, Rule, Trait

X, TWO = (Operand("input"),), (Operand("input"), Operand("other"))
EXACT, COMMUTES = Trait.EXACT, Trait.EXACT | Trait.COMMUTATIVE
Evaluate = Callable[..., object]


def _larger(a: float, b: float) -> float:
    """The larger; NaN wins."""
    return a if a != a or a > b else b


def _smaller(a: float, b: float) -> float:
    return a if a != a or a < b else b


def _divide(a: float, b: float) -> float:
    """a / b as IEEE 754 has it."""
    if b:
        return a / b
    return math.copysign(math.inf, a) * math.copysign(1, b) if a and a == a else math.nan


def _whole(text: str) -> dict[str, str]:
    """A spelling for integers on both targets."""
    types = ("u8", "i8", "i16", "i32", "i64")
    return {f"{target}.{dtype}": text for target in ("cpu", "cuda") for dtype in types}


def _operator(
    name: str,
    rule: Rule,
    sign: str,
    evaluate: Evaluate,
    doc: str,
    *,
    traits: Trait = EXACT,
    torch: tuple[str, ...] = (),
    method: str = "",
    signature: str = "input, other, *, out=None",
    wide_numbers: bool = False,
    tensor_sign: str = "",
    host: str = "",
    of_bools: str = "",
) -> Op:
    """A row for an infix operator.

    Args:
        name: of the row and of torch's function.
        rule: its type rule.
        sign: Python's operator.
        evaluate: of Python numbers.
        doc: of the row.
        traits: of the row.
        torch: further names.
        method: the operator's method without underscores, where it is not `name`.
        signature: torch's parameters.
        wide_numbers: as in Op.
        tensor_sign: C's operator, where it is not `sign`.
        host: as in Op.
        of_bools: C's text for two bools, which in vectors are 0 and -1.
    """
    return Op(
        name=name,
        kind=Kind.ELEMENTWISE,
        rule=rule,
        operands=TWO,
        torch=(f"torch.{name}", f"Tensor.{name}", f"Tensor.__{method or name}__", *torch),
        signature=signature,
        spell={
            "c": f"{{0}} {tensor_sign or sign} {{1}}",
            **({"c.bool": of_bools} if of_bools else {}),
            "py": f"{{0}} {sign} {{1}}",
        },
        evaluate=evaluate,
        traits=traits,
        doc=doc,
        wide_numbers=wide_numbers,
        host=host,
    )


def _unary(
    name: str,
    rule: Rule,
    spell: dict[str, str],
    evaluate: Evaluate,
    doc: str,
    *,
    traits: Trait = EXACT,
    torch: tuple[str, ...] = (),
    domain: tuple[float, float] = (-4.0, 4.0),
) -> Op:
    return Op(
        name=name,
        kind=Kind.ELEMENTWISE,
        rule=rule,
        operands=X,
        torch=(f"torch.{name}", f"Tensor.{name}", *torch),
        signature="input, *, out=None",
        spell=spell,
        evaluate=evaluate,
        traits=traits,
        doc=doc,
        domain=domain,
    )


ALPHA = "input, other, *, alpha=1, out=None"

ARITHMETIC = (
    _operator(
        "add",
        PROMOTE,
        "+",
        operator.add,
        "`input + other`",
        traits=COMMUTES,
        signature=ALPHA,
        of_bools="{0} | {1}",
    ),
    _operator(
        "sub",
        NUMERIC,
        "-",
        operator.sub,
        "`input - other`",
        torch=("torch.subtract", "Tensor.subtract"),
        signature=ALPHA,
    ),
    _operator(
        "mul",
        PROMOTE,
        "*",
        operator.mul,
        "`input * other`",
        traits=COMMUTES,
        torch=("torch.multiply", "Tensor.multiply"),
        wide_numbers=True,
        of_bools="{0} & {1}",
    ),
    _operator(
        "div",
        FLOAT,
        "/",
        _divide,
        "true division",
        method="truediv",
        torch=(
            "Tensor.__div__",
            "torch.true_divide",
            "Tensor.true_divide",
            "torch.divide",
            "Tensor.divide",
        ),
        signature="input, other, *, rounding_mode=None, out=None",
        wide_numbers=True,
    ),
    _unary(
        "neg",
        NUMERIC_ONE,
        {"c": "-{0}", "py": "-{0}"},
        operator.neg,
        "`-input`",
        torch=("Tensor.__neg__", "torch.negative", "Tensor.negative"),
        traits=EXACT | Trait.INVOLUTION,
    ),
    _unary(
        "abs",
        NUMERIC_ONE,
        {
            "cpu": "abs({0})",
            "cuda": "fabsf({0})",
            "cuda.f64": "fabs({0})",
            **_whole("{0} < 0 ? -{0} : {0}"),
            "py": "abs({0})",
        },
        abs,
        "absolute value",
        torch=("Tensor.__abs__", "torch.absolute", "Tensor.absolute"),
        traits=EXACT | Trait.IDEMPOTENT,
    ),
    _unary(
        "reciprocal",
        FLOAT_ONE,
        {"c": "1.0f / {0}", "py": "1 / {0}"},
        lambda x: _divide(1.0, x),
        "`1 / input`",
    ),
    _unary(
        "sqrt",
        FLOAT_ONE,
        {
            "cpu": "sqrt({0})",
            "cuda": "sqrtf({0})",
            "cuda.f64": "sqrt({0})",
            "py": "torch.sym_sqrt({0})",  # math.sqrt of a number, under a name that programs have
        },
        math.sqrt,
        "square root, correctly rounded, as PyTorch's is for all but long vectors on some CPUs",
        domain=(0.0, 1e3),
    ),
    _unary(
        "rsqrt",
        FLOAT_ONE,
        {
            "cpu": "rsqrt({0})",
            "cuda": "1.0f / sqrtf({0})",
            "cuda.f64": "1.0 / sqrt({0})",
        },
        lambda x: 1 / math.sqrt(x),
        "`1 / sqrt(input)`, rounded as eager does: square root, then division",
        domain=(1e-3, 1e3),
    ),
)


def _extreme(name: str, sign: str, evaluate: Evaluate, doc: str, host: str) -> Op:
    """The operand that is `sign` the other; literals of integers need no type this way."""
    short = name[:3]
    return Op(
        name=name,
        kind=Kind.ELEMENTWISE,
        rule=PROMOTE,
        operands=TWO,
        torch=(f"torch.{name}", f"Tensor.{name}"),
        signature="input, other, *, out=None",
        spell={
            "cpu": f"{name}({{0}}, {{1}})",
            "cuda": f"{short.title()}Any::combine({{0}}, {{1}})",
            "cuda.f32": f"{short}_nan({{0}}, {{1}})",
            "cpu.bool": f"{{0}} {'|' if name == 'maximum' else '&'} {{1}}",
            **_whole(f"{{0}} {sign} {{1}} ? {{0}} : {{1}}"),
        },
        evaluate=evaluate,
        traits=COMMUTES,
        doc=doc,
        host=host,
    )


POWERS = (
    Op(
        name="pow",
        kind=Kind.ELEMENTWISE,
        rule=FLOATING,
        operands=(Operand("input"), Operand("exponent")),
        doc="`input` to the power of `exponent`, of floats",
        host="torch.pow({0}, {1})",
        spell={
            "cpu": "pow({0}, {1})",
            "cuda": "powf({0}, {1})",
            "cuda.f64": "pow({0}, {1})",
            "py": "{0} ** {1}",
        },
        evaluate=math.pow,
        max_ulp=4.0,
        domain=(0.1, 4.0),
    ),
    Op(
        name="fmod",
        kind=Kind.ELEMENTWISE,
        rule=FLOATING,
        operands=TWO,
        doc="the remainder with the sign of `input`, of floats",
        host="torch.fmod({0}, {1})",
        spell={
            "cpu": "fmod({0}, {1})",
            "cuda": "fmodf({0}, {1})",
            "cuda.f64": "fmod({0}, {1})",
        },
        evaluate=math.fmod,
        traits=EXACT,
        domain=(0.1, 4.0),
    ),
)

SELECTION = (
    _extreme("maximum", ">", _larger, "the larger; NaN wins", "torch.clamp({0}, min={1})"),
    _extreme("minimum", "<", _smaller, "the smaller; NaN wins", "torch.clamp({0}, max={1})"),
    Op(
        name="where",
        kind=Kind.ELEMENTWISE,
        rule=WHERE,
        operands=(Operand("condition"), Operand("input"), Operand("other")),
        torch=("torch.where",),
        signature="condition, input, other, *, out=None",
        doc="`input` where the condition is true, else `other`",
        spell={"c": "{0} ? {1} : {2}", "py": "{1} if {0} else {2}"},
        wide_numbers=True,
        checked=("input", "other"),
        evaluate=lambda c, a, b: a if c else b,
        traits=EXACT,
    ),
)

COMPARISONS = tuple(
    _operator(
        name,
        COMPARE,
        sign,
        evaluate,
        f"`input {sign} other`",
        traits=traits,
        torch=tuple(f"{home}.{long}" for home in ("torch", "Tensor") if long),
        of_bools=of_bools,
    )
    for name, long, sign, evaluate, traits, of_bools in (
        ("lt", "less", "<", operator.lt, EXACT, "!{0} & {1}"),
        ("le", "less_equal", "<=", operator.le, EXACT, "!{0} | {1}"),
        ("gt", "greater", ">", operator.gt, EXACT, "{0} & !{1}"),
        ("ge", "greater_equal", ">=", operator.ge, EXACT, "{0} | !{1}"),
        ("eq", "", "==", operator.eq, COMMUTES, ""),
        ("ne", "not_equal", "!=", operator.ne, COMMUTES, ""),
    )
)


def _logical(name: str, sign: str, python: str, evaluate: Evaluate) -> Op:
    return Op(
        name=name,
        kind=Kind.ELEMENTWISE,
        rule=LOGICAL,
        operands=TWO,
        torch=(f"torch.{name}", f"Tensor.{name}"),
        signature="input, other, *, out=None",
        spell={"c": f"{{0}} {sign} {{1}}", "py": python},
        evaluate=evaluate,
        traits=COMMUTES,
        doc=f"{name[8:]} of `input != 0` and `other != 0`",
    )


LOGIC = (
    _logical("logical_and", "&", "bool({0}) and bool({1})", lambda a, b: bool(a) and bool(b)),
    _logical("logical_or", "|", "bool({0}) or bool({1})", lambda a, b: bool(a) or bool(b)),
    _logical("logical_xor", "^", "bool({0}) != bool({1})", lambda a, b: bool(a) != bool(b)),
    _unary(
        "logical_not",
        LOGICAL_ONE,
        {"c": "!{0}", "py": "not {0}"},
        operator.not_,
        "`input == 0`",
    ),
    *(
        _operator(
            name,
            BITWISE,
            sign,
            evaluate,
            f"`input {sign} other` of integers or bools",
            traits=COMMUTES,
            method=method,
        )
        for name, method, sign, evaluate in (
            ("bitwise_and", "and", "&", operator.and_),
            ("bitwise_or", "or", "|", operator.or_),
            ("bitwise_xor", "xor", "^", operator.xor),
        )
    ),
    _unary(
        "bitwise_not",
        BITWISE_ONE,
        {"c": "~{0}", "c.bool": "!{0}", "py": "~{0}"},
        lambda x: not x if isinstance(x, bool) else ~x,
        "`~input` of integers or bools",
        traits=EXACT | Trait.INVOLUTION,
        torch=("Tensor.__invert__",),
    ),
    _unary(
        "isnan",
        CLASSIFY,
        {"c": "{0} != {0}", "py": "{0} != {0}"},
        lambda x: x != x,
        "whether an element is NaN",
    ),
    _unary(
        "isinf",
        CLASSIFY,
        {
            "cpu": "abs({0}) == __builtin_inff()",
            "cuda": "isinf({0})",
        },
        lambda x: x in (math.inf, -math.inf),
        "whether an element is infinite",
    ),
    _unary(
        "isfinite",
        CLASSIFY,
        {
            "cpu": "abs({0}) < __builtin_inff()",
            "cuda": "isfinite({0})",
        },
        lambda x: x == x and x not in (math.inf, -math.inf),
        "whether an element is neither infinite nor NaN",
    ),
)


def _rounding(name: str, function: str, evaluate: Evaluate, doc: str) -> Op:
    """Rounds floats; an integer stays what it is."""
    return _unary(
        name,
        NUMERIC_ONE,
        {
            "cpu": f"{name}({{0}})",
            "cuda": f"{function}f({{0}})",
            "cuda.f64": f"{function}({{0}})",
            **_whole("{0}"),
        },
        evaluate,
        doc,
        traits=EXACT | Trait.IDEMPOTENT,
    )


def _finite(function: Callable[[float], int]) -> Evaluate:
    """A rounding of Python's math for every float, the sign of zero kept."""

    def rounded(x: float) -> float:
        return math.copysign(function(x), x) if math.isfinite(x) else x

    return rounded


ROUNDING = (
    _rounding("floor", "floor", _finite(math.floor), "the largest integer not above"),
    _rounding("ceil", "ceil", _finite(math.ceil), "the smallest integer not below"),
    _rounding("trunc", "trunc", _finite(math.trunc), "the integer part"),
    _rounding("round", "rint", _finite(round), "the nearest integer, a half to the even one"),
)

CASTS = (
    Op(
        name="to",
        kind=Kind.ELEMENTWISE,
        rule=CAST,
        operands=X,
        fields=(Field("dtype", FieldKind.DTYPE),),
        doc="the input converted to another dtype",
        host="{0}.to({dtype})",
        spell={"c": "to_{dtype}({0})"},
        traits=EXACT,
    ),
    Op(
        name="contiguous",
        kind=Kind.ELEMENTWISE,
        rule=CONTIGUOUS,
        operands=X,
        doc="a dense copy, axes in order",
        host="{0}.clone(memory_format=torch.contiguous_format)",
        spell={"c": "{0}"},
        evaluate=lambda x: x,
        traits=EXACT | Trait.IDEMPOTENT,
    ),
    Op(
        name="clone",
        kind=Kind.ELEMENTWISE,
        rule=PROMOTE_ONE,
        operands=X,
        torch=("torch.clone", "Tensor.clone"),
        signature="input, *, memory_format=None",
        doc="a copy in the same layout",
        spell={"c": "{0}"},
        evaluate=lambda x: x,
        traits=EXACT | Trait.IDEMPOTENT,
    ),
)

ROWS = (*ARITHMETIC, *POWERS, *SELECTION, *COMPARISONS, *LOGIC, *ROUNDING, *CASTS)
