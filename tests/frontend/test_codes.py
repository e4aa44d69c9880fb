import gc
import types

import pytest

from astjit.frontend.codes import PerCode, nested, requalified, same_code


def code_of(text):
    """The code of the function `f` that a text defines."""
    names = {}
    exec(compile(text, "<text>", "exec"), names)
    return names["f"].__code__


# --- a table by code -----------------------------------------------------------------------------


def test_a_value_lives_as_long_as_the_code():
    table = PerCode()
    one, other = code_of("def f(x): return x"), code_of("def f(x): return x")
    assert one == other
    table.put(one, "one")
    assert (table.get(one), table.get(other), len(table)) == ("one", None, 1)
    table.put(one, "changed")
    table.put(other, "other")
    assert (table.get(one), table.get(other), len(table)) == ("changed", "other", 2)
    del one
    gc.collect()
    assert (table.get(other), len(table)) == ("other", 1)


def test_many_codes_that_come_and_go():
    table = PerCode()
    for number in range(50):
        code = code_of(f"def f(x): return x + {number}")
        assert table.get(code) is None  # though ids come back
        table.put(code, number)
        assert table.get(code) == number
    del code
    gc.collect()
    assert len(table) == 0


# --- names ---------------------------------------------------------------------------------------


def test_what_is_inside_is_named_to_match():
    def made():
        class Box:
            def method(self):
                return lambda: 0

        return Box, "made.<locals>"

    code = requalified(made.__code__, "g", "A.g")
    assert (code.co_name, code.co_qualname) == ("g", "A.g")
    assert [inner.co_qualname for inner in nested(code)] == [
        "A.g",
        "A.g.<locals>.Box",
        "A.g.<locals>.Box.method",
        "A.g.<locals>.Box.method.<locals>.<lambda>",
    ]
    box, text = types.FunctionType(code, {"__name__": "m", "__build_class__": __build_class__})()
    assert (box.__qualname__, text) == ("A.g.<locals>.Box", "made.<locals>")


# --- what does the same --------------------------------------------------------------------------

SAME = [
    ("def f(x): return x", "def f(x):\n\n    return x  # a comment"),
    ("def f(x): return (1, 2.0, 'a')", "def f(x):\n    return 1, 2.0, 'a'"),
    ("def f(x): return x in {1, 'a'}", "def f(x): return x in {'a', 1}"),
    ("def f(x): return float('nan')", "def f(x): return float('nan')"),
    ("import math as m\ndef f(x): return m.g(x)", "def f(x): return m.g(x)"),
]
DIFFERENT = [
    ("def f(x): return x", "def f(y): return y"),
    ("def f(x): return x", "def f(x, /): return x"),
    ("def f(x, y): return x", "def f(x, *, y): return x"),
    ("def f(x, y): return x", "def f(x, *y): return x"),
    ("def f(x): return 0.0", "def f(x): return -0.0"),
    ("def f(x): return (1, 2)", "def f(x): return (1.0, 2)"),
    ("def f(x): return (0.0,)", "def f(x): return (-0.0,)"),
    ("def f(x): return 1", "def f(x): return True"),
    ("def f(x): return 0j", "def f(x): return -0j"),
    ("def f(x): return x in {1, 2}", "def f(x): return x in {1.0, 2}"),
    ("def f(x): return lambda: 1", "def f(x): return lambda: 2"),
    ("def f(x): return x + 1", "def f(x): return x - 1"),
    ("def f(x): return x.a", "def f(x): return x.b"),
    ("def f(x): 'a'", "def f(x): 'b'"),
    ("def f(x): return 'g.<locals>.a'", "def f(x): return 'g.<locals>.b'"),
    (
        "import math as m\ndef f(x):\n    m.a()\n    try:\n        m.b()\n    except E: pass",
        "def f(x):\n    try:\n        m.a()\n        m.b()\n    except E: pass",
    ),
    (
        "import math as m\ndef f(x):\n    if x:\n        m.a()\n        m.b()\n    return x",
        "def f(x):\n    if x:\n        m.a()\n    m.b()\n    return x",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_does_the_same(one, other):
    assert same_code(code_of(one), code_of(other))
    assert same_code(code_of(other), code_of(one))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_does_not(one, other):
    assert not same_code(code_of(one), code_of(other))
    assert not same_code(code_of(other), code_of(one))
