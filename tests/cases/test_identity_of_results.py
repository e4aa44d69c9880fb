"""Which results are one object, which share memory: as in eager."""

import pytest
import torch

import astjit


def detached(x):
    y = x * 1
    return y.detach(), y


def detached_input(x):
    return x.detach(), x


def whole_slices(x):
    return x[...], x[:], x


def detached_once(x):
    y = (x + 1).detach()
    return y, y


def used_after(x):
    y = (x + 1).detach()
    return y * 2, y[...] + 1


def relations(results):
    same = [[a is b for a in results] for b in results]
    memory = [[a.data_ptr() == b.data_ptr() for a in results] for b in results]
    return same, memory


@pytest.mark.parametrize("function", [detached, detached_input, whole_slices, used_after])
def test_results_are_the_objects_that_eager_gives(function):
    x = torch.randn(3, 5)
    got, wanted = astjit.compile(function, fullgraph=True)(x), function(x)
    assert relations([*got, x]) == relations([*wanted, x])
    assert all(map(torch.equal, got, wanted))


def test_one_alias_returned_twice_is_one_object():
    first, second = astjit.compile(detached_once, fullgraph=True)(torch.ones(3))
    assert first is second


def view_of_written(x):
    x.zero_()
    y = x.t().mul_(3)
    return [y, y]


def written_through_reshape(x):
    x.reshape(-1).clamp_(min=2.0)
    return x


def test_one_view_of_written_memory_returned_twice_is_one_object():
    first, second = astjit.compile(view_of_written, fullgraph=True)(torch.ones(2, 3))
    assert first is second


def test_reshape_is_a_view_where_the_strides_of_an_input_allow_it():
    x = torch.zeros(4, 6)[..., ::2]
    compiled = astjit.compile(written_through_reshape, fullgraph=True)
    assert torch.equal(compiled(x), torch.full((4, 3), 2.0))
    narrow = torch.zeros(4, 6)[:, :3]  # its strides fit no view of one axis
    assert torch.equal(compiled(narrow), torch.zeros(4, 3))


def turned(x):
    y = x.t()
    return y.is_contiguous(), y.contiguous() is y


def test_a_tensor_without_elements_is_contiguous():
    compiled = astjit.compile(turned, fullgraph=True)
    assert compiled(torch.ones(2, 3)) == (False, False)
    assert compiled(torch.ones(0, 3)) == (True, True)
    assert compiled(torch.ones(5, 3)) == (False, False)
