"""What no row takes runs as PyTorch's own kernel, between the generated ones, without a warning."""

import pytest
import torch

import astjit


def signs(x):
    return x.sign(), torch.logsumexp(x, -1)


def copied(x, y):
    return torch.copysign(x, y) * 2


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.uint8])
def test_a_dtype_that_a_row_refuses_and_eager_takes(dtype):
    compiled = astjit.compile(signs, fullgraph=True)
    x = torch.ones(3, 4).to(dtype)
    for got, wanted in zip(compiled(x), signs(x), strict=True):
        assert got.dtype is wanted.dtype
        assert torch.equal(got, wanted)
    assert compiled.cache_info().programs == 1


def test_operands_that_must_agree_in_size_need_one_program():
    compiled = astjit.compile(copied, fullgraph=True)
    for shape in ((3, 4), (5, 7), (0, 2)):
        x, y = torch.randn(shape), torch.randn(shape)
        assert torch.equal(compiled(x, y), copied(x, y))
    assert compiled.cache_info().programs == 1


def test_the_exception_is_eagers():
    x, y = torch.ones(3, 4), torch.ones(5)
    with pytest.raises(RuntimeError) as wanted:
        copied(x, y)
    with pytest.raises(RuntimeError) as got:
        astjit.compile(copied)(x, y)
    assert str(got.value) == str(wanted.value)


def drops(x):
    x.max()
    return x * 2


def test_a_call_that_nothing_needs_raises_as_in_eager():
    compiled = astjit.compile(drops)
    assert torch.equal(compiled(torch.ones(3)), torch.full((3,), 2.0))
    with pytest.raises(RuntimeError, match="numel"):
        drops(torch.ones(0))
    with pytest.raises(RuntimeError, match="numel"):
        compiled(torch.ones(0))
    assert compiled.cache_info().programs >= 1
