"""Names that a program needs itself, lambdas inside lambdas, errors that the function catches."""

import pytest
import torch

import astjit

DOUBLING = (lambda: lambda x: x * 2)()
BOTH = (lambda x: x + 1, lambda x: x * 3)


def caught(x):
    try:
        return x.view(5, 5)
    except RuntimeError:
        return x + 1


def called_torch(torch, other):
    return torch + other


@pytest.mark.parametrize(("function", "wanted"), [(DOUBLING, 4.0), (BOTH[0], 3.0), (BOTH[1], 6.0)])
def test_lambdas_on_one_line_are_told_apart(function, wanted):
    compiled = astjit.compile(function, fullgraph=True)
    assert torch.equal(compiled(torch.full((3,), 2.0)), torch.full((3,), wanted))


def test_an_error_that_the_function_catches_is_no_bug():
    compiled, x = astjit.compile(caught), torch.ones(3, 4)
    with pytest.warns(astjit.AstjitWarning, match="its code may catch") as told:
        assert torch.equal(compiled(x), x + 1)
    assert "bug" not in str(told[0].message)


def test_a_parameter_called_torch():
    compiled, x = astjit.compile(called_torch), torch.ones(3)
    with pytest.warns(astjit.AstjitWarning, match="a parameter called 'torch'"):
        assert torch.equal(compiled(x, x), x + x)
