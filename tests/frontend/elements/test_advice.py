"""Every error about a call says what to write, in words that do not send one back."""

import builtins
import math
import operator
import random

import numpy
import pytest
import torch

import astjit
from astjit.frontend.elements.advice import instead_of, of_method
from astjit.frontend.elements.functions import is_known
from tests.frontend.elements.lowered import X, refused

UNKNOWN = [
    f
    for module in (math, builtins)
    for f in vars(module).values()
    if callable(f) and f.__class__.__module__ == "builtins" and not is_known(f)
]


def test_functions_of_math_and_python():
    for function in UNKNOWN:
        said = instead_of(function)
        assert said
        if function.__module__ == "math":
            assert f"math.{function.__name__}(" not in said


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (numpy.sin, "math.sin(x)"),
        (numpy.arctan2, "math.atan2(x)"),
        (numpy.maximum, "torch.maximum(x)"),
        (operator.add, "the operator itself: a + b, a < b, t[i]"),
        (random.random, "an argument: torch.rand_like(x) given to this function"),
        (torch.rand, "an argument: torch.rand_like(x) given to this function"),
        (torch.hypot, "math.hypot(...)"),
        (torch.max, "max(a, b)"),
        (torch.tensor, "the number itself"),
        (torch.lgamma, "torch.lgamma outside this function, on whole tensors"),
        (UNKNOWN, "a function of your own with `def`, which becomes part of this one"),
    ],
)
def test_other_functions(function, said):
    assert instead_of(function) == said


def test_methods_of_elements():
    assert of_method("sin") == "torch.sin(...)"
    assert of_method("item") == "the number itself"
    assert of_method("bit_length") == "a function of math or torch, or arithmetic"


REPLACED = {
    "cbrt": (lambda x: math.copysign(abs(x) ** (1 / 3), x), math.cbrt),
    "ldexp": (lambda x: x * 2.0**3, lambda x: math.ldexp(x, 3)),
    "isclose": (
        lambda x: abs(x - 1.5) <= 1e-9 * max(abs(x), abs(1.5)),
        lambda x: math.isclose(x, 1.5),
    ),
    "remainder": (lambda x: x - round(x / 0.7) * 0.7, lambda x: math.remainder(x, 0.7)),
    "ulp": (lambda x: math.nextafter(abs(x), math.inf) - abs(x), math.ulp),
    "sumprod": (lambda x: sum([a * b for a, b in zip((x, 2.0), (3.0, x))]), lambda x: 5 * x),  # noqa: B905
}


@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
@pytest.mark.parametrize("name", REPLACED)
def test_what_is_said_computes_the_same(name, monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    written, meant = REPLACED[name]
    given = torch.tensor([0.5, 1.5, -2.25, 8.0], dtype=torch.float64)
    got = astjit.elementwise(written)(given)
    torch.testing.assert_close(got, torch.tensor([meant(v) for v in given.tolist()]).to(got.dtype))


def test_an_error_has_it():
    _, _, error = refused(lambda x: math.lgamma(x))
    assert str(error).endswith("instead: torch.lgamma(x) outside this function, on whole tensors")
    _, _, error = refused(lambda x: torch.lgamma(x), X)
    assert str(error).endswith("instead: torch.lgamma outside this function, on whole tensors")
