"""What may change between two calls, one row a kind: only that thing changes.

A row is a generator. It yields the function and its arguments, then, after each change, the
arguments again. It puts back what it changed when it is closed.

    @kind("a global number", programs=1)
    def _():
        yield lambda x: x * SCALE, (X,)
        with set_global("SCALE", 3.0):
            yield (X,)
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

Steps = Iterator[Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A row.

    Attributes:
        name: what changes.
        steps: the generator.
        programs: how many there are in the end; a value that only enters arithmetic needs no
            second one.
        warns: a part of the warning with which changed calls run eagerly, "" when they do not.
    """

    name: str
    steps: Callable[[], Steps]
    programs: int
    warns: str


KINDS: list[Kind] = []


def kind(
    name: str, *, programs: int = 2, warns: str = ""
) -> Callable[[Callable[[], Steps]], Callable[[], Steps]]:
    """Add a row."""

    def add(steps: Callable[[], Steps]) -> Callable[[], Steps]:
        KINDS.append(Kind(name, steps, programs, warns))
        return steps

    return add


_ABSENT = object()


@contextmanager
def changed(owner: Any, name: str, value: object) -> Iterator[None]:
    """`owner.name` is `value` for a while."""
    before = vars(owner).get(name, _ABSENT)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if before is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


@contextmanager
def item(owner: dict[Any, Any], key: object, value: object) -> Iterator[None]:
    """`owner[key]` is `value` for a while."""
    before = owner.get(key, _ABSENT)
    owner[key] = value
    try:
        yield
    finally:
        if before is _ABSENT:
            del owner[key]
        else:
            owner[key] = before
