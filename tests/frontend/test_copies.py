"""copy.copy and copy.deepcopy: what is copied is read by path."""

import copy

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured


def test_a_deep_copy_is_apart_and_shares_what_was_shared():
    def function(x, v):
        made = copy.deepcopy({"a": v, "b": v})
        made["a"].append(5.0)
        return x * made["b"][-1] * len(v), made["a"] is made["b"]

    captured = Captured(function, torch.ones(1, 1), [2.0])
    made, same = captured.run(torch.ones(1, 1), [2.0])
    assert (made.item(), same) == (5.0, True)


def test_the_attributes_of_a_copied_object_are_followed():
    class Plain:
        pass

    thing = Plain()
    thing.by = 2.0
    captured = Captured(lambda x, t: x * copy.copy(t).by, torch.ones(1, 1), thing)
    thing.by = 3.0
    assert captured.run(torch.ones(1, 1), thing).item() == 3.0
    thing.more = 1
    assert captured.failing(torch.ones(1, 1), thing) == ["[*vars(t)] == ['by']"]


def test_a_tensor_is_not_copied():
    with pytest.raises(Stop, match=r"copy\.deepcopy of a tensor"):
        Captured(lambda x: copy.deepcopy([x]), torch.ones(2))
