"""Rules for functions of neural networks that have no case of their own in test_meta_rules.py."""

import pytest
import torch

from astjit.frontend.meta_nets import NET_RULES
from astjit.frontend.meta_shapes import Other


def m(*shape):
    return torch.empty(shape, device="meta")


def test_a_long_sequence_costs_what_a_short_one_does():
    weights = [m(24, 4), m(24, 6), m(24), m(24)]
    x, state = m(100_000, 3, 4), (m(1, 3, 6), m(1, 3, 6))
    out, h, c = NET_RULES["torch.lstm"](x, state, weights, True, 1, 0.0, False, False, False)
    assert (out.shape, h.shape, c.shape) == ((100_000, 3, 6), (1, 3, 6), (1, 3, 6))


def test_random_numbers_and_packed_sequences_are_left_to_pytorch():
    weights = [m(24, 4), m(24, 6), m(24), m(24)]
    x, state = m(5, 3, 4), (m(1, 3, 6), m(1, 3, 6))
    with pytest.raises(Other):
        NET_RULES["torch.lstm"](x, state, weights, True, 1, 0.5, True, False, False)
    with pytest.raises(TypeError):
        NET_RULES["torch.lstm"](m(15, 4), m(5), state, weights, True, 1, 0.0, False, False, False)
