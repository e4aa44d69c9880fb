import ast

import pytest

from astjit.runtime.expressions import begin, found_in, is_simple, parent_of, span, tree_of

TESTS = (
    "x is None",
    "type(self.norm.eps) is float",
    "self._modules['0'].shape[-1] == 2",
    "'a.b' in g['c.d'][\"e'f\"].items",
    "not hasattr(Linear, 'bias')",
    "f(a.b, dim=c.d, keep=e == g)",
    "a.b.dim() == d['f'](x.y) or z[0.5].w",
    "d[(1, 2)].x is y.z",
    "f(x).y is b'q'",
    "größe.länge == 1e5",
    "x.real == 1j and -y.a[i].b < 0x1f",
    "(a.b == 3)",
    "r'\\'' == s.t",
    "x[y.z].w is u",
)


def by_the_parser(test):
    """The places of a tree, the longest, with where they begin."""

    def is_place(tree):
        while not isinstance(tree, ast.Name):
            key = getattr(tree, "slice", None)
            if isinstance(tree, ast.Subscript):
                if not isinstance(key, ast.Constant | ast.Name | ast.UnaryOp):
                    return False
            elif not isinstance(tree, ast.Attribute):
                return False
            tree = tree.value
        return True

    def collect(tree):
        if is_place(tree):
            yield span(test, tree), begin(test, tree)
            return
        for part in ast.iter_child_nodes(tree):
            if not (isinstance(tree, ast.Call) and part is tree.func):
                yield from collect(part)
            elif isinstance(part, ast.Attribute):
                yield from collect(part.value)

    return sorted(collect(tree_of(test)), key=lambda pair: pair[1])


@pytest.mark.parametrize("test", TESTS)
def test_places_are_those_of_the_tree(test):
    assert [(f.text, f.start) for f in found_in(test) if not f.called] == by_the_parser(test)


@pytest.mark.parametrize("test", TESTS)
def test_names_are_those_of_the_tree(test):
    names = {node.id for node in ast.walk(tree_of(test)) if isinstance(node, ast.Name)}
    assert {name for found in found_in(test) for name in found.names} == names


def test_what_is_called_of_a_place():
    place, function, item = found_in("a.b.dim() == g(d['f']())")
    assert (place.text, place.method, place.called) == ("a.b", ".dim", False)
    assert (function.text, function.called) == ("g", True)
    assert (item.text, item.method, item.called) == ("d['f']", "", True)


@pytest.mark.parametrize(
    ("place", "parent", "step"),
    [
        ("x", "", "x"),
        ("x.y", "x", ".y"),
        ("x['a.b[0]']", "x", "['a.b[0]']"),
        ("x[\"y['z']\"].w", "x[\"y['z']\"]", ".w"),
        ("x[-1][k]", "x[-1]", "[k]"),
        ("x[(1, 2)]", "x", "[(1, 2)]"),
        ("f(x).y", "f(x)", ".y"),
        ("f(x)", "", "f(x)"),
    ],
)
def test_what_a_place_is_a_part_of(place, parent, step):
    assert parent_of(place) == (parent, step)


def test_what_is_one_comparison():
    assert is_simple("x.orders is not fortune")
    assert not is_simple("x is y and z is w")
    assert not is_simple("x if y else z")
