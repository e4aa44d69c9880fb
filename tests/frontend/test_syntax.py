import ast

import pytest

from astjit.frontend.syntax import (
    Mangler,
    Transformer,
    at,
    hook,
    index,
    only_names,
    statement,
    text,
)


def expression(source):
    return ast.parse(source, mode="eval").body


def test_a_hook_is_a_call_on_the_hidden_name():
    made = ast.unparse(hook("bind", text("y"), expression("x + 1")))
    assert made == "__astjit__.bind('y', x + 1)"


@pytest.mark.parametrize(
    ("subscript", "made"),
    [
        ("x[1]", "1"),
        ("x[1:n]", "__astjit__.slice(1, n, None)"),
        ("x[..., ::2]", "(..., __astjit__.slice(None, None, 2))"),
        ("x[a, b]", "(a, b)"),
    ],
)
def test_an_index_as_an_expression(subscript, made):
    assert ast.unparse(index(expression(subscript).slice)) == made


def test_new_nodes_stand_where_the_old_one_stood():
    old = expression("\n\nabc")
    made = at(hook("operand", text("q")), old)
    places = {(n.lineno, n.col_offset) for n in ast.walk(made) if isinstance(n, ast.expr)}
    assert places == {(old.lineno, old.col_offset)}
    assert statement(hook("stop"), old).lineno == old.lineno


@pytest.mark.parametrize(
    ("target", "only"), [("a", True), ("(a, *b)", True), ("a.b", False), ("(a, b[0])", False)]
)
def test_targets_of_names(target, only):
    assert only_names(expression(target)) is only


def test_private_names_are_spelled_out():
    node = ast.parse("def f(self, __a):\n  self.__b = __c(__d=1)\n  return self.__e__")
    Mangler("_Box").visit(node)
    assert ast.unparse(node) == (
        "def f(self, _Box__a):\n    self._Box__b = _Box__c(_Box__d=1)\n    return self.__e__"
    )


def test_a_class_inside_mangles_with_its_own_name():
    node = ast.parse("def f():\n  __a = 1\n  class Inner:\n    __b = 2\n  return __a")
    Mangler("").visit(node)
    assert ast.unparse(node).splitlines()[1:4] == [
        "    __a = 1",
        "    class Inner:",
        "        _Inner__b = 2",
    ] or "        _Inner__b = 2" in ast.unparse(node)


def test_a_class_of_underscores_mangles_nothing():
    node = ast.parse("class __:\n    __b = 1")
    Mangler("Outer").visit(node)
    assert ast.unparse(node) == "class __:\n    __b = 1"


class Doubled(Transformer):
    def visit_Name(self, node):
        return ast.Constant(node.id) if isinstance(node.ctx, ast.Load) else node

    def visit_Expr(self, node):
        return [node, node]

    def visit_Return(self, node):
        return None

    def visit_Pass(self, node):
        return node


def test_parts_are_replaced_doubled_and_taken_out():
    node = ast.parse("def f():\n  g\n  a = [b, c, 1]\n  pass\n  return a")
    made = Doubled().visit(node)
    assert made is node
    assert ast.unparse(node).splitlines()[1:] == [
        "    g",
        "    g",
        "    a = ['b', 'c', 1]",
        "    pass",
    ]


def test_where_a_node_has_no_place_nothing_gets_one():
    made = at(hook("stop"), ast.Load())
    assert not hasattr(made, "lineno")
