"""Which body values get names, and the texts of casts, numbers and literals."""

from collections import Counter

import pytest

from astjit.codegen.dialect import CPU, CUDA
from astjit.codegen.expression import Text
from astjit.codegen.names import Names
from astjit.codegen.values import Writer, count_uses, dtype_of, number_ctype, user_name
from astjit.types.dtype import BF16, BOOL, F32, F64, I64
from astjit.types.tensor import PY_BOOL, PY_FLOAT, PY_INT, TensorType
from tests.codegen.records import Record


def record(numbers=(), dtype="f32"):
    return Record("k", "pointwise", ("n",), (), [("x", dtype, ("n",), "in")], numbers)


def writer(r, dialect=CUDA, vectors=False):
    """A writer that knows x as `x_v`, and the numbers by their names."""
    kernel = r.kernel()
    made = Writer(kernel, dialect, Names(), vectors=vectors)
    for param in kernel.numbers:
        made.texts[param] = Text(param.name)
    return made


def statements(r, dialect=CUDA, vectors=False, more=()):
    """The lines for all nodes but loads; `more` are values used once more."""
    made = writer(r, dialect, vectors)
    nodes = r.block.nodes
    uses = count_uses(nodes) + Counter(more)

    def special(node):
        if node.op.name != "load":
            return None
        made.texts[node.results[0]] = Text("x_v")
        made.elements.add(node.results[0])
        return []

    return made.write(nodes, uses, special), made


def test_a_value_that_is_used_once_is_written_where_it_is_used():
    r = record()
    x = r.load("x")
    last = r.emit("exp", r.emit("add", x, 1.0))
    lines, made = statements(r, more=[last])
    assert lines == []
    assert made.texts[last].text == "expf(x_v + 1.0f)"


def test_a_value_that_is_used_twice_has_a_name():
    r = record()
    x = r.load("x")
    e = r.emit("exp", x)
    last = r.emit("mul", e, e)
    lines, made = statements(r, more=[last])
    assert lines == ["const float exp_value = expf(x_v);"]
    assert made.texts[last].text == "exp_value * exp_value"


def test_a_value_with_the_users_name_keeps_it():
    r = record()
    h = r.emit("add", r.load("x"), 1.0, name="h")
    last = r.emit("exp", h)
    lines, made = statements(r, more=[last])
    assert lines == ["const float h = x_v + 1.0f;"]
    assert made.texts[last].text == "expf(h)"


def test_a_long_expression_gets_a_name():
    r = record()
    value = r.load("x")
    for _ in range(12):
        value = r.emit("add", value, 0.125)
    lines, made = statements(r, more=[value])
    assert len(lines) == 1
    assert lines[0].startswith("const float add_value = x_v + 0.125f + ")
    assert made.texts[value].text.startswith("add_value + 0.125f")


def test_a_comparison_is_a_bool_or_a_mask():
    for vectors, dialect, kind in ((False, CUDA, "bool"), (True, CPU, "vi")):
        r = record()
        positive = r.emit("gt", r.load("x"), 0.0, name="positive")
        lines, _ = statements(r, dialect, vectors, [positive])
        assert lines[0].startswith(f"const {kind} positive = x_v > ")


def test_a_literal_is_written_in_the_dtype_of_its_op():
    for dtype, text in (("f32", "x_v + 2.0f"), ("f64", "x_v + 2.0"), ("i64", "x_v + 2")):
        r = record(dtype=dtype)
        total = r.emit("add", r.load("x"), 2)
        _, made = statements(r, more=[total])
        assert made.texts[total].text == text


@pytest.mark.parametrize(
    ("dialect", "text"), [(CUDA, "static_cast<double>(x_v)"), (CPU, "(double)x_v")]
)
def test_casts(dialect, text):
    r = record()
    wide = r.emit("to", r.load("x"), dtype=F64)
    _, made = statements(r, dialect, more=[wide])
    assert made.texts[wide].text == text


def test_a_cast_to_bool_is_a_comparison():
    r = record()
    truth = r.emit("to", r.load("x"), dtype=BOOL)
    _, made = statements(r, more=[truth])
    assert made.texts[truth].text == "x_v != 0.0f"


def test_sizes_are_names_or_expressions():
    r = record()
    count = r.size("cols")
    _, made = statements(r, more=[count])
    assert made.texts[count].text == "static_cast<float>(cols)"


def test_a_number_that_is_only_used_as_f32_is_a_float():
    r = record(("eps",))
    scaled = r.emit("mul", r.load("x"), r.number("eps"))
    kernel = r.kernel()
    assert number_ctype(kernel, kernel.numbers[0]) == "float"
    _, made = statements(r, more=[scaled])
    assert made.texts[scaled].text == "x_v * eps"


def test_a_number_that_is_also_used_as_f64_is_a_double():
    r = record(("eps",))
    r.number("eps")
    r.emit("to", r.params["eps"], dtype=F64)
    kernel = r.kernel()
    assert number_ctype(kernel, kernel.numbers[0]) == "double"


def test_a_scalar_beside_a_vector():
    r = record(("eps",))
    x = r.load("x")
    total = r.emit("add", x, r.number("eps"))
    largest = r.emit("maximum", x, r.number("eps"))
    _, made = statements(r, CPU, vectors=True, more=[total, largest])
    assert made.texts[total].text == "x_v + eps"  # C takes a number beside a vector
    assert made.texts[largest].text == "maximum(x_v, fill(eps))"  # a function does not
    assert made.elements >= {x, total, largest}


def test_the_arms_of_a_vectors_choice():
    r = record(("eps", "delta"))
    x, eps, delta = r.load("x"), r.number("eps"), r.number("delta")
    mask = r.emit("gt", x, 0.0)
    both = r.emit("where", mask, eps, delta)
    half = r.emit("where", mask, eps, 0.5)
    one = r.emit("where", mask, x, delta)
    _, made = statements(r, CPU, vectors=True, more=[both, half, one])
    assert made.texts[both].text == "gt_value ? fill(eps) : fill(delta)"  # not two variables
    assert made.texts[half].text == "gt_value ? fill(eps) : 0.5f"
    assert made.texts[one].text == "gt_value ? x_v : delta"


def test_an_inner_writer_sees_outer_names_but_not_the_other_way_round():
    r = record()
    h = r.emit("add", r.load("x"), 1.0, name="h")
    outer = writer(r)
    inner = outer.inner()
    assert inner.declare(h, Text("1.0f")) == "const float h = 1.0f;"
    assert h not in outer.texts
    assert "h" not in outer.names
    assert outer.inner().declare(h, Text("2.0f")) == "const float h = 2.0f;"
    assert inner.inner().texts[h].text == "h"


def test_wishes():
    r = Record("k", "row", ("rows",), ("cols",), [("x", "f32", ("rows", "cols"), "in")])
    x = r.load("x")
    total, most = r.emit("reduce", x, combine="sum"), r.emit("reduce", x, combine="max")
    narrow = r.emit("round_to", x, dtype=BF16)
    given = r.emit("exp", x, name="h_")
    made = writer(r)
    wishes = [made.wish(v) for v in (total, most, narrow, given, r.emit("exp", x))]
    assert wishes == ["row_sum", "row_max", "rounded", "h", "exp_value"]
    assert user_name(given) == "h"


def test_the_dtype_of_body_values():
    found = [dtype_of(kind) for kind in (PY_BOOL, PY_INT, PY_FLOAT)]
    assert found == [BOOL, I64, F64]
    assert dtype_of(TensorType(BF16, ())) is F32


def test_uses_do_not_count_the_buffer_of_a_store():
    r = Record("k", "pointwise", ("n",), (), [("x", "f32", ("n",), "inout")])
    x = r.load("x")
    r.store("x", r.emit("mul", x, x))
    uses = count_uses(r.block.nodes)
    assert uses[x] == 2
    assert uses[r.block.nodes[-2].results[0]] == 1
    assert uses[r.params["x"]] == 1  # the load's
