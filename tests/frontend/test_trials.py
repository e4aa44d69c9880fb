"""Results of attention lie where PyTorch's own kernel puts them."""

import pytest
import torch
import torch.nn.functional as F

import astjit
from astjit.config import Config
from astjit.frontend.capture import Capture
from astjit.frontend.metas import Call
from astjit.frontend.reads import Reads
from astjit.frontend.trials import real_layouts
from astjit.types.dtype import F32
from astjit.types.tensor import TensorType


def heads(batch, length, *, turned):
    made = torch.randn(batch, length, 4, 8)
    return made.transpose(1, 2) if turned else made.transpose(1, 2).contiguous()


@pytest.mark.parametrize("turned", [True, False])
def test_the_layout_is_that_of_the_kernel(turned):
    capture, x = Capture("f", Reads(), Config()), heads(2, 7, turned=turned)
    given = [capture.lift(x, "x")]
    name = "scaled_dot_product_attention"
    call = Call(f"torch.nn.functional.{name}", F.scaled_dot_product_attention, given * 3, {}, given)
    kind = given[0].kind
    sizes = {d.name: size for d, size in zip(kind.dims, x.shape, strict=True)}
    (found,) = real_layouts(call, [TensorType(F32, kind.dims)], sizes)
    real = F.scaled_dot_product_attention(x, x, x).stride()
    strides = TensorType(F32, tuple(x.shape), found.order).element_strides()
    assert strides == real


def test_other_functions_are_not_run():
    def never(*args):
        raise AssertionError

    kind = TensorType(F32, (2, 3))
    assert real_layouts(Call("torch.sum", never, (), {}, ()), [kind], {}) == [kind]


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
@pytest.mark.parametrize("turned", [True, False])
def test_what_follows_attention_has_the_strides_of_eager(monkeypatch, turned):
    monkeypatch.setenv("CXX", "/nonexistent")

    def attention(q):
        made = F.scaled_dot_product_attention(q, q, q)
        return made, made + 1, made.transpose(1, 2).reshape(q.shape[0], -1, 32) * 2

    fast = astjit.compile(attention)
    for batch, length in ((2, 7), (3, 5)):
        q = heads(batch, length, turned=turned)
        for one, other in zip(fast(q), attention(q), strict=True):
            torch.testing.assert_close(one, other)
            assert one.stride() == other.stride()
    assert fast.cache_info().programs == 1
