"""Masks and constants that are made of sizes are computed in the kernels that read them."""

import math

import pytest
import torch

import astjit
from tests.cases.test_gathers import compare
from tests.cases.test_gathers_cuda import launched

R = torch.randn


def causal(s):
    n = s.shape[-1]
    mask = torch.ones(n, n, dtype=torch.bool, device=s.device).tril()
    return torch.softmax((s / 4).masked_fill(~mask, float("-inf")), -1)


def causal_added(s):
    n = s.shape[-1]
    return torch.softmax(s / 4 + torch.full((n, n), -math.inf, device=s.device).triu(1), -1)


def causal_by_positions(s):
    i = torch.arange(s.shape[-1], device=s.device)
    return torch.softmax(torch.where(i[:, None] >= i, s / 4, -1e9), -1)


def sliding_window(s):
    i = torch.arange(s.shape[-1], device=s.device)
    far = i[:, None] - i[None, :]
    return torch.softmax(s.masked_fill((far < 0) | (far > 2), -math.inf), -1)


def over_rows(s):
    i = torch.arange(s.shape[0], device=s.device)
    return torch.softmax(s.masked_fill(i[:, None] < i[None, : s.shape[1]], -1e9), 0)


def biased(s):
    i = torch.arange(s.shape[-1], device=s.device)
    return torch.softmax(s - (i[None] - i[:, None]).abs() * 0.5, -1)


def relative(s):
    i = torch.arange(s.shape[-1], device=s.device)
    far = i[None] - i[:, None]
    return torch.softmax(s + far.clamp(-3, 2) * 0.5 - torch.maximum(far, -far) * 0.25, -1)


def identity(x):
    return x * torch.eye(x.shape[0], x.shape[1], device=x.device) + torch.eye(
        x.shape[0], x.shape[1], device=x.device
    )


def triangles(x):
    return x.tril(1) + torch.triu(x, -1) * 2


def constants(x):
    one = torch.ones(x.shape[1], device=x.device, dtype=x.dtype)
    return torch.maximum(x, torch.zeros(1, device=x.device, dtype=x.dtype)) + x.new_ones(1) * one


def extended(x):
    return torch.cat([x, x.new_zeros(x.shape[0], 2)], 1) * 2


def counted(x):
    n = x.shape[0]
    return torch.arange(2, 2 + n, device=x.device) + torch.arange(n, dtype=torch.float32) * x[:, 0]


CASES = {
    causal: (R(2, 3, 37, 37),),
    causal_added: (R(2, 37, 37),),
    causal_by_positions: (R(2, 3, 9, 9),),
    sliding_window: (R(2, 37, 37),),
    over_rows: (R(37, 9),),
    biased: (R(2, 9, 9),),
    identity: (R(5, 7),),
    triangles: (R(2, 5, 7),),
    constants: (R(5, 7),),
    extended: (R(5, 7),),
    counted: (R(5, 7),),
    relative: (R(2, 9, 9),),
}


def every(a, b, c, d, e, f, g, h, i, j, k, m):
    return [
        *(causal(a), causal_added(b), causal_by_positions(c), sliding_window(d), over_rows(e)),
        *(biased(f), identity(g), triangles(h), constants(i), extended(j), counted(k)),
        relative(m),
    ]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_one_kernel_each(dtype):
    inputs = [x.to(dtype) for (x,) in CASES.values()]
    compiled = astjit.compile(every, fullgraph=True)
    for found, function, x in zip(compiled(*inputs), CASES, inputs, strict=True):
        if dtype is torch.float32:
            compare(found, function, (x,))
        torch.testing.assert_close(found, function(x))
    report = astjit.explain(compiled, *inputs)
    assert len(report.kernels) == len(CASES)
    assert not report.library_calls
    assert not report.unfused


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_one_launch(function):
    compare(launched(function, CASES[function]), function, CASES[function])


def test_indices_are_vectors_on_the_cpu():
    compiled = astjit.compile(causal_added, fullgraph=True)
    (kernel,) = astjit.explain(compiled, R(4, 4)).kernels
    assert "lane >= near(" in kernel.source


def made(n):
    made = torch.zeros(n.shape[0], 2)
    made[1] = n[:2]
    made += 1
    return made, torch.arange(3), torch.eye(2), torch.full((2,), 3), torch.ones(2, dtype=torch.bool)


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
def test_what_is_returned_or_written_is_a_tensor(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    compiled = astjit.compile(made, fullgraph=True)
    x = R(4)
    for _ in range(2):
        for got, want in zip(compiled(x), made(x), strict=True):
            assert torch.equal(got, want)
            assert (got.dtype, got.stride()) == (want.dtype, want.stride())
    first, second = compiled(x)[0], compiled(x)[0]
    first.zero_()
    assert torch.equal(second, made(x)[0])


def test_what_eager_refuses():
    for function in (
        lambda x: torch.arange(x.shape[0], 1),
        lambda x: x.tril(),
        lambda x: torch.full((2,), 1e40, dtype=torch.float16) + x[0],
        lambda x: torch.zeros(-1) + x,
        lambda x: torch.eye(-2) + x[0],
    ):
        with pytest.raises((RuntimeError, ValueError)) as wanted:
            function(R(3))
        with pytest.raises(wanted.type) as raised:
            astjit.compile(function)(R(3))
        assert str(raised.value) == str(wanted.value)


def views(x):
    c = torch.full(x.shape, 1.0)
    return c, c.squeeze(0), c.view(-1)[1:]


def two_views(x):
    z = torch.zeros_like(x)
    return z[0], z.t(), z[0, 2]


def view_that_a_kernel_reads(x):
    i = torch.arange(x.shape[1])
    late = i[1:]
    return i, late, late * 2 + i[:-1]


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
@pytest.mark.parametrize("function", [views, two_views, view_that_a_kernel_reads])
def test_views_of_what_is_returned_share_its_memory(monkeypatch, function):
    """They were computed apart, each in a tensor of its own."""
    monkeypatch.setenv("CXX", "/nonexistent")
    x = torch.randn(1, 5)
    results = astjit.compile(function, fullgraph=True)(x)
    for got, want in zip(results, function(x), strict=True):
        assert torch.equal(got, want)
        assert (got.stride(), got.storage_offset()) == (want.stride(), want.storage_offset())
    results[0].fill_(7)
    shared = [bool((r == 7).all()) for r in results]
    assert shared == [True, True, function is not view_that_a_kernel_reads]


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_a_single_position_is_an_element_not_a_number(monkeypatch, dtype):
    """Copies and roundings of `arange` of one size were rows of numbers, which have no type."""
    monkeypatch.setenv("CXX", "/nonexistent")

    def copied(x, y):
        y[0:2] = torch.arange(x.shape[-1])
        return y + torch.arange(x.shape[-1])

    x, y = torch.ones(3, 1), torch.ones(2, dtype=dtype)
    wanted = copied(x, y.clone())
    got = astjit.compile(copied, fullgraph=True)(x, y)
    assert got.dtype == wanted.dtype
    assert torch.equal(got, wanted)
    assert not y.any()
