"""Times functions of elements with branches and loops against what else there is, on this CPU.

    python benchmarks/elements.py            a table: medians of calls that take turns, and ratios

Each row is one function of elements: as written for `astjit.elementwise`, as eager PyTorch runs it
on whole tensors under masks, the same through torch.compile, by numba where that is installed, and
by hand in C++: a block of lanes at a time, until all are done. All give the same result, which is
checked. Only ratios of one run mean something.
"""

import argparse
import ctypes
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

import astjit
from astjit.targets.cxx import find_compiler, flags

try:
    import numba
except ImportError:
    numba = None

STEPS = 50


# -- how long a point stays in Mandelbrot's set ---------------------------------------------------
@astjit.elementwise
def escape(cr, ci):
    zr = zi = 0.0
    for n in range(STEPS):
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        if zr * zr + zi * zi > 4.0:
            return n
    return STEPS


def escape_masked(cr, ci):
    zr, zi = torch.zeros_like(cr), torch.zeros_like(ci)
    count = torch.full(cr.shape, STEPS)
    for n in range(STEPS):
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        leaves = (zr * zr + zi * zi > 4.0) & (count == STEPS)
        count = torch.where(leaves, n, count)
    return count


def plane(side):
    """The corners of the plane in which the set lies, `side` points a side."""
    real, imaginary = torch.linspace(-2.0, 0.6, side), torch.linspace(-1.3, 1.3, side)
    grid = torch.meshgrid(imaginary, real, indexing="ij")
    return grid[1].contiguous(), grid[0].contiguous()


# -- a cube root by Newton's iteration, until it stands still -------------------------------------
@astjit.elementwise
def cube_root(a):
    x = a
    while abs(x * x * x - a) > 1e-5 * a:
        x = x - (x * x * x - a) / (3 * x * x)
    return x


def cube_root_masked(a):
    x = a
    while True:
        moves = (x * x * x - a).abs() > 1e-5 * a
        if not moves.any():
            return x
        x = torch.where(moves, x - (x * x * x - a) / (3 * x * x), x)


def positive(count):
    """Numbers whose root takes a few steps to many."""
    torch.manual_seed(0)
    return (torch.rand(count) * 1000 + 0.5,)


HAND = """
#if defined(__AVX512F__)
constexpr int L = 16;
#else
constexpr int L = 8;
#endif
typedef float V __attribute__((vector_size(4 * L)));
typedef int M __attribute__((vector_size(4 * L)));
#if defined(__AVX512F__)
static inline bool any(M m) { return __builtin_ia32_ptestmd512(m, m, -1); }
#else
static inline bool any(M m) { return __builtin_ia32_movmskps256((V)m); }
#endif
template <class T> static inline T read(const float* p) {
  T v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
extern "C" void escape(const float* cr, const float* ci, long* out, long n, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
  for (long i = 0; i < n / L; ++i) {
    const V a = read<V>(cr + i * L), b = read<V>(ci + i * L);
    V zr = {}, zi = {};
    M count = M{} + STEPS, live = M{} - 1;
    for (int k = 0; k < STEPS; ++k) {
      const V next = zr * zr - zi * zi + a;
      zi = 2.0f * zr * zi + b;
      zr = next;
      const M leaves = live & (zr * zr + zi * zi > 4.0f);
      count = leaves ? M{} + k : count;
      live &= ~leaves;
      if (!any(live)) break;
    }
    for (int l = 0; l < L; ++l) out[i * L + l] = count[l];
  }
}
extern "C" void cube_root(const float* in, float* out, long n, int threads) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
  for (long i = 0; i < n / L; ++i) {
    const V a = read<V>(in + i * L);
    V x = a;
    while (true) {
      const V rest = x * x * x - a;
      const M moves = (rest > 1e-5f * a) | (-rest > 1e-5f * a);
      if (!any(moves)) break;
      x = moves ? x - rest / (3.0f * x * x) : x;
    }
    __builtin_memcpy(out + i * L, &x, sizeof x);
  }
}
"""


@dataclass(frozen=True)
class Row:
    """A function in its forms.

    Attributes:
        name: as shown.
        ours: of elements.
        masked: of whole tensors.
        inputs: what it is called with.
        dtype: of the result.
    """

    name: str
    ours: Callable[..., torch.Tensor]
    masked: Callable[..., torch.Tensor]
    inputs: Sequence[torch.Tensor]
    dtype: torch.dtype


def rows(side):
    """The functions, for `side` * `side` elements."""
    return (
        Row("escape", escape, escape_masked, plane(side), torch.int64),
        Row("cube_root", cube_root, cube_root_masked, positive(side * side), torch.float32),
    )


def by_hand():
    """The library of the functions written by hand."""
    folder = tempfile.mkdtemp()
    source, library = Path(folder, "hand.cpp"), Path(folder, "hand.so")
    source.write_text(f"constexpr int STEPS = {STEPS};\n{HAND}")
    command = [*find_compiler().command, *flags(), "-O3", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def hand_call(library, row):
    """A call of the function written by hand."""
    function, threads = getattr(library, row.name), torch.get_num_threads()
    count = row.inputs[0].numel()

    def call(*inputs):
        made = torch.empty(inputs[0].shape, dtype=row.dtype)
        places = [ctypes.c_void_p(t.data_ptr()) for t in (*inputs, made)]
        function(*places, ctypes.c_long(count), ctypes.c_int(threads))
        return made

    return call


def numba_call(row):
    """The function through numba, in parallel."""
    kinds = {torch.int64: "i8", torch.float32: "f4"}
    signature = f"{kinds[row.dtype]}({', '.join(['f4'] * len(row.inputs))})"
    made = numba.vectorize([signature], target="parallel")(row.ours.__wrapped__)
    return lambda *inputs: torch.from_numpy(made(*(t.numpy() for t in inputs)))


def contenders(row, library, dynamo):
    """Every form by name."""
    found = {"astjit": row.ours, "by hand": hand_call(library, row), "eager": row.masked}
    if dynamo:
        found["torch.compile"] = torch.compile(row.masked)
    if numba is not None:
        found["numba"] = numba_call(row)
    return found


def measure(row, forms, seconds):
    """The median of each form in ms, the forms taking turns."""
    want = row.masked(*row.inputs)
    for name, call in forms.items():
        got = call(*row.inputs)
        assert torch.allclose(got.double(), want.double(), rtol=1e-4), name
    times = {name: [] for name in forms}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times["eager"]) < 3:
        for name, call in forms.items():
            start = time.perf_counter()
            call(*row.inputs)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) * 1e3 for name, found in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=1024, help="elements are its square")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each function")
    parser.add_argument("--no-dynamo", action="store_true", help="without torch.compile")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    library = by_hand()
    for row in rows(options.side):
        found = measure(row, contenders(row, library, not options.no_dynamo), options.seconds)
        shown = ", ".join(f"{name} {ms:.2f} ms" for name, ms in found.items())
        print(f"{row.name}: {shown}; astjit / by hand {found['astjit'] / found['by hand']:.2f}")


if __name__ == "__main__":
    main()
