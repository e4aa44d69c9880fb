"""Rows whose text is built for one row and for many: which, what it says, what it computes."""

from dataclasses import replace

import pytest

from astjit.codegen.cpu_rows import row_stride, row_values, rows_are_lanes
from astjit.codegen.emit import cpu_unit
from astjit.fusion.schedule import cpu_schedule
from tests.codegen import records
from tests.codegen.records import RC, C, R, Record


def text_of(kernel):
    return cpu_unit([(kernel, cpu_schedule(kernel))], records.source_line, "").kernels


def lanes(kernel):
    return rows_are_lanes(kernel, cpu_schedule(kernel))


def scaled(*steps, buffers=(), at=None):
    """x * s, where s is made of a row's sum by `steps`."""
    r = Record("scaled", "row", R, C, [("x", "f32", RC, "in"), ("out", "f32", RC, "out"), *buffers])
    x = r.load("x")
    s = r.emit("reduce", x, combine="sum")
    for step in steps:
        s = step(r, s)
    r.store("out", r.emit("mul", x, s))
    return r.kernel()


def test_rows_lie_in_tiles_and_what_repeats_does_not():
    text = text_of(records.layer_norm())
    assert "for_rows<2>(rows, cols, cols, threads, [=](auto& team, long row) INLINE {" in text
    assert "const auto x_row = team.in(0, x + row * cols, cols);" in text
    assert "const auto weight_row = team.every(weight);" in text
    assert "const auto y_row = team.out(1, y + row * cols, cols);" in text
    assert "team.set(mean + row, mean_v);" in text
    assert text.count("team.write(") == 1


def test_a_kept_row_has_a_tile():
    assert "team.scratch(2, work + team.place() * cols)" in text_of(records.softmax("bf16"))


def test_numbers_of_rows_have_either_type():
    text = text_of(records.softmax())
    assert "const auto row_max = " in text
    assert "const float row" not in text
    assert {v.name for v in row_values(records.layer_norm())} >= {"mean", "rstd"}


def test_what_all_rows_give_is_set_row_by_row():
    text = text_of(records.logsumexp_mean())
    assert "team.set(all_sum_part + row, loss);" in text
    assert "const float all_sum = reduce<Sum>(0, rows" in text


def test_the_distance_of_rows():
    kernel = records.layer_norm()
    x, weight, _, mean = kernel.buffers
    assert [row_stride(b, kernel) for b in (x, weight, mean)] == ["cols", "", "cols"]
    assert row_stride(replace(x, strides=("x_stride", 1)), kernel) == "x_stride"
    assert row_stride(replace(x, strides=(0, 1)), kernel) == ""
    deep = replace(kernel, parallel=("d0", "rows"))
    assert row_stride(x, deep) is None  # rows repeat over d0
    assert row_stride(replace(x, strides=(1, 1)), deep) is None


@pytest.mark.parametrize(
    ("step", "fit"),
    [
        (lambda r, s: r.emit("rsqrt", s), True),
        (lambda r, s: r.emit("maximum", s, 1e-12), True),
        (lambda r, s: r.emit("div", s, r.size("cols")), True),
        (lambda r, s: r.emit("where", r.emit("gt", s, 0.0), s, 1.0), True),
        (lambda r, s: r.emit("where", r.emit("gt", s, 0.0), 2.0, 1.0), False),
        (lambda r, s: r.emit("where", r.emit("gt", s, 0.0), r.size("cols"), s), False),
        (lambda r, s: r.emit("pow", s, 3.0), False),
    ],
)
def test_expressions_that_a_vector_understands(step, fit):
    assert lanes(scaled(step)) == fit


def test_kernels_that_are_written_for_one_row():
    assert not lanes(records.cross_entropy())  # reads at an index
    assert not lanes(records.softmax("f64"))
    assert not lanes(records.bias_gelu())
    wide = [("t", "i64", R, "in")]
    assert not lanes(scaled(lambda r, s: r.emit("mul", s, r.load("t")), buffers=wide))


def test_a_number_of_every_row_comes_from_memory():
    kernel = scaled(
        lambda r, s: r.emit("mul", s, r.emit("mul", r.load("t"), r.load("t"))),
        buffers=[("t", "f32", R, "in")],
    )
    assert lanes(kernel)
    assert "team.value(t + row)" in text_of(kernel)
