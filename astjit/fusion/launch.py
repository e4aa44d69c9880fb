"""Grid and block of a CUDA launch: a pure function of kernel, schedule and sizes."""

from collections.abc import Mapping
from dataclasses import dataclass

from astjit.fusion.kernel import Kernel, is_final
from astjit.fusion.schedule import Schedule, column_vectors, shares

_MOST_ROWS = 2**31 - 2**10  # the last block may begin before the last row and end beyond

FULL = 512
"""Blocks of a reduction of all elements, on every device (D22)."""

ROWS = 2048
"""Blocks of rows that are combined at the end."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What a launch needs besides its arguments.

    Attributes:
        grid: blocks in x and y.
        block: threads in x and y.
        shared: bytes of dynamic shared memory.
        left: values that a block leaves of each reduction that blocks combine.
    """

    grid: tuple[int, int]
    block: tuple[int, int]
    shared: int = 0
    left: int = 1


def launch(kernel: Kernel, schedule: Schedule, sizes: Mapping[str, int]) -> Launch | None:
    """How to launch `kernel`, or None when there is nothing to do (an axis of size 0).

    A row kernel uses one block per row, or, where a warp or a part of one has a row of its own,
    one for several rows. A column kernel's block covers `threads` vectors of columns of any slab,
    and its `rows` groups share their rows. In a split variant blocks beside each other in y share a
    row, or a tile of columns, in each of its launches. A pointwise kernel's block covers `threads`
    vectors along the innermost axis and `rows` rows; each thread does `per_thread` rows.

    Raises:
        OverflowError: more rows than an int counts, as kernels do.
    """
    if kernel.kind == "column":
        vectors = column_vectors(kernel, sizes, schedule.vector)
        blocks = -(-vectors // schedule.threads)
        left = schedule.threads * schedule.vector
        grid = blocks, _shares(kernel, schedule, sizes)
        return Launch(grid, (schedule.threads, schedule.rows), 0, left) if blocks else None
    outer, inner = kernel.parallel, ""
    if kernel.kind == "pointwise":
        outer, inner = kernel.parallel[:-1], kernel.parallel[-1] if kernel.parallel else ""
    rows = 1
    for axis in outer:
        rows *= sizes[axis]
    if outer and rows >= _MOST_ROWS:
        raise OverflowError(f"{kernel.name} counts at most {_MOST_ROWS - 1} rows, not {rows}")
    if kernel.kind == "row" and schedule.variant == "warp":
        blocks = -(-rows // schedule.rows)
        return Launch((blocks, 1), (schedule.threads, schedule.rows)) if rows else None
    if schedule.variant == "split":
        return Launch((rows, _shares(kernel, schedule, sizes)), (schedule.threads, 1))
    if kernel.kind == "full" and schedule.variant != "plain":
        return Launch((1, 1), (schedule.threads, 1))
    if kernel.kind == "full":
        share = schedule.threads * schedule.vector * schedule.per_thread
        blocks = -(-sizes[kernel.reduced[-1]] // share)
        return Launch((max(1, min(blocks, FULL)), 1), (schedule.threads, 1))
    if kernel.kind == "row" and any(map(is_final, kernel.body.nodes)):
        return Launch((max(1, min(rows, ROWS)), 1), (schedule.threads, 1))
    if kernel.kind == "row":
        return Launch((rows, 1), (schedule.threads, 1)) if rows else None
    tiles = -(-sizes.get(inner, 1) // (schedule.threads * schedule.vector))
    if not rows or not tiles:
        return None
    if not outer:
        return Launch((tiles, 1), (schedule.threads, 1))
    blocks = -(-rows // (schedule.rows * schedule.per_thread))
    grid = (tiles, blocks) if schedule.tiles_first else (blocks, tiles)
    return Launch(grid, (schedule.threads, schedule.rows))


def _shares(kernel: Kernel, schedule: Schedule, sizes: Mapping[str, int]) -> int:
    return shares(kernel, schedule, sizes) if schedule.variant == "split" else 1
