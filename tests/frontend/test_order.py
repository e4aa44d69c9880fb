import ast

import pytest

from astjit.frontend.order import captured, events, nested_scopes


def told(text):
    """Events in short: r and w and d, a question mark where they are not sure."""
    node = ast.parse(text).body[0]
    return " ".join(f"{e.kind[0]}{'' if e.sure else '?'}:{e.name}" for e in events(node))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("y = f(x)", "r:f r:x w:y"),
        ("a[i] = v", "r:v r:a r:i"),
        ("y += x", "r:y r:x w:y"),
        ("y = a if c else b", "r:c r?:a r?:b w:y"),
        ("y = a and (z := b)", "r:a r?:b w?:z w:y"),
        ("y = a < b < c", "r:a r:b r?:c w:y"),
        ("y = (z := a) + z", "r:a w:z r:z w:y"),
        ("y: int", ""),
        ("y: int = x", "r:x w:y"),
        ("del a, b[0]", "d:a r:b"),
        ("assert a, b", "r:a r?:b"),
        ("import a.b, c as d", "w:a w:d"),
        ("y = [v * k for v in xs]", "r:xs r?:k r?:xs w:y"),
        ("y = [(z := v) for v in xs]", "r:xs w?:z r?:xs r?:z w:y"),
        ("y = lambda a=d: a + k", "r:d r?:d r?:k w:y"),
        ("y = {a: b, **c}", "r:a r:b r:c w:y"),
        ("def g(a):\n return a + k", "r?:k w:g"),
        ("global a", ""),
    ],
)
def test_events(text, wanted):
    assert told(text) == wanted


def test_what_nested_functions_capture():
    tree = ast.parse("def g(a):\n def h():\n  nonlocal n\n  return a + k\n return h")
    assert captured(tree.body[0]) == {"n", "k"}
    tree = ast.parse("y = [v for v in xs]\nz = [lambda: q for v in xs]\nw = (v for v in xs)")
    assert [type(n).__name__ for n in nested_scopes(tree)] == ["Lambda", "GeneratorExp"]
