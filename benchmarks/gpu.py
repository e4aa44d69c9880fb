"""astjit's CUDA kernels on this machine's GPU: are they right, how near to copying, at what cost.

    python benchmarks/gpu.py [--minutes 8] [--out benchmarks/results] [--dry] [name ...]

Three parts, each a table of one dated Markdown file:

values     every workload in every variant that awkward sizes and layouts take, against PyTorch
bandwidth  bytes over time next to eager and to copying, for some rows next to torch.compile
calls      host time of a call on small tensors

Rows that no time is left for are named. `--dry` does all of it on the CPU with small sizes, times
excepted, so that the script can be tried where there is no GPU. The exit status is 1 where values
differ.
"""

import argparse
import datetime
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import torch
from workloads import WORKLOADS, Workload

import astjit

Tensors = tuple[torch.Tensor, ...]
DTYPES = {
    "f32": torch.float32,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f64": torch.float64,
}
COLS = (1, 31, 32, 33, 127, 1000, 1024, 4096, 8192, 50257)
ROWS = (1, 3, 130)
MOST_VALUES = 1 << 20
LAYOUTS = ("dense", "offset", "strided", "special")
ROTATED = 200e6  # bytes of inputs in turn: more than a cache holds
COPIED = 1 << 30  # bytes copied to see how fast copying is


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the bandwidth table.

    Attributes:
        name: of a workload.
        dtype: of its tensors.
        rows: of its inputs.
        cols: likewise.
        compiled: whether torch.compile is timed too.
    """

    name: str
    dtype: str
    rows: int
    cols: int
    compiled: bool = False

    @property
    def label(self) -> str:
        return f"{self.name} {self.dtype} {self.rows} x {self.cols}"


def _ladder(name: str, dtype: str, compared: tuple[int, ...]) -> list[Row]:
    """32,768 rows of 256 to 65,536 columns, then fewer and longer ones."""
    sizes = [(32768, 256 << at) for at in range(9)] + [(16384, 131072), (8192, 262144)]
    return [Row(name, dtype, rows, cols, cols in compared) for rows, cols in sizes]


ROW_TABLE = (
    *_ladder("softmax", "bf16", (1024, 8192, 65536)),
    *_ladder("rms_norm", "bf16", (1024, 8192)),
    *_ladder("softmax", "f32", (4096,)),
    *_ladder("rms_norm", "f32", (4096,)),
    *_ladder("layer_norm", "bf16", (4096,)),
    *(Row("log_softmax", d, 8192, c) for d in ("bf16", "f32") for c in (4096, 50257)),
    Row("bias_gelu", "bf16", 16384, 8192, compiled=True),
    Row("bias_gelu", "f32", 16384, 4096, compiled=True),
    Row("bias_gelu_erf", "bf16", 16384, 8192),
    Row("swiglu", "bf16", 16384, 8192, compiled=True),
    Row("layer_norm_by_hand", "f32", 32768, 1024, compiled=True),
)


@dataclass(slots=True)
class Bench:
    """What all parts share.

    Attributes:
        names: of workloads.
        device: of all tensors.
        target: of astjit's kernels; None: by the device.
        dry: sizes are small and times are not told.
        deadline: on `time.monotonic`.
        lines: of the report so far.
        left: rows that no time was left for.
        failures: comparisons that did not hold.
    """

    names: tuple[str, ...]
    device: str
    target: str | None
    dry: bool
    deadline: float
    lines: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def compiled(self, function: Callable[..., object]) -> Callable[..., object]:
        return astjit.compile(function, target=self.target, fullgraph=True)

    def has_time(self, label: str) -> bool:
        if time.monotonic() < self.deadline:
            return True
        self.left.append(label)
        return False

    def write(self, *lines: str) -> None:
        self.lines += lines
        print("\n".join(lines), flush=True)


def table(*head: str) -> tuple[str, str]:
    """The first two lines of a Markdown table."""
    return f"| {' | '.join(head)} |", f"|{'|'.join(' --- ' for _ in head)}|"


def flat(results: object) -> Tensors:
    return results if isinstance(results, tuple) else (results,)  # type: ignore[return-value]


# -- values ----------------------------------------------------------------------------------------
def laid(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """The values in another place: one element off, in every second column, or awkward."""
    if layout == "offset":
        room = tensor.new_empty(tensor.numel() + 1)
        return room[1:].view(tensor.shape).copy_(tensor)
    if layout == "strided":
        return torch.stack((tensor, tensor), -1)[..., 0]
    if layout == "special" and tensor.is_floating_point() and tensor.dim() > 1:
        awkward = (float("nan"), float("inf"), float("-inf"), torch.finfo(tensor.dtype).tiny / 4)
        tensor = tensor.clone()
        for at, value in enumerate(awkward):
            tensor[at::7, at::5] = value
        tensor[1:2] = float("-inf")
    return tensor


def error_of(got: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor) -> float:
    """The error against float64 over what is allowed: 1.5 times eager's and an ulp of the largest.

    Infinite where dtype, shape, strides or the places of NaNs and infinities differ from eager's.
    """
    alike = got.dtype == eager.dtype and got.shape == eager.shape
    if not alike or (got.numel() and got.squeeze().stride() != eager.squeeze().stride()):
        return float("inf")
    special = ~eager.isfinite()
    same = (got == eager) | (got.isnan() & eager.isnan())
    if not bool(same[special].all()) or not bool((got.isfinite() | special).all()):
        return float("inf")
    if not eager.is_floating_point():
        return 0.0 if torch.equal(got, eager) else float("inf")
    mine, theirs, right = (t.double().masked_fill(special, 0) for t in (got, eager, exact))
    if not got.numel():
        return 0.0
    unit = torch.finfo(eager.dtype).eps * (200 if eager.dtype is torch.float64 else 2)
    allowed = 1.5 * (theirs - right).abs().max() + unit * (right.abs().max() + 1 / 32)
    return float((mine - right).abs().max() / allowed)


def comparisons(dry: bool) -> Iterator[tuple[int, int, str]]:
    """Rows, cols and layout of everything to compare for a workload and a dtype."""
    for rows, cols in itertools.product((3,) if dry else ROWS, (33, 1000) if dry else COLS):
        if rows * cols <= MOST_VALUES:
            for layout in LAYOUTS if cols in (33, 1000, 1024, 8192) else LAYOUTS[:1]:
                yield rows, cols, layout


def values(bench: Bench) -> None:
    """Every variant against PyTorch."""
    found: dict[tuple[str, str, str], list[float]] = {}
    dtypes = ("f32", "bf16") if bench.dry else DTYPES
    for name, dtype in itertools.product(bench.names, dtypes):
        work = WORKLOADS[name]
        ours = bench.compiled(work.function)
        for rows, cols, layout in comparisons(bench.dry):
            label = f"{name} {dtype} {rows} x {cols} {layout}"
            if not bench.has_time(label):
                continue
            inputs = work.inputs(rows, cols, DTYPES[dtype])
            inputs = tuple(laid(t.to(bench.device), layout) for t in inputs)
            error = compare(work.function, ours, inputs)
            if not error <= 1:
                bench.failures.append(f"{label}: {error:.2f} of what is allowed")
            for kernel in astjit.explain(ours, *inputs).kernels:
                found.setdefault((kernel.kind, kernel.variant, dtype), []).append(error)
    bench.write("## Values", "")
    bench.write(*table("kind", "variant", "dtype", "comparisons", "error / allowed, at most"))
    for key, errors in sorted(found.items()):
        bench.write(f"| {' | '.join(key)} | {len(errors)} | {max(errors):.2f} |")
    bench.write("", *(f"- DIFFERS: {failure}" for failure in bench.failures[:50]))
    bench.write(f"{len(bench.failures)} comparisons differ.", "")


def compare(function: Callable[..., object], ours: Callable[..., object], inputs: Tensors) -> float:
    """The largest error of a call's results over what is allowed."""
    wide = (t.double() if t.is_floating_point() else t for t in inputs)
    results = (flat(run(*given)) for run, given in ((ours, inputs), (function, inputs)))
    triples = zip(*results, flat(function(*wide)), strict=True)
    return max(error_of(*triple) for triple in triples)


# -- bandwidth -------------------------------------------------------------------------------------
def seconds_of(run: Callable[..., object], inputs: list[Tensors], dry: bool) -> float:
    """The median time of a call on the device, over inputs in turn.

    The calls are queued behind a wait, so that the host's time does not count, and results are
    kept as long as their inputs' turn, so that they lie in other memory each time.
    """
    kept: list[object] = [None] * len(inputs)
    if dry:
        run(*inputs[0])
        return float("nan")
    for at in range(max(3, len(inputs))):
        kept[at % len(inputs)] = run(*inputs[at % len(inputs)])
    torch.cuda.synchronize()
    repeats = 20
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
    torch.cuda._sleep(20_000_000)
    marks[0].record()
    for at in range(repeats):
        kept[at % len(inputs)] = run(*inputs[at % len(inputs)])
        marks[at + 1].record()
    torch.cuda.synchronize()
    took = [a.elapsed_time(b) / 1e3 for a, b in itertools.pairwise(marks)]
    return statistics.median(took)


def turns(work: Workload, row: Row, device: str) -> list[Tensors]:
    """As many inputs as pass by any cache."""
    first = tuple(t.to(device) for t in work.inputs(row.rows, row.cols, DTYPES[row.dtype]))
    moved = max(1, sum(t.nbytes for t in first))
    count = 1 if device == "cpu" else max(1, min(32, round(ROTATED / moved + 0.5)))
    return [first, *(tuple(t.clone() for t in first) for _ in range(count - 1))]


def fits(row: Row) -> bool:
    """Whether a few times its tensors have room."""
    free, _ = torch.cuda.mem_get_info()
    return row.rows * row.cols * DTYPES[row.dtype].itemsize * 8 < free


def bandwidth(bench: Bench) -> None:
    """Bytes that a call must move over the time it takes."""
    work = Workload(torch.clone, lambda r, c, d: (torch.zeros(r, c, dtype=d),))
    side = 64 if bench.dry else COPIED // 4 // 4096
    copied = turns(work, Row("clone", "f32", side, 4096), bench.device)
    copying = 2 * copied[0][0].nbytes / seconds_of(torch.clone, copied, bench.dry)
    del copied
    head = ("GB/s", "of copying", "eager GB/s", "x eager", "torch.compile GB/s")
    bench.write("## Bandwidth", "", f"Copying: {rate(copying)} GB/s.", "", *table("row", *head))
    for row in ROW_TABLE:
        if row.name not in bench.names:
            continue
        if bench.dry:
            row = replace(row, rows=3, cols=min(row.cols, 1000))
        elif not fits(row):
            bench.left.append(f"{row.label} (memory)")
            continue
        if bench.has_time(row.label):
            bench.write(bandwidth_row(bench, row, copying))
    bench.write("")


def bandwidth_row(bench: Bench, row: Row, copying: float) -> str:
    """One line of the table."""
    work = WORKLOADS[row.name]
    inputs = turns(work, row, bench.device)
    ours = bench.compiled(work.function)
    moved = sum(t.nbytes for t in (*inputs[0], *flat(ours(*inputs[0]))))
    mine = moved / seconds_of(ours, inputs, bench.dry)
    eager = moved / seconds_of(work.function, inputs, bench.dry)
    compiled = ""
    if row.compiled and not bench.dry:
        torch._dynamo.reset()
        compiled = rate(moved / seconds_of(torch.compile(work.function), inputs, bench.dry))
    ratios = f"{mine / copying:.2f}", rate(eager), f"{mine / eager:.2f}", compiled
    return f"| {row.label} | {rate(mine)} | {' | '.join(ratios)} |".replace("nan", "-")


def rate(bytes_per_second: float) -> str:
    return "-" if bytes_per_second != bytes_per_second else f"{bytes_per_second / 1e9:.0f}"


# -- calls -----------------------------------------------------------------------------------------
def host_time(run: Callable[[], object], dry: bool) -> float:
    """Microseconds of a call until it returns: the median of batches, the device idle."""
    if dry:
        run()
        return float("nan")
    found = []
    for _ in range(9):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(100):
            run()
        found.append((time.perf_counter() - start) / 100 * 1e6)
    return statistics.median(found)


def calls(bench: Bench) -> None:
    """What a call costs the host where the tensors are small."""
    bench.write("## Host time of a call", "")
    bench.write(*table("4 x 256, f32", "astjit us", "eager us", "torch.compile us"))
    for name in ("bias_gelu", "softmax", "rms_norm", "layer_norm"):
        if name not in bench.names or not bench.has_time(f"call of {name}"):
            continue
        work = WORKLOADS[name]
        inputs = tuple(t.to(bench.device) for t in work.inputs(4, 256, torch.float32))
        ours, function = bench.compiled(work.function), work.function
        took = [host_time(partial(run, *inputs), bench.dry) for run in (ours, function)]
        if not bench.dry:
            torch._dynamo.reset()
            compiled = torch.compile(function)
            took.append(host_time(partial(compiled, *inputs), bench.dry))
        shown = ["-" if t != t else f"{t:.1f}" for t in took] + ["-"] * (3 - len(took))
        bench.write(f"| {name} | {' | '.join(shown)} |")
    bench.write("")


# -- the whole -------------------------------------------------------------------------------------
def heading(dry: bool) -> list[str]:
    """Where and with what it ran."""
    today = datetime.date.today().isoformat()
    if dry:
        return [f"# Dry run of benchmarks/gpu.py, {today}", "", "On the CPU: no times.", ""]
    with_ = f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, astjit {astjit.__version__}"
    return [f"# {torch.cuda.get_device_name()}, {today}", "", f"{with_}.", ""]


def measure(
    dry: bool,
    minutes: float,
    out: Path,
    names: Sequence[str] = tuple(WORKLOADS),
    target: str | None = None,
) -> Bench:
    """Run all parts and write the report.

    Args:
        dry: on the CPU, without times.
        minutes: after which no row is begun; half of them for values, a third for bandwidth.
        out: a folder.
        names: of workloads.
        target: of astjit's kernels; None: by the device.
    """
    start = time.monotonic()
    bench = Bench(tuple(names), "cpu" if dry else "cuda", target, dry, start)
    bench.write(*heading(dry))
    torch.manual_seed(0)
    with torch.no_grad():
        for part, share in ((calls, 0.15), (values, 0.5), (bandwidth, 0.95)):
            bench.deadline = start + 60 * minutes * share
            part(bench)
    if bench.left:
        bench.write("## Left out", "", *(f"- {label}" for label in bench.left[:100]))
    out.mkdir(parents=True, exist_ok=True)
    name = f"gpu-{'dry-' if dry else ''}{datetime.date.today().isoformat()}.md"
    (out / name).write_text("\n".join(bench.lines) + "\n", encoding="utf-8")
    return bench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(WORKLOADS), metavar="name")
    parser.add_argument("--dry", action="store_true", help="on the CPU, without times")
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    if not options.dry and not torch.cuda.is_available():
        parser.error("PyTorch finds no CUDA device; --dry runs without one")
    sys.exit(1 if measure(options.dry, options.minutes, options.out, options.names).failures else 0)


if __name__ == "__main__":
    main()
