import ast

from astjit.frontend.elements.names import assigned, exposed, leaves, read


def body(text):
    return ast.parse(text).body


def test_names_of_inner_scopes_are_not_assigned_outside():
    tree = body("a = 1\n(b, *c), d = e\nfor f in g:\n    h: int = 1\ndef k(x, y=m):\n    z = 1")
    assert set(assigned(tree)) == {"a", "b", "c", "d", "f", "h", "k"}
    tree = body("[i for i in range(3) if (w := i)]\nl = lambda q: q")
    assert set(assigned(tree)) == {"w", "l"}
    assert set(assigned(body("match p:\n    case 1 | t: pass"))) == {"t"}


def test_read_before_they_are_assigned():
    assert exposed(body("y = x\nz = y + w\nw = z")) == {"x", "w"}
    assert exposed(body("s += 1")) == {"s"}
    assert exposed(body("if c:\n    a = 1\nelse:\n    a = 2\nb = a")) == {"c"}
    assert exposed(body("if c:\n    a = 1\nb = a")) == {"c", "a"}
    assert exposed(body("c and (y := 1)\nz = y")) == {"c", "y"}


def test_read_finds_inner_functions():
    assert read(body("f = lambda: y\nx += 1")) == {"y", "x"}


def test_what_never_reaches_its_end():
    assert leaves(body("if a:\n    return 1\nelse:\n    break"))
    assert not leaves(body("if a:\n    return 1"))
    assert not leaves(body("while True:\n    return 1"))
