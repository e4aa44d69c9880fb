"""What an entry point takes, in order: the contract of generated text and host function."""

from dataclasses import dataclass
from typing import Literal

Role = Literal["buffer", "size", "stride", "number", "work", "part", "status", "arrived", "threads"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an entry point.

    Attributes:
        role: buffer: a pointer (the kernel's buffers in order); size: an axis's extent; stride: an
            element stride; number: a Python number; work: CPU scratch of threads * `per_thread`
            floats times the row length; part: what rows, or a GPU's blocks, give to a reduction
            over all of them, at most 8 bytes each; status: the CPU's word for an index out of
            range and the like, which whoever calls the function makes 0 and looks at; arrived: a
            counter of blocks, 0 between launches; threads: how many CPU threads to use.
        name: the buffer, axis, stride parameter or number it stands for.
        ctype: "pointer", "status" (int*), "watched" (the same, of a kernel that
            ends when someone else sets it), "long", "int", "double" or "float".
        array: of a part on a GPU, which of the arrays: launches that follow one another share them.
    """

    role: Role
    name: str
    ctype: str
    array: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry point of a text.

    Attributes:
        name: the extern "C" name.
        arguments: in order.
        scratch: rows of floats of scratch each CPU thread needs.
    """

    name: str
    arguments: tuple[Argument, ...]
    scratch: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """Generated source.

    Attributes:
        options: the compiler options it is meant for.
        helpers: the helper section, each definition after a blank line.
        kernels: the kernel section.
        entries: the entry points by kernel name.
    """

    options: str
    helpers: str
    kernels: str
    entries: dict[str, Entry]

    @property
    def source(self) -> str:
        """The whole text, which compiles alone."""
        return "\n".join(part for part in (self.options, self.helpers, self.kernels) if part)
