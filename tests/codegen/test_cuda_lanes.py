"""The statements of one pass: vector loads, a lane's arithmetic, vector stores, helper pieces."""

import pytest

from astjit.codegen.cuda_lanes import held_dtype
from astjit.codegen.cuda_view import FIXED, CudaView
from astjit.codegen.emit import helper_names
from astjit.codegen.rename import rename
from astjit.fusion.schedule import schedule
from tests.codegen import records
from tests.codegen.records import RC, Record


def view(kernel, cols=4096, alignment=16):
    sizes = dict.fromkeys(kernel.axes, 3) | dict.fromkeys(kernel.swept, cols)
    chosen = schedule(kernel, "cuda", sizes, alignment)
    return CudaView(rename(kernel, chosen, helper_names("cuda"), FIXED), records.source_line)


def test_a_kept_load_goes_to_its_array():
    first, second, third = view(records.softmax()).steps
    assert first.loads == ["x_v[j] = load<4>(x + row_start + col);"]
    assert first.lanes == ["row_max = Max::combine(row_max, x_v[j][v]);"]
    assert second.loads == []
    assert second.lanes == [
        "exp_v[j][v] = expf(x_v[j][v] - row_max);",
        "row_sum += exp_v[j][v];",
    ]
    assert third.loads == ["Vec<float, 4> out_v;"]
    assert third.lanes == ["out_v[v] = exp_v[j][v] / row_sum;"]
    assert third.stores == ["store<4>(out + row_start + col, out_v);"]


def test_a_looped_row_is_loaded_again():
    steps = view(records.softmax(), 50256).steps
    load = "const Vec<float, 4> x_v = load<4>(x + row_start + col);"
    assert [load in step.loads for step in steps] == [True, True, True]


def test_16_bit_lanes_stay_packed_between_passes():
    first, second, third = view(records.softmax("bf16"), 8192).steps
    assert first.lanes == ["row_max = Max::combine(row_max, widen_bf16(x_v[j][v]));"]
    assert first.stores == second.stores == ["keep_packed(x_v[j]);"]
    assert third.lanes == ["out_v[v] = narrow_bf16(exp_v[j][v] / row_sum);"]


def test_rounding_happens_in_the_store_of_a_rounded_value():
    (first, second) = view(records.rms_norm("bf16"), 8192).steps
    assert first.lanes[:2] == [
        "h_v[j][v] = narrow_bf16(widen_bf16(x_v[v]) + widen_bf16(residual_v[v]));",
        "const float h_i = widen_bf16(h_v[j][v]);",
    ]
    assert first.stores == ["store<8>(h + row_start + col, h_v[j]);"]
    assert second.stores == ["store<8>(y + row_start + col, y_v);"]


def test_accesses_of_unaligned_rows_say_what_is_left():
    made = view(records.softmax(), 4095, 4)
    first, _, third = made.steps
    assert first.loads == ["x_v[j] = load<4>(x + row_start + col, cols - col);"]
    assert third.stores == ["store<4>(out + row_start + col, out_v, cols - col);"]
    assert made.lanes.pieces == {"load_left", "store_left"}
    assert view(records.softmax()).lanes.pieces == {"load", "store"}


def test_strided_rows():
    buffers = [("x", "f32", RC, "in", ("x_rows", "x_cols")), ("out", "f32", RC, "out", (1, "s"))]
    r = Record("copy", "pointwise", RC, (), buffers)
    r.store("out", r.emit("neg", r.load("x")))
    made = view(r.kernel())
    (step,) = made.steps
    load = "load_strided<4>(x + x_start + col * x_cols, x_cols, cols - col)"
    assert step.loads[0] == f"const Vec<float, 4> x_v = {load};"
    assert step.stores == ["store_strided(out + out_start + col * s, s, out_v, cols - col);"]
    assert made.lanes.pieces == {"load_strided", "store_strided"}


@pytest.mark.parametrize(("dtype", "held"), [("f32", "f32"), ("bf16", "bf16")])
def test_registers_hold_what_memory_holds(dtype, held):
    kernel = records.softmax(dtype)
    nodes = kernel.body.nodes
    assert held_dtype(kernel, nodes[0].results[0]).name == held
    assert held_dtype(kernel, nodes[3].results[0]).name == "f32"
    if dtype == "bf16":
        assert held_dtype(kernel, nodes[6].results[0]).name == "bf16"  # rounded
