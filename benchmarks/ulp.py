"""The largest error of each function of templates/cpu/helpers, in units in the last place.

    python benchmarks/ulp.py [--stride N] [--march FLAG] [name ...]

Every float32 is tried (or every Nth), against PyTorch's float64; eager's own error stands beside.
An error of inf means a wrong NaN, infinity or sign of zero.
"""

import argparse
import ctypes
import hashlib
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import torch

HELPERS = Path(__file__).resolve().parent.parent / "templates" / "cpu" / "helpers"
FLAGS = (
    *("-O2", "-std=c++17", "-mprefer-vector-width=512", "-fopenmp", "-fPIC", "-shared"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"),
    *("-Wall", "-Werror", "-Wno-psabi", "-Wno-unused-function"),
)

# name: (helper piece, PyTorch's function, the largest error allowed, in ulp)
FUNCTIONS: dict[str, tuple[str, Callable[[torch.Tensor], torch.Tensor], float]] = {
    "exp": ("exp", torch.exp, 1.0),
    "exp2": ("exp", torch.exp2, 1.0),
    "expm1": ("expm1", torch.expm1, 1.5),
    "tanh": ("tanh", torch.tanh, 1.5),
    "erf": ("erf", torch.erf, 1.0),
    "log": ("log", torch.log, 1.0),
    "log2": ("log", torch.log2, 1.0),
    "log10": ("log", torch.log10, 1.0),
    "log1p": ("log", torch.log1p, 1.5),
    "sin": ("sin_cos", torch.sin, 1.6),
    "cos": ("sin_cos", torch.cos, 1.6),
    "tan": ("tan", torch.tan, 2.0),
    "asin": ("arc", torch.asin, 1.5),
    "acos": ("arc", torch.acos, 1.5),
    "atan": ("arc", torch.atan, 1.5),
    "sinh": ("sinh", torch.sinh, 2.0),
    "cosh": ("sinh", torch.cosh, 2.0),
    "asinh": ("libm", torch.asinh, 2.0),
    "acosh": ("libm", torch.acosh, 2.0),
    "atanh": ("libm", torch.atanh, 2.0),
    "erfc": ("libm", torch.erfc, 1.0),
    "rsqrt": ("sqrt", torch.rsqrt, 1.5),
}
MEASURE = """
// |got - want| in ulp of want as a float; inf for a wrong NaN, infinity or sign of zero.
static double error(double got, double want) {
  const double top = 0x1p128, size = __builtin_fabs(want);
  if (want != want || got != got) return (want != want) == (got != got) ? 0 : __builtin_inf();
  if (want == 0 && __builtin_signbit(want) != __builtin_signbit(got)) return __builtin_inf();
  if (__builtin_fabs(got) > top) got = __builtin_copysign(top, got);
  const double limited = size > top ? __builtin_copysign(top, want) : want;
  if (size >= 0x1.ffffffp127 && got == limited) return 0;  // rounds to infinity
  long bits;
  const double held = size < 0x1p-126 ? 0x1p-126 : size < 0x1p127 ? size : 0x1p127;
  __builtin_memcpy(&bits, &held, 8);
  bits = (1023L + 23 + 1023 - (bits >> 52)) << 52;  // 2^(23 - exponent)
  double per_ulp;
  __builtin_memcpy(&per_ulp, &bits, 8);
  return __builtin_fabs(got - limited) * per_ulp;
}
// The largest error; where it is, in *at.
extern "C" double worst(const float* x, const float* y, const double* want, long n, float* at) {
  double most = -1;
#pragma omp parallel
  {
    double mine = -1;
    float mine_at = 0;
#pragma omp for
    for (long i = 0; i < n; ++i) {
      const double e = error(y[i], want[i]);
      if (e > mine) mine = e, mine_at = x[i];
    }
#pragma omp critical
    if (mine > most) most = mine, *at = mine_at;
  }
  return most;
}
"""


def helper_text(pieces: Iterable[str]) -> str:
    """The named helper pieces and those they need, each once and after what it needs."""
    done: dict[str, str] = {}

    def add(piece: str) -> None:
        if piece in done:
            return
        text = (HELPERS / f"{piece}.h").read_text(encoding="utf-8")
        first, rest = text.split("\n", 1)
        for needed in first.removeprefix("// needs:").split():
            add(needed)
        done[piece] = rest

    for piece in pieces:
        add(piece)
    return "\n".join(done.values())


def build(text: str, march: str = "native") -> ctypes.CDLL:
    """The text compiled and loaded; kept in the temporary folder, by digest."""
    command = [os.environ.get("CXX", "g++"), *FLAGS, f"-march={march}"]
    digest = hashlib.sha256("\n".join([*command, text]).encode()).hexdigest()[:20]
    folder = Path(tempfile.gettempdir()) / "astjit_reference"
    folder.mkdir(exist_ok=True)
    library = folder / f"{digest}.so"
    if not library.exists():
        source = folder / f"{digest}.cpp"
        source.write_text(text, encoding="utf-8")
        part = folder / f"{digest}.{os.getpid()}.so"
        subprocess.run([*command, str(source), "-o", str(part)], check=True)
        part.replace(library)
    return ctypes.CDLL(str(library))


def functions(march: str = "native") -> ctypes.CDLL:
    """A library with run_NAME(x, y, n) and one_NAME(x) for each function, and worst(...)."""
    text = helper_text(piece for piece, _, _ in FUNCTIONS.values()) + MEASURE
    for name in FUNCTIONS:
        text += (
            f'extern "C" void run_{name}(const float* x, float* y, long n) {{\n'
            "  sweep<2>(0, n, [&](long i, auto, auto mask) INLINE {\n"
            f"    store(y + i, {name}(load(x + i, mask)), mask);\n"
            "  });\n}\n"
            f'extern "C" float one_{name}(float x) {{ return {name}(x); }}\n'
        )
    library = build(text, march)
    library.worst.restype = ctypes.c_double
    return library


def address(tensor: torch.Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def apply(library: ctypes.CDLL, name: str, x: torch.Tensor) -> torch.Tensor:
    """The named function of our own on every element of x (float32, contiguous)."""
    y = torch.empty_like(x)
    getattr(library, f"run_{name}")(address(x), address(y), ctypes.c_long(x.numel()))
    return y


def worst(
    library: ctypes.CDLL, x: torch.Tensor, y: torch.Tensor, want: torch.Tensor
) -> tuple[float, float]:
    """The largest error of y in ulp, and the x it is at."""
    at = ctypes.c_float()
    n = ctypes.c_long(x.numel())
    most = library.worst(address(x), address(y), address(want), n, ctypes.byref(at))
    return most, at.value


def floats(first: int, stop: int, stride: int) -> torch.Tensor:
    """The floats whose bit patterns are first, first + stride, ... below stop."""
    patterns = torch.arange(first, stop, stride, dtype=torch.int64)
    return patterns.to(torch.int32).view(torch.float32)


def measure(library: ctypes.CDLL, name: str, stride: int) -> tuple[tuple[float, float], float]:
    """Our largest error with where it is, and eager's largest error."""
    function = FUNCTIONS[name][1]
    ours, eager = (-1.0, 0.0), -1.0
    step = (1 << 20) * stride
    for first in range(0, 1 << 32, step):
        x = floats(first, min(first + step, 1 << 32), stride)
        want = function(x.double())
        ours = max(ours, worst(library, x, apply(library, name, x), want))
        eager = max(eager, worst(library, x, function(x), want)[0])
    return ours, eager


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(FUNCTIONS), metavar="name")
    parser.add_argument("--stride", type=int, default=1, help="try every Nth float")
    parser.add_argument("--march", default="native", help="the machine to compile for")
    options = parser.parse_args()
    library = functions(options.march)
    print(f"{platform.machine()}, -march={options.march}, every {options.stride}. float32")
    print(f"{'function':9} {'max ulp':>8} {'eager':>6} {'bound':>6}   worst at")
    for name in options.names:
        (most, at), eager = measure(library, name, options.stride)
        bound = FUNCTIONS[name][2]
        print(f"{name:9} {most:8.3f} {eager:6.3f} {bound:6.1f}   {at!r}", flush=True)


if __name__ == "__main__":
    main()
