"""Rows against eager, on the CPU and in the emulator: every dtype, special values, one unit."""

import pytest
import torch

from tests.ops.targets import Case, check, on_cpu, on_cuda

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


def run(cases, target, ulp):
    """Every (name, function, dtypes of its operands) against eager."""
    made = []
    for number, (name, function, dtypes) in enumerate(cases):
        inputs = [drawn(dtype, seed) for seed, dtype in enumerate(dtypes)]
        made.append(Case(f"{name}_{number}", function, inputs))
    for case, found in zip(made, target(made), strict=True):
        check(case, found, ulp)


targets = pytest.mark.parametrize("target", [on_cpu, on_cuda], ids=["cpu", "cuda"])

SCALED = [
    ("add", lambda x, y: (torch.add(x, y, alpha=0.3), x.sub(y, alpha=0.3))),
    ("number", lambda x, y: (torch.rsub(x, y, alpha=3), torch.rsub(x, 2, alpha=3))),
    ("lerp", lambda x, y: (torch.lerp(x, y, 0.3), x.lerp(y, 0.7), torch.lerp(x, y, x))),
    ("terms", lambda x, y: (x.addcmul(y, y, value=0.3), torch.addcdiv(x, y, x, value=0.3))),
]


@targets
def test_scaled_terms(target):
    cases = [(n, f, (d, d)) for n, f in SCALED for d in FLOATS]
    cases += [("mixed", SCALED[0][1], pair) for pair in ((SINGLE, HALF), (BRAIN, HALF))]
    whole = [
        lambda x, y: torch.add(x, y, alpha=3),
        lambda x, y: x.sub(y, alpha=-2),
        lambda x, y: x.addcmul(y, x, value=2),
        lambda x, y: torch.rsub(x, 7, alpha=2),
    ]
    cases += [("whole", f, (d, d)) for f in whole for d in WHOLE]
    cases += [("wider", whole[0], (torch.int64, torch.int8))]
    run(cases, target, 0)
