"""The largest error of each function of doubles in templates/cpu/helpers, in ulp.

    python benchmarks/ulp_doubles.py [--count N] [--march FLAG] [name ...]

Doubles with bit patterns at equal steps through all of them, and as many within [-40, 40], against
the C library's long double, which must be wider; eager's own error stands beside. An error of inf
means a wrong NaN, infinity or sign of zero.
"""

import argparse
import ctypes
import platform
from collections.abc import Callable

import torch
from ulp import address, build, helper_text

# name: (helper piece, PyTorch's function, the largest error allowed, in ulp)
# (tanh without FMA instructions is the C library's)
FUNCTIONS: dict[str, tuple[str, Callable[[torch.Tensor], torch.Tensor], float]] = {
    "exp": ("exp_f64", torch.exp, 1.0),
    "exp2": ("exp_f64", torch.exp2, 1.0),
    "expm1": ("expm1_f64", torch.expm1, 2.0),
    "tanh": ("tanh_f64", torch.tanh, 2.1),
    "erf": ("erf_f64", torch.erf, 1.5),
    "log": ("log_f64", torch.log, 1.5),
    "log2": ("log_f64", torch.log2, 1.5),
    "log10": ("log_f64", torch.log10, 2.0),
    "log1p": ("log_f64", torch.log1p, 2.0),
}
MEASURE = """
// |got - want| in ulp of want as a double; inf for a wrong NaN, infinity or sign of zero.
static double error(double got, long double want) {
  if (want != want || got != got) return (want != want) == (got != got) ? 0 : __builtin_inf();
  if (want == 0 && !__builtin_signbit(want) != !__builtin_signbit(got)) return __builtin_inf();
  const double near = (double)want;
  if (near - near != 0 || got - got != 0) return near == got ? 0 : __builtin_inf();
  int exponent = -1022;
  if (__builtin_fabsl(want) > 0x1p-1022L) exponent = __builtin_ilogbl(want);
  return (double)__builtin_scalbnl(__builtin_fabsl(got - want), 52 - exponent);
}
"""


def functions(march: str = "native") -> ctypes.CDLL:
    """A library with run_NAME(x, y, n), and worst_NAME(x, y, n, at) for each function."""
    text = helper_text(piece for piece, _, _ in FUNCTIONS.values()) + MEASURE
    for name in FUNCTIONS:
        text += f"""
extern "C" void run_{name}(const double* x, double* y, long n) {{
#pragma omp simd
  for (long i = 0; i < n; ++i) y[i] = {name}(x[i]);
}}
extern "C" double worst_{name}(const double* x, const double* y, long n, double* at) {{
  double most = -1;
  for (long i = 0; i < n; ++i) {{
    const double e = error(y[i], __builtin_{name}l(x[i]));
    if (e > most) most = e, *at = x[i];
  }}
  return most;
}}"""
    library = build(text, march)
    for name in FUNCTIONS:
        getattr(library, f"worst_{name}").restype = ctypes.c_double
    return library


def apply(library: ctypes.CDLL, name: str, x: torch.Tensor) -> torch.Tensor:
    """The named function of our own on every element of x (float64, contiguous)."""
    y = torch.empty_like(x)
    getattr(library, f"run_{name}")(address(x), address(y), ctypes.c_long(x.numel()))
    return y


def worst(library: ctypes.CDLL, name: str, x: torch.Tensor, y: torch.Tensor) -> tuple[float, float]:
    """The largest error of y as the named function of x in ulp, and the x it is at."""
    at = ctypes.c_double()
    n = ctypes.c_long(x.numel())
    most = getattr(library, f"worst_{name}")(address(x), address(y), n, ctypes.byref(at))
    return most, at.value


def doubles(count: int) -> torch.Tensor:
    """`count` doubles at equal steps of their bit patterns, and as many in [-40, 40]."""
    step = (1 << 64) // count | 1
    patterns = torch.arange(count, dtype=torch.int64) * (step - (1 << 64) * (step >> 63))
    near = torch.rand(count, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return torch.cat([patterns.view(torch.float64), near * 80 - 40, near * 2 - 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(FUNCTIONS), metavar="name")
    parser.add_argument("--count", type=int, default=1 << 22, help="of doubles")
    parser.add_argument("--march", default="native", help="the machine to compile for")
    options = parser.parse_args()
    library, x = functions(options.march), doubles(options.count)
    print(f"{platform.machine()}, -march={options.march}, {x.numel()} doubles. float64")
    print(f"{'function':9} {'max ulp':>8} {'eager':>6} {'bound':>6}   worst at")
    for name in options.names:
        _, eager, bound = FUNCTIONS[name]
        most, at = worst(library, name, x, apply(library, name, x))
        beside = worst(library, name, x, eager(x))[0]
        print(f"{name:9} {most:8.3f} {beside:6.3f} {bound:6.1f}   {at!r}", flush=True)


if __name__ == "__main__":
    main()
