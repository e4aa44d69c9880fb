"""README's example runs as shown, and the CUDA it shows is what is generated."""

import pytest
import torch

from tests.readme import arguments, block, example, shown_cuda
from tests.rubric import faults


@pytest.fixture
def module(tmp_path):
    return example(tmp_path)


def test_example_equals_eager(module):
    got = module.rms_norm(*arguments())
    for mine, eager in zip(got, module.rms_norm.__wrapped__(*arguments()), strict=True):
        torch.testing.assert_close(mine, eager)


def test_shown_cuda_is_generated(module):
    assert block("cuda") == shown_cuda(module)


def test_shown_cuda_meets_the_rubric():
    assert not faults(block("cuda"), ["x", "residual", "w", "h", "rstd", "y", "eps"])
