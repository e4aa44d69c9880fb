import pytest

from astjit.errors import ShapeMismatch
from astjit.ir.builder import Builder, check_operands, fill_fields
from astjit.ir.function import Block
from astjit.ir.notation import parse_type
from astjit.ir.value import Literal
from astjit.location import Location
from astjit.ops.table import OPS
from astjit.types.dtype import F64
from astjit.types.shape import Sizes, Sym


def build(**options):
    block = Block()
    return Builder(block, **options), block


def test_emit_appends_a_node_with_inferred_types():
    builder, block = build(location=Location("model.py", 3))
    x = builder.param("x", parse_type("f32[rows, 4]"))
    y = builder.emit("add", x, 1)
    assert str(y.type) == "f32[rows, 4]"
    assert [n.op.name for n in block.nodes] == ["add"]
    assert y.node.operands == (x, Literal(1))
    assert str(y.location) == "model.py:3"


def test_emit_all_gives_every_result():
    builder, _ = build()
    x = builder.param("x", parse_type("f32[rows, 4]"))
    spread, mean = builder.emit_all("var_mean", x, dim=[1], keepdim=True)
    assert (str(spread.type), str(mean.type), mean.index) == ("f32[rows, 1]", "f32[rows, 1]", 1)


def test_fields_get_defaults_and_one_form():
    fields = fill_fields(OPS["var_mean"], {"dim": [1, 0]})
    assert fields == {"dim": (1, 0), "correction": 1, "keepdim": False}
    assert fill_fields(OPS["sum"], {"dim": 1})["dim"] == (1,)


def test_unknown_and_missing_fields_are_refused():
    with pytest.raises(KeyError, match="no field 'axis'"):
        fill_fields(OPS["sum"], {"axis": 1})
    with pytest.raises(KeyError, match="needs field 'dim'"):
        fill_fields(OPS["softmax"], {})


def test_operands_that_do_not_fit_are_named():
    builder, block = build()
    x = builder.param("x", parse_type("f32[4]"))
    y = builder.param("y", parse_type("f32[5]"))
    with pytest.raises(ShapeMismatch, match=r"add\(f32\[4\], f32\[5\]\): sizes 4 and 5"):
        builder.emit("add", x, y)
    assert block.nodes == []


def test_the_number_of_operands_is_the_row_s():
    with pytest.raises(TypeError, match="add takes 2 operands, not 1"):
        check_operands(OPS["add"], [Literal(1)])
    with pytest.raises(TypeError, match="operand 'other' is absent"):
        check_operands(OPS["add"], [Literal(1), None])
    check_operands(OPS["library"], [Literal(1), Literal(2), Literal(3)])


def test_what_is_no_value_is_refused():
    builder, _ = build()
    with pytest.raises(TypeError, match="not a value: 'x'"):
        builder.emit("neg", "x")


def test_the_default_dtype_decides_integers_with_floats():
    builder, _ = build(default=F64)
    x = builder.param("x", parse_type("i64[4]"))
    assert str(builder.emit("add", x, 0.5).type) == "f64[4]"


def test_questions_about_sizes_become_assumptions():
    sizes = Sizes(hints=True)
    builder, _ = build(sizes=sizes)
    x = builder.param("x", parse_type("f32[4]").with_(dims=(Sym("a", 5),)))
    y = builder.param("y", parse_type("f32[4]").with_(dims=(Sym("b", 5),)))
    assert builder.emit("add", x, y).type.dims in ((Sym("a"),), (Sym("b"),))
    assert [str(f) for f in sizes.assumed] == ["a == b"]
