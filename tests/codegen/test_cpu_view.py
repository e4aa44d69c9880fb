"""What the CPU templates are given: row pointers, walks, stores of kept values, starts."""

from dataclasses import replace

from astjit.codegen.cpu_view import FIXED, CpuView
from astjit.codegen.emit import helper_names
from astjit.codegen.rename import rename
from astjit.fusion.schedule import cpu_schedule
from tests.codegen import records
from tests.codegen.records import RC, C, R, Record


def view(kernel):
    renamed = rename(kernel, cpu_schedule(kernel), helper_names("cpu"), FIXED)
    return CpuView(renamed, records.source_line)


def lines(text):
    return [line.strip() for line in text.splitlines()]


def test_rows_have_pointers_and_what_repeats_has_none():
    made = view(records.bias_gelu())
    assert lines(made.row_lines) == [
        "const float* x_row = x + row * cols;",
        "const float* residual_row = residual + row * cols;",
        "float* out_row = out + row * cols;",
    ]
    assert made.rows["bias"] == "bias"


def test_softmax_walks_three_times():
    steps = view(records.softmax()).steps
    assert [(s.sweep.combine, s.sweep.result) for s in steps] == [
        ("Max", "const float row_max = "),
        ("Sum", "const float row_sum = "),
        ("", ""),
    ]
    assert lines(steps[1].sweep.body) == [
        "const vf x_v = load(x_row + col, mask);",
        "const vf exp_value = exp(x_v - row_max);",
        "store(out_row + col, exp_value, mask);",
        "return exp_value;",
    ]
    assert lines(steps[2].sweep.body) == [
        "const vf exp_v = load(out_row + col, mask);",
        "store(out_row + col, exp_v / row_sum, mask);",
    ]


def test_a_kept_result_is_stored_once():
    (first, second) = view(records.rms_norm()).steps
    assert lines(first.sweep.body).count("store(h_row + col, h_v, mask);") == 1
    assert "store(h_row" not in second.sweep.body
    assert "load(h_row + col, mask)" in second.sweep.body


def test_a_kept_result_of_a_16_bit_type_is_narrowed_element_by_element_too():
    kernel = records.rms_norm("bf16")
    chosen = replace(cpu_schedule(kernel), vector=1)
    renamed = rename(kernel, chosen, helper_names("cpu"), FIXED)
    first = CpuView(renamed, records.source_line).steps[0]
    assert "put(h_row[col], h_v);" in lines(first.sweep.body)


def test_comments_and_scalars_stand_before_the_walk():
    (first, second) = view(records.rms_norm()).steps
    assert [line.split("   ")[0] for line in lines(first.lines)] == [
        "// h = x + residual",
        "// rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)",
    ]
    assert lines(second.lines)[0] == "const float rstd = rsqrt(row_sum / (float)cols + eps);"


def test_scratch_is_a_row_of_the_threads_own():
    made = view(records.softmax("bf16"))
    assert made.entry().scratch == 1
    assert lines(made.row_lines)[-1].endswith("= work + team.place() * cols;")


def test_two_rows_of_scratch_do_not_overlap():
    r = Record("two", "row", R, C, [("x", "bf16", RC, "in"), ("out", "bf16", RC, "out")])
    x = r.load("x")
    total = r.emit("reduce", x, combine="sum")
    first, second = (r.emit(op, r.emit("sub", x, total)) for op in ("exp", "tanh"))
    sums = [r.emit("reduce", v, combine="sum") for v in (first, second)]
    scaled = [r.emit("div", v, s) for v, s in zip((first, second), sums, strict=True)]
    r.store("out", r.emit("round_to", r.emit("add", *scaled), dtype=records.BY_NAME["bf16"]))
    made = view(r.kernel())
    assert made.entry().scratch == 2
    ends = [line.split(" = ")[1] for line in lines(made.row_lines)[-2:]]
    assert ends == [
        "work + (team.place() * 2 + 0) * cols;",
        "work + (team.place() * 2 + 1) * cols;",
    ]


def test_lane_by_lane():
    made = view(records.softmax("f64"))
    assert not made.vectors
    (first, *_) = made.steps
    assert (first.sweep.combine, first.sweep.kind, first.sweep.init) == (
        "Max",
        "double",
        "-__builtin_inf()",
    )
    assert lines(first.sweep.body) == ["const double x_v = x_row[col];", "return x_v;"]


def test_strided_elements():
    strides = ("x_rows", "x_cols")
    buffers = [("x", "f32", RC, "in", strides), ("out", "f32", RC, "out")]
    r = Record("copy", "pointwise", RC, (), buffers)
    r.store("out", r.emit("neg", r.load("x")))
    made = view(r.kernel())
    assert "const float* x_row = x + row * x_rows;" in lines(made.row_lines)
    assert lines(made.steps[0].sweep.body) == [
        "const float x_v = x_row[col * x_cols];",
        "out_row[col] = -x_v;",
    ]
    assert [a.name for a in made.arguments() if a.role == "stride"] == ["x_rows", "x_cols"]


def test_several_row_axes_are_taken_apart_only_where_needed():
    axes = ("d0", "d1", "d2")
    for bias, split in ((("d2",), False), (("d0", "d2"), True)):
        buffers = [("x", "f32", axes, "in"), ("b", "f32", bias, "in"), ("out", "f32", axes, "out")]
        r = Record("add", "pointwise", axes, (), buffers)
        r.store("out", r.emit("add", r.load("x"), r.load("b")))
        found = lines(view(r.kernel()).row_lines)
        assert ("const long i0 = line / d1;" in found) == split
        assert "const float* x_row = x + line * d2;" in found
        assert "const long i1 = line % d1;" not in found
