"""Puts spellings together into C expressions, with the parentheses that keep SSA's association.

compose("{0} + {1}", a * b, c - d)  =>  a * b + (c - d)
"""

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from astjit.types.dtype import DType

ATOM, UNARY, TERNARY = 100, 13, 2
RANKS = {
    "*": 12, "/": 12, "%": 12, "+": 11, "-": 11, "<<": 10, ">>": 10, "<": 9, ">": 9, "<=": 9,
    ">=": 9, "==": 8, "!=": 8, "&": 7, "^": 6, "|": 5, "&&": 4, "||": 3, "?": TERNARY, ":": TERNARY,
}  # fmt: skip
_INFIX = re.compile(r"\{0\} (\S+) \{1\}")
_PREFIX = re.compile(r"([-!~]|\(\w+\))\{0\}")
_CALL = re.compile(r"[\w:<>{}]+\(")
_PLACE = re.compile(r"\{(\d)\}")


@dataclass(frozen=True, slots=True)
class Text:
    """A C expression and how strongly its outermost operator binds."""

    text: str
    rank: int = ATOM

    def wrapped(self, least: int) -> str:
        """The text, in parentheses if it binds less than `least`."""
        return self.text if self.rank >= least else f"({self.text})"


def compose(spelling: str, operands: Sequence[Text], fields: Mapping[str, str]) -> Text:
    """The expression of one op."""
    if infix := _INFIX.fullmatch(spelling):
        rank = RANKS[infix[1]]
        left, right = operands
        # C compilers warn of, and people misread, `a & b == c` and `a || b && c`
        tight = rank if rank >= 8 else UNARY
        return Text(f"{left.wrapped(tight)} {infix[1]} {right.wrapped(max(tight, rank + 1))}", rank)
    if prefix := _PREFIX.fullmatch(spelling):
        inner = operands[0].wrapped(UNARY)
        sign = prefix[1]
        return Text(f"{sign}({inner})" if inner.startswith(sign) else sign + inner, UNARY)
    rank = ATOM if _is_call(spelling) else _lowest(spelling)

    def put(match: re.Match[str]) -> str:
        before, after = spelling[: match.start()], spelling[match.end() :]
        alone = before.endswith(("(", ", ")) and after.startswith((")", ","))
        operand = operands[int(match[1])]
        return operand.text if alone else operand.wrapped(UNARY)

    text = _PLACE.sub(put, spelling)
    for name, value in fields.items():
        text = text.replace("{" + name + "}", value)
    return Text(text, rank)


def _is_call(spelling: str) -> bool:
    if not _CALL.match(spelling) or not spelling.endswith(")"):
        return spelling.isidentifier()
    depth = 0
    for at, char in enumerate(spelling):
        depth += (char == "(") - (char == ")")
        if char == ")" and depth == 0:
            return at == len(spelling) - 1
    return False


def _lowest(spelling: str) -> int:
    """The rank of the weakest operator outside parentheses."""
    rank, depth = ATOM, 0
    for word in re.findall(r"[()]|[^\s()]+", spelling):
        depth += (word == "(") - (word == ")")
        if depth == 0 and word in RANKS:
            rank = min(rank, RANKS[word])
    return rank if rank != ATOM else UNARY


def round_f32(value: float) -> float:
    """The nearest 32-bit float, infinite beyond the largest."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def number(value: float, dtype: DType, infinity: str, nan: str) -> Text:
    """A literal of a dtype: the fewest digits that give the same value."""
    if dtype.name == "bool":
        return Text("true" if value else "false")
    if not dtype.is_float:
        integer = int(value)
        if integer == -(2**63):
            return Text("(-9223372036854775807 - 1)")
        return Text(str(integer), UNARY if integer < 0 else ATOM)
    single = dtype.compute.bits == 32
    exact = round_f32(float(value)) if single else float(value)
    if exact != exact:
        return Text(nan)
    if exact in (float("inf"), float("-inf")):
        return Text(infinity if exact > 0 else f"-{infinity}", ATOM if exact > 0 else UNARY)
    digits = repr(exact)
    if single:
        digits = next(d for p in range(1, 18) if round_f32(float(d := f"{exact:.{p}g}")) == exact)
        digits = (
            repr(float(digits))
            if abs(exact) < 1e16 and (exact == 0 or abs(exact) >= 1e-4)
            else digits
        )
    if "." not in digits and "e" not in digits:
        digits += ".0"
    return Text(digits + ("f" if single else ""), UNARY if digits.startswith("-") else ATOM)
