"""The CPU target against eager and torch.compile in one process, as Markdown.

    python benchmarks/cpu.py [--dtype float32] [--sizes 1k,64k,1M,16M] [--seconds 2] [name ...]

Every contender is called in turn, many rounds, fresh outputs each time; the tables show median
microseconds and ratios. Ratios above 1 mean that astjit is faster. `floor` is the time in which
the bytes of all inputs and outputs, each once, are moved at the speed of copying a tensor of the
size, measured in the same run. Values are compared with eager's before anything is timed; the exit
status is 1 where they differ or one program did not serve all calls.

`--by-hand` adds the C++ of benchmarks/reference/cpu, which exists for some rows. `--quick` is for
trying the script: 1 k elements, two rounds, no torch.compile.
"""

import argparse
import statistics
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import reference
import torch
from breadth import FUNCTIONS
from gpu import error_of, flat, table
from workloads import Tensors, Workload

import astjit
from astjit.runtime.pool import POOL

SHAPES = {"1k": (4, 256), "64k": (64, 1024), "1M": (256, 4096), "16M": (4096, 4096)}
BY_HAND = ("bias_gelu", "rms_norm", "softmax", "cross_entropy", "square_sum0", "sin_cos_sum")
SHOWN = 5  # rows of the tables of slowest ones
WANTED = 0.9  # of eager's speed, at least


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for.

    Attributes:
        dtype: of the inputs.
        seconds: to time a row for.
        compiled: whether torch.compile is timed.
        library: the C++ written by hand, if it is timed.
        rounds: least number of calls of each contender.
    """

    dtype: torch.dtype = torch.float32
    seconds: float = 2.0
    compiled: bool = True
    library: object = None
    rounds: int = 5


@dataclass(frozen=True, slots=True)
class Row:
    """What was found for one function at one size.

    Attributes:
        name: of the function.
        shape: of its largest input or result.
        took: seconds by contender.
        floor: seconds to move its bytes by copying.
        kernels: number of kernels, None where it runs eagerly.
        library: operations that PyTorch's own kernels run.
        faults: what is not as it should be.
    """

    name: str
    shape: tuple[int, ...]
    took: dict[str, float]
    floor: float
    kernels: int | None
    library: tuple[str, ...]
    faults: tuple[str, ...]

    def over(self, other: str) -> float | None:
        """How many times faster than another contender, None where that was not timed."""
        return self.took[other] / self.took["astjit"] if other in self.took else None


def copies(inputs: Tensors) -> Tensors:
    """The inputs again, so that a function that writes to them cannot change another's."""
    return tuple(t.clone() for t in inputs)


def moved(function: Callable[..., object], inputs: Tensors) -> tuple[int, tuple[int, ...]]:
    """Bytes of the inputs and of the results, each once, and the shape of the largest of them.

    An input that the function writes to counts twice.
    """
    versions = [t._version for t in inputs]
    results = [t for t in flat(function(*inputs)) if isinstance(t, torch.Tensor)]
    written = [t for t, before in zip(inputs, versions, strict=True) if t._version != before]
    largest = max((*inputs, *results), key=torch.Tensor.numel)
    count = sum(t.numel() * t.element_size() for t in (*inputs, *written, *results))
    return count, tuple(largest.shape)


def differs(function: Callable[..., object], ours: Callable[..., object], inputs: Tensors) -> bool:
    """Whether results or inputs written to are further from float64's than eager's may be."""

    def after(run: Callable[..., object], given: Tensors) -> Tensors:
        results = flat(run(*given))
        return (*(r for r in results if isinstance(r, torch.Tensor)), *given)

    doubles = tuple(t.double() if t.is_floating_point() else t.clone() for t in inputs)
    exact = after(function, doubles)
    pairs = zip(after(ours, copies(inputs)), after(function, copies(inputs)), exact, strict=True)
    return not all(error_of(mine, eager, right) <= 1 for mine, eager, right in pairs)


def captured(
    function: Callable[..., object], inputs: Tensors
) -> tuple[Callable[..., object], int | None, tuple[str, ...]]:
    """The compiled function, its kernels and its library calls; eager, with why, where it stops."""
    ours = astjit.compile(function, fullgraph=True)
    try:
        ours(*copies(inputs))
    except astjit.UserError as error:
        eagerly = astjit.compile(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", astjit.AstjitWarning)  # said in the table
            eagerly(*copies(inputs))
        return eagerly, None, (f"runs eagerly: {str(error).splitlines()[0]}",)
    report = astjit.explain(ours, *inputs)
    return ours, len(report.kernels), report.library_calls


def bandwidth(elements: int, seconds: float) -> float:
    """Bytes read and written in a second by copying float32 elements."""
    source, target = torch.randn(elements), torch.empty(elements)
    took = reference.times_of({"": lambda: target.copy_(source)}, seconds, statistics.median)
    return 8 * elements / took[""]


def measure(name: str, work: Workload, size: str, speed: float, options: Options) -> Row:
    """One function at one size."""
    torch.manual_seed(0)
    function, inputs = work.function, work.inputs(*SHAPES[size], options.dtype)
    ours, kernels, library = captured(function, inputs)
    faults = ["differs from eager"] if differs(function, ours, inputs) else []
    runs: dict[str, Callable[[], object]] = {
        "astjit": partial(ours, *copies(inputs)),
        "eager": partial(function, *copies(inputs)),
    }
    if options.compiled:
        torch._dynamo.reset()
        runs["torch.compile"] = partial(torch.compile(function), *copies(inputs))
    alone = inputs[0].dtype is torch.float32
    if options.library is not None and name in BY_HAND and alone:
        runs["by hand"] = partial(reference.ours(options.library, name), *inputs)  # type: ignore[arg-type]
    count, shape = moved(function, copies(inputs))
    took = reference.times_of(runs, options.seconds, statistics.median, options.rounds)
    programs = ours.cache_info().programs  # type: ignore[attr-defined]
    if kernels is not None and programs != 1:
        faults.append(f"{programs} programs")
    return Row(name, shape, took, count / speed, kernels, library, tuple(faults))


# -- the tables -----------------------------------------------------------------------------------
def micro(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1e6:.1f}" if seconds < 1e-4 else f"{seconds * 1e6:.0f}"


def ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}" if value < 1 else f"{value:.1f}"


def line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def contents(row: Row) -> str:
    """Kernels and library calls, and faults in capitals."""
    kernels = [] if row.kernels is None else [str(row.kernels)]
    calls = [c.replace("|", "\\|") for c in row.library]
    return "; ".join((*kernels, *calls, *(fault.upper() for fault in row.faults)))


def head(contenders: Sequence[str]) -> tuple[str, str]:
    others = [f"x {c}" for c in contenders if c != "astjit"]
    return table("function", "shape", *contenders, *others, "floor", "kernels; library calls")


def body(row: Row, contenders: Sequence[str]) -> str:
    took = [micro(row.took.get(c)) for c in contenders]
    others = [ratio(row.over(c)) for c in contenders if c != "astjit"]
    shape = " x ".join(map(str, row.shape))
    return line(row.name, shape, *took, *others, micro(row.floor), contents(row))


def geomean(rows: Sequence[Row], other: str) -> float | None:
    found = [value for row in rows if (value := row.over(other)) is not None]
    return statistics.geometric_mean(found) if found else None


def slowest(rows: Sequence[Row], title: str, key: Callable[[Row], float]) -> list[str]:
    """The table of the first few rows by a key; why is left to whoever reads it."""
    chosen = sorted(rows, key=key)[:SHOWN]
    cells = [
        line(
            row.name,
            micro(row.took["astjit"]),
            micro(row.floor),
            ratio(row.took["astjit"] / row.floor),
            ratio(row.over("eager")),
            ratio(row.over("torch.compile")),
            "",
        )
        for row in chosen
    ]
    columns = ("function", "astjit", "floor", "x floor", "x eager", "x torch.compile", "why")
    return ["", title, "", *table(*columns), *cells]


def summary(rows: Sequence[Row], contenders: Sequence[str]) -> list[str]:
    """Geometric means, what is below what is wanted, the slowest rows."""
    means = [ratio(geomean(rows, c)) for c in contenders if c != "astjit"]
    blank = [""] * len(contenders)
    below = [f"{r.name} ({r.over('eager'):.2f})" for r in rows if (r.over("eager") or 0) < WANTED]
    loose = [r.name for r in rows if r.kernels != 1 or r.library]
    return [
        line(f"geometric mean of {len(rows)}", "", *blank, *means, "", ""),
        "",
        f"Below {WANTED} x eager: {', '.join(below) or 'none'}.",
        f"Not one kernel alone: {', '.join(loose) or 'none'}.",
        *slowest(rows, "Slowest against eager:", lambda r: r.over("eager") or 0),
        *slowest(rows, "Farthest above the byte floor:", lambda r: -r.took["astjit"] / r.floor),
    ]


def time_size(size: str, names: Sequence[str], options: Options) -> list[Row]:
    """Print the tables of one size."""
    rows, cols = SHAPES[size]
    speed = bandwidth(rows * cols, min(options.seconds, 1.0))
    dtype = str(options.dtype).removeprefix("torch.")
    contenders = ["astjit", "eager"]
    contenders += ["torch.compile"] if options.compiled else []
    contenders += ["by hand"] if options.library is not None else []
    print(f"\n### {size}: {rows * cols:,} elements, {dtype}, median microseconds\n")
    print(f"Copying {rows * cols:,} float32: {speed / 1e9:.1f} GB/s read and written.\n")
    print(*head(contenders), sep="\n", flush=True)
    found = []
    for name in names:
        found.append(measure(name, FUNCTIONS[name], size, speed, options))
        print(body(found[-1], contenders), flush=True)
    print(*summary(found, contenders), sep="\n", flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(FUNCTIONS), metavar="name")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--sizes", default=",".join(SHAPES))
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    parser.add_argument("--by-hand", action="store_true", help="the hand-written C++ too")
    parser.add_argument("--quick", action="store_true", help="1 k elements, 2 rounds")
    asked = parser.parse_args(arguments)
    for wrong in (*set(asked.names) - set(FUNCTIONS), *set(asked.sizes.split(",")) - set(SHAPES)):
        parser.error(f"no function or size is called {wrong}")
    library = reference.build_all() if asked.by_hand else None
    dtype = getattr(torch, asked.dtype)
    options = Options(dtype, asked.seconds, library=library)
    if asked.quick:
        options = Options(dtype, 0.0, compiled=False, library=library, rounds=2)
    started = POOL.prepare(1 << 30)
    if started is not None:
        started.join()
    pool = "outputs from the pool" if POOL.started else "outputs from PyTorch's allocator"
    print(f"{reference.machine()}; {pool}")
    rows: list[Row] = []
    with torch.no_grad():
        for size in ("1k",) if asked.quick else asked.sizes.split(","):
            rows += time_size(size, asked.names, options)
    return int(any(row.faults for row in rows))


if __name__ == "__main__":
    sys.exit(main())
