"""What the CUDA templates are given: heads, starts of rows, reductions and their slots."""

from astjit.codegen.cuda_view import FIXED, CudaView
from astjit.codegen.emit import helper_names
from astjit.codegen.rename import rename
from astjit.fusion.schedule import schedule
from tests.codegen import records
from tests.codegen.records import RC, C, R, Record


def view(kernel, cols=4096, alignment=16):
    sizes = dict.fromkeys(kernel.axes, 3) | dict.fromkeys(kernel.swept, cols)
    chosen = schedule(kernel, "cuda", sizes, alignment)
    return CudaView(rename(kernel, chosen, helper_names("cuda"), FIXED), records.source_line)


def test_buffers_of_one_layout_share_the_start_of_a_row():
    made = view(records.rms_norm()).values()
    assert made["setup"] == [
        "const int row = blockIdx.x;",
        "const long long row_start = static_cast<long long>(row) * cols;",
    ]


def test_reductions_have_slots_of_their_own():
    made = view(records.softmax())
    (first,), (second,), none = (step.reductions for step in made.steps)
    assert none == []
    assert (first.name, first.init, first.struct, first.slot) == (
        "row_max",
        "-INFINITY",
        "Max",
        "slots[0]",
    )
    assert (second.name, second.init, second.struct, second.slot) == (
        "row_sum",
        "0.0f",
        "Sum",
        "slots[1]",
    )
    assert made.values()["slot_arrays"] == [("float", "slots", 2)]


def test_slots_of_another_type():
    made = view(records.softmax("f64"))
    assert made.values()["slot_arrays"] == [("double", "slots_double", 2)]
    assert made.steps[0].reductions[0].struct == "MaxAny"


def test_kept_values_are_arrays_of_vectors():
    assert view(records.softmax()).values()["arrays"] == [
        "Vec<float, 4> x_v[4];",
        "Vec<float, 4> exp_v[4];",
    ]
    assert view(records.rms_norm()).values()["arrays"] == ["Vec<float, 4> h_v[4];"]
    assert view(records.softmax("bf16"), 8192).values()["arrays"][0] == "Vec<bfloat16, 8> x_v[4];"
    assert view(records.softmax(), 50257).values()["arrays"] == []


def test_threads_of_no_row_read_and_store_no_scalars():
    r = Record("k", "row", R, C, [("x", "f32", RC, "in"), ("w", "bf16", R, "in"),
                                  ("out", "f32", R, "out")])  # fmt: skip
    r.store("out", r.emit("mul", r.load("w"), r.emit("reduce", r.load("x"), combine="sum")))
    made = view(r.kernel(), 100)
    assert made.values()["setup"][:2] == [
        "const int row = blockIdx.x * 4 + threadIdx.y;",
        "const bool inside = row < rows;",
    ]
    lines = [line for step in made.steps for line in step.lines]
    at = "static_cast<long long>(row)"
    assert f"const float w_row = inside ? widen_bf16(w[{at}]) : 0;" in lines
    assert lines[-1] == f"if (inside && threadIdx.x == 0) out[{at}] = mul_value;"


def test_scalars_are_stored_by_one_thread():
    made = view(records.layer_norm())
    lines = [line for step in made.steps for line in step.lines]
    (store,) = (line for line in lines if "] = " in line)
    assert store.startswith("if (threadIdx.x == 0) mean[static_cast<long long>(row)] = mean")


def test_sizes_that_the_text_does_not_mention_are_no_arguments():
    arguments = view(records.softmax()).arguments()
    assert [a.name for a in arguments if a.role == "size"] == ["cols"]
    r = Record("k", "row", R, C, [("x", "f32", RC, "in"), ("out", "f32", R, "out")])
    total = r.emit("reduce", r.load("x"), combine="sum")
    r.store("out", r.emit("div", total, r.size("rows")))
    assert [a.name for a in view(r.kernel()).arguments() if a.role == "size"] == ["rows", "cols"]
