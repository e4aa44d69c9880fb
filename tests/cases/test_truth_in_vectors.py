"""Truth is 0 and -1 in a vector of lanes, 0 and 1 in a scalar: a kernel that mixes them."""

import pytest
import torch

import astjit


def with_a_scalar(x, y, s):
    row = s > 0
    mask = x > 0
    return (
        torch.where(mask ^ row, x, y),
        torch.where(mask == row, x, y),
        torch.where(row, x, 0.5),
        torch.where(torch.where(row, mask, True), x, y),
        torch.where(mask & True, x, y),
    )


def arms_of_rows(x, y, s):
    m, n = x.amax(-1, keepdim=True), y.amin(-1, keepdim=True)
    return torch.where(x > 0, m, n), torch.where(y > x, s, m), torch.where(x > y, n, 0.5)


def ordered(x, y, s):
    row = s > 0
    one, other = x > 0, y > 0
    return (
        torch.where(one < other, x, y),
        torch.where(one <= row, x, y),
        torch.where(row > one, x, y),
        torch.where(one >= other, x, y),
        torch.where(torch.maximum(one, other), x, y),
        torch.where(torch.minimum(one, row), x, y),
        torch.where((one + other) == row, x, y),
        torch.where((one * other) != row, x, y),
    )


@pytest.mark.parametrize("function", [with_a_scalar, arms_of_rows, ordered])
def test_comparisons_of_truth_give_what_eager_gives(function):
    compiled = astjit.compile(function, fullgraph=True)
    x, y, s = torch.randn(6, 37), torch.randn(6, 37), torch.randn(6, 1)
    assert "load(" in compiled.cpp_source(x, y, s)  # it is written in vectors
    for got, wanted in zip(compiled(x, y, s), function(x, y, s), strict=True):
        assert torch.equal(got, wanted)


def extremes(x):
    mask = x > 0
    return mask.amin(-1), mask.amax(-1, keepdim=True), mask.any(-1), mask.all(-1), mask.amax()


def test_the_largest_of_bools_is_whether_any_is_true():
    x = torch.randn(5, 37)
    x[2], x[3] = 1, -1
    compiled = astjit.compile(extremes, fullgraph=True)
    assert "load(" in compiled.cpp_source(x)
    for ours, eager in zip(compiled(x), extremes(x), strict=True):
        assert ours.dtype is torch.bool
        assert torch.equal(ours, eager)


def masks(x, m, row, column):
    return (
        torch.softmax((x * 0.125).masked_fill(~m, float("-inf")), -1),
        (x * m).sum(-1),
        torch.where(m & row | column, x, -x),
        m ^ (x > 0),
        torch.where(m, True, row),
        m.float().mean(0),
        x.masked_fill(column, 2.0) + row,
    )


def test_bools_in_memory_are_read_and_written_by_lanes():
    torch.manual_seed(0)
    compiled = astjit.compile(masks, fullgraph=True)
    for cols in (37, 2, 16):
        x = torch.randn(6, cols)
        m, row, column = torch.rand(6, cols) > 0.3, torch.rand(cols) > 0.5, torch.rand(6, 1) > 0.5
        m[:, 0] = True
        text = compiled.cpp_source(x, m, row, column)
        assert "load(m_row + col, mask)" in text
        assert "reduce_each" not in text
        for got, wanted in zip(compiled(x, m, row, column), masks(x, m, row, column), strict=True):
            assert got.dtype is wanted.dtype
            torch.testing.assert_close(got, wanted)


def beside_others(x, y, z, a, p, d, n):
    """Truth from memory, negated, chosen by, and beside comparisons of every width."""
    return (
        (~x, x & ~y, x | ~y, x ^ y, x == y, x < y, x + y, x * y, torch.where(x, y, z)),
        (torch.where(~x, p, 2), (a > 0) & x, (p == 3) | ~(p == 4), (d > 0) & ~x, ~(n > 0) | y),
        (x.long() + p, torch.where(x, d, 0.0), torch.where(y & ~x, n, p.long()), x.float()),
        (x.to(torch.uint8) * 3, torch.logical_xor(n, x), (x | y).double() * d),
        (x.any(-1), (~x).all(0), (x & ~y).sum(0), (x & ~y).any()),
    )


def test_truth_element_by_element():
    compiled = astjit.compile(beside_others, fullgraph=True)
    for shape in ((1, 1), (3, 1000), (5, 37)):
        generator = torch.Generator().manual_seed(sum(shape))
        x, y, z = (torch.rand(shape, generator=generator) > 0.5 for _ in range(3))
        a, d = (torch.randn(shape, generator=generator) for _ in range(2))
        p, n = (torch.randint(-3, 6, shape, generator=generator) for _ in range(2))
        inputs = (x, y, z, a, p.int(), d.double(), n)
        for given in (inputs, tuple(t.t() for t in inputs)):
            for mine, eager in zip(compiled(*given), beside_others(*given), strict=True):
                for got, want in zip(mine, eager, strict=True):
                    assert got.dtype is want.dtype
                    assert torch.equal(got, want)
    assert "const unsigned char x_v = x" in compiled.cpp_source(*inputs)
