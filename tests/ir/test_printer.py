from hypothesis import given, settings
from hypothesis import strategies as st

from astjit.ir.builder import Builder
from astjit.ir.function import Block, Function
from astjit.ir.notation import parse_type
from astjit.ir.parser import parse
from astjit.ir.printer import block_text, function_text, node_text, value_names
from astjit.ir.value import Literal
from astjit.location import Location
from astjit.ops.table import OPS
from tests.check import random_function

RMS_NORM = """\
fn rms_norm(%x: f32[x0, x1], %w = state['w']: f32[w0], %eps: float) where x1 == w0:
  %0 = mul %x, %x : f32[x0, x1]  ; model.py:5
  %a, %b = var_mean %0 {dim=[1], keepdim=true} : f32[x0, 1], f32[x0, 1]  ; model.py:6
  %y = add %a, 1e-06 : f32[x0, 1]
  %y.1 = mul %y, %w : f32[x0, w0]
  return %y.1, %x, -0.0
"""


def test_a_function():
    function = Function("rms_norm")
    builder = Builder(function.body, location=Location("model.py", 5, 4, 9))
    x = builder.param("x", parse_type("f32[x0, x1]"), "x")
    w = builder.param("w", parse_type("f32[w0]"), "state['w']")
    builder.param("eps", parse_type("float"))
    squares = builder.emit("mul", x, x)
    builder.location = Location("model.py", 6)
    a, b = builder.emit_all("var_mean", squares, dim=(1,), keepdim=True)
    builder.location = None
    y = builder.emit("add", a, 1e-6)
    z = builder.emit("mul", y, w)
    for value, name in ((a, "a"), (b, "b"), (y, "y"), (z, "y")):
        value.name = name
    function.body.results += [z, x, Literal(-0.0)]
    function.assumed.append(parse(RMS_NORM).assumed[0])
    assert function_text(function) == RMS_NORM


@given(st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_what_is_printed_reads_back_as_the_same_text(random):
    text = function_text(random_function(random, regions=True))
    assert function_text(parse(text)) == text


def test_a_long_header_has_one_parameter_a_line():
    names = [f"parameter_{i}" for i in range(6)]
    function = Function("f")
    builder = Builder(function.body)
    for name in names:
        builder.param(name, parse_type("f32[rows]"))
    text = function_text(function)
    assert text.splitlines()[:3] == [
        "fn f(",
        "    %parameter_0: f32[rows],",
        "    %parameter_1: f32[rows],",
    ]
    assert max(map(len, text.splitlines())) <= 100
    assert function_text(parse(text)) == text


def test_another_default_dtype_is_printed():
    text = "fn f(%x: i64[4]) default f64:\n  %0 = add %x, 0.5 : f64[4]\n  return %0\n"
    assert function_text(parse(text)) == text


def test_names_that_are_no_identifiers_are_made_so():
    builder = Builder(Block())
    for name in ("self.w", "2x", "", "größe"):
        builder.param(name, parse_type("float"))
    assert list(value_names(builder.block).values()) == ["self_w", "_2x", "0", "größe"]


def test_absent_operands_are_none_and_undefined_ones_visible():
    builder = Builder(Block())
    x = builder.param("x", parse_type("f32[4]"))
    node = builder.emit("add", x, 1).node
    node.operands = (x, None)
    assert node_text(node, {x: "x"}) == "%? = add %x, none : f32[4]"


def test_a_block_alone():
    builder = Builder(Block())
    x = builder.param("x", parse_type("f32[rows]"))
    out = builder.param("out", parse_type("f32[rows]"))
    value = builder.emit("load", x, at="rows")
    builder.node(OPS["store"], (out, value), {"at": "rows"})
    assert block_text(builder.block, "row") == (
        "row(%x: f32[rows], %out: f32[rows]):\n"
        "  %0 = load %x {at='rows'} : f32[]\n"
        "  store %out, %0 {at='rows'}\n"
        "  yield\n"
    )
