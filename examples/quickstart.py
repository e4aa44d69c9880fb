"""What astjit does with one function: its SSA, its CUDA, its result and its speed.

Run by `make demo`; `--small` keeps to small tensors. Needs no GPU.
"""

import inspect
import statistics
import sys
import time
from collections.abc import Callable

import torch

import astjit


@astjit.compile
def rms_norm(x, residual, w, eps=1e-6):
    """RMS norm of a sum, as every transformer block computes it."""
    h = x + residual
    return h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps) * w


eager = rms_norm.__wrapped__


def show(title: str, text: str) -> None:
    """Print one part of the tour under its title."""
    print(f"\n== {title}\n{text.rstrip()}")


def inputs(rows: int, cols: int, device: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random float32 arguments of `rms_norm`."""
    shapes = ((rows, cols), (rows, cols), (cols,))
    return tuple(torch.randn(shape, device=device) for shape in shapes)


def microseconds(functions: list[Callable], args: tuple, device: str, rounds: int) -> list[float]:
    """The median time of each function; they take turns, so that none has the quiet minute."""
    times = [[] for _ in functions]
    for _ in range(rounds + 3):
        for function, taken in zip(functions, times, strict=True):
            start = time.perf_counter()
            function(*args)
            if device == "cuda":
                torch.cuda.synchronize()
            taken.append(1e6 * (time.perf_counter() - start))
    return [statistics.median(taken[3:]) for taken in times]


def main(small: bool) -> None:
    """Show everything once."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    args = inputs(64, 1024, device)

    show("the function", inspect.getsource(eager))
    show("its SSA", rms_norm.ssa(*args))
    show("its CUDA for sm_90", rms_norm.cuda_source(*args, arch="sm_90"))

    result, expected = rms_norm(*args), eager(*args)
    difference = (result - expected).abs().max().item()
    show("its result", f"on {device}, largest difference from eager {difference:.1e}")
    torch.testing.assert_close(result, expected)

    table = [f"{'size':>12} {'eager us':>10} {'astjit us':>10} {'ratio':>6}"]
    for rows, cols in [(8, 128), (64, 1024)] if small else [(64, 1024), (1024, 1024), (4096, 4096)]:
        args = inputs(rows, cols, device)
        rounds = 5 if small else max(10, min(200, 2**26 // (rows * cols)))
        slow, fast = microseconds([eager, rms_norm], args, device, rounds)
        table.append(f"{rows:>6}x{cols:<5} {slow:>10.0f} {fast:>10.0f} {slow / fast:>6.2f}")
    show("its speed (medians, the two alternating)", "\n".join(table))


if __name__ == "__main__":
    main(small="--small" in sys.argv[1:])
