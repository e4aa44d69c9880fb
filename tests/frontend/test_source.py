import ast
import gc
import importlib.util
import inspect
import linecache
import textwrap
import types
import weakref

import pytest
from _pytest.assertion.rewrite import rewrite_asserts

from astjit.frontend import hooks, source
from astjit.frontend.codes import nested
from astjit.frontend.hooks import rewritten_code
from astjit.frontend.rewrite import rewrite
from astjit.frontend.source import class_of, compiled, source_of
from astjit.frontend.stops import HOOKS, Stop


@pytest.fixture
def load(tmp_path):
    """Writes a module and imports it."""
    count = iter(range(100))

    def make(text, path=None):
        path = path or tmp_path / f"module{next(count)}.py"
        path.write_text(textwrap.dedent(text))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return make


MODULE = '''
    import functools
    import math
    K = 2

    def keep(function):
        return function

    @keep
    @functools.lru_cache(maxsize=
        3)
    def decorated(x):
        return math.floor(x)

    class Outer:
        """A class."""

        def method(self, x, *, y=(1,
            2)):
            text = """first
        second"""
            return self.__secret(x), text, super().__init__

        def __secret(self, x):
            return math.ceil(x) + K.real

        class Inner:
            def method(self):
                return lambda: self.__hidden

    def outer():
        a, b = 1, 2

        def inner(x):
            def deeper():
                nonlocal a
                a += b
                return deeper
            return [x + a for _ in range(b)]

        return inner

    pair = (lambda x: x + 1, lambda x: x + 2)
    several = [
        lambda x, y=3: (
            x * y
        ),
        lambda: {k: v for k, v in ()},
    ]
    def one_line(x): return x if x else -x
'''


def functions(module):
    return [
        module.decorated.__wrapped__,
        module.Outer.method,
        module.Outer._Outer__secret,
        module.Outer.Inner.method,
        module.outer,
        module.outer(),
        *module.pair,
        *module.several,
        module.one_line,
    ]


def test_the_text_of_every_kind_of_function_is_recognised(load):
    module = load(MODULE)
    lines = linecache.getlines(module.__file__)
    for function in functions(module):
        source = source_of(function)
        assert source.file == module.__file__
        assert source.text.rstrip("\n") in "".join(lines)
        assert lines[source.first_line - 1].strip() == source.text.splitlines()[0].strip()
        assert source.tree.end_lineno - source.first_line < len(source.text.splitlines())


def test_the_right_lambda_of_a_line(load):
    module = load(MODULE)
    bodies = [compiled(source_of(f).tree, f.__code__, hooks=False) for f in module.pair]
    assert [code.co_consts[-1] for code in bodies] == [1, 2]


def test_a_file_changed_after_import_stops(load, tmp_path):
    path = tmp_path / "edited.py"
    module = load("def f(x):\n    return x + 1\n", path)
    path.write_text("def f(x):\n    return x + 2\n\n")
    with pytest.raises(Stop, match="the source of f has changed since it was imported") as stop:
        source_of(module.f)
    assert stop.value.location.line == 1


def test_a_file_whose_lines_moved_stops(load, tmp_path):
    path = tmp_path / "moved.py"
    module = load("def f(x):\n    return x + 1\n", path)
    path.write_text("def g(x):\n    return x\n\ndef f(x):\n    return x + 1\n")
    with pytest.raises(Stop):
        source_of(module.f)


def test_a_change_in_a_nested_function_is_seen(load, tmp_path):
    path = tmp_path / "nested.py"
    module = load("def f(x):\n    g = lambda y: y + 1\n    return g(x)\n", path)
    path.write_text("def f(x):\n    g = lambda y: y + 2\n    return g(x)\n\n")
    with pytest.raises(Stop):
        source_of(module.f)


def test_a_line_moved_into_a_branch_is_seen(load, tmp_path):
    """Only the target of a jump differs; the import makes the two compare step by step."""
    path = tmp_path / "branch.py"
    text = (
        "import math\ndef f(x):\n    if x:\n        math.floor(1)\n{}math.ceil(2)\n    return x\n"
    )
    module = load(text.format("    "), path)
    assert source_of(module.f).first_line == 2
    other = load(text.format("    "), path)
    path.write_text(text.format("        ") + "\n")
    with pytest.raises(Stop, match="has changed"):
        source_of(other.f)


def test_no_source_stops():
    names = {}
    exec("def f(x):\n    return x\n", names)
    with pytest.raises(Stop, match="no source for f"):
        source_of(names["f"])


def test_asserts_that_pytest_rewrote_do_not_matter():
    def function(x):
        assert x > 0
        return x

    assert source_of(function).tree.name == "function"


ASSERTS = """\
def f(x, y=2):
    if x.ndim:
        y = y - 1
        x = x + y
    assert x.shape[0] > y, "a message"
    for item in (x, y):
        assert item is not None and -1 < y
        x = [item + x for item in x]
    return y
"""


@pytest.fixture
def rewritten(tmp_path):
    """A function as pytest would import it, and the path of its file."""
    path = tmp_path / "asserting.py"
    tree = ast.parse(ASSERTS)
    rewrite_asserts(tree, ASSERTS.encode(), str(path))
    names = {}
    exec(compile(tree, str(path), "exec"), names)
    return names["f"], path


def test_rewritten_asserts_are_seen_through(rewritten):
    function, path = rewritten
    path.write_text(ASSERTS)
    assert "assert" in ast.unparse(source_of(function).tree)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y - 1", "y - 2"),
        ("        x = x + y", "    x = x + y"),
        ("> y", "> x"),
        ("[0]", "[1]"),
        ("-1 <", "-2 <"),
        ("is not None", "is None"),
        ('"a message"', '"another"'),
        ("return y", "return x"),
    ],
)
def test_a_change_is_seen_beside_rewritten_asserts(rewritten, before, after):
    function, path = rewritten
    assert before in ASSERTS
    path.write_text(ASSERTS.replace(before, after, 1))
    with pytest.raises(Stop, match="has changed"):
        source_of(function)


@pytest.mark.parametrize("text", ["(x\n", '"""x\n', "x\n  y\n", "$\n"])
def test_a_file_that_no_longer_parses_stops(load, tmp_path, text):
    path = tmp_path / "broken.py"
    module = load("def f(x):\n    return x + 1\ng = lambda x: x + 1\n", path)
    path.write_text("def f(x):\n    return " + text)
    with pytest.raises(Stop, match=r"no readable source for f|has changed"):
        source_of(module.f)
    with pytest.raises(Stop, match=r"no readable source for <lambda>|no source for"):
        source_of(module.g)


def test_equal_code_in_two_files_has_two_sources(load):
    text = "def f(x):\n    return x + 1\n"
    one, other = load(text), load(text)
    assert one.f.__code__ == other.f.__code__
    assert source_of(one.f).file != source_of(other.f).file == other.__file__


def test_lambdas_without_columns(load):
    """As with -X no_debug_ranges: told apart by what they do."""
    module = load(MODULE)
    for function in (*module.pair, *module.several, module.decorated.__wrapped__):
        code = function.__code__
        bare = function.__code__.replace(co_linetable=without_columns(code))
        found = source_of(types.FunctionType(bare, module.__dict__, "f", None, ()))
        assert ast.unparse(found.tree) == ast.unparse(source_of(function).tree)


def without_columns(code):
    """A line table that says of every instruction only its first line."""
    units = len(code.co_code) // 2
    entry = 0x80 | 13 << 3  # "no columns", then the distance to the line before
    return b"".join(bytes((entry | min(8, units - at) - 1, 0)) for at in range(0, units, 8))


def test_what_is_known_of_a_function_goes_with_it(load):
    module = load("def f(x):\n    return [x for _ in 'ab']\n")
    gc.collect()
    rewritten_code(module.f)
    assert source._KNOWN.get(module.f.__code__) is source_of(module.f)
    tables = (source._KNOWN, source._REWRITTEN, hooks._COPIES)
    before = [len(table) for table in tables]
    gone = weakref.ref(module.f.__code__)
    del module.f
    gc.collect()
    assert gone() is None
    # f itself; its copy and the comprehension inside it; its copy
    assert [b - len(table) for b, table in zip(before, tables, strict=True)] == [1, 2, 1]


def test_what_is_defined_inside_is_named_as_eager_names_it(load):
    module = load(MODULE)
    made = compiled(source_of(module.outer).fresh_tree(), module.outer.__code__, hooks=False)
    assert [inner.co_qualname for inner in nested(made)] == [
        inner.co_qualname for inner in nested(module.outer.__code__)
    ]


def test_a_fresh_tree_has_private_names_spelled_out(load):
    module = load(MODULE)
    for function in functions(module):
        source = source_of(function)
        first, second = source.fresh_tree(), source.fresh_tree()
        assert first is not second
        assert ast.dump(first, include_attributes=True) == ast.dump(second, include_attributes=True)
        shown = ast.unparse(first).replace("_Outer__", "__").replace("_Inner__", "__")
        assert shown == ast.unparse(source.tree)
    assert "_Outer__secret" in ast.unparse(source_of(module.Outer.method).fresh_tree())


def test_the_class_around_a_function():
    def code(qualified):
        return source_of.__code__.replace(co_qualname=qualified)

    names = ("f", "A.f", "A.B.f", "g.<locals>.f", "A.f.<locals>.g", "f.<locals>.A.g")
    assert [class_of(code(name)) for name in names] == ["", "A", "B", "", "A", "A"]


def test_a_recursive_name_stays_a_global():
    """The factory around the compiled copy must not capture the function's own name."""
    source = source_of(recursive)
    code = compiled(source.tree, recursive.__code__, hooks=False)
    assert code.co_freevars == ()
    assert (code.co_name, code.co_qualname) == ("recursive", "recursive")
    assert types.FunctionType(code, globals())(3) == 6


def recursive(n):
    return n and n + recursive(n - 1)


def test_hooks_are_one_more_free_name():
    scale = 2.0

    def function(x):
        return x * scale

    tree = rewrite(source_of(function).fresh_tree(), frozenset({"scale"}))
    code = compiled(tree, function.__code__, hooks=True)
    assert set(code.co_freevars) == {HOOKS, "scale"}
    assert code.co_firstlineno == function.__code__.co_firstlineno


def test_most_texts_are_compared_as_they_stand(load, monkeypatch):
    module = load(MODULE)
    monkeypatch.delattr(source, "_compile")  # what compiles trees
    for function in (module.Outer.method, module.Outer.Inner.method, module.decorated.__wrapped__):
        assert source_of(function).tree.name == function.__name__


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("x.__a", True),
        ("f'{x.__a}'", True),
        ("__a_(x, __b__)", True),
        ("x.__a__ + b__c", False),
        ("é", True),  # Python may spell it another way
    ],
)
def test_texts_without_private_names(text, private):
    assert source._has_private_names(text) is private


BLOCKS = """
def plain(x):
    return x

# a comment
def signature(
    x,
    y=(1,
  2),
):
    y = f(
        x,
    )
    # the end

    # of it


@decorated(
    1
)
def decorated(x):
    if x:
        return 1
    "no code"
    pass

class A:
    def method(self):
        return [
            self
        ]
    def after(self):
        def inner():
            return lambda: (
                1
            )
        return inner

    def text(self):
        return '''
left
'''

    def one_line(self): return self
def last(): return 1
"""


def test_the_end_of_a_function_is_where_python_finds_it():
    made = compile(BLOCKS, "blocks.py", "exec")
    lines = BLOCKS.splitlines(keepends=True)
    found = {}
    for code in nested(made):
        if code.co_name in ("<module>", "A", "<lambda>"):
            continue
        known = "".join(inspect.getblock(lines[code.co_firstlineno - 1 :]))
        found[code.co_name] = source._find_def(code, lines).text.rstrip() == known.rstrip()
    names = [
        "plain",
        "signature",
        "decorated",
        "method",
        "after",
        "inner",
        "text",
        "one_line",
        "last",
    ]
    assert found == dict.fromkeys(names, True)


def test_a_block_that_became_shorter_is_cut_from_the_next_one():
    before = "class A:\n    def f(self):\n        # why\n        # not\n        return 1\n"
    after = "    def g(self):\n        return 2\n"
    (code,) = [c for c in nested(compile(before + after, "a.py", "exec")) if c.co_name == "f"]
    edited = before.replace("        # why\n        # not\n", "") + after
    found = source._find_def(code, edited.splitlines(keepends=True))
    assert found.text == "    def f(self):\n        return 1\n"
