import ast

import pytest

from astjit.frontend.scopes import Scopes, parameters, scope_of


def tree(text):
    return ast.parse(text).body[0]


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("a = 1", {"a"}),
        ("a, (b, *c) = x", {"a", "b", "c"}),
        ("a += 1", {"a"}),
        ("a: int", {"a"}),
        ("for a in x: b = a", {"a", "b"}),
        ("with x as a: pass", {"a"}),
        ("try: pass\n  except E as a: pass", {"a"}),
        ("import a.b, c as d", {"a", "d"}),
        ("from m import a as b", {"b"}),
        ("def a(b=(c := 1)): d = 1", {"a", "c"}),
        ("class a(b := x): c = 1", {"a", "b"}),
        ("[a for a in x]", set()),
        ("[(b := a) for a in x]", {"b"}),
        ("(lambda a: a)", set()),
        ("del a", {"a"}),
        ("global a; a = 1", set()),
        ("nonlocal a; a = 1", set()),
        ("match x:\n    case [a, *b]: pass\n    case {'k': c, **d} as e: pass", set("abcde")),
        ("while (a := 1): pass", {"a"}),
    ],
)
def test_names_that_a_function_binds(body, bound):
    assert scope_of(tree(f"def f(p):\n  {body}")).bound == {"p", *bound}


def test_parameters_in_order():
    node = tree("def f(a, /, b, *c, d, **e): pass")
    assert parameters(node.args) == ["a", "b", "c", "d", "e"]


def test_where_a_name_comes_from():
    outer = tree("def f(x):\n  def g(y): return x + y + k + z")
    scopes = Scopes(frozenset({"k"}))
    scopes.push(outer)
    scopes.push(outer.body[0])
    origins = {name: scopes.origin(name) for name in "xykz"}
    assert origins == {"x": "local", "y": "local", "k": "cell", "z": "global"}
    scopes.pop()
    assert scopes.origin("y") == "global"


def test_methods_do_not_see_the_names_of_their_class():
    scopes = Scopes(frozenset())
    holder = tree("class C:\n  a = 1\n  def m(self): return a")
    scopes.push(holder)
    assert scopes.origin("a") == "local"
    scopes.push(holder.body[1])
    assert scopes.origin("a") == "global"
