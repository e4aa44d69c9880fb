"""A part of a value that a kernel computes is another index: never the element at hand."""

import pytest
import torch

import astjit


def first_row(x, y):
    h = x + y
    return h * h[0]


def first_column(x, y):
    h = x * y
    return h - h[:, 0:1]


def last_of_a_square(x, y):
    h = x + y
    return h * h[-1] + h[:, 1]


def shifted(x, y):
    h = x + y
    return h[1:] * h[:-1]


def diagonal(x, y):
    h = x + y
    return h * h.diagonal()


def turned(x, y):
    h = x * y
    return h + h.t()


@pytest.mark.parametrize(
    "function", [first_row, first_column, last_of_a_square, shifted, diagonal, turned]
)
def test_parts_are_read_where_they_are(function):
    torch.manual_seed(0)
    x, y = torch.randn(7, 7), torch.randn(7, 7)
    assert torch.equal(astjit.compile(function, fullgraph=True)(x, y), function(x, y))
