"""When a variable may take the next value: nothing reads what it held any more."""

from astjit.codegen.slots import End, free_slots, uses_of, words
from astjit.ir.parser import parse
from astjit.types.dtype import F32

TEXT = """fn f(%a: f32[], %b: f32[]):
  %0 = mul %a, %b
  %1 = add %0, %b
  return %0, %1
"""


def ends_of(function, *held):
    values = zip(function.body.results, ("x", "y"), held, strict=True)
    return [End(value, slot, "float", F32, holds) for value, slot, holds in values]


def test_a_variable_takes_the_next_value_if_nothing_reads_the_old_one():
    function = parse(TEXT)
    a, b = function.params
    first, second = function.body.nodes
    x, y = ends = ends_of(function, a, b)
    assert free_slots(first, ends, set(second.values)) == {first.result: x}
    assert free_slots(second, ends, set()) == {second.result: y}
    x, y = ends = ends_of(function, b, a)
    assert free_slots(first, ends, set(second.values)) == {}  # b is read once more


def test_a_value_that_another_variable_takes_is_still_read():
    function = parse(TEXT)
    a, _ = function.params
    first, _ = function.body.nodes
    ends = [End(first.result, "x", "float", F32, a), End(a, "y", "float", F32)]
    assert free_slots(first, ends, set()) == {}


def test_uses_and_words():
    function = parse(TEXT)
    a, b = function.params
    first, second = function.body.nodes
    uses = uses_of(function.body.nodes, ends_of(function, a, b), None)
    assert (uses[a], uses[b], uses[first.result], uses[second.result]) == (1, 2, 2, 1)
    assert words("x * (y2 + x)") == {"x", "y2"}
