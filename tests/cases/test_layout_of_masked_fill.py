"""masked_fill gives a dense tensor in order, whatever the layouts of its operands."""

import pytest
import torch

import astjit


def filled(x, mask):
    return x.masked_fill(mask, -1.0)


@pytest.mark.parametrize("turned", ["x", "mask", "both"])
def test_masked_fill_is_contiguous(turned):
    x, mask = torch.randn(4, 6), torch.rand(4, 6) > 0.5
    if turned != "mask":
        x = x.t().contiguous().t()
    if turned != "x":
        mask = mask.t().contiguous().t()
    got, wanted = astjit.compile(filled, fullgraph=True)(x, mask), filled(x, mask)
    assert got.stride() == wanted.stride()
    assert torch.equal(got, wanted)
