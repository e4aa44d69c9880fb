"""Code objects: tables that forget them with their functions, and whether two do the same.

    known = PerCode()            known.put(f.__code__, source); known.get(f.__code__)
    same_code(made, running)     the text still says what runs

Two code objects that compare equal in Python may stand in different files, and some that differ in
what they do compare equal (`1` and `True` in a tuple), so both are worked out here.
"""

import bisect
import dis
import inspect
import types
import weakref
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

V = TypeVar("V")
_SHAPE = (
    "co_name",
    "co_qualname",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
)
_NOISE = frozenset({"CACHE", "PRECALL", "PUSH_NULL", "RESUME", "NOP", "EXTENDED_ARG"})


class PerCode(Generic[V]):
    """One value for each code object, for as long as the code lives.

    The value must not hold the code.
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[weakref.ref[types.CodeType], V]] = {}

    def __len__(self) -> int:
        return len(self._held)

    def get(self, code: types.CodeType) -> V | None:
        """The value of this very object; None if it has none."""
        found = self._held.get(id(code))
        return found[1] if found is not None and found[0]() is code else None

    def put(self, code: types.CodeType, value: V) -> None:
        """Set the value."""
        key, held = id(code), self._held

        def forget(dead: "weakref.ref[types.CodeType]") -> None:
            found = held.get(key)
            if found is not None and found[0] is dead:  # the number may belong to another by now
                del held[key]

        held[key] = weakref.ref(code, forget), value


def nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code and all code inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from nested(inner)


def requalified(code: types.CodeType, name: str, qualified: str) -> types.CodeType:
    """Code under another name, with what is defined inside it named to match."""
    before, after = f"{code.co_qualname}.<locals>.", f"{qualified}.<locals>."
    return _moved(code, before, after).replace(co_name=name, co_qualname=qualified)


def _moved(code: types.CodeType, before: str, after: str) -> types.CodeType:
    def renamed(text: str) -> str:
        return after + text.removeprefix(before) if text.startswith(before) else text

    def part(value: object) -> object:
        if isinstance(value, types.CodeType):
            return _moved(value, before, after)
        return renamed(value) if type(value) is str else value  # the __qualname__ of a class

    consts = tuple(map(part, code.co_consts))
    return code.replace(co_consts=consts, co_qualname=renamed(code.co_qualname))


# --- whether two do the same ---------------------------------------------------------------------


def same_code(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two code objects do the same; positions in the file do not matter."""
    if any(getattr(one, field) != getattr(other, field) for field in _SHAPE):
        return False
    if (one.co_flags ^ other.co_flags) & ~inspect.CO_NESTED:
        return False
    if _bytes(one) == _bytes(other) and one.co_names == other.co_names:
        return _same_constants(one.co_consts, other.co_consts)
    mine, theirs = _steps(one), _steps(other)
    return len(mine) == len(theirs) and all(
        a[0] == b[0] and _same_constant(a[1], b[1]) for a, b in zip(mine, theirs, strict=True)
    )


def _bytes(code: types.CodeType) -> tuple[bytes, bytes]:
    return code.co_code, code.co_exceptiontable


def _steps(code: types.CodeType) -> list[tuple[str, object]]:
    """The instructions, alike for both ways in which Python compiles `name.attribute(...)`.

    Which of the two it takes depends on whether the module imports `name`, which the function's
    own text does not tell. Handlers of exceptions come last.
    """
    kept = [i for i in dis.get_instructions(code) if i.opname not in _NOISE]
    offsets = [i.offset for i in kept]

    def place(offset: int) -> int:
        return bisect.bisect_left(offsets, offset)

    steps: list[tuple[str, object]] = []
    for step in kept:
        jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
        steps.append((_name(step), place(step.argval) if jumps else step.argval))
    bytecode: Any = dis.Bytecode(code)
    for entry in bytecode.exception_entries:
        where = place(entry.start), place(entry.end), place(entry.target)
        steps.append(("handler", (*where, entry.depth, entry.lasti)))
    return steps


def _name(step: dis.Instruction) -> str:
    return "LOAD_ATTR" if step.opname == "LOAD_METHOD" else step.opname


def _same_constants(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return len(one) == len(other) and all(map(_same_constant, one, other))


def _same_constant(one: object, other: object) -> bool:
    """Whether two constants are alike in every way: 0.0 is not -0.0, (1,) is not (True,)."""
    if type(one) is not type(other):
        return False
    if isinstance(one, types.CodeType) and isinstance(other, types.CodeType):
        return same_code(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return _same_constants(one, other)
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return repr(one) == repr(other) if isinstance(one, float | complex) else one == other
