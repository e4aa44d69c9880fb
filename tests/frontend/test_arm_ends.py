"""What is said of variables that the arms of an `if` leave differently."""

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured

X, FLAG = torch.randn(3, 4), torch.tensor(True)


def the_if(function):
    made = Captured(function, X, FLAG)
    torch.testing.assert_close(made.run(X, FLAG), function(X, FLAG))
    return [n for n in made.function.body.nodes if n.op.name == "if"]


def test_one_tensor_under_two_names_is_one_result():
    def some(x, t):
        if t:
            a = b = x * 2
        else:
            a = b = x + 1
        return a is b, a * b

    (node,) = the_if(some)
    assert [r.name for r in node.results] == ["a"]


def test_what_is_not_read_later_is_no_result():
    def some(x, t):
        u = x
        if t:
            u = x * 2
            y = u + 1
        else:
            y = x
        return y * 2

    (node,) = the_if(some)
    assert [r.name for r in node.results] == ["y"]


def test_an_arm_that_leaves_all_as_it_is():
    def some(x, t):
        if t:
            pass
        return x * 2

    assert the_if(some) == []


def test_memory_that_two_variables_share_in_one_arm_is_refused():
    def some(x, t):
        if t:
            a = x * 2
            b = a
        else:
            a = x * 3
            b = x * 4
        return a * b

    with pytest.raises(Stop):
        Captured(some, X, FLAG)


def test_reductions_are_refused():
    def some(x, t):
        y = x - x.mean() if t else x
        return y * 2

    with pytest.raises(Stop):
        Captured(some, X, FLAG)
