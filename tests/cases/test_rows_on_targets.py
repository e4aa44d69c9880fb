"""Rows against eager, on the CPU and in the emulator: every dtype, special values, one unit."""

import pytest
import torch
import torch.nn.functional as F

import astjit
from tests.ops.targets import Case, on_cpu, on_cuda

SINGLE, DOUBLE, HALF, BRAIN = torch.float32, torch.float64, torch.float16, torch.bfloat16
FLOATS = (SINGLE, DOUBLE, HALF, BRAIN)
WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, float("inf"), float("-inf"), float("nan"), 3.0, 7.25]


def drawn(dtype, seed):
    """64 values; the first 12 are edges, in another order for each seed."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(64, generator=generator, dtype=DOUBLE) * 3
    if dtype.is_floating_point:
        x[:12] = torch.tensor(EDGES, dtype=DOUBLE).roll(seed * 5)
        return x.to(dtype)
    if dtype is torch.bool:
        return x > 0
    x = x.abs() if dtype is torch.uint8 else x
    return x.round().to(dtype)


def run(cases, target):
    """Every (name, function, dtypes of its operands, ulp) against eager."""
    made = []
    for number, (name, function, dtypes, _) in enumerate(cases):
        inputs = [drawn(dtype, seed) for seed, dtype in enumerate(dtypes)]
        made.append(Case(f"{name}_{number}", in_python(function), inputs))
    results = zip(made, target(made), cases, strict=True)
    wrong = [case.wrong(found, given[-1]) for case, found, given in results]
    assert not any(wrong), [w for w in wrong if w]


def in_python(function):
    return lambda *inputs: function(*inputs)


targets = pytest.mark.parametrize("target", [on_cpu, on_cuda], ids=["cpu", "cuda"])

SCALED = [
    ("add", lambda x, y: (torch.add(x, y, alpha=0.3), x.sub(y, alpha=0.3))),
    ("number", lambda x, y: (torch.rsub(x, y, alpha=3), torch.rsub(x, 2, alpha=3))),
    ("lerp", lambda x, y: (torch.lerp(x, y, 0.3), x.lerp(y, 0.7), torch.lerp(x, y, x))),
    ("terms", lambda x, y: (x.addcmul(y, y, value=0.3), torch.addcdiv(x, y, x, value=0.3))),
]


@targets
def test_scaled_terms(target):
    cases = [(n, f, (d, d), 0) for n, f in SCALED for d in FLOATS]
    cases += [("mixed", SCALED[0][1], pair, 0) for pair in ((SINGLE, HALF), (BRAIN, HALF))]
    whole = [
        lambda x, y: torch.add(x, y, alpha=3),
        lambda x, y: x.sub(y, alpha=-2),
        lambda x, y: x.addcmul(y, x, value=2),
        lambda x, y: torch.rsub(x, 7, alpha=2),
    ]
    cases += [("whole", f, (d, d), 0) for f in whole for d in WHOLE]
    cases += [("wider", whole[0], (torch.int64, torch.int8), 0)]
    run(cases, target)


UNARY = {
    "tan": (torch.tan, 4),
    "asin": (torch.asin, 4),
    "acos": (torch.arccos, 4),
    "atan": (torch.atan, 4),
    "sinh": (torch.sinh, 4),
    "cosh": (torch.cosh, 4),
    "asinh": (torch.asinh, 4),
    "acosh": (torch.acosh, 4),
    "atanh": (torch.atanh, 4),
    "erfc": (torch.erfc, 8),
    "sinc": (torch.sinc, 8),
    "frac": (torch.frac, 0),
    "signbit": (torch.signbit, 0),
    "isposinf": (torch.isposinf, 0),
    "isneginf": (torch.isneginf, 0),
    "nan_to_num": (lambda x: (x.nan_to_num(), torch.nan_to_num(x, 1.0, 2.0, -2.0)), 0),
    "deg2rad": (torch.deg2rad, 0),
    "rad2deg": (torch.rad2deg, 0),
    "round": (lambda x: (torch.round(x, decimals=2), torch.round(x, decimals=-1)), 0),
    "sgn": (torch.sgn, 0),
    "fix": (torch.fix, 0),
    "elu": (lambda x: (F.elu(x), F.elu(x, 0.7)), 4),
    "selu": (F.selu, 4),
    "celu": (lambda x: (F.celu(x), F.celu(x, 0.7)), 4),
    "hardsigmoid": (F.hardsigmoid, 0),
    "hardswish": (F.hardswish, 0),
    "hardshrink": (lambda x: (F.hardshrink(x), F.hardshrink(x, 1.5)), 0),
    "softshrink": (lambda x: (F.softshrink(x), F.softshrink(x, 1.5)), 0),
    "threshold": (lambda x: F.threshold(x, 0.5, 20.0), 0),
    "softsign": (F.softsign, 0),
    "prelu": (lambda x: (F.prelu(x, x[:1].abs()), F.prelu(x[:16].reshape(4, 4), x[:4])), 0),
    "rrelu": (F.rrelu, 0),
}
BINARY = {
    "atan2": (torch.atan2, 4),
    "copysign": (torch.copysign, 0),
    "fmax": (torch.fmax, 0),
    "fmin": (torch.fmin, 0),
    "heaviside": (torch.heaviside, 0),
    "logaddexp": (torch.logaddexp, 4),
    "logaddexp2": (torch.logaddexp2, 16),
    "xlogy": (torch.xlogy, 4),
    "xlog1py": (torch.special.xlog1py, 4),
    "isclose": (lambda x, y: (x.isclose(y), torch.isclose(x, x + 1e-6, equal_nan=True)), 0),
    "hypot": (torch.hypot, 2),
}
INTEGERS = {
    "shifts": lambda x, y: (x << y, x >> y, x << 2, x >> 40, x >> -1),
    "quotients": lambda x, y: (x // 3, x % 3, torch.fmod(x, 3), x.div(3, rounding_mode="trunc")),
    "powers": lambda x, y: (x**3, x**5),
    "signs": lambda x, y: (x.signbit(), x.clamp(-3, 3), x.clamp_min(1), torch.heaviside(x, y)),
    "extremes": lambda x, y: (torch.fmax(x, y), torch.fmin(x, y), x.copysign(y)),
}


@targets
def test_functions_of_one_float(target):
    run([(n, f, (d,), ulp) for n, (f, ulp) in UNARY.items() for d in FLOATS], target)


@targets
def test_functions_of_two_floats(target):
    run([(n, f, (d, d), ulp) for n, (f, ulp) in BINARY.items() for d in FLOATS], target)


@targets
def test_integers(target):
    run([(n, f, (d, d), 0) for n, f in INTEGERS.items() for d in WHOLE], target)


def halved(x):
    return F.glu(x), F.glu(x, 0) * 2


@pytest.mark.parametrize("dtype", [SINGLE, BRAIN], ids=str)
def test_halves_of_a_tensor_in_one_kernel(dtype):
    x = torch.randn(6, 34).to(dtype)
    compiled = astjit.compile(halved, fullgraph=True)
    for mine, theirs in zip(compiled(x), halved(x), strict=True):
        torch.testing.assert_close(mine, theirs)
    report = astjit.explain(compiled, x)
    assert len(report.kernels) == 2
    assert not report.library_calls
