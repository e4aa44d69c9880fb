import ast
import contextlib

import pytest
import torch

from astjit.frontend.swallowing import swallows

no_grad = torch.no_grad
quiet = contextlib.suppress


def here():
    pass


@pytest.mark.parametrize(
    ("managers", "wanted"),
    [
        ("torch.no_grad()", False),
        ("no_grad(), torch.autocast('cpu')", False),
        ("contextlib.nullcontext()", False),
        ("contextlib.suppress(ValueError)", True),
        ("torch.no_grad(), quiet(ValueError)", True),
        ("manager", True),
        ("local.no_grad()", True),
        ("unknown()", True),
    ],
)
def test_managers_that_let_exceptions_through_are_known(managers, wanted):
    node = ast.parse(f"with {managers}: pass").body[0]
    assert swallows(node, here, {"local"}) is wanted


def test_a_local_variable_may_be_anything():
    node = ast.parse("with torch.no_grad(): pass").body[0]
    assert swallows(node, here, {"torch"})
