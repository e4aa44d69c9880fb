"""Chains, and/or and text: what decides is guarded, each operand is evaluated once."""

import torch

from tests.frontend.replay import Captured


class Full:
    def __init__(self, n):
        self.n = n

    def __bool__(self):
        return self.n > 0

    def __repr__(self):
        return f"<{self.n}>"


def test_the_value_that_decided_is_the_result():
    def function(x, v):
        return (v or Full(7)).n, (v and 3), x

    for value in (Full(2), Full(0)):
        n, three, _ = function(None, value)
        captured = Captured(lambda x, v: x * (v or Full(7)).n, torch.ones(1, 2), value)
        assert captured.run(torch.ones(1, 2), value).tolist() == [[float(n)] * 2]
        assert (three == 3) is bool(value)
    captured = Captured(lambda x, v: x * (v or Full(7)).n, torch.ones(1, 2), Full(2))
    assert captured.failing(torch.ones(1, 2), Full(0)) != []


def test_a_chain_stops_at_the_first_that_is_false():
    def function(x):
        log = []

        def noted(v):
            log.append(v)
            return v

        return x, noted(3) < noted(2) < noted(9), noted(1) is noted(1) is not None, log

    captured = Captured(function, torch.ones(2))
    assert list(captured.run()[1:]) == [False, True, [3, 2, 1, 1]]


def test_formatting_with_percent_pins_what_it_shows():
    def function(x, n):
        return x * len("%d %r" % (n, Full(n)))  # noqa: UP031

    captured = Captured(function, torch.ones(1, 2), 3)
    assert captured.failing(torch.ones(1, 2), 3) == []
    assert captured.failing(torch.ones(1, 2), 4) != []
