"""A loop as a kernel: which fit, and what the kernel reads and stores."""

import pytest

from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.kernel import Group, is_load, is_store
from astjit.passes.pipeline import run
from tests.frontend.replay import Captured
from tests.loop_functions import R, ema, filtered, gae, several


def kernels(function, *args, target="cpu"):
    made = Captured(function, *args).function
    run(made, Config())
    return [p for p in groups(made, target, Config()).parts if isinstance(p, Group)]


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_every_loop_is_a_kernel(target):
    for function, args in several(9):
        found = kernels(function, *args, target=target)
        assert any("range" in [n.op.name for n in g.kernel.body.nodes] for g in found), function


def test_items_are_read_at_the_index_of_the_iteration():
    (group,) = kernels(ema, R(9, 4), R(4), 0.5)
    assert [b.axes for b in group.kernel.buffers] == [("n",), ("*", "n"), ("n",)]
    (loop,) = [n for n in group.kernel.body.nodes if n.regions]
    assert sum(map(is_load, loop.regions[0].nodes)) == 1


def test_what_is_stacked_is_stored_in_the_loop():
    found = kernels(filtered, R(3, 9), 0.5, 0.2, 0.1)
    (loop,) = [n for group in found for n in group.kernel.body.nodes if n.regions]
    (store,) = [n for n in loop.regions[0].nodes if is_store(n)]
    assert store.fields["at"] == "*,n"
    assert len(kernels(gae, R(9, 4), R(10, 4), R(9, 4), 0.9, 0.9)) == 3


def test_a_single_element_has_a_loop_too():
    (group,) = kernels(ema, R(9), R(()), 0.5)
    assert group.kernel.axes == ("n",)
    assert group.extents == {"n": 1}


def test_iterations_that_walk_back_read_from_the_other_end():
    """A pointer reaches forward only, so it is where the last iteration reads."""

    def backwards(x, h):
        for t in reversed(range(x.shape[0])):
            h = h * 0.5 + x[t]
        return h

    (group,) = kernels(backwards, R(9, 4), R(4))
    assert group.offsets == (0, 0)
    (loop,) = [n for n in group.kernel.body.nodes if n.regions]
    (load,) = [n for n in loop.regions[0].nodes if is_load(n)]
    assert load.operands[1].node.op.name == "sub"
