"""Unpackings: the parts of outside containers are guarded, at each level."""

import pytest
import torch

from tests.frontend.replay import Captured

PAIRS = [[1.0, [2, "a"]], [3.0, [4, "b"]]]


def loop(x):
    for a, (b, name) in PAIRS:
        x = x * a + b if name != "c" else -x
    return x


def comprehension(x):
    return x * sum(a * b for a, (b, _) in PAIRS)


def assignment(x):
    (a, *_), (_, (b, name)) = PAIRS
    return x * a + b if name == "b" else -x


@pytest.mark.parametrize("function", [loop, comprehension, assignment])
def test_what_changes_deep_inside_is_followed(function, monkeypatch):
    argument = torch.ones(1, 2)
    captured = Captured(function, argument)
    changed = [[7.0, [2, "a"]], [3.0, [9, "b"]]]
    monkeypatch.setitem(globals(), "PAIRS", changed)
    assert torch.equal(captured.run(argument), function(argument))
    if function is not comprehension:
        changed[1][1][1] = "c"
        assert captured.failing(argument) != []


def test_a_wrong_count_is_pythons_own_error():
    def function(x, v):
        a, (b, c) = v
        return x * a * b * c

    with pytest.raises(ValueError, match="not enough values to unpack"):
        Captured(function, torch.ones(2), [1])
