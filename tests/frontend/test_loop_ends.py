"""What a loop does to tensors: written in place, item by item, handed on."""

import torch

from tests.frontend.replay import Captured

X, H = torch.randn(9, 4), torch.randn(4)


def captured(function, *args):
    made = Captured(function, *args)
    mine = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
    torch.testing.assert_close(made.run(*args), function(*mine))
    return made.function.body.nodes


def test_a_part_of_a_tensor_is_written():
    def some(x, h):
        out = x * 1.0
        for t in range(2, x.shape[0]):
            h = h * 0.5 + x[t - 2]
            out[t] = h
        return out

    nodes = captured(some, X, H)
    names = [n.op.name for n in nodes]
    assert names[-1] == "slice_update"
    assert "for" in names


def test_columns_are_written_backwards():
    def columns(x, h):
        out = torch.empty_like(x)
        for t in reversed(range(x.shape[1])):
            h = h * 0.5 + x[:, t]
            out[:, t] = h
        return out

    (loop,) = [n for n in captured(columns, X.t().contiguous(), H) if n.op.name == "for"]
    assert loop.fields["backward"] == (0,)


def test_what_is_the_same_in_all_iterations_stands_in_front():
    def scaled(x, h):
        for t in range(x.shape[0]):
            h = h * (h.new_ones(4) * 0.5).exp().sum() if t < 0 else h * x[0].exp() + x[t]
        return h

    names = [n.op.name for n in captured(scaled, X, H)]
    assert names.index("exp") < names.index("for")


def test_a_result_may_be_written_after_the_loop():
    def later(x, h):
        for t in range(x.shape[0]):
            h = h * 0.5 + x[t]
        other = h
        h += 1
        return h, other

    nodes = captured(later, X, H)
    assert [n.op.name for n in nodes] == ["for", "add"]
