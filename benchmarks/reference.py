"""The hand-written C++ of benchmarks/reference/cpu: right, and how fast.

    python benchmarks/reference.py [--check] [name ...]

Each file is what the templates should emit for one function. Builds them, compares their error
against float64 with eager's, then times them in turn with eager and torch.compile at 1 M and 16 M
elements and prints the medians (--best: the least times). "kept" is ours without allocating the
outputs, whose page faults cost more than the kernel at 16 M. --check stops before the timing.
"""

import argparse
import ctypes
import math
import os
import platform
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from ulp import address, build, helper_text

KERNELS = Path(__file__).resolve().parent / "reference" / "cpu"
PIECES = ("reduce", "row_team", "columns", "gather", "exp", "log", "sin_cos", "sqrt", "half")
SHAPES = ((1, 1), (1, 2), (3, 7), (5, 16), (7, 100), (65, 129), (256, 4096), (33, 5000), (2, 50257))
TIMED = ((256, 4096), (4096, 4096))
Tensors = tuple[torch.Tensor, ...]


def bias_gelu(x: torch.Tensor, bias: torch.Tensor, residual: torch.Tensor) -> Tensors:
    return (F.gelu(x + bias, approximate="tanh") + residual,)


def rms_norm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> Tensors:
    h = x + residual
    rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6)
    return h, h * rstd * weight


def softmax(x: torch.Tensor) -> Tensors:
    return (torch.softmax(x, -1),)


def cross_entropy(x: torch.Tensor, target: torch.Tensor) -> Tensors:
    return (F.cross_entropy(x, target, reduction="none"),)


def square_sum0(x: torch.Tensor) -> Tensors:
    return ((x * x).sum(0),)


def sin_cos_sum(x: torch.Tensor) -> Tensors:
    return ((torch.sin(x) * torch.cos(x)).sum(),)


@dataclass(frozen=True, slots=True)
class Workload:
    """A function, what it is given, and how its kernel is called.

    Attributes:
        eager: the function itself.
        inputs: its arguments for rows, cols.
        outputs: empty results for its arguments.
        rest: the kernel's further arguments, before the number of threads.
    """

    eager: Callable[..., Tensors]
    inputs: Callable[[int, int], Tensors]
    outputs: Callable[[torch.Tensor], Tensors]
    rest: Callable[[torch.Tensor], tuple[Any, ...]]


def sizes(x: torch.Tensor) -> tuple[Any, ...]:
    return tuple(ctypes.c_long(n) for n in x.shape)


def like(x: torch.Tensor) -> Tensors:
    return (torch.empty_like(x),)


STATUS = torch.zeros(1, dtype=torch.int32)
WORK = torch.empty(1 << 20)
WORKLOADS = {
    "bias_gelu": Workload(
        bias_gelu,
        lambda r, c: (torch.randn(r, c), torch.randn(c), torch.randn(r, c)),
        like,
        sizes,
    ),
    "rms_norm": Workload(
        rms_norm,
        lambda r, c: (torch.randn(r, c), torch.randn(r, c), torch.randn(c)),
        lambda x: (torch.empty_like(x), torch.empty_like(x)),
        lambda x: (*sizes(x), ctypes.c_double(1e-6)),
    ),
    "softmax": Workload(softmax, lambda r, c: (torch.randn(r, c) * 3,), like, sizes),
    "cross_entropy": Workload(
        cross_entropy,
        lambda r, c: (torch.randn(r, c) * 3, torch.randint(c, (r,))),
        lambda x: (x.new_empty(x.shape[0]),),
        lambda x: (address(STATUS), *sizes(x)),
    ),
    "square_sum0": Workload(
        square_sum0,
        lambda r, c: (torch.randn(r, c),),
        lambda x: (x.new_empty(x.shape[1]),),
        sizes,
    ),
    "sin_cos_sum": Workload(
        sin_cos_sum,
        lambda r, c: (torch.rand(r, c) * 1.5,),  # of one sign, or the sum's error would be chance
        lambda x: (x.new_empty(()),),
        lambda x: (ctypes.c_long(x.numel()),),
    ),
}


def threads_for(tensors: Tensors) -> int:
    """One thread for each 128 KiB read or written, at most PyTorch's number."""
    moved = sum(t.numel() * t.element_size() for t in tensors)
    return max(1, min(torch.get_num_threads(), moved >> 17))


def ours(library: ctypes.CDLL, name: str, kept: Tensors = ()) -> Callable[..., Tensors]:
    """The kernel as a function like eager's; it writes to `kept` if that is given."""
    kernel, workload = getattr(library, name), WORKLOADS[name]

    def call(*inputs: torch.Tensor) -> Tensors:
        outputs = kept or workload.outputs(inputs[0])
        buffers = (*inputs, *outputs)
        pointers = [address(t) for t in buffers]
        kernel(*pointers, *workload.rest(inputs[0]), ctypes.c_int(threads_for(buffers)))
        return outputs

    return call


def build_all() -> ctypes.CDLL:
    kernels = [path.read_text(encoding="utf-8") for path in sorted(KERNELS.glob("*.cpp"))]
    return build("\n".join([helper_text(PIECES), *kernels]))


def error(got: Tensors, want: Tensors) -> float:
    """The largest difference over the largest value wanted, over all outputs."""
    pairs = [(g.double(), w) for g, w in zip(got, want, strict=True)]
    return max(((g - w).abs().max() / w.abs().max().clamp_min(1e-30)).item() for g, w in pairs)


def check(library: ctypes.CDLL, name: str, draws: int = 8) -> tuple[float, float]:
    """The errors of ours and of eager's, root mean square over draws, largest over SHAPES.

    Raises:
        AssertionError: if ours is over 1.5 times eager's plus one ulp for some shape.
    """
    workload, run = WORKLOADS[name], ours(library, name)
    worst = (0.0, 0.0)
    for shape in SHAPES:
        errors = []
        for _ in range(draws):
            inputs = workload.inputs(*shape)
            want = workload.eager(*(t.double() if t.is_floating_point() else t for t in inputs))
            errors.append((error(run(*inputs), want), error(workload.eager(*inputs), want)))
        mine, eager = (math.hypot(*column) / draws**0.5 for column in zip(*errors, strict=True))
        assert mine <= 1.5 * eager + 2**-23, (name, shape, mine, eager)
        worst = max(worst[0], mine), max(worst[1], eager)
    return worst


def times_of(
    runs: dict[str, Callable[[], object]],
    seconds: float,
    of: Callable[[list[float]], float],
    least: int = 5,
) -> dict[str, float]:
    """Each one's median (or best) time, called in turn for about `seconds`, `least` times each."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        for _ in range(3):
            run()
    stop = time.perf_counter() + seconds
    while time.perf_counter() < stop or len(next(iter(times.values()))) < least:
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: of(taken) for name, taken in times.items()}


def time_all(
    library: ctypes.CDLL,
    names: list[str],
    shape: tuple[int, int],
    seconds: float,
    of: Callable[[list[float]], float],
) -> None:
    print(f"\n{shape[0]} x {shape[1]}: microseconds, and how many times faster than each")
    print(f"{'':14}{'ours':>9}{'kept':>9}{'eager':>9}{'compile':>9}{'x eager':>9}{'x compile':>10}")
    over_eager, over_compile = [], []
    for name in names:
        workload, inputs = WORKLOADS[name], WORKLOADS[name].inputs(*shape)
        torch._dynamo.reset()
        fast, compiled = ours(library, name), torch.compile(workload.eager)
        runs: dict[str, Callable[[], object]] = {
            "ours": partial(fast, *inputs),
            "kept": partial(ours(library, name, workload.outputs(inputs[0])), *inputs),
            "eager": partial(workload.eager, *inputs),
            "compile": partial(compiled, *inputs),
        }
        took = times_of(runs, seconds, of)
        over_eager.append(took["eager"] / took["ours"])
        over_compile.append(took["compile"] / took["ours"])
        row = "".join(f"{took[which] * 1e6:9.0f}" for which in runs)
        print(f"{name:14}{row}{over_eager[-1]:9.2f}{over_compile[-1]:10.2f}", flush=True)
    means = (statistics.geometric_mean(v) for v in (over_eager, over_compile))
    print(f"{'geomean':14}{'':36}{next(means):9.2f}{next(means):10.2f}")


def machine() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    name = found[1] if found else platform.machine()
    threads = torch.get_num_threads()
    return f"{name}, {os.cpu_count()} cores, {threads} threads, torch {torch.__version__}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(WORKLOADS), metavar="name")
    parser.add_argument("--check", action="store_true", help="no timing")
    parser.add_argument("--seconds", type=float, default=4.0, help="to time a row for")
    parser.add_argument("--best", action="store_true", help="the least times: for a busy machine")
    parser.add_argument("--threads", type=int, help="PyTorch's number, and ours")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    start = time.perf_counter()
    library = build_all()
    print(f"built in {time.perf_counter() - start:.2f} s")
    for name in options.names:
        mine, eager = check(library, name)
        print(f"{name:14} error {mine:.1e}, eager's {eager:.1e}")
    if options.check:
        return
    of = min if options.best else statistics.median
    print(f"{machine()}; {'the best' if options.best else 'medians'}")
    for shape in TIMED:
        time_all(library, options.names, shape, options.seconds, of)


if __name__ == "__main__":
    main()
