"""The first lines of a CUDA kernel: what it takes, and its bounds."""

from astjit.codegen.cuda_head import half_pieces
from tests.codegen import records
from tests.codegen.records import RC, C, R, Record
from tests.codegen.test_cuda_view import view


def test_pieces_of_16_bit_types():
    assert half_pieces(records.softmax("bf16")) == {"bfloat16"}
    assert half_pieces(records.softmax()) == set()


def test_a_launch_of_its_own_takes_what_it_touches():
    made = view(records.rms_norm(), 1_000_000)
    assert made.schedule.variant == "split"
    assert "rms_norm(const float* __restrict__ x, const float* __restrict__ residual," in made.head
    assert "weight" not in made.head
    assert "eps" not in made.head


def test_heads():
    head = 'extern "C" __global__ void __launch_bounds__({})\nsoftmax('
    head += "const float* __restrict__ x, float* __restrict__ out, {}int cols) {{"
    assert view(records.softmax(), 1000).head == head.format(256, "")
    assert view(records.softmax(), 100).head == head.format(128, "int rows, ")
    assert "long long cols" in view(records.softmax(), 2**31).head
    assert "__launch_bounds__(512)\n" in view(records.softmax(), 50257).head


def test_a_row_in_registers_has_64_of_them():
    assert "__launch_bounds__(256, 4)\n" in view(records.softmax(), 4096).head
    assert "__launch_bounds__(256)\n" in view(records.softmax(), 1024).head


def test_an_inout_buffer_is_not_restrict():
    r = Record("k", "row", R, C, [("x", "f32", RC, "inout")])
    x = r.load("x")
    r.store("x", r.emit("sub", x, r.emit("reduce", x, combine="max")))
    assert "(float* x, int cols) {" in view(r.kernel()).head


def test_a_row_in_a_warp_that_fills_32_registers_may_have_128():
    assert "__launch_bounds__(128, 4)\n" in view(records.softmax(), 500).head
