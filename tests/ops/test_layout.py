"""Layouts of elementwise results and of views are those of torch, on many real layouts."""

import itertools

import pytest
import torch

from astjit.ops.layout import (
    contiguous,
    dense_or_strided,
    device_of,
    elementwise_type,
    iterator_order,
    resolved_shape,
    view_strides,
)
from astjit.ops.spec import Call
from astjit.types.dtype import F32
from astjit.types.shape import Sizes, Sym, mul
from astjit.types.tensor import TensorType
from tests.ops import rows


def layouts(shape):
    """Tensors of one shape in many layouts: permuted, sliced, expanded, with gaps."""
    rank = len(shape)
    for perm in itertools.permutations(range(rank)):
        back = [perm.index(a) for a in range(rank)]
        yield torch.ones([shape[a] for a in perm]).permute(back)
        doubled = [shape[a] * 2 for a in perm]
        gaps = torch.ones(doubled)[tuple(slice(None, None, 2) for _ in perm)]
        yield gaps.permute(back)
    for axis in range(rank):
        ones = list(shape)
        ones[axis] = 1
        yield torch.ones(ones).expand(shape)
        yield torch.ones(ones)


def check(*tensors):
    wanted = torch.addcmul(*tensors) if len(tensors) == 3 else torch.add(*tensors)
    kinds = tuple(rows.type_of_tensor(t) for t in tensors)
    rows.assert_type(wanted, elementwise_type(Call(kinds, {}, Sizes()), F32), str(kinds))


def test_one_operand_in_every_layout():
    for shape in ((2, 3, 4), (3, 1, 4), (1, 1, 3), (4,), (2, 2, 2, 2)):
        for x in layouts(shape):
            kind = rows.type_of_tensor(x)
            rows.assert_type(x.neg(), elementwise_type(Call((kind,), {}, Sizes()), F32), str(kind))


def test_two_operands_in_every_pair_of_layouts():
    for shape in ((2, 3, 4), (2, 2, 3)):
        for x, y in itertools.product(layouts(shape), repeat=2):
            check(x, y)


def test_operands_of_lower_rank_and_of_rank_0():
    wide = [x for x in layouts((2, 3, 4)) if x.shape == (2, 3, 4)]
    for x in wide:
        for y in (torch.ones(4), torch.ones(3, 1), torch.ones(4, 3).t(), torch.ones(())):
            check(x, y)
            check(y, x)


def test_three_operands():
    some = list(layouts((2, 3, 4)))[::4]
    for x, y, z in itertools.product(some, repeat=3):
        check(x, y, z)


def test_symbolic_strides_are_compared_without_a_guard():
    a, b, c = (Sym(n, h) for n, h in (("a", 4), ("b", 5), ("c", 6)))
    sizes = Sizes(hints=True)
    kind = TensorType(F32, (a, b, c), None, (c, mul(a, c), 1))
    assert iterator_order(sizes, [kind], kind.dims) == (1, 0, 2)
    assert sizes.assumed == []


def test_tensors_of_two_devices_are_refused_and_a_number_like_tensor_goes_with_any():
    gpu, cpu = TensorType(F32, (3,), device="cuda:0"), TensorType(F32, (3,))
    with pytest.raises(TypeError, match="different devices: cpu, cuda:0"):
        device_of(Call((gpu, cpu), {}, Sizes()))
    assert device_of(Call((TensorType(F32, ()), gpu), {}, Sizes())) == "cuda:0"
    assert device_of(Call((cpu,), {}, Sizes())) == "cpu"


def test_a_view_is_dense_where_some_order_of_axes_makes_it_so():
    source = TensorType(F32, (6, 4))
    assert dense_or_strided(source, (4, 6), (1, 4)).order == (1, 0)
    assert dense_or_strided(source, (6, 1, 4), (4, 99, 1)).order == (0, 1, 2)
    assert dense_or_strided(source, (3, 4), (8, 1)).strides == (8, 1)
    assert dense_or_strided(source, (2, 4), (0, 1)).strides == (0, 1)
    assert dense_or_strided(source, (), ()).order == ()


def test_contiguous_as_torch_says():
    for tensor in layouts((2, 3)):
        assert contiguous(Sizes(), rows.type_of_tensor(tensor)) is tensor.is_contiguous()
    a, b = Sym("a", 4), Sym("b", 6)
    sizes = Sizes(hints=True)
    assert contiguous(sizes, TensorType(F32, (a, 6), None, (b, 1)))
    assert not contiguous(sizes, TensorType(F32, (a, 5), None, (b, 1)))
    assert [str(fact) for fact in sizes.assumed if "0" not in str(fact)] == ["b == 6", "b != 5"]


def test_views_of_symbolic_sizes():
    a, b = Sym("a", 4), Sym("b", 6)
    sizes = Sizes(hints=True)
    whole = TensorType(F32, (a, b))
    assert view_strides(sizes, whole, (mul(a, b),)) == (1,)
    turned = TensorType(F32, (a, b), (1, 0))
    assert view_strides(sizes, turned, (a, 1, b))[::2] == (1, a)
    assert sizes.assumed == []
    assert view_strides(sizes, turned, (mul(a, b),)) is None
    assert resolved_shape(sizes, mul(a, b), (-1, b)) == (a, b)
    assert [str(fact) for fact in sizes.assumed if "0" in str(fact)] == ["b != 0"]


def test_a_reshape_asks_of_what_the_sizes_do_not_share():
    a, b = Sym("a", 4), Sym("b", 6)
    sizes = Sizes(hints=True)
    assert resolved_shape(sizes, mul(a, b), (a, 2, 3)) == (a, 2, 3)
    assert resolved_shape(sizes, mul(a, b), (a, -1, 2)) == (a, 3, 2)
    assert [str(fact) for fact in sizes.assumed if "0" not in str(fact)] == ["6 == b"]
    nothing = Sym("n", 0)  # without rows any columns are as many
    assert resolved_shape(sizes, mul(nothing, b), (nothing, 5)) == (nothing, 5)


@pytest.mark.parametrize("shape", [(-1, -1), (5,), (-1, 5), (-1, 0)])
def test_shapes_that_do_not_fit(shape):
    with pytest.raises(ValueError, match=r"invalid|inferred|infer"):
        resolved_shape(Sizes(), 12, shape)
    with pytest.raises(RuntimeError):
        torch.ones(12).reshape(shape)
