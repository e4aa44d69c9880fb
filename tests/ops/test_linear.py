"""Products, tables and joins: symbolic shapes, and which names are which product."""

import pytest
import torch

from astjit.ops.binding import bind
from astjit.ops.table import OPS
from astjit.types.dtype import F32, I64
from astjit.types.shape import Sizes, Sym
from astjit.types.tensor import TensorType
from tests.ops import rows

A, B, C = Sym("a", 3), Sym("b", 4), Sym("c", 5)


def tensor(*dims, dtype=F32):
    return TensorType(dtype, dims)


def inferred(name, *kinds, **fields):
    sizes = Sizes(hints=True)
    (kind,) = rows.infer(OPS[name], kinds, fields, sizes)
    return str(kind), [str(fact) for fact in sizes.assumed]


def test_symbolic_shapes():
    assert inferred("matmul", tensor(A, B), tensor(B, C)) == ("f32[a, c]", [])
    other = Sym("d", 4)
    assert inferred("matmul", tensor(2, A, B), tensor(other, C)) == ("f32[2, a, c]", ["b == d"])
    assert inferred("linear", tensor(2, A, B), tensor(C, B), None) == ("f32[2, a, c]", [])
    assert inferred("embedding", tensor(A, dtype=I64), tensor(C, B)) == ("f32[a, b]", [])
    assert inferred("cat", tensor(A, B), tensor(A, C), dim=1) == ("f32[a, b + c]", [])
    assert inferred("stack", tensor(A, B), tensor(A, B), dim=-1) == ("f32[a, b, 2]", [])


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("torch.mm", ((3, 4), (4, 5))),
        ("Tensor.bmm", ((2, 3, 4), (2, 4, 5))),
        ("torch.mv", ((3, 4), (4,))),
        ("Tensor.__rmatmul__", ((4, 5), (3, 4))),
        ("Tensor.__matmul__", ((3, 4), (4, 5))),
    ],
)
def test_names_of_the_product(name, shapes):
    a, b = (torch.randn(s) for s in shapes)
    bound = bind(name, (a, b), {}, lambda v: True)
    emit = rows.TorchEmitter()
    made = bound.build(emit, emit.value).data
    scope = torch.Tensor if name.startswith("Tensor") else torch
    torch.testing.assert_close(made, getattr(scope, name.split(".")[1])(a, b), rtol=0, atol=0)
    assert emit.names == ["matmul"]


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("torch.mm", ((2, 3, 4), (4, 5))),
        ("torch.bmm", ((3, 4), (4, 5))),
        ("torch.mv", ((3,), (3,))),
    ],
)
def test_other_ranks_are_left_to_torch(name, shapes):
    a, b = (torch.randn(s) for s in shapes)
    emit = rows.TorchEmitter()
    assert bind(name, (a, b), {}, lambda v: True).build(emit, emit.value) is NotImplemented


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("matmul", (tensor(3, 4), tensor(5, 4))),
        ("matmul", (tensor(), tensor(4))),
        ("matmul", (tensor(3, 4), tensor(4, 5, dtype=I64))),
        ("linear", (tensor(3, 4), tensor(5, 3), None)),
        ("linear", (tensor(3, 4), tensor(5, 4), tensor(4))),
        ("embedding", (tensor(3), tensor(5, 4))),
        ("embedding", (tensor(3, dtype=I64), tensor(5))),
        ("cat", (tensor(3, 4), tensor(3, 4, 5))),
        ("cat", (tensor(3, 4), tensor(3, 5))),
        ("cat", ()),
        ("stack", (tensor(3, 4), tensor(3, 5))),
    ],
)
def test_operands_that_do_not_fit_are_refused(name, kinds):
    with pytest.raises((TypeError, ValueError)):
        rows.infer(OPS[name], kinds, {})
    operands = [rows.draw(k) for k in kinds]
    with pytest.raises((RuntimeError, ValueError)):
        rows.run(OPS[name], operands, {})
