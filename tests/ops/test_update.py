"""Updates as rows: what they infer, and the text that runs them."""

import pytest
import torch

from astjit.ops.host import host_text
from astjit.ops.library import Slot
from astjit.ops.spec import Call
from astjit.ops.table import OPS
from astjit.types.dtype import F32
from astjit.types.shape import Sizes
from astjit.types.tensor import TensorType


def run(name, operands, **fields):
    """The value of a row's host text."""
    names = [f"_{at}" for at in range(len(operands))]
    text = host_text(OPS[name], names, fields)
    return eval(text, {"torch": torch, **dict(zip(names, operands, strict=True))})


@pytest.mark.parametrize(
    ("name", "view", "fields"),
    [
        ("slice_update", lambda x: x[:, 1:4:2], {"dim": 1, "start": 1, "stop": 4, "step": 2}),
        ("select_update", lambda x: x[:, 2], {"dim": 1, "index": 2}),
        ("diagonal_update", lambda x: x.diagonal(1), {"offset": 1, "dim1": 0, "dim2": 1}),
    ],
)
@pytest.mark.parametrize("layout", [lambda x: x, torch.Tensor.t, lambda x: x[::2, ::2]])
def test_an_update_is_a_write_to_a_copy(name, view, fields, layout):
    x = layout(torch.arange(100.0).view(10, 10))
    new = torch.full_like(view(x), -1.0)
    wanted = torch.empty_strided(x.shape, x.stride()).copy_(x)
    view(wanted).copy_(new)
    before = x.clone()
    made = run(name, [x, new], **fields)
    assert torch.equal(made, wanted)
    assert made.stride() == x.stride()
    assert torch.equal(x, before)


def test_a_copy_has_the_order_that_was_asked_for():
    x = torch.arange(24.0).view(2, 3, 4)
    made = run("copy", [x], order=(2, 0, 1))
    assert torch.equal(made, x)
    assert made.stride() == (3, 1, 6)
    kind = TensorType(F32, (2, 3, 4))
    (inferred,) = OPS["copy"].rule.infer(Call((kind,), {"order": (2, 0, 1)}, Sizes()))
    assert inferred == TensorType(F32, (2, 3, 4), (2, 0, 1))
    with pytest.raises(ValueError, match="does not name each"):
        OPS["copy"].rule.infer(Call((kind,), {"order": (0, 1)}, Sizes()))


def test_strides_that_make_a_layout_dense_are_an_order():
    kind = TensorType(F32, (2, 3))
    (dense,) = OPS["restride"].rule.infer(Call((kind,), {"strides": (1, 2)}, Sizes()))
    assert dense == TensorType(F32, (2, 3), (1, 0))
    assert run("restride", [torch.ones(2, 3)], strides=(1, 4)).stride() == (1, 4)


def test_a_function_that_writes_is_given_copies():
    x, y = torch.zeros(3), torch.ones(3)
    template = ((Slot(0), Slot(1)), {"alpha": 2})
    made = run("mutate", [x, y], target="Tensor.add_", template=template, written=(0,), picks=())
    assert made.tolist() == [2.0, 2.0, 2.0]
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_new_results_follow_what_was_written():
    x, mean, var = torch.randn(4, 3), torch.zeros(3), torch.ones(3)
    template = ((Slot(0), Slot(1), Slot(2)), {"training": True})
    target = "torch.nn.functional.batch_norm"
    new_mean, new_var, y = run(
        "mutate", [x, mean, var], target=target, template=template, written=(1, 2), picks=None
    )
    assert torch.equal(y, torch.nn.functional.batch_norm(x, mean, var, training=True))
    assert torch.equal(new_mean, mean)
    assert torch.equal(new_var, var)


def test_a_write_through_a_view_that_torch_makes():
    x, new = torch.arange(6.0), torch.tensor([[9.0, 8.0]])
    template = ((Slot(0), 0, 2, 5), {})
    made = run("view_update", [x, new], target="Tensor.unfold", template=template, pick=())
    assert made.tolist() == [9.0, 8.0, 2.0, 3.0, 4.0, 5.0]
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_names_in_the_text_are_none_of_the_operands():
    text = host_text(
        OPS["view_update"],
        ["new", "value"],
        {"target": "Tensor.unfold", "template": ((Slot(0), 0, 1, 1), {}), "pick": ()},
    )
    assert "lambda new_:" in text
