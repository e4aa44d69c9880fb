"""The sizes of convolutions and pooling are PyTorch's, for every size at once."""

import pytest
import torch
import torch.nn.functional as F

from tests.frontend.replay import Captured

CALLS = {
    "conv": lambda x, w: F.conv2d(x, w),
    "strided": lambda x, w: F.conv2d(x, w, stride=2, padding=1),
    "dilated": lambda x, w: F.conv2d(x, w, None, (2, 1), (1, 2), (1, 2)),
    "same": lambda x, w: F.conv2d(x, w, padding="same"),
    "valid": lambda x, w: F.conv2d(x, w, padding="valid"),
    "transposed": lambda x, w: F.conv_transpose2d(x, w.transpose(0, 1), None, 2, 1, 1),
    "max": lambda x, w: F.max_pool2d(x, 3, 2, 1),
    "average": lambda x, w: F.avg_pool2d(x, 3, 2, 1),
    "average of its own stride": lambda x, w: F.avg_pool2d(x, 3),
}


@pytest.mark.parametrize("function", CALLS.values(), ids=CALLS)
def test_one_capture_serves_all_sizes(function):
    w = torch.randn(4, 3, 3, 3)
    captured = Captured(function, torch.randn(2, 3, 16, 16), w)
    for shape in ((2, 3, 16, 16), (3, 3, 17, 16), (5, 3, 18, 21)):
        x = torch.randn(shape)
        got = captured.run(x, w)  # checked against the types
        torch.testing.assert_close(got, function(x, w))
    assert str(captured.function.params[0].type).startswith("f32[x0, ")


@pytest.mark.parametrize("mode", ["constant", "reflect"])
def test_padding_by_run_time_numbers(mode):
    def padded(x, a, b):
        return F.pad(x, (a, b, b, 1), mode)

    captured = Captured(padded, torch.randn(2, 8, 9), 2, 3)
    assert str(captured.function.results[0].type) == "f32[x0, b + x1 + 1, a + b + x2]"
    for x, a, b in ((torch.randn(2, 8, 9), 2, 3), (torch.randn(3, 5, 7), 4, 0)):
        torch.testing.assert_close(captured.run(x, a, b), padded(x, a, b))
