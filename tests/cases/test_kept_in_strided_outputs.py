"""A value that a row kernel keeps in an output it is stored to anyway, whose layout is its own."""

import pytest
import torch

import astjit


def softmax_of_a_stored_value(x):
    y = x.exp()
    return y, torch.softmax(y, 1), y * y.amax(1, keepdim=True)


def twice(x):
    y = x.trunc()
    s = torch.softmax(y / 2, 1)
    return y, s * s, (s + y).sum(-1)


@pytest.mark.parametrize("function", [softmax_of_a_stored_value, twice])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_a_transposed_output_that_is_read_again(function, dtype):
    x = torch.randn(16, 65).to(dtype).t()
    compiled = astjit.compile(function, fullgraph=True)
    for ours, eager in zip(compiled(x), function(x), strict=True):
        assert ours.stride() == eager.stride()
        torch.testing.assert_close(ours, eager)
