"""Targets that are places: stored by hooks, in Python's order."""

import ast

import pytest

from astjit.frontend.rewrite import rewrite


def body(text):
    (tree,) = ast.parse("def f(x, y):\n" + "".join(f"  {t}\n" for t in text.split("\n"))).body
    made = rewrite(tree, frozenset())
    shown = ast.unparse(ast.Module(made.body, [])).replace("__astjit__", "H")
    return shown.replace("__astjit_", "t").replace("__", "").split("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "a = x.b = y",
            ["t1 = y", "a = H.bind('a', t1)", "H.store_attribute(t1, x, 'b')", "del t1"],
        ),
        (
            "(a, x[0]), b = y",
            [
                "t1, t2 = H.unpack((('a', ''), 'b'), y)",
                "t3, t4 = H.unpack(('a', ''), t1)",
                "a = H.bind('a', t3)",
                "H.store_item(t4, x, 0)",
                "del t3, t4",
                "b = H.bind('b', t2)",
                "del t1, t2",
            ],
        ),
        (
            "for x.a in y: pass",
            ["for t1 in H.iterate(y):", "    H.store_attribute(t1, x, 'a')", "    pass"],
        ),
        (
            "with x as y[0]: pass",
            ["with H.context(x) as t1:", "    H.store_item(t1, y, 0)", "    pass"],
        ),
        ("del x.a, y", ["H.delete_attribute(x, 'a')", "del y"]),
        ("[x for x[0] in y]", ["[x for _ in H.stop('a place that a comprehension stores to')]"]),
    ],
)
def test_before_and_after(before, after):
    assert body(before) == after
