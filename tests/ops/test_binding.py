"""Torch calls as uses of rows: overloads, defaults, aliases, what is out of reach."""

import pytest

from astjit.ops.binding import bind, defaults
from astjit.ops.spec import FieldKind, Op
from astjit.ops.table import BY_TORCH
from astjit.types.dtype import F16, F32
from astjit.types.shape import Sym

F = "torch.nn.functional."
ROWS = Sym("rows", 6)


class Value:
    """A stand-in for a tensor."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


X, Y, W, B = (Value(n) for n in "xywb")


def is_operand(value):
    return isinstance(value, Value | int | float)


def bound(name, *args, **kwargs):
    found = bind(name, args, kwargs, is_operand)
    if found is None:
        return None
    row = found.row.name if isinstance(found.row, Op) else found.row.torch[0]
    return row, found.operands, dict(found.fields)


def test_operands_and_fields_go_by_name():
    assert bound("torch.add", X, 2.0) == ("add", (X, 2.0), {})
    assert bound("Tensor.__add__", X, Y) == ("add", (X, Y), {})
    assert bound("torch.add", X, other=Y) == ("add", (X, Y), {})
    assert bound("torch.add", input=X, other=Y) == ("add", (X, Y), {})
    assert bound("torch.where", X, Y, 0.5) == ("where", (X, Y, 0.5), {})


def test_axes_take_one_int_or_many():
    for dims in (1, (1,), [1]):
        assert bound("torch.sum", X, dims)[2]["dim"] == (1,)
    assert bound("torch.sum", X, (0, -1), True)[2] == {
        "dim": (0, -1),
        "keepdim": True,
        "dtype": None,
    }
    assert bound("torch.sum", X)[2]["dim"] is None
    assert bound("torch.amax", X)[2]["dim"] == ()


def test_many_arguments_or_one_sequence():
    for args in ((2, 0, 1), ((2, 0, 1),), ([2, 0, 1],)):
        assert bound("Tensor.permute", X, *args) == ("permute", (X,), {"dims": (2, 0, 1)})
    assert bound("Tensor.permute", X, dims=(1, 0)) == ("permute", (X,), {"dims": (1, 0)})
    assert bound("Tensor.view", X, -1, ROWS)[2] == {"shape": (-1, ROWS)}
    assert bound("Tensor.view", X, F32) is None  # a reinterpretation
    assert bound("Tensor.expand", X)[2] == {"size": ()}


def test_names_that_torch_takes_for_the_sake_of_numpy():
    assert bound("torch.sum", X, axis=1, keepdims=True)[2]["dim"] == (1,)
    assert bound("torch.sum", X, 0, axis=1) is None
    assert bound("torch.exp", x=X) == ("exp", (X,), {})


def test_defaults_of_operands_are_numbers():
    assert bound(F + "layer_norm", X, (4,), W) == (
        "layer_norm",
        (X, W, None, 1e-5),
        {"normalized_shape": (4,)},
    )
    assert bound(F + "layer_norm", X, [4, ROWS], bias=B, eps=0.1) == (
        "layer_norm",
        (X, None, B, 0.1),
        {"normalized_shape": (4, ROWS)},
    )
    assert bound(F + "softplus", X) == ("softplus", (X, 1, 20), {})
    assert bound("torch.clamp", X, max=3) == ("clamp", (X, None, 3), {})
    assert bound("torch.addcdiv", X, Y, W) == ("addcdiv", (X, Y, W, 1), {})


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("torch.add", (X, Y), {"out": Y}),
        ("torch.add", (X,), {}),
        ("torch.add", (X, Y, W), {}),
        ("torch.add", (X, "y"), {}),
        ("torch.add", (X, None), {}),
        ("torch.add", (X, Y), {"unknown": 1}),
        ("torch.add", (X, Y), {"input": X}),
        ("torch.sum", (X, "dim"), {}),
        ("torch.sum", (X, True), {}),
        ("torch.sum", (X, 1, 1), {}),
        ("torch.sum", (X,), {"dtype": "float32"}),
        ("torch.clone", (X,), {"memory_format": "channels_last"}),
        (F + "silu", (X, True), {}),
        (F + "softmax", (X,), {}),
        ("torch.cat", (X,), {}),
        ("torch.cat", ([X, "y"],), {}),
        ("torch.no_such", (X,), {}),
        ("torch.var", (X, 1), {"correction": 0.5}),
        (F + "gelu", (X,), {"approximate": 1}),
        (F + "embedding", (X, W), {"max_norm": 1.0}),
    ],
)
def test_what_is_out_of_reach_is_a_library_call(name, args, kwargs):
    assert bound(name, *args, **kwargs) is None


def test_a_parameter_given_as_its_default_changes_nothing():
    assert bound("torch.add", X, Y, alpha=1, out=None)[0] == "add"
    assert bound(F + "silu", X, inplace=False)[0] == "silu"
    assert bound("torch.div", X, Y, rounding_mode=None)[0] == "div"
    assert bound(F + "gelu", X)[2] == {"approximate": "none"}


def test_overloads_are_told_apart_by_their_arguments():
    assert bound("torch.div", X, Y, rounding_mode="floor")[2] == {"rounding_mode": "floor"}
    assert bound("torch.max", X)[1] == (X,)
    assert bound("torch.max", X, Y)[1] == (X, Y)
    assert bound("torch.var", X, 1)[2] == {"dim": (1,), "correction": 1, "keepdim": False}
    assert bound("torch.var", X, False)[2] == {"unbiased": False}
    assert bound("torch.var", X, 1, False)[2] == {
        "dim": (1,),
        "unbiased": False,
        "keepdim": False,
    }
    assert bound("Tensor.split", X, 3)[2] == {"split_size": 3, "dim": 0}
    assert bound("Tensor.split", X, [1, 2])[2] == {"split_size": (1, 2), "dim": 0}
    assert bound("Tensor.pow", X, 2)[2] == {"exponent": 2}
    assert bound("Tensor.pow", X, Y)[1] == (X, Y)


def test_variadic_operands():
    assert bound("torch.cat", [X, Y], 1) == ("cat", (X, Y), {"dim": 1})
    assert bound("torch.stack", (X, Y, W)) == ("stack", (X, Y, W), {"dim": 0})


def test_conversions_see_every_leaf_with_its_kind():
    seen = []

    def convert(kind, value):
        seen.append((kind, value))
        return {"half": F16, "n": ROWS}.get(value, value)

    found = bind("torch.softmax", (X, 1, "half"), {}, is_operand, convert)
    assert found.fields == {"dim": 1, "dtype": F16}
    found = bind("Tensor.view", (X, "n", 4), {}, is_operand, convert)
    assert found.fields == {"shape": (ROWS, 4)}
    index = (slice(None, "n"), ..., None, 2)
    found = bind("Tensor.__getitem__", (X, index), {}, is_operand, convert)
    assert found.fields == {"index": (slice(None, "n"), ..., None, 2)}
    assert (FieldKind.SIZE, "n") in seen
    assert (FieldKind.DTYPE, "half") in seen
    assert (FieldKind.ANY, 2) in seen


def test_build_emits_the_row():
    class Emitter:
        def emit_all(self, name, *operands, **fields):
            return ((name, operands, fields),)

        def emit(self, name, *operands, **fields):
            return self.emit_all(name, *operands, **fields)[0]

    def value(operand):
        return operand.name if isinstance(operand, Value) else operand

    built = bind("torch.add", (X, 2), {}, is_operand).build(Emitter(), value)
    assert built == ("add", ("x", 2), {})
    built = bind("Tensor.__rsub__", (X, 2), {}, is_operand).build(Emitter(), value)
    assert built == ("sub", (2, "x"), {})


def test_every_signature_can_be_read():
    for candidates in BY_TORCH.values():
        for row in candidates:
            assert isinstance(defaults(row.signature), dict)
