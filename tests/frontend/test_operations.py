"""Torch calls on symbolic tensors."""

import pytest
import torch
import torch.nn.functional as F

import astjit
from astjit.errors import AstjitWarning
from astjit.frontend.stops import NeedsGrad, Stop
from tests.frontend.replay import Captured, same


def x():
    return torch.randn(3, 4)


def names(function, *args):
    return [node.op.name for node in Captured(function, *args).function.body.nodes]


@pytest.mark.parametrize(
    ("function", "rows"),
    [
        (lambda x: x + 1, ["add"]),
        (lambda x: 1 - x, ["sub"]),
        (lambda x: x**2, ["mul"]),
        (lambda x: -x, ["neg"]),
        (lambda x: x > 0, ["gt"]),
        (lambda x: x @ x.t(), ["permute", "matmul"]),
        (lambda x: F.softmax(x, dim=-1), ["softmax"]),
        (lambda x: x[1], ["select"]),
        (lambda x: x[:, 1:], ["slice"]),
        (lambda x: x.T, ["permute"]),
        (lambda x: x.mT, ["permute"]),
        (lambda x: F.gelu(x), ["gelu"]),
        (lambda x: torch.sort(x), ["library"]),
        (lambda x: x.to(torch.float64), ["to"]),
        (lambda x: x / x.shape[0], ["size", "div"]),
        (lambda x: x.contiguous().float(), []),
        (lambda x: x.to("cpu").cpu().to(torch.device("cpu")), []),
    ],
)
def test_calls_become_rows(function, rows):
    assert names(function, x()) == rows


def test_properties_and_questions():
    def function(x):
        assert x.shape == x.size()
        assert x.dim() == x.ndim == x.ndimension() == 2
        assert (x.size(-1), x.stride(0), x.stride()) == (4, 4, (4, 1))
        assert (x.numel(), x.nelement(), x.nbytes) == (12, 12, 48)
        assert x.dtype is torch.float32
        assert x.device == torch.device("cpu")
        assert x.is_cpu
        assert not x.is_cuda
        assert x.is_contiguous()
        assert not x.t().is_contiguous()
        assert x.is_floating_point()
        assert not x.is_complex()
        assert (x.element_size(), x.itemsize, x.get_device()) == (4, 4, -1)
        assert x.layout is torch.strided
        assert not x.requires_grad
        assert x.is_leaf
        assert x.grad_fn is None
        return x.real * len(x)

    argument = x()
    assert same(Captured(function, argument).run(), function(argument))


def test_sizes_that_were_compared_are_assumed():
    captured = Captured(lambda x, y: x + y if x.shape == y.shape else x, x(), x())
    assert str(captured.function.params[1].type) == "f32[x0, x1]"
    free = Captured(lambda x, y: (x, y * 2), x(), x())
    assert str(free.function.params[1].type) == "f32[y0, y1]"


def test_a_question_about_gradients_is_guarded():
    weight = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        captured = Captured(lambda x: x * 2 if x.requires_grad else x * 3, weight)
        assert captured.failing(weight) == []
        assert captured.failing(torch.ones(3)) == ["x.requires_grad is True"]


def test_scalars_are_operands_and_attributes_are_pinned():
    def function(x, scale, dim, n):
        return (x * scale).sum(dim), x.clamp(min=scale), x.view(n, -1)

    argument = x()
    captured = Captured(function, argument, 0.5, 1, 6)
    assert same(captured.run(), function(argument, 0.5, 1, 6))
    assert {"dim == 1", "n >= 0", "n != 1"} <= set(captured.tests)
    assert "scale == 0.5" not in captured.tests
    assert captured.failing(x(), 0.75, 1, 6) == []
    assert captured.failing(x(), 0.75, 0, 6) == ["dim == 1"]


def test_calls_that_neither_draw_nor_update_are_captured():
    def function(x):
        normal = F.batch_norm(x, x[0], x[0].abs(), training=False)
        return (
            F.scaled_dot_product_attention(x, x, x)
            + normal
            + F.batch_norm(x, None, None, training=True)
        )

    argument = x()
    assert same(Captured(function, argument).run(), function(argument))


def test_results_of_the_right_structure():
    def function(x):
        first, second = x.chunk(2, dim=-1)
        mean, (rows, cols) = x.mean(), x.split([1, 2])
        return first, second, mean, rows, cols, torch.var_mean(x, -1), x.unbind(1)[0]

    argument = x()
    assert same(Captured(function, argument).run(), function(argument))


def test_gradients_switched_on_are_told_when_an_input_wants_one():
    def function(x):
        with torch.set_grad_enabled(True):
            return x * 2

    with torch.no_grad():
        argument = x()
        assert same(Captured(function, argument).run(), function(argument))
        with pytest.raises(NeedsGrad, match="x"):
            Captured(function, torch.ones(3, requires_grad=True))
    assert torch.is_grad_enabled()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x.grad, "the tensor attribute .grad"),
        (lambda x: x.to("meta"), "a tensor on device meta"),
        (lambda x: x.cuda(), "cuda"),
        (lambda x: x.t_(), r"t_\(\) changes what a tensor is"),
        (lambda x: x.normal_(), r"normal_\(\) draws random numbers"),
        (lambda x: x[0].add_(x[:, 0]), "overlaps what is written"),
        (lambda x: x.item(), r"item\(\) reads"),
        (lambda x: torch.equal(x, x), r"equal\(\) reads"),
        (lambda x: torch.bernoulli(x), r"bernoulli\(\) draws random numbers"),
        (lambda x: F.dropout(x), r"dropout\(\) draws random numbers"),
        (lambda x: x.is_contiguous(memory_format=torch.channels_last), "another memory format"),
        (lambda x: x.backward(), "backward"),
        (lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5), "draws random"),
        (lambda x: F.scaled_dot_product_attention(x, x, x, None, 0.5), "draws random"),
        (lambda x: F.batch_norm(x, x[0], x[0], training=True), "overlaps what is written"),
        (lambda x: x[:1].expand(2, -1).add_(1), "expanded"),
        (lambda x: torch.set_grad_enabled(False), "gradients are switched for good"),
    ],
)
def test_calls_that_stop(function, reason):
    argument = x()
    kept = argument.clone()
    with pytest.raises(Stop, match=reason):
        Captured(function, argument)
    assert torch.equal(argument, kept)


def test_the_stride_of_an_axis_of_size_1_is_not_told():
    def steps(x):
        return x * 2, x.stride(0)

    def all_steps(x):
        return x * 2, x.stride()

    wide = torch.empty_strided((1, 4), (77, 1)).fill_(1.0)
    for function in (steps, all_steps):
        with pytest.warns(AstjitWarning, match="the stride of an axis of size 1"):
            assert astjit.compile(function)(wide)[1] == function(wide)[1]
    fast = astjit.compile(lambda x: (x * 2, x.stride(1)), fullgraph=True)
    assert fast(wide)[1] == 1
