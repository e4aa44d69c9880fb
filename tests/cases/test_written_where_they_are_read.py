"""Inputs that a kernel of several passes writes where it reads them: no pass meets the new values.

In rows that stay in registers nothing is read again; the sizes here are of rows and columns that
do not, where each pass goes through memory.
"""

import pytest
import torch

import astjit
from tests.emulator.machine import EmulatedDriver, posing


def add_norm(x, residual):
    residual.add_(x)
    return residual * torch.rsqrt(residual.square().mean(-1, keepdim=True) + 1e-6)


def old_and_new(x, y):
    size = x.square().sum(-1, keepdim=True).sqrt()
    tripled = x * 3
    x.mul_(2)
    return tripled / size + x


def columns(x, y):
    x.add_(y)
    return torch.softmax(x, 0), x.mean(0)


def running(x, kept):
    mean = x.mean(0)
    off = x - kept
    kept.mul_(0.9).add_(mean, alpha=0.1)
    return (off - mean).square().mean(0), kept * 2


def in_place(x, y):
    return x.div_(x.norm(dim=-1, keepdim=True))


LONG, TALL = (2, 8200), (1500, 20)
CASES = {
    add_norm: (LONG, LONG),
    old_and_new: (LONG, LONG),
    columns: (TALL, TALL),
    running: (TALL, TALL[1:]),
    in_place: (LONG, LONG),
}


def given(function, dtype):
    torch.manual_seed(0)
    return [torch.randn(shape, dtype=torch.float64).to(dtype) for shape in CASES[function]]


def holds(function, dtype, target):
    mine, theirs = given(function, dtype), given(function, dtype)
    with torch.no_grad():
        got = astjit.compile(function, fullgraph=True, target=target)(*mine)
        want = function(*theirs)
    rounding = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(got, want, rtol=rounding, atol=rounding)
    torch.testing.assert_close(mine, theirs, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_on_the_cpu(function):
    holds(function, torch.float32, "cpu")


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_on_cuda(function):
    with posing(EmulatedDriver()) as driver:
        holds(function, torch.bfloat16 if function is add_norm else torch.float32, "cuda")
    assert driver.launches
    assert all(launched.errors == [] for launched in driver.launches)
