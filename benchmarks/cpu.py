"""The CPU target against eager, torch.compile and hand-written C++, in one process.

    python benchmarks/cpu.py [--dtype float32] [--sizes 1k,64k,1M,16M] [--seconds 2] [name ...]

Every contender is called in turn, many rounds, fresh outputs each time; the table shows median
microseconds and ratios. `compile` is torch.compile with its defaults; `by hand` is the C++ of
benchmarks/reference/cpu, which exists for some rows. Ratios above 1 mean that astjit is faster.
"""

import argparse
import statistics
from collections.abc import Callable

import reference
import torch
from workloads import WORKLOADS

import astjit

SHAPES = {"1k": (4, 256), "64k": (64, 1024), "1M": (256, 4096), "16M": (4096, 4096)}
BY_HAND = ("bias_gelu", "rms_norm", "softmax")


def contenders(
    name: str, inputs: tuple[torch.Tensor, ...], library: object
) -> dict[str, Callable[[], object]]:
    """What is timed for a row, by column."""
    function = WORKLOADS[name].function
    torch._dynamo.reset()
    compiled, ours = torch.compile(function), astjit.compile(function)
    runs: dict[str, Callable[[], object]] = {
        "astjit": lambda: ours(*inputs),
        "eager": lambda: function(*inputs),
        "compile": lambda: compiled(*inputs),
    }
    if library is not None and name in BY_HAND and inputs[0].dtype is torch.float32:
        by_hand = reference.ours(library, name)
        runs["by hand"] = lambda: by_hand(*inputs)
    return runs


def time_size(
    size: str, names: list[str], dtype: torch.dtype, seconds: float, library: object
) -> None:
    """Print the table of one size."""
    rows, cols = SHAPES[size]
    print(f"\n{size}: {rows} x {cols} {str(dtype).removeprefix('torch.')}, median microseconds")
    head = "".join(
        f"{h:>10}" for h in ("astjit", "eager", "compile", "by hand", "x eager", "x compile")
    )
    print(f"{'':20}{head}")
    over_eager, over_compile = [], []
    for name in names:
        inputs = WORKLOADS[name].inputs(rows, cols, dtype)
        runs = contenders(name, inputs, library)
        took = reference.times_of(runs, seconds, statistics.median)
        over_eager.append(took["eager"] / took["astjit"])
        over_compile.append(took["compile"] / took["astjit"])
        shown = [
            f"{took[c] * 1e6:10.1f}" if c in took else f"{'':10}"
            for c in ("astjit", "eager", "compile", "by hand")
        ]
        print(
            f"{name:20}{''.join(shown)}{over_eager[-1]:10.2f}{over_compile[-1]:10.2f}", flush=True
        )
    means = [statistics.geometric_mean(v) for v in (over_eager, over_compile)]
    print(f"{'geomean':20}{'':40}{means[0]:10.2f}{means[1]:10.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(WORKLOADS), metavar="name")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--sizes", default=",".join(SHAPES))
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    options = parser.parse_args()
    torch.manual_seed(0)
    library = reference.build_all()
    print(reference.machine(), f"{torch.get_num_threads()} threads")
    with torch.no_grad():
        for size in options.sizes.split(","):
            time_size(size, options.names, getattr(torch, options.dtype), options.seconds, library)


if __name__ == "__main__":
    main()
