"""Results of library calls lie where PyTorch's own kernel puts them."""

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


def _conv(x):
    return F.conv2d(x, torch.ones(6, 4, 3, 3, dtype=x.dtype))


@pytest.mark.parametrize(
    "function",
    [
        _conv,
        lambda x: F.conv2d(x, torch.ones(6, 4, 1, 1)),
        lambda x: F.conv_transpose2d(x, torch.ones(4, 6, 3, 3)),
        lambda x: F.group_norm(x, 2),
        lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
        lambda x: x.roll(1, 0),
    ],
)
@pytest.mark.parametrize("last", [True, False])
def test_channels_last_goes_on(function, last):
    x = torch.randn(2, 4, 8, 8)
    x = x.to(memory_format=torch.channels_last) if last else x
    given = [Capture("f", Reads(), Config()).lift(x, "x")]
    sizes = {d.name: size for d, size in zip(given[0].kind.dims, x.shape, strict=True)}
    real = function(x)
    (found,) = real_layouts(
        Call("torch.f", function, given, {}, given), [TensorType(F32, tuple(real.shape))], sizes
    )
    assert found.element_strides() == real.stride()


def test_a_trial_draws_no_random_numbers():
    capture = Capture("f", Reads(), Config())
    given = [capture.lift(torch.ones(3, 4).t(), "x")]
    call = Call("torch.rand_like", torch.rand_like, given, {}, given)
    sizes = {d.name: size for d, size in zip(given[0].kind.dims, (4, 3), strict=True)}
    torch.manual_seed(3)
    want = torch.rand(2)
    torch.manual_seed(3)
    assert real_layouts(call, [given[0].kind], sizes) == [given[0].kind]
    assert torch.equal(torch.rand(2), want)


def test_what_the_kernel_refuses_is_left_to_the_call():
    def refused(x):
        raise IndexError

    capture = Capture("f", Reads(), Config())
    given = [capture.lift(torch.ones(3, 4).t(), "x")]
    sizes = {d.name: size for d, size in zip(given[0].kind.dims, (4, 3), strict=True)}
    call = Call("torch.refused", refused, given, {}, given)
    assert real_layouts(call, [given[0].kind], sizes) == [given[0].kind]
