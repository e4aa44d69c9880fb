"""A list that a loop appended to can be stacked, and asked for nothing else."""

import pytest
import torch

from astjit.frontend.gathered import Gathered, held_besides, stacked
from astjit.frontend.loop_sizes import Unlooped
from astjit.ir.function import Node
from astjit.ir.value import Result
from astjit.ops.table import OPS
from astjit.types.dtype import F32
from astjit.types.tensor import TensorType
from tests.frontend.replay import Captured


def test_whatever_asks_it_is_refused():
    kind = TensorType(F32, (9, 4))
    made = Gathered((), Result(Node(None, OPS["for"], (), {}), 0, kind), ())
    for ask in (len, iter, bool, repr, reversed, lambda g: g[0], lambda g: g * 2, lambda g: g.pop):
        with pytest.raises(Unlooped, match="a list is read"):
            ask(made)
    with pytest.raises(Unlooped):
        stacked(None, torch.cat, (made,), {})


def test_who_else_holds_a_list():
    held = [1]
    assert not held_besides({"a": held, "b": 3}, held, "a")
    for other in (held, {"x": [held]}, held.append, lambda: held):
        assert held_besides({"a": held, "b": other}, held, "a")


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_it_is_stacked_with_what_was_there_before(dim):
    def gathered(x, h):
        ys = [h]
        for t in range(x.shape[0]):
            h = h * 0.5 + x[t]
            ys.append(h)
        return torch.stack(ys, dim), torch.stack(ys, dim=dim)

    x, h = torch.randn(9, 4), torch.randn(4)
    captured = Captured(gathered, x, h)
    got = captured.run(x, h)
    torch.testing.assert_close(got, gathered(x, h))
    assert "for" in [n.op.name for n in captured.function.body.nodes]
