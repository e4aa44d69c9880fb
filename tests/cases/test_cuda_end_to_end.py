"""Whole functions for CUDA without a GPU: captured, rendered, built by NVRTC, launched, executed.

The driver behind the launcher is the emulator (tests/emulator/machine.py), so that what arrives at
a launch (arguments and their types, grid, block, shared memory) shows in the values.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F

import astjit
from tests.emulator.machine import STREAM, EmulatedDriver, posing


def bias_gelu(x, bias, residual):
    return F.gelu(x + bias, approximate="tanh") + residual


def scaled(x, scale, shift: float, n: int):
    return (x * scale + shift) * n, x > shift


def softmax(x):
    return torch.softmax(x, -1)


def layer_norm(x, w, b):
    return F.layer_norm(x, (x.shape[-1],), w, b)


def add_norm(x, residual, w, eps: float):
    residual.add_(x)
    return residual * torch.rsqrt(residual.square().mean(-1, keepdim=True) + eps) * w


def update(w, g, m, rate: float):
    m.mul_(0.9).add_(g)
    w.sub_(m * rate)
    return w


def slice_write(x, y):
    x[:, 1:3] = y.exp()
    return x.sum(-1)


def mlp(x, up, down, w, b):
    h = F.gelu(x @ up.t()) @ down.t()
    return F.layer_norm(h + x, (x.shape[-1],), w, b)


def attention(q, k, v, mask):
    scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    return torch.softmax(scores.masked_fill(mask, float("-inf")), -1) @ v


def integers(a, b):
    return (a & b) ^ 3, a // 7, torch.where(a > b, a, b)


def spread(x):
    var, mean = torch.var_mean(x, -1, keepdim=True)
    return (x - mean) / torch.sqrt(var + 1e-5), x.amax(-1), x.argsort(-1)


def gated(x):
    gate, up = x.chunk(2, -1)
    return F.silu(gate) * up


def uniform(a, b):
    return a * 2 + b


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(40)
        self.linear = torch.nn.Linear(40, 40)

    def forward(self, x):
        return x + torch.tanh(self.linear(self.norm(x)))


@dataclass(frozen=True)
class Case:
    """A function, the arguments of its calls, and how many launches they make together."""

    function: Callable[..., object]
    calls: Callable[[], list[tuple]]
    launches: int
    partly: bool = False  # kernels that write a part of a tensor


def normal(*shape, dtype=torch.float32):
    return torch.randn(shape, dtype=torch.float64).to(dtype)


def bf16(*shape):
    return normal(*shape, dtype=torch.bfloat16)


def whole(*shape):
    return torch.randint(-50, 50, shape)


CASES = {
    "bias_gelu": Case(
        bias_gelu,
        lambda: [
            (normal(33, 100), normal(100), normal(33, 100)),
            (normal(5, 4096), normal(4096), normal(5, 4096)),
            (normal(33, 101)[:, 1:], normal(101)[1:], normal(33, 100)),  # from 4 bytes on
            (normal(0, 8), normal(8), normal(0, 8)),
        ],
        3,
    ),
    "scaled": Case(
        scaled,
        lambda: [
            (normal(1000), normal(), 0.3, 3),
            (normal(7, dtype=torch.float64), normal(dtype=torch.float64), -1.7, 2**20),
            (normal(3, 5, dtype=torch.float16), normal(dtype=torch.float16), 0.5, -1),
        ],
        3,
    ),
    "softmax": Case(
        softmax, lambda: [(normal(3, 1000),), (normal(2, 9001),), (normal(5, 33).t(),)], 3
    ),
    "layer_norm": Case(
        layer_norm,
        lambda: [(bf16(4, 512), bf16(512), bf16(512)), (bf16(2, 16384), bf16(16384), bf16(16384))],
        2,
    ),
    "add_norm": Case(
        add_norm,
        lambda: [(normal(6, 200), normal(6, 200), normal(200), 1e-6)] * 2,
        2,
    ),
    "update": Case(update, lambda: [(normal(999), normal(999), normal(999), 0.01)], 1),
    "slice_write": Case(slice_write, lambda: [(normal(9, 7), normal(9, 2))], 2, partly=True),
    "mlp": Case(
        mlp, lambda: [(normal(10, 32), normal(64, 32), normal(32, 64), normal(32), normal(32))], 2
    ),
    "attention": Case(
        attention,
        lambda: [(*(normal(2, 3, 12, 16) for _ in range(3)), torch.ones(12, 12).triu(1) > 0)],
        1,
    ),
    "integers": Case(integers, lambda: [(whole(100), whole(100)), (whole(3, 1), whole(5))], 4),
    "spread": Case(spread, lambda: [(normal(4, 300),), (normal(4, 3, dtype=torch.float64),)], 2),
    "gated": Case(gated, lambda: [(normal(4, 64),), (normal(3, 62),)], 2),
    "uniform": Case(uniform, lambda: [(normal(), normal()), (normal(3, 4), normal(4, 3).t())], 2),
    "block": Case(Block(), lambda: [(normal(6, 40),)], 2),
}


def clones(arguments):
    """The arguments again, with the same strides and places in memory."""
    made = []
    for value in arguments:
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage().clone()
            offset, shape, stride = value.storage_offset(), value.shape, value.stride()
            value = torch.empty(0, dtype=value.dtype).set_(storage, offset, shape, stride)
        made.append(value)
    return tuple(made)


def run_all(driver):
    """Each case's calls as (arguments, results), and its launches, by name."""
    calls, launches = {}, {}
    with torch.no_grad(), posing(driver):
        for name, case in CASES.items():
            torch.manual_seed(0)
            compiled = astjit.compile(case.function, target="cuda", fullgraph=True)
            given = [clones(arguments) for arguments in case.calls()]
            before = len(driver.launches)
            calls[name] = [(arguments, compiled(*arguments)) for arguments in given]
            launches[name] = driver.launches[before:]
    return calls, launches


@pytest.fixture(scope="module")
def executed():
    """All calls and launches; their texts are seen first, to compile them in one start of g++."""
    notes = EmulatedDriver(executes=False)
    run_all(notes)
    notes.compile_all()
    return run_all(EmulatedDriver())


def tensors(*values):
    found = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, tuple):
            found += tensors(*value)
    return found


@pytest.mark.parametrize("name", CASES)
def test_values_strides_and_writes_are_eagers(executed, name):
    case = CASES[name]
    torch.manual_seed(0)
    with torch.no_grad():
        wanted = [clones(arguments) for arguments in case.calls()]
        outcomes = [(arguments, case.function(*arguments)) for arguments in wanted]
    for mine, theirs in zip(executed[0][name], outcomes, strict=True):
        for got, want in zip(tensors(*mine), tensors(*theirs), strict=True):
            allowed = {} if want.is_floating_point() else {"rtol": 0, "atol": 0}
            torch.testing.assert_close(got, want, check_stride=want.numel() > 0, **allowed)


@pytest.mark.parametrize("name", CASES)
def test_launches_are_clean(executed, name):
    case, launches = CASES[name], executed[1][name]
    assert len(launches) == case.launches, [launched.name for launched in launches]
    for launched in launches:
        assert launched.errors == []
        assert launched.stream == STREAM
        assert case.partly or not any(launched.unwritten.values()), launched
