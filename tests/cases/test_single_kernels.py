"""The functions of benchmarks/workloads.py, end to end: one kernel, one program, eager's answer."""

import itertools
import sys
from pathlib import Path

import pytest
import torch

import astjit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from workloads import WORKLOADS

BATCHES, ROWS = (0, 1, 2, 33), (0, 1, 31, 33, 1000, 4096, 50257)
LARGEST = 400_000


def layout(tensor):
    """Strides; those of axes of size 1 say nothing."""
    return [s for d, s in zip(tensor.shape, tensor.stride(), strict=True) if d != 1]


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_every_size_by_one_program_per_pattern_of_ones(name, dtype):
    torch.manual_seed(0)
    workload = WORKLOADS[name]
    function = astjit.compile(workload.function, fullgraph=True)
    patterns = set()
    for batch, row in itertools.product(BATCHES, ROWS):
        if batch * row > LARGEST:
            continue
        patterns.add((batch == 1, row == 1))
        inputs = workload.inputs(batch, row, dtype)
        got = as_tuple(function(*inputs))
        eager = as_tuple(workload.function(*inputs))
        want = as_tuple(workload.function(*(t.double() for t in inputs)))
        unit = torch.finfo(dtype).eps
        for mine, theirs, exact in zip(got, eager, want, strict=True):
            assert mine.dtype == theirs.dtype
            assert mine.shape == theirs.shape
            assert layout(mine) == layout(theirs)
            finite = theirs.isfinite()
            assert torch.equal(mine.isfinite(), finite)
            if finite.any():
                a, b, c = (t.double()[finite] for t in (mine, theirs, exact))
                assert (a - c).abs().max() <= 1.5 * (b - c).abs().max() + unit * c.abs().max()
        report = astjit.explain(function, *inputs)
        assert len(report.kernels) == 1
        assert not report.unfused
        assert not report.fallbacks
    assert function.cache_info().programs == len(patterns)


@pytest.mark.parametrize("name", WORKLOADS)
def test_one_size(name):
    torch.manual_seed(0)
    workload = WORKLOADS[name]
    inputs = workload.inputs(3, 37, torch.float32)
    function = astjit.compile(workload.function, fullgraph=True)
    for mine, theirs in zip(
        as_tuple(function(*inputs)), as_tuple(workload.function(*inputs)), strict=True
    ):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)
