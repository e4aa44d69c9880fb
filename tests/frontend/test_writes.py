"""Calls that write to a tensor: which operation gives what is written."""

import pytest
import torch
import torch.nn.functional as F

from astjit.frontend.writes import fits
from tests.frontend.replay import Captured


def ops(function, *args):
    """The rows of a capture, and the paths that are copied back."""
    captured = Captured(function, *args)
    names = [n.op.name for n in captured.function.body.nodes]
    return names, [c.path for c in captured.reads.copies]


@pytest.mark.parametrize(
    ("write", "rows"),
    [
        (lambda x, y: x.mul_(y), ["mul"]),
        (lambda x, y: torch.relu_(x), ["relu"]),
        (lambda x, y: F.relu(x, inplace=True), ["relu"]),
        (lambda x, y: torch.add(x, y, out=x), ["add"]),
        (lambda x, y: x.copy_(y), ["expand", "copy"]),
        (lambda x, y: x.zero_(), ["full", "expand", "copy"]),
        (lambda x, y: x.fill_(y[0, 0]), ["select", "select", "expand", "copy"]),
        (lambda x, y: x.masked_fill_(y > 0, 1.0), ["gt", "where", "expand", "copy"]),
        (
            lambda x, y: x.__setitem__(0, y[1]),
            ["select", "select", "expand", "copy", "select_update"],
        ),
        (lambda x, y: x.index_add_(0, y[0].long(), y), ["select", "to", "mutate"]),
        (lambda x, y: x.__setitem__(x > 0, 1.0), ["gt", "mutate"]),
        (lambda x, y: x.cumsum_(0), ["mutate"]),
    ],
)
def test_the_rows_of_a_write(write, rows):
    def function(x, y):
        write(x, y)

    assert ops(function, torch.ones(3, 3), torch.ones(3, 3)) == (rows, ["x"])


def test_copies_back_come_in_the_order_of_the_last_writes():
    def function(x, y, z):
        x.zero_()
        y.zero_()
        x.add_(z)

    _, copied = ops(function, *(torch.ones(3) for _ in range(3)))
    assert copied == ["y", "x"]


@pytest.mark.parametrize(
    ("value", "dtype", "fit"),
    [
        (1, "float32", True),
        (2**60, "float32", False),
        (1e5, "float16", False),
        (float("inf"), "float16", True),
        (300, "uint8", False),
        (7, "uint8", True),
        (1.5, "int64", False),
        (True, "bool", True),
    ],
)
def test_numbers_that_become_elements_without_a_surprise(value, dtype, fit):
    assert fits(value, dtype) is fit
