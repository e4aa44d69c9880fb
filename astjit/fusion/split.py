"""Long rows and tall columns that several blocks share: a launch for each pass over them.

softmax of 4 rows of a million:  softmax_pass1 leaves the maximum of each share of a row,
softmax_pass2 combines these and leaves sums, softmax_pass3 combines both and stores

Which block has what follows from sizes and dtypes, and what blocks leave is combined in a fixed
order, so that results are the same on every device (D22). What follows after the last pass, such as
a mean from its sum, is done by the last block of a row to arrive.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from astjit.fusion.kernel import Kernel, is_reduce, slice_back
from astjit.fusion.schedule import Schedule
from astjit.fusion.stages import Cut, Pass, cut, wanted
from astjit.ir.function import Node


@dataclass(frozen=True, slots=True)
class Share:
    """What one launch of a split kernel does.

    Attributes:
        known: passes of earlier launches, with those of their scalars and reductions that this one
            needs: the latter it combines from what blocks have left.
        here: its own pass.
        tail: what the last block of a row does after it, if anything.
    """

    known: tuple[Pass, ...]
    here: Pass
    tail: Pass | None


def launches(kernel: Kernel, chosen: Schedule) -> tuple[tuple[Kernel, Schedule], ...]:
    """What is launched, one after another, to run a kernel in a variant: itself but for splits."""
    count = sum(here.sweeps for here in cut(kernel, {}).passes)
    if chosen.variant != "split" or count == 1:
        return ((kernel, chosen),)
    return tuple(
        (replace(kernel, name=f"{kernel.name}_pass{at + 1}"), replace(chosen, phase=at))
        for at in range(count)
    )


def share(kernel: Kernel, cuts: Cut, phase: int) -> Share:
    """Launch number `phase` of a kernel that is cut like this."""
    earlier, here, rest = cuts.passes[:phase], cuts.passes[phase], cuts.passes[phase + 1 :]
    tail = rest[0] if rest and not rest[0].sweeps else None
    stores = [*here.scalar_stores, *(tail.scalar_stores if tail else ())]
    reduced = [r for n in kernel.body.nodes if is_reduce(n) for r in n.results]
    needed = slice_back([*wanted(here), *(n.values[1] for n in stores)], [*reduced, *here.reads])

    def those(nodes: Sequence[Node]) -> list[Node]:
        return [n for n in nodes if any(r in needed for r in n.results)]

    known = tuple(Pass(scalars=those(p.scalars), reductions=those(p.reductions)) for p in earlier)
    return Share(known, replace(here, scalars=those(here.scalars)), tail)
