"""Every way in which Python code comes to be: compiled as it runs, or run eagerly with one warning.

Programs run through PyTorch here, without a C++ compiler: what matters is which text was captured.
"""

import dataclasses
import functools
import importlib
import linecache
import os
import py_compile
import subprocess
import sys
import types
import warnings
import zipfile

import pytest
import torch

import astjit
from astjit.errors import AstjitWarning, UsageError

X = torch.tensor([[0.5, -1.0, 2.0], [3.0, 4.0, -5.0]])


@pytest.fixture(autouse=True)
def without_a_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


def run(made, *args):
    """The result of two calls, which agree, and what was told."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first, second = made(*args), made(*args)
    assert torch.equal(first, second)
    return first, [str(w.message) for w in caught if "no C++ compiler" not in str(w.message)]


def captured(function, *args):
    """Check that a function runs as one program, with eager's answer."""
    made = astjit.compile(function)
    result, told = run(made, *args)
    assert told == []
    assert torch.equal(result, function(*args))
    assert made.cache_info().programs == 1


def eager(function, *args, why):
    """Check that a function runs as written, after one warning."""
    made = astjit.compile(function)
    result, told = run(made, *args)
    assert torch.equal(result, function(*args))
    assert made.cache_info().programs == 0
    assert len(told) == 1
    assert why in told[0]


# --- kinds of functions --------------------------------------------------------------------------


def apply(function, value):
    return function(value)


def scaled(x, k, *, j=1.0):
    return x * k + j


def times_ten(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 10

    return wrapper


def same(function):
    return function


# fmt: off
LAMBDAS = [
    lambda x: x + 1, lambda x: x * 2, (lambda x: lambda y: x - y)(3.0),
    apply(lambda f: f(lambda x: x * 5), lambda g: g),
    (lambda
        x,
        k=2.0:
            x
            * k),
    *{"a": lambda x: x + 1, "b": lambda x: x + 2}.values(),
    lambda x, f=lambda t: t * 3, g=lambda t: t * 4: f(g(x)),
    *[lambda x: x.exp() for _ in "ab"], lambda *x, **k: x[0] + len(k),
    (lambda x: x + 7) if len("ab") == 2 else (lambda x: x + 8),
]


@times_ten
@times_ten
def stacked(x): return x + 1


@same
# a comment
@functools.partial(
    same,
    )
# another
@times_ten
def commented(x):
    return x + 2


def one_line(x): a = x + 1; b = a * 2; return b  # noqa: E702


def continued(x):
    y = x + \
        1
    return y \
        * 2


class Texts:
    class Inner:
        def method(self, x):
            text = """a
b"""; return x * len(text)  # noqa: E702
# fmt: on


def counted(x):
    count = 0

    def step():
        nonlocal count
        count += 1
        return x + count

    step()
    return step()


def outer(scale):
    def inner(x):
        def deeper(y):
            return y * scale + x

        return deeper(x)

    return inner


if LAMBDAS:

    def conditional(x):
        return x + 1
else:

    def conditional(x):
        return x + 2


FUNCTIONS = {
    **{f"lambda {at}": function for at, function in enumerate(LAMBDAS)},
    "default": LAMBDAS[7].__defaults__[1],
    "nested": outer(2.0),
    "stacked": stacked,
    "commented": commented,
    "one line": one_line,
    "continued": continued,
    "text": Texts.Inner().method,
    "nonlocal": counted,
    "conditional": conditional,
    "partial": functools.partial(scaled, k=2.0),
    "partial of a partial": functools.partial(functools.partial(scaled, k=2.0), j=5.0),
    "partial of a lambda": functools.partial(lambda a, b: b - a, 2.0),
    "made": types.FunctionType(one_line.__code__, {}, "other"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    captured(FUNCTIONS[name], X)


class Base:
    scale = 3.0

    def __init__(self):
        self.__secret = 2.0
        self.by = 1.5

    def method(self, x):
        return x * self.scale + self.__secret

    def __hidden(self, x):
        return x + 7

    @astjit.compile
    def private(self, x):
        return self.__hidden(x)

    @classmethod
    @astjit.compile
    def of_class(cls, x):
        return x * cls.scale

    @staticmethod
    @astjit.compile
    def static(x):
        return x + 1

    @property
    def double(self):
        return self.by * 2

    @property
    @astjit.compile
    def compiled_double(self):
        return X * self.by

    @astjit.compile
    def reads_property(self, x):
        return x * self.double

    def __call__(self, x):
        return x * self.by

    class Inner:
        __secret = 4.0

        @astjit.compile
        def method(self, x):
            return x * self.__secret


class Derived(Base):
    @astjit.compile
    def method(self, x):
        return super().method(x) + 1

    @astjit.compile
    def names_class(self, x):
        return x * __class__.scale

    @astjit.compile
    def spelled_out(self, x):
        return super(Derived, self).method(x) + 2  # noqa: UP008

    @classmethod
    @astjit.compile
    def of_class(cls, x):
        return super().of_class(x) + 1

    @astjit.compile
    def super_property(self, x):
        return x * super().double


METHODS = {
    "method": (lambda: Derived().method, X * 3 + 2 + 1),
    "private": (lambda: Base().private, X + 7),
    "inner": (lambda: Base.Inner().method, X * 4),
    "classmethod": (lambda: Base.of_class, X * 3),
    "classmethod of an instance": (lambda: Base().of_class, X * 3),
    "staticmethod": (lambda: Base.static, X + 1),
    "property": (lambda: Base().reads_property, X * 3),
    "__class__": (lambda: Derived().names_class, X * 3),
    "super with arguments": (lambda: Derived().spelled_out, X * 3 + 2 + 2),
    "super in a classmethod": (lambda: Derived.of_class, X * 3 + 1),
    "super of a property": (lambda: Derived().super_property, X * 3),
    "bound": (lambda: astjit.compile(Base().method), X * 3 + 2),
    "object": (lambda: astjit.compile(Base()), X * 1.5),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    method, wanted = METHODS[name]
    made = method()
    made.cache_clear()
    result, told = run(made, X)
    assert (told, made.cache_info().programs) == ([], 1)
    assert torch.equal(result, wanted)


def test_a_compiled_property():
    made = Base.__dict__["compiled_double"].fget
    made.cache_clear()
    assert torch.equal(Base().compiled_double, X * 1.5)
    assert made.cache_info().programs == 1


def test_what_super_finds_may_change(monkeypatch):
    class Middle(Base):
        pass

    class Last(Middle):
        @astjit.compile
        def method(self, x):
            return super().method(x) + super().double

    last = Last()
    assert torch.equal(run(last.method, X)[0], X * 3 + 2 + 3)
    Middle.method = lambda self, x: x * 5
    assert torch.equal(run(last.method, X)[0], X * 5 + 3)
    Middle.double = property(lambda self: 4.0)
    assert torch.equal(run(last.method, X)[0], X * 5 + 4)
    del Middle.method, Middle.double
    assert torch.equal(run(last.method, X)[0], X * 3 + 2 + 3)


def test_a_compiled_partial_or_object_is_followed():
    adder, held = Base(), functools.partial(scaled, k=2.0)
    made, partial = astjit.compile(adder), astjit.compile(held)
    assert torch.equal(run(made, X)[0], X * 1.5)
    adder.by = 2.5
    assert torch.equal(run(made, X)[0], X * 2.5)
    assert torch.equal(run(partial, X)[0], X * 2 + 1)
    held.keywords["k"] = 3.0
    assert torch.equal(run(partial, X)[0], X * 3 + 1)
    assert "mul" in partial.ssa(X)
    assert "kernel" in str(astjit.explain(partial, X))
    assert "kernel" in str(astjit.explain(Derived().names_class, X))


def test_compiled_callables_are_looked_into():
    partial, thing = astjit.compile(functools.partial(scaled, k=2.0)), astjit.compile(Base())
    captured(lambda x: partial(x) + thing(x), X)


@pytest.mark.parametrize(
    ("thing", "instead"),
    [
        (staticmethod(scaled), "below @staticmethod"),
        (classmethod(scaled), "below @classmethod"),
        (property(scaled), "below @property"),
        (functools.cached_property(scaled), "below @cached_property"),
        (functools.partialmethod(scaled), "below @partialmethod"),
        (functools.lru_cache(scaled), "below @lru_cache"),
        (print, "wrap it in a function"),
        (torch.exp, "wrap it in a function"),
        (torch.Tensor.add, "wrap it in a function"),
        (functools.partial(torch.exp), "wrap it in a function"),
        (Base, "wrap it in a function"),
    ],
)
def test_what_cannot_be_compiled_says_what_to_write(thing, instead):
    with pytest.raises(UsageError) as raised:
        astjit.compile(thing)
    assert instead in raised.value.instead


@dataclasses.dataclass
class Pair:
    one: torch.Tensor

    def __post_init__(self):
        self.two = self.one


def test_generated_methods_run_eagerly():
    made = astjit.compile(Pair.__init__)
    with pytest.warns(AstjitWarning, match="no source for"):
        made(Pair(X), X)


# --- annotations ---------------------------------------------------------------------------------


def test_annotations_are_not_evaluated_again():
    seen = []

    def note(what):
        seen.append(what)
        return float

    def annotated(x: note("x"), k: note("k") = 2.0) -> note("result"):
        y: note("never") = x * k
        return y

    assert seen == ["x", "k", "result"]
    captured(annotated, X)
    assert seen == ["x", "k", "result"]


FUTURE = """\
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from nowhere import Nothing
def f(x: Nothing) -> Nothing:
    def g(a: Nothing) -> Nothing:
        return a * 2
    z: Nothing = g(x)
    return z
"""

# --- where the text is ---------------------------------------------------------------------------

TEXT = "def f(x):\n    return x * 2 + 1\n"
NFKC = "def f(ſ, ﬁ=2.0):\n    ﬀ = ſ * fi\n    class ﬂ:\n        a = ff\n    return fl.a + ﬁ\n"  # noqa: RUF001
FILES = {
    "carriage returns": TEXT.replace("\n", "\r\n").encode(),
    "tabs": TEXT.replace("    ", "\t").encode(),
    "form feeds": b"\n\f\ndef f(x):\n\f    y = x\n\f\n    return y * 2\n\f\ndef g(): pass\n",
    "byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "latin-1": "# -*- coding: latin-1 -*-\ndef f(x):\n    é = 'é' * 2; return x * len(é)\n".encode(
        "latin-1"
    ),
    "latin-1 lambda": "# coding: latin-1\nh = 'é', lambda x: x + 1, lambda x: x + len('é')\n"
    "f = h[2]\n".encode("latin-1"),
    "shift-jis": "# coding: shift_jis\ndef f(x):\n    あ = 2.0; return x * あ\n".encode(
        "shift_jis"
    ),
    "normalised names": NFKC.encode(),
    "annotations": FUTURE.encode(),
    "no newline at the end": b"def f(x):\n    return x * 3",
    "many lines": b"def f(x):\n" + b"    x = x + 1.0\n" * 300 + b"    return x\n",
    "deeply nested": ("def f(x):\n    return " + "(" * 80 + "x" + " + 1)" * 80 + "\n").encode(),
}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes and imports a module."""
    monkeypatch.syspath_prepend(str(tmp_path))
    count = iter(range(100))
    imported = []

    def make(content):
        name = f"sources_{os.getpid()}_{id(tmp_path)}_{next(count)}"
        (tmp_path / f"{name}.py").write_bytes(content)
        importlib.invalidate_caches()
        imported.append(name)
        return importlib.import_module(name)

    yield make
    for name in imported:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", FILES)
def test_files(module, name):
    captured(module(FILES[name]).f, X)


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (TEXT.replace("2", "3"), "has changed since it was imported"),
        (TEXT.replace("1", "1.0"), "has changed since it was imported"),
        ("y = 1\n" + TEXT, "no readable source"),
        ("def g(x):\n    return x\n" + TEXT, "no readable source"),
        ("def f(x):\n    return (x\n", "no readable source"),
        (None, "no source"),
    ],
)
def test_a_file_that_is_not_what_runs(module, tmp_path, after, why):
    made = module(TEXT.encode())
    path = tmp_path / f"{made.__name__}.py"
    linecache.getlines(str(path))
    if after is None:
        path.unlink()
    else:
        path.write_text(after)
    eager(made.f, X, why=why)


def test_an_edit_after_the_first_call_changes_nothing(module, tmp_path):
    made = module(TEXT.encode())
    function = astjit.compile(made.f)
    run(function, X)
    (tmp_path / f"{made.__name__}.py").write_text(TEXT.replace("2", "3"))
    result, told = run(function, X[:, 1:2])
    assert told == []
    assert torch.equal(result, X[:, 1:2] * 2 + 1)


def test_a_reloaded_module(module, tmp_path):
    made = module(TEXT.encode())
    old = made.f

    @astjit.compile
    def caller(x):
        return made.f(x)

    assert torch.equal(run(caller, X)[0], X * 2 + 1)
    (tmp_path / f"{made.__name__}.py").write_text(TEXT.replace("2", "33"))
    importlib.reload(made)
    captured(made.f, X)
    assert torch.equal(run(caller, X)[0], X * 33 + 1)
    captured(old, X)  # its text was read before the file changed


def test_in_an_archive(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("zipped_source.py", TEXT)
    monkeypatch.syspath_prepend(str(tmp_path / "archive.zip"))
    captured(importlib.import_module("zipped_source").f, X)


def test_without_its_text(tmp_path, monkeypatch):
    (tmp_path / "text.py").write_text(TEXT)
    py_compile.compile(str(tmp_path / "text.py"), cfile=str(tmp_path / "only_code.pyc"))
    (tmp_path / "text.py").unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    eager(importlib.import_module("only_code").f, X, why="no source for f")


def define(text, file):
    names = {}
    exec(compile(text, file, "exec"), names)
    return names["f"]


def test_exec(monkeypatch):
    eager(define(TEXT, "<string>"), X, why="no source for f")
    cells = dict(linecache.cache)
    monkeypatch.setattr(linecache, "cache", cells)
    for number in (1, 2):  # a cell, run again under another name
        text, file = TEXT.replace("2", f"{number}.5"), f"<cell {number}>"
        cells[file] = (len(text), None, text.splitlines(keepends=True), file)
        function = define(text, file)
        captured(function, X)
        assert torch.equal(function(X), X * (number + 0.5) + 1)
    eager(define(TEXT, "<cell 1>"), X, why="has changed since it was imported")


OF_LISTS = """
from dataclasses import dataclass
BY = 2.0
HELD = []
def scaled(xs):
    return xs[0] * BY
def kept(x, into=HELD):
    into.append(x)
    return into
class Pair(tuple):
    def __new__(cls, a, b):
        return super().__new__(cls, (a * BY, b))
@dataclass
class Record:
    x: object
    def scaled(self):
        return self.x * BY
CALLS = {
    "list": lambda x: scaled([x]),
    "record": lambda x: Record(x).scaled(),
    "tuple": lambda x: x * Pair(1.0, x)[0],
    "append": lambda x: (x * BY, kept(kept(x)))[0],
}
def f(x):
    return CALLS[KEY](x)
"""


@pytest.mark.filterwarnings("ignore:.*no C")  # compiler
@pytest.mark.parametrize("file", ["<cell 7>", "<string>"])
@pytest.mark.parametrize("key", ["list", "record", "tuple", "append"])
def test_functions_of_a_cell_that_are_given_lists_and_records(monkeypatch, key, file):
    monkeypatch.setattr(linecache, "cache", dict(linecache.cache))
    linecache.cache[file] = len(OF_LISTS), None, OF_LISTS.splitlines(keepends=True), file
    function = define(OF_LISTS, file)
    names, compiled = function.__globals__, astjit.compile(function)
    names["KEY"] = key
    for by in (2.0, 5.0):
        names["BY"] = by
        assert torch.equal(compiled(X), X * by)
        if key == "append":
            assert names["HELD"][0] is X
            assert names["HELD"][1] is names["HELD"]
        names["HELD"].clear()
    assert compiled.cache_info().hits == 1


def test_code_replaced_at_run_time():
    def one(x):
        return x + 1

    def other(x):
        return x + 2

    made = astjit.compile(one)
    assert torch.equal(run(made, X)[0], X + 1)
    one.__code__ = other.__code__
    assert torch.equal(run(made, X)[0], X + 2)


def test_asserts_that_pytest_rewrote_are_captured():
    def checked(x):
        assert x.shape[0] > 1, "too few"
        return x + 1

    captured(checked, X)


SCRIPT = """\
import torch, astjit
@astjit.compile
def f(x):
    return x * 2

g = astjit.compile(lambda x: x + 1)
print(f(torch.ones(2)).tolist(), f(torch.ones(2)).tolist(), g(torch.ones(2)).tolist())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "given"), [(["-c", SCRIPT], ""), (["-"], SCRIPT), (["-i", "-q"], SCRIPT)]
)
def test_no_file(arguments, given):
    ran = subprocess.run(
        [sys.executable, *arguments], input=given, capture_output=True, text=True, check=False
    )
    assert ran.stdout == "[2.0, 2.0] [2.0, 2.0] [2.0, 2.0]\n", ran.stderr
    told = [line for line in ran.stderr.splitlines() if "AstjitWarning" in line]
    assert [line.rpartition(": ")[2] for line in told] == [
        "no source for f",
        "no source for <lambda>",
    ]


def test_an_object_around_a_compiled_function_does_what_it_says():
    @astjit.compile
    def inner(x):
        return x * 2

    class Wrapper:
        def __init__(self, function):
            functools.update_wrapper(self, function)
            self.function = function

        def __call__(self, x):
            return self.function(x) + 1

    wrapper = Wrapper(inner)

    def outer(x):
        return wrapper(x) * 3

    assert astjit.compile(outer)(torch.ones(3)).tolist() == [9.0, 9.0, 9.0]
