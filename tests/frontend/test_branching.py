"""Which `if`s may be captured in both arms, and what these do to names."""

import ast
import textwrap

import pytest

from astjit.frontend.branching import arms_of
from astjit.frontend.counted import flow_of_function


def arms(source):
    (function,) = ast.parse(textwrap.dedent(source)).body
    node = next(n for n in ast.walk(function) if isinstance(n, ast.If))
    return arms_of(node, flow_of_function(function, always=True))


def test_names_are_assigned_and_read_later():
    found = arms("""
        def f(x, t):
            if t:
                u = x * 2
                y = u
            else:
                y = x
            return y
    """)
    assert found == (("u", "y"), ("y",))


def test_names_that_a_handler_reads_are_read_later():
    found = arms("""
        def f(x, t):
            try:
                if t:
                    y = x * 2
                y = g(x)
            except ValueError:
                return y
    """)
    assert found == (("y",), ("y",))


@pytest.mark.parametrize(
    "body",
    ["return x", "y = [x for x in t]", "(y := x)", "del x", "for i in x: pass", "y = lambda: x"],
)
def test_other_arms_are_not_captured(body):
    assert arms(f"def f(x, t):\n    if t:\n        {body}\n    return x") is None


def test_names_that_functions_see_are_not_joined():
    source = "def f(x, t):\n    def g(): return x\n    if t:\n        x = t\n    return g()"
    assert arms(source) is None
