"""Counted loops are captured once: what stays a loop, and what does not."""

import pytest
import torch

from tests.frontend.replay import Captured
from tests.loop_functions import ema, one_before, returns, swapped

X, H = torch.randn(9, 4), torch.randn(4)


def loops(function, *args):
    """The loops of a capture, which gives what eager gives."""
    captured = Captured(function, *args)
    wanted = function(*(a.clone() if isinstance(a, torch.Tensor) else a for a in args))
    torch.testing.assert_close(captured.run(*args), wanted)
    return [n for n in captured.function.body.nodes if n.op.name == "for"]


def test_a_loop_carries_what_it_reads_from_the_iteration_before():
    (loop,) = loops(ema, X, H, 0.5)
    assert [str(v.type) for v in loop.values] == ["f32[h0]"]
    assert str(loop.fields["trip"]) == "x0"
    (loop,) = loops(swapped, H, H + 1)
    assert loop.fields["trip"] == 12
    (loop,) = loops(one_before, X, H)
    assert len(loop.results) == 2


def test_what_is_appended_is_stacked():
    (loop,) = loops(returns, X, 0.5)
    assert str(loop.results[-1].type) == "f32[rewards0, rewards1]"


def test_the_first_iteration_is_apart_where_a_number_becomes_a_tensor():
    def from_a_number(x):
        h = 0.0
        for t in range(x.shape[0]):
            h = h * 0.5 + x[t]
        return h

    (loop,) = loops(from_a_number, X)
    assert str(loop.fields["trip"]) == "x0 - 1"


def test_few_iterations_are_apart():
    def three(h):
        for _ in range(3):
            h = h * 0.5 + 1
        return h

    assert not loops(three, H)


def reads_back(x):
    y = torch.zeros_like(x)
    for t in range(1, x.shape[0]):
        y[t] = 0.5 * y[t - 1] + x[t]
    return y


def appends_to_its_last(x):
    ys = [x[0]]
    for t in range(x.shape[0]):
        ys.append(ys[-1] * 0.5 + x[t])
    return torch.stack(ys)


def through_another_name(x):
    ys = [x[0]]
    zs = {"ys": ys}
    h = x[0] * 0.5
    for t in range(x.shape[0]):
        h = h + len(zs["ys"]) * x[t]
        ys.append(h)
    return torch.stack(ys)


def counts(x):
    n = 0
    for _ in range(x.shape[0]):
        n = n + 1
        x = x * 1.0
    return x * n


def carries_a_view(x):
    h = x[0] * 2
    for t in range(x.shape[0]):
        h = x[t]
    return h * 1.0


def written_under_two_names(x):
    a = x[0] * 1.0
    b = a
    for t in range(x.shape[0]):
        a += x[t]
        x = x * 1.0 + b
    return a


def stores(x):
    held = {"h": x[0]}
    for t in range(x.shape[0]):
        held["h"] = held["h"] * 0.5 + x[t]
    return held["h"]


def closes_over(x):
    h = x[0] * 1.0

    def add(v):
        nonlocal h
        h = h + v

    for t in range(x.shape[0]):
        add(x[t])
    return h


def rotates(x):
    a, b = x[0] * 1.0, x[1] * 1.0
    for _ in range(x.shape[0]):
        a, b = b, a
    return a + 2 * b


def advances(x):
    numbers = iter([1, 2, 3, 4, 5, 6, 7, 8, 9])
    h = x[0] * 1.0
    for t in range(x.shape[0]):
        h = h * next(numbers) + x[t]
    return h


def sums(x):
    h = x[0] * 1.0
    for t in range(x.shape[0]):
        h = h + x[t].sum()
    return h


def list_kept(x):
    h, ys = x[0] * 1.0, []
    for t in range(x.shape[0]):
        h = h + x[t]
        ys.append(h)
    return ys[0] + ys[-1] + len(ys)


def changed_after_it_was_appended(x):
    h, ys = x[0] * 1.0, []
    for t in range(x.shape[0]):
        h = h + x[t]
        ys.append(h)
    h += 1
    return torch.stack(ys)


def hidden_by_except(x):
    h = x[0] * 1.0
    try:
        for t in range(x.shape[0]):
            h = h + [0.5, 0.25][t]
    except IndexError:
        h = h * 3
    return h


REFUSED = [
    *(reads_back, appends_to_its_last, through_another_name, counts, carries_a_view),
    *(written_under_two_names, stores, closes_over, rotates, advances, sums, list_kept),
    *(changed_after_it_was_appended, hidden_by_except),
]


@pytest.mark.parametrize("function", REFUSED)
def test_iterations_are_apart_where_they_are_not_alike(function):
    assert not loops(function, X)


def test_the_range_is_python_s_own():
    def range(n):
        return [3, 1, 2]

    def other(x):
        h = x[0] * 1.0
        for t in range(9):
            h = h * 0.5 + x[t]
        return h

    assert not loops(other, X)
