"""Every feature of Python gives what Python gives: in the element language, element by element, and
in functions of tensors, on tensors of one element each."""

import pytest
import torch

import astjit
from tests.element_features import EVERY, elements, inputs
from tests.programs.compare import Observed, difference

WITHOUT_TENSORS = ("halves_to_even", "quotient_and_rest", "truth_values_are_ints")  # round, -bool


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
@pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)
def test_as_python(function):
    made = astjit.elementwise(function)
    dtypes = (torch.float64, torch.float32)
    for dtype in dtypes[: 1 if function.__name__ in WITHOUT_TENSORS else 2]:
        given = inputs(function, dtype)
        got, want = outcome(made, given), outcome(made.reference, given)
        if isinstance(want, type):
            assert got is want
            continue
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            torch.testing.assert_close(one, other, equal_nan=True)


def observed(function, arguments):
    """What a call returns or raises, and what it leaves."""
    seen = Observed()
    try:
        seen.look("result", function(*arguments))
    except Exception as error:
        seen.look("raised", (type(error).__name__, str(error)))
    seen.look("arguments", list(arguments))
    return seen


@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
@pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)
def test_as_eager_on_tensors_of_one_element(function):
    compiled = astjit.compile(function)
    calls = zip(*(elements(function, torch.float32) for _ in "01"), strict=True)
    for arguments, same in calls:
        eager, ours = observed(function, arguments), observed(compiled, same)
        found = difference(eager, ours)
        assert found is None, str(found)
