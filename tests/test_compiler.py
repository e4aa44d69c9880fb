import pytest
import torch

from astjit.compiler import build, build_call, load_call, lowered, own_target
from astjit.config import Config
from astjit.frontend.reads import Reads
from astjit.frontend.segments import Segment
from astjit.frontend.stops import NeedsGrad, Stop
from astjit.ir.printer import function_text
from astjit.runtime.program import Program
from astjit.targets.table import TARGETS
from tests.runtime.made import function


def shifted(x, by=2.0):
    y = x + by
    return torch.exp(y) * torch.exp(y)


def segment(x=None, by=2.0):
    return Segment(shifted, {"x": torch.randn(3, 4) if x is None else x, "by": by})


def test_a_segment_becomes_a_program():
    reads = Reads()
    made = build(segment(), reads, TARGETS["cpu"], Config())
    assert isinstance(made, Program)
    assert made.reads is reads
    assert reads.parameters == ("x", "by")
    assert [group.kernel.name for group in made.groups] == ["shifted"]
    text = function_text(made.function)
    assert text.count("exp") == 1  # the passes ran
    assert 'extern "C" void shifted_kernel(' in made.unit.kernels


def test_a_program_runs():
    x = torch.randn(3, 4)
    loaded = load_call(segment(x), Config())
    torch.testing.assert_close(loaded.run(x, 0.5), shifted(x, 0.5))


def test_the_target_of_the_options_wins():
    assert build_call(segment(), Config()).target == "cpu"
    assert build_call(segment(), Config(target="cuda")).target == "cuda"


def test_what_a_kernel_cannot_reach_stops():
    with pytest.raises(Stop, match="x is on cpu, the kernels are for cuda"):
        load_call(segment(), Config(target="cuda"))


def test_gradients_stop():
    with pytest.raises(NeedsGrad):
        build_call(segment(torch.randn(3, 4, requires_grad=True)), Config())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("fn f(%x: f32[n]):\n  return %x", "cpu"),
        ("fn f(%a: f32[], %x: f32[n] @cuda:1):\n  return %x", "cuda"),
        ("fn f(%a: float):\n  return %a", "cpu"),
    ],
)
def test_the_target_of_the_tensors(text, name):
    assert own_target(function(text)).name == name


def test_the_ssa_after_a_pass():
    before = function_text(lowered(segment(), Config(), "fold"))
    after = function_text(lowered(segment(), Config(), "dce"))
    assert (before.count("= exp"), after.count("= exp")) == (2, 1)
