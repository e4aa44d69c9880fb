"""templates/cpu/helpers: functions of doubles within their published bounds, as vectors too."""

import importlib
import math
import os
import platform
import shutil
import sys
from pathlib import Path

import pytest
import torch

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
try:
    ulp = importlib.import_module("ulp_doubles")
finally:
    sys.path.remove(str(BENCHMARKS))

# What this machine has, and the fallback without FMA instructions.
X86 = platform.machine() == "x86_64"
MARCHES = ("native", "x86-64") if X86 else ("native",)
INF, TINY, NORMAL = math.inf, 2.0**-1074, 2.0**-1022
SPECIAL = [0.0, TINY, NORMAL - TINY, NORMAL, 1e-20, 0.5, 0.625, 1.0, 2.0, 10.0, 17.4, 20.0]
SPECIAL += [709.78, 709.7827128933841, 709.79, 710.0, 745.13, 745.14, 746.0, 1e-8, 5.92, 6.0]
SPECIAL += [1023.5, 1024.0, 1074.0, 1075.0, 1076.0, 1.0 - 2.0**-53, 1e9, 1e300, 2.0**64, INF]
SPECIAL = [math.nan, *SPECIAL, *(-x for x in SPECIAL)]

pytestmark = pytest.mark.skipif(
    shutil.which(os.environ.get("CXX", "g++")) is None, reason="no C++ compiler"
)


@pytest.fixture(scope="module", params=MARCHES)
def functions(request):
    return ulp.functions(request.param)


@pytest.mark.skipif(not X86, reason="the ruler, C's long double, has no more bits than a double")
@pytest.mark.parametrize("name", ulp.FUNCTIONS)
def test_within_bound(functions, name):
    bound = ulp.FUNCTIONS[name][2]
    x = torch.cat([ulp.doubles(1 << 13), torch.tensor(SPECIAL, dtype=torch.float64)])
    error, at = ulp.worst(functions, name, x, ulp.apply(functions, name, x))
    assert error <= bound, f"{name}({at!r}) is {error} ulp off"


@pytest.mark.parametrize("name", ulp.FUNCTIONS)
def test_specials_are_those_of_pytorch(functions, name):
    """NaN, infinities, zeros and their signs: what no error in ulp speaks of."""
    x = torch.tensor(SPECIAL, dtype=torch.float64)
    got, want = ulp.apply(functions, name, x), ulp.FUNCTIONS[name][1](x)
    assert torch.equal(got.isnan(), want.isnan())
    assert torch.equal(got.isinf(), want.isinf())
    rest = (x == 0) | (x.abs() > NORMAL)  # eager's log1p gives 0 for denormals
    assert torch.equal((got == 0)[rest], (want == 0)[rest])
    rest &= want == want
    assert torch.equal(got.signbit()[rest], want.signbit()[rest])


@pytest.mark.skipif(not X86, reason="the ruler, C's long double, has no more bits than a double")
def test_an_error_is_seen(functions):
    """The ruler measures: off by one double, a lost infinity, NaN or sign of zero."""
    x = torch.tensor([1.0, 710.0, -0.0], dtype=torch.float64)
    right = torch.exp(x)
    assert ulp.worst(functions, "exp", x, right)[0] < 0.51
    off = torch.nextafter(right[:1], torch.tensor(0.0, dtype=torch.float64))
    assert 0.5 < ulp.worst(functions, "exp", x[:1], off)[0] < 1.51
    finite = torch.full_like(right, 1.7e308)
    assert ulp.worst(functions, "exp", x[1:2], finite[1:2])[0] == INF
    assert ulp.worst(functions, "exp", x, right * math.nan)[0] == INF
    assert ulp.worst(functions, "expm1", x[2:], -x[2:])[0] == INF


def test_one_at_a_time_is_as_in_a_vector(functions):
    x = torch.tensor([*SPECIAL, 0.3, 1.7, -2.5, 33.3], dtype=torch.float64)
    for name in ulp.FUNCTIONS:
        alone = torch.cat([ulp.apply(functions, name, v.reshape(1)) for v in x])
        whole = ulp.apply(functions, name, x)
        assert torch.equal(alone.nan_to_num(7.0), whole.nan_to_num(7.0)), name
