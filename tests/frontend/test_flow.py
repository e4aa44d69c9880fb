import ast
import textwrap

import pytest

from astjit.frontend.flow import NONE, flow_of, inside, mentioned, written


def flow(text, *bound, always=(), swallows=False):
    """The facts of statements by what they are written as."""
    body = ast.parse(textwrap.dedent(text)).body
    found = flow_of(body, frozenset(bound), frozenset(always), lambda node: swallows)
    nodes = [part for node in body for part in inside(node)]
    return {ast.unparse(n).partition("\n")[0]: _facts(found, n) for n in nodes}


def _facts(found, node):
    key = id(node)
    return found.before[key], found.after[key], found.live[key], found.caught[key]


def before(text, statement, *bound, **options):
    return "".join(sorted(flow(text, *bound, **options)[statement][0]))


def live(text, statement, *bound, **options):
    return "".join(sorted(flow(text, *bound, **options)[statement][2]))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("if c:\n a = 1\nelse:\n a = 2\nz", "ac"),
        ("if c:\n a = 1\nz", "c"),
        ("if c:\n a = 1\nelse:\n return\nz", "ac"),
        ("for a in c:\n b = 1\nz", "c"),
        ("while True:\n a = 1\n if a: break\nz", "ac"),
        ("while c:\n a = 1\nelse:\n b = 1\nz", "bc"),
        ("with c as a:\n b = 1\nz", "abc"),
        ("try:\n a = 1\nexcept E:\n b = 1\nz", "c"),
        ("try:\n a = 1\nexcept E:\n raise\nz", "ac"),
        ("try:\n a = 1\nfinally:\n b = 1\nz", "abc"),
        ("try:\n a = 1\nexcept c as e:\n a = 2\nz", "ac"),
        ("a = 1\ndel a\nz", "c"),
        ("a = 1\nfor i in c:\n del a\nz", "c"),
        ("f(a)\nz", "acf"),
        ("match c:\n case [a]:\n  b = a\nz", "c"),
    ],
)
def test_what_is_surely_bound_before_z(text, wanted):
    assert before(text, "z", "c") == wanted


def test_a_manager_that_may_swallow_leaves_nothing_sure():
    text = "with c as a:\n b = 1\nz"
    assert before(text, "z", "c", swallows=True) == "ac"
    facts = flow("with c:\n b = 1\nz = b", "c", swallows=True)
    assert facts["b = 1"][3] == {"b"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a = 1\na", "a"),
        ("a = 1\na = 2\nb", "b"),
        ("a = 1\nif c:\n a = 2\na", "ac"),
        ("while c:\n a = 1\n b = a", "ac"),
        ("while c:\n b = a\n a = 1", "ac"),
        ("for x in c:\n a = 1\n if x: break\nelse:\n b\nd", "bdx"),
        ("try:\n a = 1\n b()\nexcept E:\n c", "Ebc"),
        ("try:\n a = 1\nfinally:\n d", "d"),
        ("a = 1\nreturn b\nc", "b"),
    ],
)
def test_what_is_read_after_a_is_bound(text, wanted):
    assert live(text, "a = 1") == wanted


def test_what_handlers_and_finally_read_is_caught():
    facts = flow("try:\n a = 1\n b = 2\nexcept E:\n a\nfinally:\n d\nf")
    assert facts["b = 2"][3] == {"E", "a", "d", "f"}
    assert facts["f"][3] == NONE


def test_what_functions_defined_inside_read_is_always_live():
    assert live("a = 1\nb", "b", always="k") == "k"


def test_statements_that_are_never_reached_have_facts():
    facts = flow("return\nif c:\n a = 1")
    assert facts["a = 1"][0] == {"c"}
    assert facts["if c:"][1] is None


def test_names_of_a_statement():
    node = ast.parse("for i in c:\n try:\n  a = b\n except E as e:\n  del d").body[0]
    assert written(node) == {"i", "a", "e", "d"}
    assert mentioned(node) == {"i", "a", "e", "d", "c", "b"}
