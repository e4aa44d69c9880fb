"""Rows for integers alone: shifts by any count, and division by a number that cannot fail.

A divisor that is a tensor may hold 0, for which eager raises: those calls are PyTorch's.
"""

from collections.abc import Callable

from astjit.ops.held import held
from astjit.ops.rules import WHOLE
from astjit.ops.spec import (
    Call,
    Emitter,
    Kind,
    Op,
    Operand,
    Ref,
    Rule,
    Spelling,
    Trait,
    both,
    type_of,
)
from astjit.types.dtype import BOOL
from astjit.types.tensor import ScalarType, TensorType, Type

Number = Ref | float
XY = (Operand("input"), Operand("other"))
_CTYPES = {"u8": "unsigned char", "i8": "signed char", "i16": "short", "i32": "int"}
_LONG = {"cpu": "long", "cuda": "long long"}


def _helper(function: str) -> dict[str, str]:
    """A call of a helper, its type written out: a literal says nothing of it."""
    return {
        f"{target}.{dtype}": f"{function}<{ctype}>({{0}}, {{1}})"
        for target, long in _LONG.items()
        for dtype, ctype in {**_CTYPES, "i64": long}.items()
    }


def _sign(text: str) -> dict[str, str]:
    """C's own operator, which rounds towards zero."""
    return {f"c.{dtype}": text for dtype in (*_CTYPES, "i64")}


def divisible(x: Number, other: Number) -> bool:
    """Whether a division of integers is by a number that is neither 0 nor -1."""
    kind = type_of(x)
    if not isinstance(kind, TensorType) or kind.dtype.is_float or kind.dtype is BOOL:
        return False
    whole = isinstance(other, int) and not isinstance(other, bool)
    return whole and held(other, kind.dtype) and other not in (0, -1)


def _infer_by_number(call: Call) -> tuple[Type, ...]:
    if not isinstance(call.types[1], ScalarType):
        raise TypeError("a tensor of divisors may hold 0")
    return WHOLE.infer(call)


BY_NUMBER = Rule(
    _infer_by_number,
    WHOLE.computes,
    (("i32[5]", "int"), ("i64[3, 4]", "int"), ("u8[3]", "int"), ("i8[]", "int")),
)


def _row(name: str, spell: dict[str, str], host: str, doc: str, evaluate: Callable[..., object],
         torch: tuple[str, ...] = ()) -> Op:  # fmt: skip
    return Op(
        name=name,
        kind=Kind.ELEMENTWISE,
        rule=WHOLE if torch else BY_NUMBER,
        operands=XY,
        torch=torch,
        signature="input, other, *, out=None" if torch else "",
        host=host,
        spell=spell,
        evaluate=evaluate,
        traits=Trait.EXACT,
        domain=(1.0, 9.0),
        doc=doc,
    )


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


ROWS = (
    _row(
        "bitwise_left_shift",
        _helper("shift_left"),
        "torch.bitwise_left_shift({0}, {1})",
        "`input << other`, 0 for a count below 0 or not below the width",
        lambda a, b: a << b,
        (*both("bitwise_left_shift"), "Tensor.__lshift__"),
    ),
    _row(
        "bitwise_right_shift",
        _helper("shift_right"),
        "torch.bitwise_right_shift({0}, {1})",
        "`input >> other`, the sign for a count below 0 or not below the width",
        lambda a, b: a >> b,
        (*both("bitwise_right_shift"), "Tensor.__rshift__"),
    ),
    _row(
        "integer_floor_divide",
        _helper("floor_quotient"),
        "torch.floor_divide({0}, {1})",
        "`input // other` of integers by a number",
        lambda a, b: a // b,
    ),
    _row(
        "integer_remainder",
        _helper("floor_rest"),
        "torch.remainder({0}, {1})",
        "`input % other` of integers by a number",
        lambda a, b: a % b,
    ),
    _row(
        "integer_trunc_divide",
        _sign("{0} / {1}"),
        "torch.div({0}, {1}, rounding_mode='trunc')",
        "`input / other` of integers by a number, towards zero",
        _truncated,
    ),
    _row(
        "integer_fmod",
        _sign("{0} % {1}"),
        "torch.fmod({0}, {1})",
        "the remainder of integers by a number, with the sign of `input`",
        lambda a, b: a - b * _truncated(a, b),
    ),
)


def _shifted(name: str) -> Callable[..., Ref]:
    def build(emit: Emitter, x: Ref, other: Number) -> Ref:
        return emit.emit(name, other, x)

    return build


SPELLINGS = tuple(
    Spelling(torch=(method,), signature="input, other", build=_shifted(name), operands=XY)
    for method, name in (
        ("Tensor.__rlshift__", "bitwise_left_shift"),
        ("Tensor.__rrshift__", "bitwise_right_shift"),
    )
)
