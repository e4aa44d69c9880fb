"""Reads at computed indices on CUDA, executed by the emulator; an index out of range traps."""

import pytest
import torch

import astjit
from tests.cases.test_gathers import (
    CASES,
    cast,
    compare,
    embeddings,
    indexed,
    indexed_between,
    nll,
    normed_rope,
    padded_twice,
    rope,
    rope_interleaved,
    selected,
    stencil,
    swiglu_of_a_sum,
    three,
)
from tests.emulator.machine import EmulatedDriver, posing

R = torch.randn
OTHER = {
    rope: (R(2, 3, 5, 62).to(torch.bfloat16), R(5, 62), R(5, 62)),
    embeddings: (
        torch.randint(0, 11, (2, 7)),
        torch.randint(0, 2, (2, 7)),
        R(11, 37),
        R(16, 37),
        R(2, 37),
        R(37),
        R(37),
    ),
    selected: (R(6, 3, 4).transpose(0, 1), torch.tensor([5, 0]), R(4)),
    three: (R(3, 0), R(3, 2), R(3, 3)),
}
WHOLE = (
    rope,
    rope_interleaved,
    normed_rope,
    swiglu_of_a_sum,
    stencil,
    embeddings,
    indexed,
    indexed_between,
    nll,
    padded_twice,
    selected,
    three,
)


def launched(function, inputs):
    """The result, after one launch without an error."""
    with posing(EmulatedDriver()) as driver:
        got = astjit.compile(function, fullgraph=True, target="cuda")(*inputs)
    (launch,) = driver.launches
    assert launch.errors == []
    assert not any(launch.unwritten.values())
    return got


@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_one_launch(function):
    compare(launched(function, CASES[function]), function, CASES[function])


@pytest.mark.parametrize("function", OTHER, ids=lambda f: f.__name__)
def test_other_sizes_and_layouts(function):
    compare(launched(function, OTHER[function]), function, OTHER[function])


def test_half_precision_tables():
    inputs = cast(CASES[embeddings], torch.bfloat16)
    compare(launched(embeddings, inputs), embeddings, inputs)


@pytest.mark.parametrize("index", [3, -4])
def test_out_of_range_traps(index):
    inputs = (R(2, 3, 4), torch.tensor([0, index]), R(4))
    with posing(EmulatedDriver()) as driver:
        astjit.compile(indexed, fullgraph=True, target="cuda")(*inputs)
    (launch,) = driver.launches
    assert launch.errors
    assert all("a thread trapped" in error for error in launch.errors)


def test_threads_of_no_row_read_nothing():
    def f(x, order):
        at = torch.arange(x.shape[0], device=x.device)
        return torch.softmax(x[x.shape[0] - 1 - at] * order[at, None], -1)

    inputs = (R(5, 6), R(5))
    compare(launched(f, inputs), f, inputs)
