import pytest

from astjit.runtime.checks import (
    Bind,
    Check,
    Note,
    alternatives,
    guard_lines,
    negated,
    reason_lines,
)


@pytest.mark.parametrize(
    ("test", "opposite"),
    [
        ("g['torch'] is torch", "g['torch'] is not torch"),
        ("a.b[0] is True", "a.b[0] is not True"),
        ("type(x) is float", "type(x) is not float"),
        ("x == 2.5", "x != 2.5"),
        ("a is b or c is d", "not (a is b or c is d)"),
        ("x in y", "x not in y"),
        ("not (a or b)", "a or b"),
        ("not x._hooks", "x._hooks"),
        ("a < b", "not a < b"),
        ("ask(x)", "not ask(x)"),
        ("'int' not in g", "'int' in g"),
        ("type(s['n'][1]) is float", "type(s['n'][1]) is not float"),
        ("a == b == c", "not a == b == c"),
    ],
)
def test_the_opposite_of_a_test(test, opposite):
    assert negated(test) == opposite


def test_long_tests_are_broken_before_their_or():
    checks = [Check(f"{'x' * 30} == {n}", "", "x") for n in range(3)]
    assert list(guard_lines(checks, "MISS")) == [
        "if (",
        f"    {'x' * 30} == 0",
        f"    or {'x' * 30} == 1",
        f"    or {'x' * 30} == 2",
        "):",
        "    return MISS",
    ]


def test_what_is_too_long_is_broken_inside_its_parentheses():
    wanted = " or ".join(f"tensor_number_{n}.requires_grad" for n in range(4))
    lines = list(guard_lines([Check(f"grad_enabled() and ({wanted})", "")], "MISS"))
    assert lines == [
        "if (",
        "    grad_enabled() and (",
        "        tensor_number_0.requires_grad",
        "        or tensor_number_1.requires_grad",
        "        or tensor_number_2.requires_grad",
        "        or tensor_number_3.requires_grad",
        "    )",
        "):",
        "    return MISS",
    ]
    compile("def f():\n" + "".join(f"  {line}\n" for line in lines), "f", "exec")


def test_names_tests_and_notes_in_order():
    items = [Note("cfg"), Bind("c = g"), Check("c.a", "a", "c"), Check("c.b", "b's", "c")]
    assert list(guard_lines(items, "MISS")) == [
        "# cfg",
        "c = g",
        "if c.a or c.b:",
        "    return MISS",
    ]
    assert list(reason_lines(items)) == [
        "c = g",
        "if c.a:",
        "    return 'a'",
        "if c.b:",
        """    return "b's\"""",
    ]


def test_parts_of_an_or():
    assert alternatives("a or b.c or d == 2") == ["a", "b.c", "d == 2"]
    assert alternatives("a and b") == ["a and b"]
