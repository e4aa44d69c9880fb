"""Where elements lie, and what reductions start from."""

import pytest

from astjit.codegen.address import space_of
from astjit.codegen.cpu_places import Places, initial, of_nothing
from astjit.codegen.dialect import CPU
from astjit.codegen.expression import Text
from astjit.codegen.names import Names
from astjit.codegen.values import Writer
from astjit.fusion.kernel import Buffer, is_load
from astjit.types.dtype import BY_NAME
from astjit.types.shape import Sym
from tests.codegen import records
from tests.codegen.records import Record


@pytest.mark.parametrize(
    ("combine", "dtype", "text"),
    [
        ("sum", "f32", "0"), ("prod", "i64", "1"), ("any", "bool", "false"),
        ("all", "bool", "true"), ("max", "f32", "-__builtin_inff()"),
        ("min", "f64", "__builtin_inf()"), ("max", "u8", "0"), ("min", "u8", "255"),
        ("max", "i8", "(-127 - 1)"), ("min", "i32", "2147483647"),
        ("max", "i64", "(-9223372036854775807l - 1)"), ("min", "bool", "1"),
    ],
)  # fmt: skip
def test_what_a_combine_starts_from(combine, dtype, text):
    assert initial(combine, dtype) == text


@pytest.mark.parametrize(("vectors", "text"), [(True, "x_row + col"), (False, "x_row[col]")])
def test_elements_and_kept_values(vectors, text):
    kernel = records.softmax()
    load = next(n for n in kernel.body.nodes if is_load(n)).result
    rows = {b.name: f"{b.name}_row" for b in kernel.buffers}
    kept = {load: "scratch"}
    places = Places(kernel, space_of(kernel), rows, kept, {load: "x_row"}, vectors=vectors)
    assert places.element(kernel.buffers[0]) == places.kept(load) == text
    assert places.kept_dtype(load) == "f32"
    assert places.scalar(Buffer("m", BY_NAME["f32"], ("rows",))) == "m[row]"


@pytest.mark.parametrize(("one", "test"), [(False, "rows == 0 && n != 0"), (True, "rows == 0")])
def test_no_indices_are_in_range_of_nothing(one, test):
    buffers = [("x", "f32", ("rows",), "in"), ("index", "i64", () if one else ("n",), "in")]
    r = Record("picked", "pointwise", ("n",), (), [*buffers, ("y", "f32", ("n",), "out")])
    at = r.emit("checked", r.load("index"), r.emit("size", value=Sym("rows")))
    r.store("y", r.load("x", at, at="*"))
    kernel = r.kernel()
    writer = Writer(kernel, CPU, Names(), vectors=False)
    writer.texts |= {n.result: Text("rows") for n in kernel.body.nodes if n.op.name == "size"}
    assert of_nothing(kernel, writer) == [f"if ({test}) return void(*status = 1);"]


def test_truth_is_bytes_where_the_compiler_makes_the_vectors():
    kernel = records.softmax()
    mask, weight = Buffer("m", BY_NAME["bool"], ("rows",)), Buffer("w", BY_NAME["bf16"], ("rows",))
    for vectors, text in ((True, "bool"), (False, "unsigned char")):
        places = Places(kernel, space_of(kernel), {}, {}, {}, vectors=vectors)
        assert places.memory_type(mask) == places.loaded("bool") == text
        assert places.memory_type(weight) == "bf16"
