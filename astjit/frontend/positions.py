"""Python ints as sizes and positions: where one becomes a size symbol of the program (D1, D2).

    cache[:, p:p + 1]        p: a symbol `p`, valid for 0, 2, 3, ...; the slice has 1 element
    x.view(b, -1)            b: the same
    cache[:, :1 + p]         worked out from the arithmetic that made the number

    x[:, p:] with p < 0      counts from the end: -q, where q is a symbol for `-p`

An int is a run-time number until it is used where a size is; only then is it asked, once, what a
symbol says: that it is not negative, and not 1. An int that is 1 or -1 is its value, which becomes
a guard, since sizes of 1 broadcast.

Arguments vary from the first call on. An attribute, a global or an item, such as the number of
heads of a layer, is its value until a later capture finds another one: `cache.pos`.
"""

from collections.abc import Callable
from typing import Protocol

from astjit.frontend.carriers import Number, Plain
from astjit.ir.value import Param
from astjit.types.shape import Dim, Sym, add, mul, sub
from astjit.types.tensor import PY_INT

_OF_ROWS: dict[str, Callable[[Dim, Dim], Dim]] = {"add": add, "sub": sub, "mul": mul}


class Keeper(Protocol):
    """What this asks of the capture that a number belongs to."""

    size_paths: dict[str, str]
    sized: dict[str, int | None]

    def is_argument(self, path: str) -> bool:
        """Whether a path is a parameter of the function."""
        ...

    def guard(self, test: str, reason: str) -> None:
        """Add a condition."""
        ...

    def pin(self, number: Number, why: str) -> Plain:
        """The number's value, which becomes a guard."""
        ...

    def take(self, param: Param) -> None:
        """Make a number an input of the function."""
        ...

    def fresh(self, name: str, *, own: bool = False) -> str:
        """A new name."""
        ...


def size_of(keeper: Keeper, number: Number, *, symbolic: bool = True) -> Dim | None:
    """A number as a size; None where it is none, or was not made of ints by + - *.

    Args:
        keeper: the capture.
        number: of an argument, an attribute, arithmetic; it has this size from now on.
        symbolic: whether it may vary; else it is pinned.
    """
    if number.dim is not None or not isinstance(number.hint, int):
        return number.dim
    if number.op:
        number.dim = _worked_out(keeper, number, symbolic=symbolic)
    elif isinstance(number.value, Param):
        number.dim = _leaf(keeper, number, number.value, symbolic=symbolic)
    return number.dim


def _worked_out(keeper: Keeper, number: Number, *, symbolic: bool) -> Dim | None:
    if number.op not in _OF_ROWS:
        return None
    dims = [
        size_of(keeper, part, symbolic=symbolic) if isinstance(part, Number) else _plain(part)
        for part in number.operands
    ]
    left, right = dims
    return None if left is None or right is None else _OF_ROWS[number.op](left, right)


def _plain(part: Plain) -> Dim | None:
    return int(part) if isinstance(part, int) else None


def _leaf(keeper: Keeper, number: Number, param: Param, *, symbolic: bool) -> Dim:
    value, path = int(number.hint), number.text
    varies = symbolic and (_seen_to_vary(keeper, path, value) or keeper.is_argument(path))
    if value in (1, -1) or not varies:
        why = "a size or position" + (f" of {value}" if varies else "")
        return int(keeper.pin(number, why))
    if value < 0:
        keeper.guard(f"{path} < -1", f"{path} is a position that counts from the end, not from -1")
        return mul(-1, _from_the_end(keeper, param, value))
    keeper.guard(f"{path} >= 0", f"{path} is a size or position, and not negative")
    keeper.guard(f"{path} != 1", f"{path} is a size or position, and not 1")
    keeper.size_paths[param.name] = path
    keeper.take(param)
    return Sym(param.name, value)


def _from_the_end(keeper: Keeper, param: Param, value: int) -> Sym:
    """How far from the end a negative position is."""
    path = f"(-{param.path})"
    name = next((n for n, known in keeper.size_paths.items() if known == path), "")
    if not name:
        name = keeper.fresh(f"{param.name}_back")
        keeper.size_paths[name] = path
        keeper.take(Param(PY_INT, name, path, param.location))
    return Sym(name, -value)


def _seen_to_vary(keeper: Keeper, path: str, value: int) -> bool:
    """Whether captures of the function met several values; this one is remembered."""
    if keeper.sized.setdefault(path, value) != value:
        keeper.sized[path] = None
    return keeper.sized[path] is None
