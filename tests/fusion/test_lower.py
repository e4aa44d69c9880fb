"""Bodies: casts, rounding, sizes, each row once."""

import pytest

from astjit.config import Config
from astjit.fusion.describe import describe
from astjit.fusion.group import groups
from astjit.ir.parser import parse


def body(text, **config):
    parts = groups(parse(text), "cpu", Config(**config)).parts
    lines = describe(parts[-1].kernel).splitlines()
    return [line.strip() for line in lines if "=" in line or "store" in line]


def one(line, params, **config):
    return body(f"fn f({params}):\n  {line}\n  return %y\n", **config)


def test_operands_are_converted_to_what_the_row_computes_in():
    assert one("%y = div %x, %z", "%x: i32[n], %z: u8[n]") == [
        "%x_ = load x [n]",
        "%0 = to %x_ {f32}",
        "%z_ = load z [n]",
        "%1 = to %z_ {f32}",
        "%y_ = div %0, %1",
        "store y [n], %y_",
    ]


def test_a_value_that_is_only_stored_is_rounded_by_the_store():
    assert one("%y = add %x, 2", "%x: bf16[n]")[1:] == ["%y_ = add %x_, 2.0", "store y [n], %y_"]


@pytest.mark.parametrize(("numerics", "count"), [("eager", 1), ("fp32", 0)])
def test_a_value_used_twice_is_rounded_once(numerics, count):
    text = """fn f(%x: f16[n]):
  %a = add %x, 2
  %y = mul %a, %a
  return %y, %a
"""
    lines = body(text, numerics=numerics)
    assert sum("round_to" in line for line in lines) == count
    assert "%y_ = mul %a_, %a_" in lines
    assert "store a [n], %a_" in lines


def test_a_half_comparison_sees_half_numbers():
    lines = one("%y = le %x, 0.1", "%x: bf16[n]")
    assert lines[1] == "%y_ = le %x_, 0.100097656"
    assert one("%y = mul %x, 0.1", "%x: bf16[n]")[1] == "%y_ = mul %x_, 0.1"


def test_a_sum_of_one_element_is_never_minus_zero():
    lines = one("%y = sum %x {dim=[1]}", "%x: f32[n, 1]")
    assert lines[1] == "%y_ = add %x_, 0.0"


def test_bools_are_summed_as_integers():
    lines = one("%y = sum %x {dim=[1]}", "%x: bool[n, m]")
    assert lines[1:3] == ["%0 = to %x_ {i64}", "%y_ = reduce %0 {sum}"]


def test_equal_rows_are_computed_once():
    text = """fn f(%x: f32[rows, cols]):
  %m, %n = var_mean %x {dim=[1], keepdim=true}
  %a = sub %x, %n
  %y = mul %a, %m
  return %y
"""
    assert sum(" = sub " in line for line in body(text)) == 1


@pytest.mark.parametrize(("correction", "size"), [(0, "cols"), (1, "max(cols - 1, 0)")])
def test_sizes_of_the_reduced_axis(correction, size):
    lines = one(f"%y = var %x {{dim=[1, 2], correction={correction}}}", "%x: f32[n, a, b]")
    assert any(f"size {{value={size}}}" in line for line in lines)


def test_a_static_size_is_a_number():
    lines = one("%y = mean %x {dim=[1]}", "%x: f32[n, 8]")
    assert lines[-2:] == ["%y_ = div %0, 8.0", "store y [rows], %y_"]


def test_locations_come_from_the_function():
    text = "fn f(%x: bf16[n]):\n  %a = neg %x  ; m.py:3\n  %y = exp %a  ; m.py:4\n  return %y\n"
    (group,) = groups(parse(text), "cpu", Config()).parts
    found = [(n.op.name, str(n.location)) for n in group.kernel.body.nodes]
    assert found == [
        ("load", "m.py:3"),
        ("neg", "m.py:3"),
        ("round_to", "m.py:3"),
        ("exp", "m.py:4"),
        ("store", "m.py:4"),
    ]
    assert [str(line) for line in group.kernel.lines] == ["m.py:3", "m.py:4"]
