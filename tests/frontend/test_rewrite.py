import ast
import textwrap

import pytest

from astjit.frontend.rewrite import rewrite


def rewritten(text, free=()):
    tree = ast.parse(textwrap.dedent(text)).body[0]
    made = ast.unparse(rewrite(tree, frozenset(free)))
    return made.replace("__astjit__", "H")


def body(text, parameters="x, y", free=()):
    inner = textwrap.indent(textwrap.dedent(text), "    ")
    lines = rewritten(f"def f({parameters}):\n{inner}", free).splitlines()[1:]
    return textwrap.dedent("\n".join(lines)).strip()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return x", "return x"),
        ("return g", "return H.name('g', g)"),
        ("return c", "return H.cell('c', c)"),
        ("return x.a", "return H.attribute(x, 'a')"),
        ("return x[0]", "return H.item(x, 0)"),
        ("return x[1:y, ...]", "return H.item(x, (H.slice(1, y, None), ...))"),
        (
            "return g(x, *y, k=1, **x)",
            "return H.call(H.name('g', g), x, *H.iterate(y), k=1, **H.mapping(x))",
        ),
        ("return x + 1", "return H.operand(x) + 1"),
        ("return -x", "return -H.operand(x)"),
        ("return not x", "return not H.test(x)"),
        (
            "return 1 < x < y",
            "return H.compare('Lt', H.taken(), y) if H.link('Lt', 1, x) else H.taken()",
        ),
        ("return x in y", "return H.compare('In', x, y)"),
        ("return x not in y", "return H.compare('NotIn', x, y)"),
        ("return x is None", "return H.compare('Is', x, None)"),
        ("return x is not y", "return H.compare('IsNot', x, y)"),
        (
            "return x is y is None",
            "return H.compare('Is', H.taken(), None) if H.link('Is', x, y) else H.taken()",
        ),
        (
            "return x and y or 1",
            "return H.taken() if H.either(y if H.both(x) else H.taken()) else 1",
        ),
        ("return x if y else 1", "return x if H.branch(y) else 1"),
        ("return f'{x:>3}'", "return f'{H.shown(x):>3}'"),
        ("return [*x, 1]", "return [*H.iterate(x), 1]"),
        ("return {**x, 'a': y}", "return {**H.mapping(x), 'a': y}"),
        ("return lambda a, b=y: a + x", "return lambda a, b=y: H.operand(a) + H.operand(x)"),
        ("z = x", "z = H.bind('z', x)"),
        ("z: int = x", "z = H.bind('z', x)"),
        ("z: int", "pass"),
        ("a = b = x", "a = b = H.bind('a', x)"),
        ("a, *b = x", "a, *b = H.unpack(('a', '*b'), x)"),
        ("x.a = y", "H.store_attribute(y, x, 'a')"),
        ("x[0] = y", "H.store_item(y, x, 0)"),
        (
            "x, y[0] = y",
            "__astjit_1__, __astjit_2__ = H.unpack(('x', ''), y)\n"
            "x = H.bind('x', __astjit_1__)\nH.store_item(__astjit_2__, y, 0)\n"
            "del __astjit_1__, __astjit_2__",
        ),
        ("for i, j in x: i", "for i, j in H.each(('i', 'j'), x):\n    i"),
        ("raise x from None", "raise H.raised(x) from H.raised(None)"),
        ("return x % y", "return H.remainder(x, y)"),
        ("return {x: y}", "return {H.key(x): y}"),
        ("x += y", "x = H.in_place('Add', x, y)"),
        ("x.a *= y", "H.in_place_attribute('Mult', *H.attribute_before(x, 'a'), y)"),
        ("x[0] -= y", "H.in_place_item('Sub', *H.item_before(x, 0), y)"),
        ("return (z := x)", "return (z := H.bind('z', x))"),
        ("del x", "del x"),
        ("del x[0]", "H.delete_item(x, 0)"),
        ("del x.a", "H.delete_attribute(x, 'a')"),
        ("del x[0], y", "H.delete_item(x, 0)\ndel y"),
        ("assert x, 'no'", "assert H.test(x), 'no'"),
        ("import a.b as c", "c, = (H.module('a.b', 'a.b'),)"),
        ("import a.b", "a, = (H.module('a.b', 'a'),)"),
        ("from ..m import a as b", "b, = (H.imported('m', 'a', 2),)"),
        ("global g; g = x", "global g\nH.store_name(x, 'g')"),
        (
            "global g; g += x",
            "global g\nH.store_name(H.in_place('Add', H.name('g', g), x), 'g')",
        ),
        ("nonlocal c; c = x", "nonlocal c\nH.store_cell(x, 'c')"),
        ("yield x", "yield x"),
        ("yield from x", "yield from H.iterate(x)"),
        ("await x", "H.stop('await')"),
        ("return locals()", "return H.stop('locals()')"),
        ("return super().f(x)", "return H.call(H.attribute(super(), 'f'), x)"),
        ("if x: pass", "if H.branch(x):\n    pass"),
        ("while x: pass\nelse: y", "while H.test(x):\n    pass\nelse:\n    y"),
        ("for i in x: i", "for i in H.iterate(x):\n    i"),
        ("with x as z: z", "with H.context(x) as z:\n    z"),
        (
            "return [a + b for a in x if a for b in a]",
            "return [H.operand(a) + H.operand(b) for a in H.iterate(x) if H.test(a) "
            "for b in H.iterate(a)]",
        ),
        (
            "match x:\n  case {'k': E.A} if y: z = 1",
            "__astjit_1__ = x\nif H.case(__astjit_1__, ('mapping', "
            "(('k', ('value', H.attribute(H.name('E', E), 'A'))),), None)) and H.test(y):\n"
            "    z = H.bind('z', 1)",
        ),
        (
            "@g\ndef h(a: int, b=c) -> int:\n    return a + x",
            "@H.decorator(H.name('g', g))\ndef h(a, b=H.cell('c', c)):\n"
            "    return H.operand(a) + H.operand(x)",
        ),
        (
            "class C(g):\n    k = x",
            "@H.made\nclass C(H.base(H.name('g', g))):\n    k = H.bind('k', x)",
        ),
    ],
    ids=lambda text: text.split("\n")[0],
)
def test_before_and_after(before, after):
    assert body(before, free={"c"}) == after


def test_defaults_annotations_and_decorators_are_not_part_of_the_copy():
    made = rewritten("@g\ndef f(x: int = g, *, k=h) -> str:\n    return x")
    assert made == "def f(x=None, *, k=None):\n    return x"


def test_private_names_are_mangled_before_they_become_strings():
    made = rewritten("def f(x):\n    class Box:\n        def g(self):\n            return self.__a")
    assert "return H.attribute(self, '_Box__a')" in made


def test_a_store_to_a_cell_of_the_copy_itself_is_plain():
    made = rewritten("def f(x):\n  n = 0\n  def g():\n    nonlocal n\n    n = 1\n  return g")
    assert "n = H.bind('n', 1)" in made


def test_every_new_node_stands_where_the_users_node_stood():
    text = "def f(x):\n    if x:\n        return (x +\n            g(x)[0])\n"
    tree = rewrite(ast.parse(text).body[0], frozenset())
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt):
            assert 1 <= node.lineno <= node.end_lineno <= 4
    (call,) = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.func.attr == "call"]
    assert (call.lineno, call.col_offset, call.end_col_offset) == (4, 12, 16)
    compile(ast.fix_missing_locations(ast.Module([tree], [])), "f", "exec")
