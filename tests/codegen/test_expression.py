"""Expressions keep the association of the SSA with as few parentheses as C needs."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astjit.codegen.expression import ATOM, TERNARY, UNARY, Text, compose, number, round_f32
from astjit.types.dtype import BOOL, F32, F64, I32, I64, U8

A, B, C = Text("a"), Text("b"), Text("c")


def infix(sign, left, right):
    return compose(f"{{0}} {sign} {{1}}", (left, right), {})


def literal(value, dtype=F32):
    return number(value, dtype, "INFINITY", "NAN")


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (infix("+", infix("+", A, B), C), "a + b + c"),
        (infix("+", A, infix("+", B, C)), "a + (b + c)"),
        (infix("-", A, infix("-", B, C)), "a - (b - c)"),
        (infix("-", infix("-", A, B), C), "a - b - c"),
        (infix("*", infix("+", A, B), C), "(a + b) * c"),
        (infix("+", infix("*", A, B), C), "a * b + c"),
        (infix("+", A, infix("*", B, C)), "a + b * c"),
        (infix("*", A, infix("*", B, C)), "a * (b * c)"),
        (infix("/", infix("*", A, B), C), "a * b / c"),
        (infix("/", A, infix("*", B, C)), "a / (b * c)"),
        (infix("%", A, infix("/", B, C)), "a % (b / c)"),
        (infix("<", infix("+", A, B), C), "a + b < c"),
        (infix("==", A, infix("<", B, C)), "a == b < c"),
        (infix("==", A, infix("==", B, C)), "a == (b == c)"),
    ],
)
def test_association_and_precedence(made, text):
    assert made.text == text


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (infix("&", A, infix("==", B, C)), "a & (b == c)"),
        (infix("|", infix("&", A, B), C), "(a & b) | c"),
        (infix("^", A, infix("<", B, C)), "a ^ (b < c)"),
        (infix("&", A, B), "a & b"),
        (infix("&", Text("!a", UNARY), B), "!a & b"),
        (infix("||", A, infix("&&", B, C)), "a || (b && c)"),
    ],
)
def test_bits_and_conditions_have_parentheses_that_compilers_would_ask_for(made, text):
    assert made.text == text


def test_the_rank_is_that_of_the_outermost_operator():
    assert infix("*", A, B).rank == 12
    assert infix("+", A, B).rank == 11
    assert compose("expf({0})", (A,), {}).rank == ATOM
    assert compose("1.0f / sqrtf({0})", (A,), {}) == Text("1.0f / sqrtf(a)", 12)
    assert compose("{0} ? {1} : {2}", (A, B, C), {}).rank == TERNARY
    assert infix("*", compose("1.0f / sqrtf({0})", (A,), {}), B).text == "1.0f / sqrtf(a) * b"
    assert infix("*", A, compose("1.0f / sqrtf({0})", (B,), {})).text == "a * (1.0f / sqrtf(b))"
    assert infix("+", compose("{0} ? {1} : {2}", (A, B, C), {}), A).text == "(a ? b : c) + a"


def test_two_calls_are_not_one():
    assert compose("f({0}) + g({1})", (A, B), {}) == Text("f(a) + g(b)", 11)
    assert compose("f({0})(1)", (A,), {}).rank == UNARY


def test_an_operand_that_fills_an_argument_needs_no_parentheses():
    total = infix("+", A, B)
    assert compose("expf({0})", (total,), {}).text == "expf(a + b)"
    assert compose("fmodf({0}, {1})", (total, total), {}).text == "fmodf(a + b, a + b)"
    assert compose("expf(-{0})", (total,), {}).text == "expf(-(a + b))"
    assert compose("{0} ? {1} : {2}", (total, A, B), {}).text == "(a + b) ? a : b"


def test_a_sign_is_never_doubled():
    minus = compose("-{0}", (A,), {})
    assert minus == Text("-a", UNARY)
    assert compose("-{0}", (minus,), {}).text == "-(-a)"
    assert compose("-{0}", (literal(-2.0),), {}).text == "-(-2.0f)"
    assert compose("!{0}", (minus,), {}).text == "!-a"
    assert compose("-{0}", (infix("*", A, B),), {}).text == "-(a * b)"
    assert infix("-", A, literal(-2.0)).text == "a - -2.0f"


def test_casts():
    total = infix("+", A, B)
    assert compose("(float){0}", (A,), {}) == Text("(float)a", UNARY)
    assert compose("(float){0}", (total,), {}).text == "(float)(a + b)"
    assert compose("(unsigned char){0}", (total,), {}) == Text("(unsigned char)(a + b)", UNARY)
    assert compose("static_cast<float>({0})", (total,), {}).text == "static_cast<float>(a + b)"
    assert infix("/", A, compose("(float){0}", (B,), {})).text == "a / (float)b"
    wide = compose("static_cast<long long>({0})", (total,), {})
    assert infix("*", wide, C).text == "static_cast<long long>(a + b) * c"


def test_fields_are_put_in_by_name():
    assert compose("round_{dtype}({0})", (A,), {"dtype": "bf16"}).text == "round_bf16(a)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0f"), (-0.0, "-0.0f"), (1.0, "1.0f"), (-3.0, "-3.0f"), (0.1, "0.1f"),
        (1 / 3, "0.33333334f"), (0.7978845608028654, "0.7978846f"), (0.044715, "0.044715f"),
        (1e-5, "1e-05f"), (0.0001, "0.0001f"), (9.99e-5, "9.99e-05f"), (1e16, "1e+16f"),
        (16777217.0, "16777216.0f"), (3.4028234663852886e38, "3.4028235e+38f"),
        (1e-45, "1e-45f"), (1e-60, "0.0f"), (-1e-60, "-0.0f"),
        (math.inf, "INFINITY"), (-math.inf, "-INFINITY"), (math.nan, "NAN"),
        (1e39, "INFINITY"), (-1e39, "-INFINITY"), (True, "1.0f"), (7, "7.0f"),
    ],
)  # fmt: skip
def test_literals_of_f32(value, text):
    assert literal(value).text == text


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.1, F64, "0.1"), (1.0, F64, "1.0"), (-0.0, F64, "-0.0"), (1e39, F64, "1e+39"),
        (1 / 3, F64, "0.3333333333333333"), (5e-324, F64, "5e-324"), (math.inf, F64, "INFINITY"),
        (0, I64, "0"), (-1, I32, "-1"), (2**63 - 1, I64, "9223372036854775807"),
        (-(2**63), I64, "(-9223372036854775807 - 1)"), (-(2**31), I32, "-2147483648"),
        (255, U8, "255"), (2.0, I64, "2"), (True, I64, "1"),
        (0, BOOL, "false"), (0.0, BOOL, "false"), (2, BOOL, "true"), (-0.5, BOOL, "true"),
    ],
)  # fmt: skip
def test_literals_of_other_dtypes(value, dtype, text):
    assert literal(value, dtype).text == text


def test_negative_literals_bind_like_a_sign():
    assert literal(-1.0).rank == literal(-math.inf).rank == literal(-1, I64).rank == UNARY
    assert literal(1.0).rank == literal(math.inf).rank == literal(-(2**63), I64).rank == ATOM
    assert infix("*", literal(-1.0), A).text == "-1.0f * a"


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_an_f32_literal_is_the_same_number_in_the_fewest_digits(value):
    text = literal(value).text.removesuffix("f")
    assert struct.pack("f", float(text)) == struct.pack("f", value)
    digits = len(text.split("e")[0].lstrip("-").replace(".", "").strip("0"))
    shorter = f"{value:.{max(digits - 1, 1)}g}"
    assert digits <= 1 or round_f32(float(shorter)) != value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_an_f64_literal_is_the_same_number(value):
    assert struct.pack("d", float(literal(value, F64).text)) == struct.pack("d", value)


class Traced:
    """A number that remembers how it was put together."""

    def __init__(self, tree):
        self.tree = tree

    def __add__(self, other):
        return Traced(("+", self.tree, other.tree))

    def __sub__(self, other):
        return Traced(("-", self.tree, other.tree))

    def __mul__(self, other):
        return Traced(("*", self.tree, other.tree))

    def __truediv__(self, other):
        return Traced(("/", self.tree, other.tree))

    def __neg__(self):
        return Traced(("neg", self.tree))


TREES = st.recursive(
    st.sampled_from("abc"),
    lambda inner: (
        st.tuples(st.sampled_from("+-*/"), inner, inner) | st.tuples(st.just("neg"), inner)
    ),
    max_leaves=12,
)


def written(tree):
    if isinstance(tree, str):
        return Text(tree)
    if tree[0] == "neg":
        return compose("-{0}", (written(tree[1]),), {})
    return infix(tree[0], written(tree[1]), written(tree[2]))


@given(TREES)
def test_any_tree_reads_back_as_itself(tree):
    # Python gives these operators the precedence and the association that C gives them
    names = {name: Traced(name) for name in "abc"}
    assert eval(written(tree).text, names).tree == tree
