"""Python numbers that are known at run time only: what `.shape[0]` and `eps` are during capture.

    n = x.shape[0]; n * 2 + 1     a size, Dim `x0*2 + 1`
    1 - lr * 2                    host arithmetic on the argument lr
    n > 4                         an answer, and the guard `x0 > 4`
    int(eps), f"{eps}"            the value itself, and the guard `eps == 1e-06`

They are subclasses of torch.SymInt and torch.SymFloat, so that torch's argument parsers pass them
to the hook unchanged (decisions D1, D2); everything Python asks of a number is answered here.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from astjit.ir.value import Value
from astjit.types.bounds import never_negative
from astjit.types.shape import Dim, add, floordiv, mod, mul, sub

Plain = int | float


@dataclass(eq=False, slots=True)
class Number:
    """A number and how it is computed.

    Attributes:
        hint: its value in the call that is being captured.
        text: Python text over paths, for guards.
        dim: the same as a size, where it is made of sizes and integers only.
        op: the row that computes it on the host, "" for sizes and inputs.
        operands: what the row takes.
        value: the SSA value, once there is one.
    """

    hint: Plain
    text: str
    dim: Dim | None = None
    op: str = ""
    operands: tuple["Number | Plain", ...] = ()
    value: Value | None = None


class Keeper(Protocol):
    """What a carrier asks of the capture it belongs to."""

    def pin(self, number: Number, why: str) -> Plain:
        """The number's value, which becomes a guard."""
        ...

    def compare(self, sign: str, left: Number, right: Number) -> bool:
        """The answer in this call, which becomes a guard."""
        ...

    def dim_text(self, dim: Dim) -> str:
        """Python text of a size, over paths."""
        ...

    def host_row(self, sign: str) -> str:
        """The row that does this arithmetic on Python numbers, "" if none does."""
        ...

    def size_of(self, number: Number) -> Dim | None:
        """A number as a size, None where it is none."""
        ...


class Node:
    """What torch's C code asks of a symbolic number."""

    def __init__(self, keeper: Keeper, number: Number) -> None:
        self.keeper, self.number = keeper, number

    def is_int(self) -> bool:
        """Whether it is an int."""
        return isinstance(self.number.hint, int)

    def is_float(self) -> bool:
        """Whether it is a float."""
        return isinstance(self.number.hint, float)

    def is_bool(self) -> bool:
        """Never: bools are static."""
        return False

    is_nested_int = is_constant = is_bool

    def is_symbolic(self) -> bool:
        """Always."""
        return True

    def has_hint(self) -> bool:
        """Always."""
        return True

    def maybe_as_int(self) -> None:
        """No value without a guard."""
        return None

    maybe_as_float = maybe_as_bool = constant_int = constant_bool = nested_int = maybe_as_int

    def clone(self) -> "Node":
        """Itself: a number is never changed."""
        return self

    def guard_int(self, file: str, line: int) -> int:
        """Its value, pinned."""
        return int(self.keeper.pin(self.number, "a C function took its value"))

    def guard_float(self, file: str, line: int) -> float:
        """Its value, pinned."""
        return float(self.keeper.pin(self.number, "a C function took its value"))

    def guard_bool(self, file: str, line: int) -> bool:
        """Its truth, pinned."""
        return bool(self.keeper.pin(self.number, "a C function took its value"))

    def __str__(self) -> str:
        return self.number.text

    str = _graph_repr = __str__


def number_text(value: Plain) -> str:
    """Python text of a number; infinities and nan have no literals."""
    plain = isinstance(value, int) or math.isfinite(value)
    return repr(value) if plain else f"float('{value}')"


def number_of(value: object) -> Number | None:
    """The number of a carrier or a plain int or float, None for anything else."""
    if isinstance(value, Int | Float):
        return value.node.number
    if isinstance(value, int | float):
        dim = int(value) if isinstance(value, int) else None
        return Number(value, number_text(value), dim)
    return None


def carrier(keeper: Keeper, number: Number) -> "Plain | Int | Float":
    """The object that user code gets for a number."""
    if isinstance(number.dim, int):
        return number.dim
    node = Node(keeper, number)
    return Int(node) if isinstance(number.hint, int) else Float(node)


_OF_SIZES: dict[str, Callable[[Dim, Dim], Dim]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "//": floordiv,
    "%": mod,
}
_COMPUTE: dict[str, Callable[..., Plain]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "/": operator.truediv,
    "**": operator.pow,
}


def arithmetic(keeper: Keeper, sign: str, left: object, right: object) -> object:
    """`left SIGN right`, kept symbolic where sizes or a host row can say it, else on the values."""
    a, b = number_of(left), number_of(right)
    if a is None or b is None:
        return NotImplemented
    hint = _COMPUTE[sign](a.hint, b.hint)  # raises what Python raises
    if sign in _OF_SIZES and a.dim is not None and b.dim is not None:
        dim = _OF_SIZES[sign](a.dim, b.dim)
        return carrier(keeper, Number(hint, keeper.dim_text(dim), dim))
    row = keeper.host_row(sign)
    if row:
        parts = tuple(
            n if isinstance(v, Int | Float) else n.hint for n, v in ((a, left), (b, right))
        )
        return carrier(keeper, Number(hint, f"({a.text} {sign} {b.text})", None, row, parts))
    if sign in _OF_SIZES and isinstance(hint, int):  # no row, but sizes have it
        left_dim, right_dim = keeper.size_of(a), keeper.size_of(b)
        if left_dim is not None and right_dim is not None:
            dim = _OF_SIZES[sign](left_dim, right_dim)
            return carrier(keeper, Number(hint, keeper.dim_text(dim), dim))
    return _COMPUTE[sign](keeper.pin(a, f"used in {sign}"), keeper.pin(b, f"used in {sign}"))


def power(keeper: Keeper, base: "Int", exponent: float) -> object:
    """`base ** exponent` of a size, kept symbolic: what is not negative has a power that is real.

    NotImplemented where it is not known to be so.
    """
    number = base.node.number
    row = keeper.host_row("**")
    if number.dim is None or not row or not math.isfinite(exponent):
        return NotImplemented
    if not never_negative(number.dim):
        return NotImplemented
    hint = number.hint**exponent  # raises what Python raises
    text = f"({number.text} ** {exponent!r})"
    return carrier(keeper, Number(hint, text, None, row, (number, exponent)))


def square_root(value: object) -> object:
    """math.sqrt of a number; of a size that is not negative it is kept symbolic."""
    if isinstance(value, Int) and (dim := value.node.number.dim) is not None:
        keeper, number = value.node.keeper, value.node.number
        row = keeper.host_row("sqrt")
        if row and never_negative(dim):
            text = f"torch.sym_sqrt({number.text})"
            return carrier(keeper, Number(math.sqrt(number.hint), text, None, row, (number,)))
    return math.sqrt(value)  # type: ignore[arg-type]  # raises what Python raises


class _Arithmetic:
    """What Int and Float share. `node` is torch's name for the attribute."""

    node: Node

    def _pin(self, why: str) -> Plain:
        return self.node.keeper.pin(self.node.number, why)

    def __neg__(self) -> object:
        return arithmetic(self.node.keeper, "*", self, -1)

    def __pos__(self) -> object:
        return self

    def __abs__(self) -> object:
        zero = 0 if isinstance(self, Int) else 0.0  # 0.0 - x, since abs(-0.0) is 0.0
        return arithmetic(self.node.keeper, "-", zero, self) if _compare(self, "<=", 0) else self

    def __pow__(self, other: object, modulo: object = None) -> object:
        if isinstance(other, int) and not isinstance(other, bool) and 0 < other <= 4:
            result: object = self
            for _ in range(other - 1) if isinstance(self, Int) and modulo is None else ():
                result = arithmetic(self.node.keeper, "*", result, self)
            if isinstance(self, Int) and modulo is None:
                return result
        if isinstance(self, Int) and type(other) is float and modulo is None:
            kept = power(self.node.keeper, self, other)
            if kept is not NotImplemented:
                return kept
        exponent, base = _plain(other), self._pin("used in **")
        return pow(base, exponent) if modulo is None else pow(base, exponent, _plain(modulo))

    def __rpow__(self, other: object) -> object:
        return pow(_plain(other), self._pin("used in **"))

    def __bool__(self) -> bool:
        return bool(_compare(self, "!=", 0))

    def __int__(self) -> int:
        return int(self._pin("int() took its value"))

    def __float__(self) -> float:
        return float(self._pin("float() took its value"))

    def __complex__(self) -> complex:
        return complex(self._pin("complex() took its value"))

    def __hash__(self) -> int:
        return hash(self._pin("hash() took its value"))

    def __str__(self) -> str:
        return str(self._pin("str() took its value"))

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(self._pin("formatting took its value"), spec)

    def __round__(self, digits: int | None = None) -> object:
        return round(self._pin("round() took its value"), digits)

    def __trunc__(self) -> int:
        return int(self._pin("trunc() took its value"))

    def __floor__(self) -> int:
        return math.floor(self._pin("floor() took its value"))

    def __ceil__(self) -> int:
        return math.ceil(self._pin("ceil() took its value"))

    def __divmod__(self, other: object) -> object:
        keeper = self.node.keeper
        quotient = arithmetic(keeper, "//", self, other)
        return (
            NotImplemented
            if quotient is NotImplemented
            else (quotient, arithmetic(keeper, "%", self, other))
        )

    def __rdivmod__(self, other: object) -> object:
        keeper = self.node.keeper
        quotient = arithmetic(keeper, "//", other, self)
        return (
            NotImplemented
            if quotient is NotImplemented
            else (quotient, arithmetic(keeper, "%", other, self))
        )

    def __deepcopy__(self, memo: object) -> object:
        return self

    def __copy__(self) -> object:
        return self

    def __reduce_ex__(self, protocol: object) -> tuple[type, tuple[Plain]]:
        value = self._pin("pickling took its value")
        return type(value), (value,)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._pin(f".{name} took its value"), name)


class Int(_Arithmetic, torch.SymInt):
    """A run-time int."""

    def __init__(self, node: Node) -> None:
        torch.SymInt.__init__(self, node)  # type: ignore[no-untyped-call]

    def __index__(self) -> int:
        return int(self._pin("an index, range() or a C function took its value"))

    def __invert__(self) -> int:
        return ~self.__index__()


class Float(_Arithmetic, torch.SymFloat):
    """A run-time float."""

    def __init__(self, node: Node) -> None:
        torch.SymFloat.__init__(self, node)  # type: ignore[no-untyped-call]


def _plain(value: object) -> Any:
    return value._pin("used in **") if isinstance(value, Int | Float) else value


def _compare(left: "_Arithmetic", sign: str, right: object, flip: bool = False) -> Any:
    a, b = number_of(left), number_of(right)
    if a is None or b is None:
        return NotImplemented
    return left.node.keeper.compare(sign, b, a) if flip else left.node.keeper.compare(sign, a, b)


def _binary(sign: str, swapped: bool) -> Callable[[_Arithmetic, object], object]:
    def method(self: _Arithmetic, other: object) -> object:
        pair = (other, self) if swapped else (self, other)
        return arithmetic(self.node.keeper, sign, *pair)

    return method


def _comparison(sign: str, flip: bool) -> Callable[[_Arithmetic, object], object]:
    return lambda self, other: _compare(self, sign, other, flip)


def _bitwise(name: str) -> Callable[[Int, object], object]:
    def method(self: Int, other: object) -> object:
        value = other.__index__() if isinstance(other, Int) else other
        return getattr(self.__index__(), name)(value)

    return method


_SIGNS = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "truediv": "/"}
_QUESTIONS = {
    "eq": ("==", False),
    "ne": ("!=", False),
    "lt": ("<", False),
    "le": ("<=", False),
    "gt": ("<", True),
    "ge": ("<=", True),
}
for _class in (Int, Float):
    for _name, _sign in _SIGNS.items():
        setattr(_class, f"__{_name}__", _binary(_sign, swapped=False))
        setattr(_class, f"__r{_name}__", _binary(_sign, swapped=True))
    for _name, (_sign, _flip) in _QUESTIONS.items():
        setattr(_class, f"__{_name}__", _comparison(_sign, _flip))
Int.__name__, Float.__name__ = "int", "float"  # in the messages of errors
for _name in ("and", "or", "xor", "lshift", "rshift"):
    setattr(Int, f"__{_name}__", _bitwise(f"__{_name}__"))
    setattr(Int, f"__r{_name}__", _bitwise(f"__r{_name}__"))
