"""Which loops may be captured once, and what they do to names."""

import ast
import textwrap

import pytest

from astjit.frontend.counted import counts, flow_of_function, plan_of


def plan(source):
    (function,) = ast.parse(textwrap.dedent(source)).body
    (loop,) = [n for n in ast.walk(function) if isinstance(n, ast.For)][:1]
    return plan_of(loop, flow_of_function(function))


def test_names_are_carried_assigned_and_read_later():
    found = plan("""
        def f(x, h, ys):
            for t in range(9):
                u = x[t]
                h = h + u
                ys.append(h)
            return h, ys
    """)
    assert found == (("h",), ("h", "u"), ("h",), ("ys",), ("t",))


def test_what_both_arms_write_is_not_carried():
    found = plan("""
        def f(x, h, a):
            for t in range(9):
                if t:
                    a = x
                else:
                    a = h
                h = h + a
            return h
    """)
    assert found[0] == ("h",)


@pytest.mark.parametrize(
    "body",
    [
        *("break", "continue", "return h", "yield h", "del h", "t = 3", "import os"),
        *("with h: pass", "g = lambda: h", "g = [h for _ in x]", "(h := 3)", "def g(): pass"),
    ],
)
def test_loops_that_are_left_or_define_something_are_not_taken(body):
    assert plan(f"def f(x, h):\n  for t in range(9):\n    h = h + 1\n    {body}\n") is None


def test_a_list_that_is_read_is_none_that_is_only_appended_to():
    source = "def f(ys, h):\n  for t in range(9):\n    ys.append(ys[-1] + h)\n"
    assert plan(source)[3] == ()


def test_a_list_of_another_scope_is_none_of_the_functions():
    """It would be assigned after the loop, and so be a local variable of the copy."""
    source = "def f(h):\n  for t in range(9):\n    STORE.append(h)\n"
    assert plan(source)[3] == ()
    read_before = source.replace("for t", "STORE.append(h)\n  for t")
    assert plan(read_before)[3] == ()


def test_ranges():
    for text in ("range(n)", "range(1, n, 2)", "reversed(range(n))"):
        assert counts(ast.parse(text, mode="eval").body) is not None
    for text in ("range(*n)", "enumerate(n)", "n", "reversed(n)", "o.range(3)", "reversed(o.f(n))"):
        assert counts(ast.parse(text, mode="eval").body) is None
