"""How a kernel runs for given sizes and pointers: a pure function, its result the variant key.

A Program never depends on alignment, row length or index width; a Schedule does (D9). Which
elements a thread owns follows from sizes and dtype only (always 16 bytes a vector), alignment only
narrows the accesses, so results do not depend on it (D22).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from astjit.fusion.kernel import (
    RANGE,
    Kernel,
    computed,
    counts_plainly,
    facts,
    indices,
    is_final,
    is_load,
    is_position,
    is_reduce,
    is_store,
    reaches,
    spread_indices,
)
from astjit.fusion.stages import cut, is_element, later_uses, loops_by_row, recompute_cost
from astjit.ir.function import Node
from astjit.ir.value import Result, Value
from astjit.ops.reduce import COMBINES
from astjit.ops.spec import Kind
from astjit.ops.table import OPS

_MOST_Y = 65535  # blocks of a grid in y
_WARP_BLOCK = 128  # threads of a block whose warps have rows of their own
_MOST_KEPT = 192  # bytes of a row that a thread keeps in registers: 48 of them
_COLUMN_THREADS = 256  # of a block of a column kernel
_COLUMN_KEPT = 128  # bytes of its rows that a thread keeps in registers
_BLOCKS = 264  # two for each of 132 multiprocessors; no tree may depend on the device's own number
_SHARE = 1 << 15  # bytes that a block reads at least of a row that it shares
_LONG = 1 << 18  # bytes of a row that is shared by launches of their own
_CAST = OPS["to"]
Place = str  # "registers", "scratch", or the name of an output buffer


@dataclass(frozen=True, slots=True)
class Schedule:
    """One variant of a kernel.

    Attributes:
        target: "cpu" or "cuda".
        variant: "plain"; of rows "warp" (a row lives in the registers of a warp or a part of
            one), "resident" (in those of a block), "looped", or "split" (looped, by several blocks
            in a launch for each pass).
        vector: elements of one access; on the CPU 1 means that lanes are left to the compiler.
        threads: of a block along a row (cuda).
        rows: of a block across rows (cuda, pointwise and "warp"), or groups that share them (cuda,
            column).
        per_thread: vectors a thread handles: of a row (cuda row), or rows of one (cuda pointwise);
            rows that a thread keeps, or loads at once (cuda column).
        aligned: accesses are one vector wide; else the same lanes one by one.
        wide: element offsets need 64 bits inside a row.
        tiles_first: the grid's x counts tiles of a row and y counts rows (cuda, pointwise): for
            rows so long that y, which goes to 65,535, could not count their tiles.
        keep: (position of the node in the body, place) of every kept value.
        phase: which of its launches (cuda, "split").
    """

    target: Literal["cpu", "cuda"]
    variant: str = "plain"
    vector: int = 1
    threads: int = 1
    rows: int = 1
    per_thread: int = 1
    aligned: bool = True
    wide: bool = False
    tiles_first: bool = False
    keep: tuple[tuple[int, Place], ...] = ()
    phase: int = 0

    def kept(self, kernel: Kernel) -> dict[Result, Place]:
        """The kept values of `kernel` with their places."""
        return {kernel.body.nodes[at].results[0]: place for at, place in self.keep}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a CUDA device allows.

    Attributes:
        multiprocessors: their number, for grids.
    """

    multiprocessors: int = 132


def schedule(
    kernel: Kernel,
    target: str,
    sizes: Mapping[str, int],
    alignment: int,
    limits: Limits | None = None,
) -> Schedule:
    """The variant of `kernel` for these sizes.

    Args:
        kernel: what is run.
        target: "cpu" or "cuda".
        sizes: of every axis.
        alignment: in bytes, of every buffer's pointer and row stride (a power of two).
        limits: of the device.
    """
    if target == "cpu":
        return cpu_schedule(kernel)
    del limits  # no variant depends on the device yet
    if kernel.kind == "row":
        return _cuda_row(kernel, sizes, alignment)
    if kernel.kind == "full":
        one = len(cut(kernel, {}).passes) > 2 or later_uses(kernel)
        return (_cuda_row if one else _cuda_full)(kernel, sizes, alignment)
    if kernel.kind == "column":
        return _cuda_column(kernel, sizes, alignment)
    return _cuda_pointwise(kernel, sizes, alignment)


def itemsizes(kernel: Kernel) -> list[int]:
    """Element sizes of the buffers that vary along a row: the streamed ones."""
    return [b.dtype.itemsize for b in kernel.buffers if kernel.inner in b.axes] or [4]


def lanes(kernel: Kernel) -> int:
    """Elements of one vector: 16 bytes of the narrowest streamed dtype, at most 8."""
    return min(8, 16 // min(itemsizes(kernel)))


def unit_stride(kernel: Kernel) -> bool:
    """Whether every buffer that varies along a row does so with stride 1."""
    inner = kernel.inner
    return all(
        b.strides is None or b.strides[b.axes.index(inner)] == 1
        for b in kernel.buffers
        if inner in b.axes
    )


def _is_aligned(kernel: Kernel, sizes: Mapping[str, int], alignment: int, vector: int) -> bool:
    """Whether all rows start at, and have the length of, whole vectors."""
    size = sizes.get(kernel.inner, 1)
    return alignment >= 16 and size % vector == 0 and unit_stride(kernel)


def _cuda_row(kernel: Kernel, sizes: Mapping[str, int], alignment: int) -> Schedule:
    vector, length = lanes(kernel), sizes[kernel.reduced[-1]]
    aligned = _is_aligned(kernel, sizes, alignment, vector)
    wide = length >= 2**31 - 2**14
    later = later_uses(kernel)
    if (few := _warp_shape(kernel, later, length, vector)) is not None:
        threads, per_thread = few
        keep = _positions(kernel, dict.fromkeys(later, "registers"))
        rows = _WARP_BLOCK // threads
        return Schedule("cuda", "warp", vector, threads, rows, per_thread, aligned, keep=keep)
    for threads, per_thread in ((128, 1), (256, 1), (256, 2), (256, 4)):
        if length <= threads * per_thread * vector and len(later) * per_thread * vector <= 64:
            keep = _positions(kernel, dict.fromkeys(later, "registers"))
            return Schedule(
                "cuda", "resident", vector, threads, 1, per_thread, aligned, wide, keep=keep
            )
    places = {v: b for v in later if (b := stored_in(kernel, v)) is not None}
    keep = _positions(kernel, places)
    looped = Schedule("cuda", "looped", vector, 512, 1, 2, aligned, wide, keep=keep)
    return _split(kernel, looped, sizes, wide=length >= 2**31 - 2**22)


def _warp_shape(
    kernel: Kernel, later: Iterable[Result], length: int, vector: int
) -> tuple[int, int] | None:
    """Threads and vectors of each for a row that needs no barrier; None where it is too long."""
    if not kernel.parallel or any(map(is_final, kernel.body.nodes)) or loops_by_row(kernel):
        return None
    bytes_kept = sum(_held_itemsize(kernel, value) for value in later)
    for threads, per_thread in ((8, 1), (16, 1), (32, 1), (32, 2), (32, 4), (32, 8)):
        if per_thread * vector * bytes_kept > _MOST_KEPT:
            return None
        if length <= threads * per_thread * vector:
            return threads, per_thread
    return None


def _held_itemsize(kernel: Kernel, value: Result) -> int:
    """Bytes of an element of a kept value: what is loaded or rounded stays as it is in memory."""
    node = value.node
    if isinstance(node, Node) and is_load(node):
        return kernel.buffer(node.operands[0]).dtype.itemsize
    for dtype in ("bf16", "f16"):
        if _holds(value, dtype) and dtype != "f32":
            return 2
    return 8 if str(value.type).startswith(("f64", "i64")) else 4


def _cuda_full(kernel: Kernel, sizes: Mapping[str, int], alignment: int) -> Schedule:
    vector, length = lanes(kernel), sizes[kernel.reduced[-1]]
    aligned = _is_aligned(kernel, sizes, alignment, vector)
    wide = length >= 2**31 - 2**22
    return Schedule("cuda", "plain", vector, 256, 1, 4, aligned, wide)


def column_vectors(kernel: Kernel, sizes: Mapping[str, int], vector: int) -> int:
    """Vectors of columns over all that lies outside the rows: threads of one group of rows."""
    return prod(sizes[a] for a in kernel.parallel[:-1]) * -(-sizes[kernel.inner] // vector)


def _cuda_column(kernel: Kernel, sizes: Mapping[str, int], alignment: int) -> Schedule:
    vector, rows = lanes(kernel), prod(sizes[a] for a in kernel.reduced)
    aligned = _is_aligned(kernel, sizes, alignment, vector)
    vectors = column_vectors(kernel, sizes, vector)
    lines = rows * prod(sizes[a] for a in kernel.parallel[:-1])
    wide = max(vectors, sizes[kernel.inner], lines) >= 2**31 - 2**14
    groups = _column_groups(rows, vectors)
    shape = (vector, _COLUMN_THREADS // groups, groups)
    later = [v for v in later_uses(kernel) if kernel.inner in facts(kernel)[v].axes]
    bytes_kept = sum(_held_itemsize(kernel, value) for value in later)
    for per_thread in (1, 2, 4, 8) if later else ():
        if rows <= groups * per_thread and bytes_kept * per_thread * vector <= _COLUMN_KEPT:
            keep = _positions(kernel, dict.fromkeys(later, "registers"))
            return Schedule("cuda", "resident", *shape, per_thread, aligned, wide, keep=keep)
    places = {v: b for v in later if (b := stored_in(kernel, v)) is not None}
    keep = _positions(kernel, places)
    looped = Schedule("cuda", "looped", *shape, 4, aligned, wide, keep=keep)
    return _split(kernel, looped, sizes, wide=max(vectors, sizes[kernel.inner], lines) >= 2**30)


def _split(kernel: Kernel, looped: Schedule, sizes: Mapping[str, int], *, wide: bool) -> Schedule:
    """The schedule with several blocks for each row or tile of columns, where that pays."""
    split = replace(looped, variant="split", wide=wide)
    return split if shares(kernel, looped, sizes) > 1 else looped


def shares(kernel: Kernel, chosen: Schedule, sizes: Mapping[str, int]) -> int:
    """How many blocks have a part each of a row, or of a tile of columns: 1 where it is too short.

    A launch for each pass costs about what a block reads in `_LONG` bytes' time; one launch, whose
    last block goes on alone, is cheaper.
    """
    apart = not any(map(is_final, kernel.body.nodes)) and all(
        set(kernel.axes) == set(b.axes) for b in kernel.buffers if b.role == "inout"
    )
    if not apart or len(kernel.reduced) != 1:
        return 1
    length = sizes[kernel.reduced[0]]
    blocks = prod(sizes[axis] for axis in kernel.parallel)
    if kernel.kind == "column":
        blocks = -(-column_vectors(kernel, sizes, chosen.vector) // chosen.threads)
        length *= chosen.threads * chosen.vector
    read = [b for b in kernel.buffers if b.role != "out" and kernel.inner in b.axes]
    size = length * sum(b.dtype.itemsize for b in read)
    several = sum(here.sweeps for here in cut(kernel, {}).passes) > 1
    if not blocks or size < (_LONG if several else 2 * _SHARE):
        return 1
    return max(1, min(_BLOCKS // blocks, size // _SHARE))


def _column_groups(rows: int, vectors: int) -> int:
    """Groups of threads that share the rows of a block: more where there are few columns.

    Eight lanes read 128 bytes of a row, the least that memory gives at full speed (kernels of less
    than two blocks a multiprocessor are cut that far); fewer lanes only where there are no more.
    """
    groups = 8
    while groups > 1 and rows < 4 * groups:
        groups //= 2
    while groups < 32 and rows >= 8 * groups and vectors * groups < _BLOCKS * _COLUMN_THREADS:
        groups *= 2
    while rows >= 8 * groups and vectors * groups * 2 <= _COLUMN_THREADS:
        groups *= 2
    return groups


def _cuda_pointwise(kernel: Kernel, sizes: Mapping[str, int], alignment: int) -> Schedule:
    vector = 1 if reaches(kernel) else lanes(kernel)  # a thread's loop is one of one element
    length = sizes.get(kernel.swept[-1], 1) if kernel.swept else 1
    aligned = _is_aligned(kernel, sizes, alignment, vector)
    threads = 256
    wide = length >= 2**31 - 2**14
    if len(kernel.parallel) < 2:
        return Schedule("cuda", "plain", vector, threads, 1, 1, aligned, wide)
    while threads > 32 and threads * vector // 2 >= length:
        threads //= 2
    rows, tiles_first = 256 // threads, length > _MOST_Y * threads * vector
    return Schedule("cuda", "plain", vector, threads, rows, 2, aligned, wide, tiles_first)


def cpu_schedule(kernel: Kernel) -> Schedule:
    """The only CPU variant: alignment and row length are decided inside the text."""
    wide = is_float_kernel(kernel) and unit_stride(kernel)
    places: dict[Result, Place] = {}
    known = facts(kernel)
    for value in later_uses(kernel):
        if kernel.inner not in known[value].axes or str(value.type).startswith("i64"):
            continue  # one element for all lanes is read again, an index is computed again
        if (stored := stored_in(kernel, value)) is not None:
            places[value] = stored
            continue
        place = _free_output(kernel, value) or ("" if kernel.kind == "column" else "scratch")
        if place and recompute_cost(kernel, value) > 4.0 and wide:
            places[value] = place
    vector = 0 if wide else 1  # 0: as wide as the machine
    return Schedule("cpu", "plain", vector, per_thread=4, keep=_positions(kernel, places))


def is_float_kernel(kernel: Kernel) -> bool:
    """Whether every element value is a 32-bit float or a truth value, and some are floats.

    Indices of elements, such as those a causal mask compares, are vectors as well.
    """
    flows = any(node.regions for node in kernel.body.nodes)
    if flows and not all(map(_in_lanes, computed(kernel))):
        return False
    floats = ("f32", "bf16", "f16", "bool", *(("i64",) if flows else ()))
    streamed = (b for b in kernel.buffers if {*kernel.swept, kernel.inner} & set(b.axes))
    if any(b.dtype.name not in floats for b in streamed):
        return False
    for node in filter(is_reduce, kernel.body.nodes):  # -1 is true in a lane: truth has no order
        combine, kind = COMBINES[str(node.fields["combine"])], str(node.results[0].type)
        if not combine.vectors or not kind.startswith("f32"):
            return False
    elements = [v for v, fact in facts(kernel).items() if is_element(kernel, fact.axes)]
    kinds = {str(v.type).split("[")[0] for v in elements}
    if kinds and not flows and "f32" not in kinds:  # vectors of single bytes have more lanes
        return False
    longs = {v for v in elements if str(v.type).startswith("i64")} - spread_indices(kernel)
    made = [v.node for v in elements if isinstance(v, Result) and isinstance(v.node, Node)]
    if any(is_load(n) and indices(n)[1] is not None for n in made):
        return False  # no vector may be read where there is nothing
    held = [n for n in made if longs & {*n.results, *n.values}]
    written = kernel.kind != "column" and all(is_position(n) or _in_lanes(n) for n in held)
    return (written or not longs) and kinds <= {"f32", "bool", "float", "int", "i64"}


def _in_lanes(node: Node) -> bool:
    """Whether a node of a body with branches or loops has text for vectors of lanes."""
    params = (p for region in node.regions for p in region.params)
    held: tuple[Value, ...] = (*node.results, *params, *node.values)
    kinds = {str(value.type).split("[")[0] for value in held}
    if node.op.kind is Kind.BODY:
        return "*" not in str(node.fields.get("at", "")) and not is_position(node)
    if not kinds <= {"f32", "bool", "i64", "float", "int"}:
        return False
    if node.op is RANGE and not counts_plainly(node):
        return False
    text = node.op.spelling(("cpu", "c"), "i64") or ""
    plain = text[:1] in ("{", "-", "!", "~") and not {"/", "%"} & set(text)
    return "i64" not in kinds or bool(node.regions) or node.op is _CAST or plain


def stored_in(kernel: Kernel, value: Result) -> str | None:
    """A buffer that gets exactly this value anyway, in a dtype that holds it.

    One that is written where it is read, too: it must then be read there again, since what it
    held is gone (`fusion/inplace.py` sees to it that nothing else needs that).
    """
    for node in kernel.body.nodes:
        if is_store(node) and node.values[1] is value:
            buffer = kernel.buffer(node.operands[0])
            if _holds(value, buffer.dtype.name):
                return buffer.name
    return None


def _free_output(kernel: Kernel, value: Result) -> str | None:
    """An output of f32 elements, written at the last stage, that can hold the value until then."""
    for node in kernel.body.nodes:
        buffer = kernel.buffer(node.operands[0]) if is_store(node) else None
        if (
            buffer is not None
            and buffer.role == "out"
            and buffer.dtype.name == "f32"
            and set(buffer.axes) == set(kernel.axes)
            and _needed_by(node.values[1], value)
        ):
            return buffer.name
    return None


def _needed_by(stored: object, value: Result) -> bool:
    return (
        isinstance(stored, Result) and isinstance(stored.node, Node) and value in stored.node.values
    )


def _holds(value: Result, dtype: str) -> bool:
    if dtype == "f32":
        return True
    node = value.node
    return isinstance(node, Node) and str(node.fields.get("dtype", "")) == dtype


def _positions(kernel: Kernel, places: Mapping[Result, Place]) -> tuple[tuple[int, Place], ...]:
    index = {r: at for at, node in enumerate(kernel.body.nodes) for r in node.results}
    return tuple(sorted((index[value], place) for value, place in places.items()))
