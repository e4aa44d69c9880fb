"""What capture read besides tensors: listed by object, and functions asked once while they stay."""

import types

import pytest

from astjit.frontend.reads import Guard, Reads
from astjit.runtime import outside
from astjit.runtime.checks import guard_lines
from astjit.runtime.outside import Outside
from astjit.runtime.words import Words
from tests.runtime.test_guards import ONE, function


def helper(x):
    return x


def around():
    """A function's globals, with one helper."""
    names = {"helper": types.FunctionType(helper.__code__, {}), "cfg": {"eps": 2.0}}
    constants = {"fn_globals": names, "helper_code": helper.__code__, "dict": dict}
    guards = [
        Guard("fn_globals['helper'].__code__ is helper_code", "the code of helper"),
        Guard("'sum' not in fn_globals", "where sum is defined"),
        Guard("fn_globals['cfg']['eps'] == 2.0", "the value of cfg['eps']"),
    ]
    return names, constants, guards


def text_of(constants, guards):
    fn = function(ONE)
    words = Words(("x", *constants))
    words.namespace.update(constants)
    reads = Reads(("x",), list(guards), dict(constants))
    items = Outside(fn, reads, words, {fn.params[0]: "x"}, lambda param: ()).items
    return "\n".join(guard_lines(items, "False")), words.namespace


def test_few_functions_are_asked_where_they_are_found():
    _, constants, guards = around()
    assert text_of(constants, guards)[0] == (
        "# helper\n"
        "if fn_globals['helper'].__code__ is not helper_code:\n"
        "    return False\n"
        "# globals\n"
        "if 'sum' in fn_globals:\n"
        "    return False\n"
        "# cfg\n"
        "if fn_globals['cfg']['eps'] != 2.0:\n"
        "    return False"
    )


@pytest.fixture
def fits(monkeypatch):
    """The guards with a memory of functions, and what they ask."""
    monkeypatch.setattr(outside, "_FEWEST", 1)
    names, constants, guards = around()
    text, namespace = text_of(constants, guards)
    assert text == (
        "# functions and what they call\n"
        "functions_version, functions_found = functions.ask(None)\n"
        "if functions_found is None:\n"
        "    if fn_globals['helper'].__code__ is not helper_code or 'sum' in fn_globals:\n"
        "        return False\n"
        "    functions_found = ()\n"
        "    functions.keep(functions_version, functions_found)\n"
        "# cfg\n"
        "if fn_globals['cfg']['eps'] != 2.0:\n"
        "    return False"
    )
    lines = "".join(f"  {line}\n" for line in text.splitlines())
    exec(f"def fits():\n{lines}  return True\n", namespace)
    return names, namespace["fits"]


def changed_code(names):
    names["helper"].__code__ = (lambda x: x + 1).__code__


@pytest.mark.parametrize(
    "change",
    [
        changed_code,
        lambda names: names.update(sum=max),
        lambda names: names.update(helper=lambda x: x),
        lambda names: names["cfg"].update(eps=3.0),
        lambda names: names.update(cfg={"eps": 3.0}),
    ],
)
def test_a_memory_of_functions_notices_what_changes(fits, change):
    names, asked = fits
    assert [asked() for _ in range(3)] == [True] * 3
    change(names)
    assert [asked() for _ in range(3)] == [False] * 3


def test_what_does_not_matter_is_found_once_more(fits):
    names, asked = fits
    for count in range(40):
        names["count"] = count
        assert asked()
