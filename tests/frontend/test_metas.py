"""What meta tensors say of a torch function: new results, views, writes."""

import pytest
import torch

from astjit.config import Config
from astjit.frontend.capture import Capture
from astjit.frontend.metas import Call, Unfit, accepts, hidden_writes, infer, symbols_of
from astjit.frontend.reads import Reads
from astjit.frontend.stops import Stop
from astjit.types.shape import hint


def facts(func, *tensors, **kwargs):
    """What a call does with inputs of a capture that stand for these tensors."""
    capture = Capture("f", Reads(), Config())
    given = [capture.lift(t, f"x{at}") for at, t in enumerate(tensors)]
    call = Call(f"torch.{func.__name__}", func, given, kwargs, given)
    return infer(call, {s.name: hint(s) for s in symbols_of(given)})


def test_a_new_result():
    found = facts(torch.cumsum, torch.ones(3, 4), dim=0)
    assert [(path, tuple(t.shape)) for path, t in found.new] == [((), (3, 4))]
    assert (found.written, dict(found.views), found.flat) == ((), {}, True)


def test_views_lie_in_the_memory_of_an_operand():
    found = facts(torch.chunk, torch.ones(3, 4), chunks=2, dim=1)
    assert [path for path, _ in found.new] == [(0,), (1,)]
    assert sorted(found.views.values()) == [0, 0]


def test_an_operand_whose_version_rises_is_written():
    found = facts(torch.Tensor.add_, torch.ones(3), torch.ones(3))
    assert (found.written, found.new, list(found.same.values())) == ((0,), (), [0])


def test_running_statistics_are_written_though_no_version_rises():
    x, mean, var = torch.ones(4, 3), torch.zeros(3), torch.ones(3)
    assert hidden_writes("torch.nn.functional.batch_norm", (x, mean, var, None, None, True), {})
    given = {"training": True}
    assert hidden_writes("torch.batch_norm", (x, 1, 1, mean, var), given) == [mean, var]
    assert hidden_writes("torch.nn.functional.batch_norm", (x, mean, var), {}) == []
    assert hidden_writes("torch.nn.functional.instance_norm", (x, mean, var), {}) == [mean, var]


def test_sizes_that_do_not_fit():
    with pytest.raises(Unfit, match="reduction dim"):
        facts(torch.matmul, torch.ones(2, 3), torch.ones(2, 3))


@pytest.mark.parametrize(
    ("func", "dtype", "taken"),
    [
        (torch.sign, torch.bool, True),
        (torch.logsumexp, torch.int64, True),
        (torch.neg, torch.bool, False),
        (torch.bitwise_not, torch.float32, False),
    ],
)
def test_dtypes_are_tried_on_real_tensors(func, dtype, taken):
    capture = Capture("f", Reads(), Config())
    x = capture.lift(torch.ones(3, 4).to(dtype), "x")
    args = (x, -1) if func is torch.logsumexp else (x,)
    assert accepts(func, args, {}) is taken


def test_results_that_depend_on_data():
    with pytest.raises(Stop, match="nonzero"):
        facts(torch.nonzero, torch.ones(3))
