"""templates/cpu/helpers: functions within their published bounds, loads, stores and reductions."""

import ctypes
import importlib.util
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ULP = Path(__file__).resolve().parent.parent / "benchmarks" / "ulp.py"
spec = importlib.util.spec_from_file_location("benchmarks_ulp", ULP)
ulp = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = ulp
spec.loader.exec_module(ulp)

# What this machine has, and the fallback for any architecture (four lanes, no FMA instruction).
MARCHES = ("native", "x86-64") if os.uname().machine == "x86_64" else ("native",)
INF, TINY, NORMAL = math.inf, 2.0**-149, 2.0**-126
SPECIAL = [0.0, TINY, NORMAL - TINY, NORMAL, 1e-20, 0.5, 1.0, 2.0, 10.0, 17.4, 47999.9, 48000.0]
SPECIAL += [87.34, 88.72283, 88.7229, 88.73, 103.9, 104.0, 127.5, 128.0, 149.5, 151.0]
SPECIAL += [1.0 - 2.0**-24, 1e9, 1.5e30, 2.0**127, 3.4028234e38, INF]
SPECIAL = [math.nan, *SPECIAL, *(-x for x in SPECIAL)]

pytestmark = pytest.mark.skipif(
    shutil.which(os.environ.get("CXX", "g++")) is None, reason="no C++ compiler"
)


@pytest.fixture(scope="module", params=MARCHES)
def march(request):
    return request.param


@pytest.fixture(scope="module")
def functions(march):
    return ulp.functions(march)


@pytest.fixture(scope="module")
def memory(march):
    """Loads and stores of 16-bit floats, and reductions of n floats."""
    text = ulp.helper_text(["half", "reduce"])
    for kind in ("bf16", "f16"):
        text += f"""
extern "C" void widen_{kind}(const {kind}* x, float* y, long n) {{
  sweep<2>(0, n, [=](long i, auto, auto mask) INLINE {{ store(y + i, load(x + i, mask), mask); }});
}}
extern "C" void narrow_{kind}(const float* x, {kind}* y, long n) {{
  sweep<2>(0, n, [=](long i, auto, auto mask) INLINE {{ store(y + i, load(x + i, mask), mask); }});
}}
extern "C" void round_{kind}_(const float* x, float* y, long n) {{
  sweep<2>(0, n, [=](long i, auto, auto mask) INLINE {{
    store(y + i, round_{kind}(load(x + i, mask)), mask);
  }});
}}"""
    for op in ("Sum", "Max", "Min"):
        text += f"""
extern "C" float reduce_{op}(const float* x, long n) {{
  return reduce<{op}>(0, n, [=](long i, auto mask) INLINE {{ return load(x + i, mask); }});
}}"""
    library = ulp.build(text, march)
    for op in ("Sum", "Max", "Min"):
        getattr(library, f"reduce_{op}").restype = ctypes.c_float
    return library


def same(got, want):
    """Equal bit for bit, any NaN being as good as another."""
    number = ~want.isnan()
    kind = {4: torch.int32, 2: torch.int16}[got.element_size()]
    assert torch.equal(got.isnan(), ~number)
    assert torch.equal(got[number].view(kind), want[number].view(kind))


def through(function, x, dtype):
    y = torch.empty_like(x, dtype=dtype)
    function(ulp.address(x), ulp.address(y), ctypes.c_long(x.numel()))
    return y


@pytest.mark.parametrize("name", ulp.FUNCTIONS)
def test_within_bound(functions, name):
    _, eager, bound = ulp.FUNCTIONS[name]
    x = torch.cat([ulp.floats(0, 1 << 32, 4097), torch.tensor(SPECIAL)])
    error, at = ulp.worst(functions, x, ulp.apply(functions, name, x), eager(x.double()))
    assert error <= bound, f"{name}({at!r}) is {error} ulp off"


def test_an_error_is_seen(functions):
    """The ruler measures: off by one float, a lost infinity, NaN or sign of zero."""
    x = torch.tensor([1.0, -1e-40, 2.0**127])
    want = torch.exp(x.double())
    right = torch.exp(x.double()).float()
    assert ulp.worst(functions, x, right, want)[0] < 0.51
    off = torch.nextafter(right, torch.tensor(0.0))
    assert 0.5 < ulp.worst(functions, x[:1], off[:1], want[:1])[0] < 1.51
    assert ulp.worst(functions, x[2:], torch.tensor([3.4028234e38]), want[2:])[0] >= 1.0
    assert ulp.worst(functions, x, right * math.nan, want)[0] == INF
    zero = torch.tensor([-0.0])
    assert ulp.worst(functions, zero, -zero, zero.double())[0] == INF


@pytest.mark.parametrize("name", ulp.FUNCTIONS)
def test_scalar_equals_vector(functions, name):
    x = torch.tensor([*SPECIAL, 0.3, 1.7, -2.5, 33.3])
    one = getattr(functions, f"one_{name}")
    one.argtypes, one.restype = [ctypes.c_float], ctypes.c_float
    same(torch.tensor([one(v) for v in x.tolist()]), ulp.apply(functions, name, x))


@pytest.mark.parametrize("n", [0, 1, 3, 7, 8, 15, 16, 31, 33])
def test_a_tail_writes_its_lanes_only(functions, n):
    x = torch.linspace(-3, 3, 64)
    y = torch.full((64,), 7.0)
    functions.run_exp(ulp.address(x), ulp.address(y), ctypes.c_long(n))
    same(y[:n], ulp.apply(functions, "exp", x)[:n])
    assert (y[n:] == 7.0).all()


@pytest.mark.parametrize(("kind", "dtype"), [("bf16", torch.bfloat16), ("f16", torch.float16)])
def test_half_floats(memory, kind, dtype):
    every = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16).view(dtype)
    for x in (every, every[:13], every[5:6]):
        same(through(getattr(memory, f"widen_{kind}"), x, torch.float32), x.float())
    near = torch.cat([every.float(), ulp.floats(0, 1 << 32, 4097), torch.tensor(SPECIAL)])
    near = torch.cat([near, torch.nextafter(near, near * 2), (near[:-1] + near[1:]) / 2])
    near = near[: near.numel() // 16 * 16 + 5]
    same(through(getattr(memory, f"narrow_{kind}"), near, dtype), near.to(dtype))
    rounded = through(getattr(memory, f"round_{kind}_"), near, torch.float32)
    same(rounded, near.to(dtype).float())


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, 33, 1000, 4097, 70001])
def test_reductions(memory, n):
    x = torch.randn(n, generator=torch.Generator().manual_seed(n))
    p, count = ulp.address(x), ctypes.c_long(n)
    assert memory.reduce_Max(p, count) == x.max().item()
    assert memory.reduce_Min(p, count) == x.min().item()
    exact = x.double().sum().item()
    assert abs(memory.reduce_Sum(p, count) - exact) <= 2e-7 * x.abs().double().sum().item()
    for at in {0, n // 2, n - 1}:
        y = x.clone()
        y[at] = math.nan
        for op in ("Sum", "Max", "Min"):
            assert math.isnan(getattr(memory, f"reduce_{op}")(ulp.address(y), count))


def test_nothing_reduces_to_the_identity(memory):
    p = ulp.address(torch.empty(0))
    for op, identity in (("Sum", 0.0), ("Max", -INF), ("Min", INF)):
        assert getattr(memory, f"reduce_{op}")(p, ctypes.c_long(0)) == identity


def test_long_sums_are_pairwise(memory):
    """Adding 2^24 times 0.1 in sequence would be off by 20 percent, in 32 chains by 1e-5."""
    x = torch.full((1 << 24,), 0.1)
    exact = x[0].double().item() * x.numel()
    assert abs(memory.reduce_Sum(ulp.address(x), ctypes.c_long(x.numel())) / exact - 1) < 5e-7


@pytest.mark.parametrize("piece", sorted(path.stem for path in ulp.HELPERS.glob("*.h")))
def test_a_piece_compiles_with_what_it_needs(piece, tmp_path):
    text = ulp.helper_text([piece])
    assert max(map(len, text.splitlines())) <= 100
    source = tmp_path / f"{piece}.cpp"
    source.write_text(text, encoding="utf-8")
    command = [os.environ.get("CXX", "g++"), *ulp.FLAGS, "-fsyntax-only", "-Wextra"]
    ran = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(len(MARCHES) == 1, reason="not an x86-64 machine")
@pytest.mark.parametrize("march", ["x86-64-v3", "skylake-avx512"])
def test_the_functions_build_for_other_machines(march):
    """What this machine cannot run is compiled at least."""
    assert ulp.functions(march).run_exp
