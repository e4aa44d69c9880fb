import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astjit.config import Config
from astjit.errors import InvalidIR, UsageError
from astjit.ir.parser import parse
from astjit.ir.printer import function_text
from astjit.passes import pipeline
from astjit.passes.pipeline import ORDER, PASSES, Pass, run
from astjit.runtime.interpret import interpret
from tests.check import assert_same, random_arguments, random_function, text_of

TEXT = """
fn f(%x: f32[a, 4], %c: bool[a, 4]):
  %n = size {value=4} : int
  %k = div 1.0, %n : float
  %0 = mul %x, %k : f32[a, 4]
  %1 = mul 0.25, %x : f32[a, 4]
  %2 = where %c, %0, %1 : f32[a, 4]
  %3 = mul %2, 2.0 : f32[a, 4]
  %4 = mul %0, 2.0 : f32[a, 4]
  %5 = add %3, %4 : f32[a, 4]
  return %5
"""


def test_the_whole_run():
    function = parse(TEXT)
    run(function, Config())
    assert function_text(function) == text_of("""
    fn f(%x: f32[a, 4], %c: bool[a, 4]):
      %0 = mul %x, 0.25 : f32[a, 4]
      %1 = mul %0, 2.0 : f32[a, 4]
      %2 = add %1, %1 : f32[a, 4]
      return %2
    """)


def test_after_stops_when_the_pass_has_run_once():
    function = parse(TEXT)
    run(function, Config(), after="cse")
    lines = function_text(function).splitlines()
    assert lines[5] == "  %2 = where %c, %0, %0 : f32[a, 4]"
    assert len(lines) == len(TEXT.splitlines()) - 1  # nothing is removed yet


def test_a_pass_can_be_skipped_but_not_a_required_one():
    function = parse(TEXT)
    run(function, Config(), skip=("cse",))
    assert "mul 0.25, %x" in function_text(function)
    with pytest.raises(UsageError, match="pass 'dce' is required"):
        run(function, Config(), skip=("dce",))
    with pytest.raises(UsageError, match="no pass is called 'inline'"):
        run(function, Config(), after="inline")


def test_a_pass_is_named_by_its_module_and_function():
    for each in PASSES:
        assert each.function.__name__ == each.name
        assert each.function.__module__ == f"astjit.passes.{each.name}"
        assert "=>" in inspect.getmodule(each.function).__doc__


def test_the_order_keeps_its_reasons():
    names = [each.name for each in PASSES]
    assert len(set(names)) == len(names)
    for earlier, later, reason in ORDER:
        assert names.index(earlier) < names.index(later), reason


def test_the_pass_that_breaks_a_function_is_named(monkeypatch):
    def drop(function):
        del function.body.nodes[0]
        return True

    monkeypatch.setattr(pipeline, "PASSES", (PASSES[1], Pass("drop", drop), *PASSES[2:]))
    with pytest.raises(InvalidIR, match="after pass 'drop'") as caught:
        run(parse(TEXT), Config())
    assert caught.value.after == "drop"


def test_an_invalid_function_is_refused_before_any_pass():
    function = parse(TEXT)
    del function.body.nodes[0]
    with pytest.raises(InvalidIR, match=r"invalid IR \(a bug"):
        run(function, Config())


@given(st.randoms(use_true_random=False), st.integers(0, 9))
@settings(max_examples=40)
def test_passes_keep_every_bit(random, seed):
    function = random_function(random, runs=True)
    arguments = random_arguments(function, seed)
    expected = interpret(function, arguments)
    for each in PASSES:
        each.function(function)
        assert_same(interpret(function, arguments), expected)
    run(function, Config())
    assert_same(interpret(function, arguments), expected)


@given(st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_a_pass_that_says_nothing_changed_changed_nothing(random):
    function = random_function(random, regions=True)
    for each in (*PASSES, *PASSES):
        before = function_text(function)
        changed = each.function(function)
        assert changed == (function_text(function) != before)


@given(st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_a_second_run_changes_nothing(random):
    function = random_function(random, regions=True)
    run(function, Config())
    text = function_text(function)
    run(function, Config())
    assert function_text(function) == text
