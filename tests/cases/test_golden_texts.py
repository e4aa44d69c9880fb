"""Texts of whole functions, kept for people to read: gathers, element functions, counted loops.

As those of tests/codegen/test_goldens.py, but from the user's function on, on both targets.
"""

import pytest
import torch
import torch.nn.functional as F

import astjit
from tests import rubric
from tests.loop_functions import ema, gae

R = torch.randn


def embedding(index, table, position):
    return F.embedding(index, table) + position


def picked(scores, index):
    return torch.log_softmax(scores, -1).gather(1, index)


def columns_of(x, index):
    return x[:, index] * 2.0


@astjit.elementwise
def bent(x, slope):
    if x > 0.0:
        y = x + 0.5
        y = y * y
    else:
        y = x * slope
    return y


@astjit.elementwise
def newton(a):
    x = 1.0 if a < 1.0 else a
    trips = 0
    while abs(x * x - a) > 1e-4 * a and trips < 20:
        x = 0.5 * (x + a / x)
        trips += 1
    return x


def bent_of(x):
    return bent(x, 0.1) + 1.0


def roots(x):
    return newton(x)


def indices(*shape):
    return torch.zeros(shape, dtype=torch.int64)


CASES = (
    (embedding, lambda: (indices(6), R(9, 64), R(6, 64))),
    (picked, lambda: (R(6, 640), indices(6, 1))),
    (columns_of, lambda: (R(6, 64), indices(16))),
    (bent_of, lambda: (R(6, 64),)),
    (roots, lambda: (R(6, 64),)),
    (ema, lambda: (R(7, 64), R(64), 0.9)),
    (gae, lambda: (R(7, 64), R(8, 64), R(7, 64), 0.99, 0.95)),
)


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_text(function, arguments, golden):
    compiled, given = astjit.compile(function, fullgraph=True), arguments()
    texts = {"cu": compiled.cuda_source(*given, arch="sm_90"), "cpp": compiled.cpp_source(*given)}
    for ending, source in texts.items():
        kernels = rubric.kernel_section(source)
        assert rubric.wide_lines(kernels) == rubric.unused_names(kernels) == []
        assert rubric.source_lines(kernels)
        golden(f"{'cuda' if ending == 'cu' else 'cpu'}/{function.__name__}.{ending}", kernels)
