"""Both arms of an `if` on a tensor in one capture."""

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured

X = torch.randn(3, 4)


def names(block):
    return [node.op.name for node in block.nodes]


@pytest.mark.parametrize("flag", [torch.tensor(0.0), torch.tensor([[3]]), torch.tensor(False)])
def test_the_condition_is_one_bool(flag):
    def some(x, t):
        y = x + 1
        if t:
            y = x * 2
        return y * 3

    made = Captured(some, X, flag)
    torch.testing.assert_close(made.run(X, flag), some(X, flag))
    (node,) = [n for n in made.function.body.nodes if n.op.name == "if"]
    assert str(node.values[0].type) == "bool[]"
    assert [names(region) for region in node.regions] == [["mul"], []]


def test_views_and_numbers_stand_in_front():
    def some(x, t, k):
        rest = 1 - k
        y = x[0] * rest if t else x[1] + rest
        return y * rest

    flag = torch.tensor(True)
    made = Captured(some, X, flag, 0.25)
    torch.testing.assert_close(made.run(X, flag, 0.25), some(X, flag, 0.25))
    before, node = names(made.function.body), made.function.body.nodes[-2]
    assert node.op.name == "if"
    assert before.count("select") == 2
    assert [names(region) for region in node.regions] == [["mul"], ["add"]]


def test_a_ternary():
    def some(x, t):
        return (x.relu() if t else x.abs()) + 1

    made = Captured(some, X, torch.tensor(False))
    torch.testing.assert_close(made.run(X, torch.tensor(False)), some(X, torch.tensor(False)))
    assert names(made.function.body) == ["if", "add"]


def test_several_elements_stay_a_question():
    def some(x):
        return x + 1 if x else x

    with pytest.raises(Stop, match="a condition on the values of a tensor"):
        Captured(some, X)
