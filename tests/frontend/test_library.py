"""Torch functions without a row: types from meta tensors of two sets of sizes."""

import pytest
import torch
import torch.nn.functional as F

from astjit.frontend.library import device_text, result_device
from astjit.frontend.stops import Stop
from astjit.ops.library import Slot
from tests.frontend.replay import Captured, same


def x():
    return torch.randn(4, 6)


@pytest.mark.parametrize(
    ("function", "types"),
    [
        (lambda x: torch.cummax(x, 0), ["f32[x0, x1]", "i64[x0, x1]"]),
        (lambda x: torch.kron(x, x), None),
        (lambda x: F.pad(x, (1, 2), "reflect"), ["f32[x0, x1 + 3]"]),
        (lambda x: x.repeat(2, 3), ["f32[2*x0, 3*x1]"]),
        (lambda x: torch.einsum("ij,kj->ik", x, x), ["f32[x0, x0]"]),
        (lambda x: F.avg_pool1d(x[None], 2)[0], None),
        (lambda x: x.topk(2).indices, ["f32[x0, 2]", "i64[x0, 2]"]),
        (lambda x: torch.arange(x.shape[1]), ["i64[x1]"]),
        (lambda x: torch.ones(x.shape[0], 2, dtype=torch.bool), ["bool[x0, 2]"]),
        (lambda x: torch.tensor([1.0, 2.0]), ["f32[2]"]),
        (lambda x: torch.argmax(x, -1), ["i64[x0]"]),
        (lambda x: torch.tril(x), ["f32[x0, x1]"]),
    ],
)
def test_result_types_are_symbolic(function, types):
    argument = x()
    captured = Captured(function, argument)
    calls = [n for n in captured.function.body.nodes if n.op.name == "library"]
    if types is not None:
        results = calls[0].results if calls else captured.function.results  # rows have types too
        assert [str(r.type) for r in results] == types
        other = torch.randn(8, 10)
        assert same(captured.run(other), function(other))
    assert same(captured.run(), function(argument))


def test_the_call_is_kept_by_name_with_slots_for_values():
    captured = Captured(lambda x, k: torch.topk(x, k, dim=x.dim() - 1), x(), 2)
    (node,) = captured.function.body.nodes
    assert node.fields["target"] == "torch.topk"
    assert node.fields["template"] == ((Slot(0), Slot(1)), {"dim": 1})
    assert [str(r.type) for r in node.results] == ["f32[x0, k]", "i64[x0, k]"]
    assert {"k >= 0", "k != 1"} <= set(captured.tests)
    assert "k == 2" not in captured.tests


def test_a_call_that_returns_its_operand_is_that_operand():
    argument = x()
    captured = Captured(lambda x: F.dropout(x, 0.5, training=False), argument)
    assert captured.run() is argument
    assert captured.function.body.nodes == []


def test_sizes_that_follow_no_form_are_pinned_with_a_reason():
    captured = Captured(lambda x: F.fold(x, (3, 2), (2, 1)), torch.randn(2, 4))
    assert str(captured.function.params[0].type) == "f32[x0, 4]"
    assert captured.run(torch.ones(2, 4)).shape == (1, 3, 2)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x.nonzero(), "no shape rule for Tensor.nonzero|depends on data"),
        (lambda x: torch.view_as_real(torch.view_as_complex(x.view(-1, 2))), "dtype|view"),
        (lambda x: torch.numel(x.new_zeros(2)) and x.storage_offset(), "returns a int"),
        (lambda x: F.embedding_bag(x, object()), "a object is given to a torch function"),
        (lambda x: torch.as_tensor(ARRAY), "given to a torch function"),
    ],
)
def test_calls_that_stop(function, reason):
    with pytest.raises(Stop, match=reason):
        Captured(function, x())


ARRAY = memoryview(b"abcd")


def test_operands_that_do_not_fit_raise():
    with pytest.raises(RuntimeError):
        Captured(lambda x: torch.cdist(x, x[:, :2]), x())


def test_the_device_of_results():
    assert result_device([], (), {"device": "cpu"}) == "cpu"
    assert result_device([], (torch.device("cuda:1"),), {}) == "cuda:1"
    assert result_device([], (3,), {}) == "cpu"
    assert device_text("cuda:0") == "cuda:0"
    with pytest.raises(Stop, match="a tensor on device meta"):
        device_text("meta")
