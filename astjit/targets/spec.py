"""What a target is: one row, from which choosing it and listing it follow."""

from collections.abc import Callable
from dataclasses import dataclass

Problem = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of machine that kernels are generated for.

    Attributes:
        name: as in `compile(target=...)` and on the command line.
        device: the type of torch device whose tensors it takes.
        language: what its texts are written in.
        builder: what turns its texts into machine code.
        problem: says why its kernels cannot run here; "" when they can.
    """

    name: str
    device: str
    language: str
    builder: str
    problem: Problem

    def __str__(self) -> str:
        return self.name
