"""A kernel whose names are safe in C: no keyword, helper, loop variable or axis is hidden.

    kernel `exp` of buffers `mask`, `x` and number `n`  =>  `exp_kernel` of `mask2`, `x`, `n2`

The host function knows the kernel by the user's names; `Renamed` translates between the two.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from astjit.codegen.address import index_name
from astjit.codegen.names import Names
from astjit.codegen.signature import Argument, Entry
from astjit.fusion.kernel import Kernel
from astjit.fusion.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Renamed:
    """A kernel and its schedule with safe names.

    Attributes:
        kernel: with safe kernel and buffer names.
        schedule: with kept values placed in the renamed buffers.
        numbers: the safe name of each of the kernel's number parameters.
        scope: the identifiers taken.
        buffers: the user's name of every renamed buffer.
        name: the user's name of the kernel.
    """

    kernel: Kernel
    schedule: Schedule
    numbers: tuple[str, ...]
    scope: Names
    buffers: dict[str, str]
    name: str

    def entry(self, arguments: Iterable[Argument], scratch: int = 0) -> Entry:
        """The entry point in the user's names, from arguments in safe ones."""
        back = {("buffer", safe): given for safe, given in self.buffers.items()}
        for safe, param in zip(self.numbers, self.kernel.numbers, strict=True):
            back["number", safe] = param.name
        told = (replace(a, name=back.get((a.role, a.name), a.name)) for a in arguments)
        return Entry(self.kernel.name, tuple(told), scratch)


def rename(
    kernel: Kernel, schedule: Schedule, names: Names, fixed: Iterable[str], suffix: str = ""
) -> Renamed:
    """`kernel` with names that are free in `names` and differ from the `fixed` ones.

    `suffix` ends the kernel's name: on the CPU it keeps a function that the user called `sincos`
    or `free` from taking the place of the C library's.
    """
    scope = names.child()
    for name in (*fixed, *kernel.axes, *map(index_name, kernel.axes), *kernel.stride_names):
        scope.reserve(name)
    safe = {b.name: scope.take(b.name) for b in kernel.buffers}
    numbers = tuple(scope.take(p.name or "number") for p in kernel.numbers)
    buffers = tuple(replace(b, name=safe[b.name]) for b in kernel.buffers)
    keep = tuple((at, safe.get(place, place)) for at, place in schedule.keep)
    made = replace(kernel, name=names.take(kernel.name + suffix), buffers=buffers)
    back = {new: old for old, new in safe.items()}
    return Renamed(made, replace(schedule, keep=keep), numbers, scope, back, kernel.name)
