import ast
import textwrap

import pytest

from astjit.frontend.runs import Marks, Run, place
from astjit.frontend.segmenting import Cutter, why_whole


def tree_of(text, parameters="x, y, c"):
    body = textwrap.indent(textwrap.dedent(text).strip(), " ")
    return ast.parse(f"def f({parameters}):\n{body}").body[0]


def function():
    pass


def marked(tree, *texts, kind="python"):
    """Marks of the statements whose first lines are these."""
    marks = Marks()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and ast.unparse(node).partition("\n")[0] in texts:
            if kind == "python":
                marks.python[place(node)] = "a reason"
            else:
                getattr(marks, kind).add(place(node))
    return marks


def cut(text, *texts, kind="python", parameters="x, y, c"):
    """The blocks of a function: `reads -> results: lines` for each segment, S for a statement."""
    tree = tree_of(text, parameters)
    cutter = Cutter(tree, marked(tree, *texts, kind=kind), function)

    def shown(body):
        for part in cutter.runs(body):
            if isinstance(part, Run):
                result = "return" if part.tail else " ".join(part.results)
                yield f"{' '.join(part.reads)} -> {result}: {len(part.statements)}"
            else:
                inner = [b for name in ("body", "orelse") for b in [getattr(part, name, [])] if b]
                yield ["S", *(list(shown(block)) for block in inner)] if inner else "S"

    return list(shown(tree.body))


def test_a_statement_that_stays_is_between_two_segments():
    text = "a = x * 2\nb = a + y\nprint(b)\nreturn b.sum() + a"
    assert cut(text, "print(b)") == ["x y -> a b: 2", "S", "b a -> return: 1"]


def test_only_what_is_read_later_is_given_back():
    text = "a = x * 2\nb = a + y\nprint(b)\nreturn b.sum()"
    assert cut(text, "print(b)") == ["x y -> b: 2", "S", "b -> return: 1"]


def test_statements_that_do_nothing_to_tensors_are_trimmed():
    text = "'''Text.'''\nn = 1\na = x * n\nb = a\nprint(b)\nreturn b"
    assert cut(text, "print(b)") == ["S", "S", "x n -> a: 1", "S", "S", "S"]


def test_blocks_around_a_mark_are_cut_and_others_are_taken_whole():
    text = """
        for v in c:
            x = x * v
            print(x)
        for v in c:
            y = y + v
        return x + y
    """
    assert cut(text, "print(x)") == [["S", ["x v -> x: 1", "S"]], "c y x -> return: 2"]


def test_an_early_return_stays_in_its_if():
    text = "if c > 0:\n return x * 2\na = x + y\nprint(a)\nreturn a"
    assert cut(text, "print(a)") == [["S", ["x -> return: 1"]], "x y -> a: 1", "S", "S"]


def test_a_jump_stays_in_its_loop():
    text = "for v in c:\n x = x * v\n if v > 1:\n  break\n x = x + 1\nprint(x)\nreturn x"
    assert cut(text, "print(x)")[0] == "c x -> x: 1"
    text = text.replace("x = x + 1", "print(x)")
    assert cut(text, "print(x)")[0] == ["S", ["x v -> x: 1", ["S", ["S"]], "S"]]


def test_a_name_that_may_be_unbound_is_no_result_and_no_parameter():
    text = "if c > 0:\n a = x * 2\nprint(x)\nb = y * 2\nreturn a + b"
    assert cut(text, "print(x)") == [["S", ["x -> a: 1"]], "S", "y -> b: 1", "a b -> return: 1"]
    text = "if c > 0:\n a = x * 2\nprint(x)\nreturn f(y, a)"
    assert cut(text, "print(x)")[-1] == "S"


def test_a_name_written_on_some_paths_is_given_and_given_back():
    text = "a = x\nif c > 0:\n a = x * 2\nprint(x)\nreturn a + y"
    assert cut(text, "print(x)")[1] == "c x a -> a: 1"


def test_what_a_handler_reads_ends_its_segment():
    text = "try:\n a = x * 2\n b = a * y\n b = b * 3\nexcept E:\n print(a)\n b = a\nreturn b"
    assert cut(text, "print(a)")[0] == ["S", ["x -> a: 1", "a y -> b: 2"]]
    text = text.replace("a = x * 2", "a, d = x * 2, y")
    assert cut(text, "print(a)")[0] == ["S", ["S", "a y -> b: 2"]]


def test_what_a_manager_may_swallow_ends_segments_too():
    text = "a = x\nwith c:\n a = x * 2\n b = a * y\n print(b)\nreturn a + b"
    assert cut(text, "print(b)")[1] == ["S", ["x -> a: 1", "a y -> b: 1", "S"]]


def test_variables_that_inner_functions_see():
    text = "k = x * 2\ng = lambda v: v + k\nprint(g)\nk = x * 3\nb = g(y) * k\nreturn b"
    assert cut(text, "print(g)") == ["x -> k: 1", "S", "S", "x -> k: 1", "g y k -> return: 2"]
    text = "k = 1\ndef g(v):\n nonlocal k\n k = 2\na = x * 2\nb = g(a) * k\nprint(b)\nreturn b"
    assert cut(text, "print(b)")[2:] == ["x -> a: 1", "S", "S", "S"]


def test_deleting_a_variable_stays_python():
    text = "a = x * 2\ndel a\nb = y * 2\nprint(b)\nreturn b"
    assert cut(text, "print(b)") == ["x -> a: 1", "S", "y -> b: 1", "S", "S"]


def test_cuts_and_statements_without_tensors():
    text = "a = x * 2\nb = a + y\nreturn b * 2"
    assert cut(text, "b = a + y", kind="cuts") == ["x -> a: 1", "a y -> return: 2"]
    assert cut(text, "a = x * 2", "b = a + y", kind="inert")[:2] == ["S", "S"]


def test_super_needs_the_first_parameter():
    text = "a = y * 2\nb = super().forward(a)\nprint(b)\nreturn b"
    assert cut(text, "print(b)", parameters="self, y")[0] == "self y -> b: 2"


def test_the_test_of_a_tensor_is_a_segment_of_its_own():
    tree = tree_of("if (x * 2).sum() > c:\n y = y + 1\nreturn y")
    marks = marked(tree, "if (x * 2).sum() > c:")
    found = Cutter(tree, marks, function).test(tree.body[0])
    assert found.reads == ("x", "c")
    marks.tests.add(place(found.first))
    assert Cutter(tree, marks, function).test(tree.body[0]) is None


def test_what_never_runs_reads_nothing():
    text = """
        a = c + 1
        print(x)
        try:
            raise ValueError
            b = a + 1
        except ValueError:
            y = x * 2
        return y
    """
    assert cut(text, "print(x)") == ["c -> : 1", "S", "x y -> return: 2"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("return x", ""),
        ("yield x", "a generator or coroutine"),
        ("return locals()", "locals() sees its variables"),
        ("return vars(x)", ""),
        ("return vars()", "vars() sees its variables"),
        ("return sys._getframe()", "_getframe() sees its variables"),
    ],
)
def test_functions_that_are_not_cut(text, wanted):
    found = why_whole(tree_of(text))
    assert found == wanted or wanted in found != ""
