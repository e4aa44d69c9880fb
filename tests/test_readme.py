"""README's example runs as shown, and the CUDA it shows is what is generated."""

import pytest
import torch

from tests.readme import README, arguments, block, example, shown_cuda
from tests.rubric import faults, kernel_section

REFERENCES = README.parent / "benchmarks" / "reference" / "cuda"


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
    """D24: columns, unused and hidden names, the user's names, quoted lines, length."""
    lines = dict(enumerate(block("python").splitlines(), 1))
    computed = {n: text for n, text in lines.items() if n in (7, 8, 9)}
    names = ["x", "residual", "w", "eps", "h", "rstd", "y"]
    hand = kernel_section((REFERENCES / "rms_norm.cu").read_text(encoding="utf-8"))
    assert not faults(block("cuda"), computed, names, hand)
