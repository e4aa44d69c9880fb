"""Every feature of the element language gives what Python gives, element by element."""

import pytest
import torch

import astjit
from tests.element_functions import CASES, inputs


@pytest.fixture(autouse=True)
def _no_compiler(monkeypatch):
    """The meaning, through PyTorch: kernels have tests of their own."""
    monkeypatch.setenv("CXX", "/nonexistent")


def outcome(function, arguments):
    """The tensors, or the type of what is raised."""
    try:
        made = function(*arguments)
    except (ZeroDivisionError, ValueError, OverflowError) as error:
        return type(error)
    return made if isinstance(made, tuple) else (made,)


@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_as_python(function):
    made = astjit.elementwise(function)
    for dtype in (torch.float64, torch.float32):
        given = inputs(function, dtype)
        got, want = outcome(made, given), outcome(made.reference, given)
        if isinstance(want, type):
            assert got is want
            continue
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            torch.testing.assert_close(one, other, equal_nan=True)
