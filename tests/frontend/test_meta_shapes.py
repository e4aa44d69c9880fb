"""Broadcasting and empty results for the rules of meta functions."""

import itertools

import pytest
import torch

from astjit.frontend.meta_shapes import Other, Refused, broadcast, empty, need, plain


def test_shapes_broadcast_as_in_pytorch():
    for one, other in itertools.product(itertools.product((0, 1, 2, 3), repeat=2), repeat=2):
        for cut in (0, 1, 2):
            try:
                wanted = tuple(torch.broadcast_shapes(one, other[cut:]))
            except RuntimeError:
                with pytest.raises(Refused):
                    broadcast(one, other[cut:])
                continue
            assert broadcast(one, other[cut:]) == wanted


def test_what_is_plain():
    x = empty((2, 3), torch.int64)
    assert (x.dtype, x.is_meta, plain(x, None), plain(x.t())) == (torch.int64, True, True, False)
    assert empty((2, 3), torch.bool, (1, 2)).stride() == (1, 2)
    need(True)
    with pytest.raises(Other):
        need(False)
