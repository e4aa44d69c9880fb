"""Each replacement of a helper with inline PTX does what the PTX does, for every pattern."""

import numpy as np
import pytest
import torch

from tests.emulator import REPLACEMENTS, MissingReplacementError, build, emulate
from tests.emulator.replacements import without_inline_ptx

HELPERS = """
// In memory only.
struct bfloat16 {
  unsigned short bits;
};

struct float16 {
  unsigned short bits;
};

__device__ __forceinline__ bfloat16 narrow_bf16(float value) {
  bfloat16 narrow;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
  return narrow;
}

__device__ __forceinline__ float widen_bf16(bfloat16 a) {
  float wide;
  asm("{ mov.b32 %0, {0, %1}; }" : "=f"(wide) : "h"(a.bits));
  return wide;
}

__device__ __forceinline__ float16 narrow_f16(float a) {
  float16 narrow;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(a));
  return narrow;
}

__device__ __forceinline__ float widen_f16(float16 a) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(a.bits));
  return wide;
}

__device__ __forceinline__ float max_nan(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
}

__device__ __forceinline__ float min_nan(float a, float b) {
  float smaller;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(smaller) : "f"(a), "f"(b));
  return smaller;
}

template <class T>
__device__ __forceinline__ T& keep_packed(T& a) {
  asm volatile("" : "+r"(reinterpret_cast<unsigned&>(a)));
  return a;
}
"""

# The same with 16-bit values as bare bits.
BITS_HELPERS = """
__device__ __forceinline__ unsigned short narrow_bf16(float a) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(a));
  return bits;
}

__device__ __forceinline__ float widen_f16(unsigned short a) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(a));
  return wide;
}
"""


def map_kernel(name, result, parameters, expression):
    """Returns a kernel that applies an expression of `i` to each element."""
    return (
        f"__global__ void {name}({result}* y, {parameters}, int n) {{\n"
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"  if (i >= n) return;\n  y[i] = {expression};\n"
        "}\n"
    )


KERNELS = "".join(
    (
        map_kernel("widen_bf16s", "float", "const bfloat16* x", "widen_bf16(x[i])"),
        map_kernel("narrow_bf16s", "bfloat16", "const float* x", "narrow_bf16(x[i])"),
        map_kernel("widen_f16s", "float", "const float16* x", "widen_f16(x[i])"),
        map_kernel("narrow_f16s", "float16", "const float* x", "narrow_f16(x[i])"),
        map_kernel("maxima", "float", "const float* a, const float* b", "max_nan(a[i], b[i])"),
        map_kernel("minima", "float", "const float* a, const float* b", "min_nan(a[i], b[i])"),
        map_kernel("kept", "float", "const float* x", "x[i]; ++keep_packed(y[i])"),
    )
)
BITS_KERNELS = "".join(
    (
        map_kernel("narrow_bf16s", "unsigned short", "const float* x", "narrow_bf16(x[i])"),
        map_kernel("widen_f16s", "float", "const unsigned short* x", "widen_f16(x[i])"),
    )
)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    build([(HELPERS, KERNELS), (BITS_HELPERS, BITS_KERNELS)])


def apply(name, y, *inputs, helpers=HELPERS, kernels=KERNELS):
    grid = -(-y.numel() // 256)
    report = emulate(helpers, kernels, name, None, [y, *inputs, y.numel()], grid, 256)
    assert report.errors == []
    assert report.unwritten == {"y": 0}
    return y


ALL_PATTERNS = torch.arange(65536, dtype=torch.int32).to(torch.uint16)
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}


def every_value(dtype):
    return ALL_PATTERNS.view(dtype)


def near_halfway(dtype):
    """Returns floats at, just below and just above every rounding boundary of a 16-bit type."""
    values = every_value(dtype).float()
    values = values[values.isfinite()].double().sort().values
    middle = ((values[1:] + values[:-1]) / 2).float()
    infinity = torch.tensor(float("inf"))
    steps = [middle, torch.nextafter(middle, infinity), torch.nextafter(middle, -infinity)]
    beyond = values[-1].float() * torch.tensor([1.0, 1.0009, 1.002, 1.00195, 1.005, 2.0])
    rest = torch.tensor([float("inf"), float("-inf"), 1e-45, -1e-45, 1e-30, -0.0, 3.4e38])
    return torch.cat([*steps, beyond, -beyond, rest])


def assert_same_bits(got, want):
    """Compares bit by bit, so that zeros keep their signs; a NaN may be any NaN."""
    assert torch.equal(got.isnan(), want.isnan())
    integer = torch.int16 if got.element_size() == 2 else torch.int32
    number = ~want.isnan()
    assert torch.equal(got.view(integer)[number], want.view(integer)[number])


@pytest.mark.parametrize("kind", TYPES)
def test_widening_every_pattern(kind):
    x = every_value(TYPES[kind])
    assert_same_bits(apply(f"widen_{kind}s", torch.empty(65536), x), x.float())


@pytest.mark.parametrize("kind", TYPES)
def test_narrowing_returns_every_pattern(kind):
    x = every_value(TYPES[kind])
    assert_same_bits(apply(f"narrow_{kind}s", torch.empty_like(x), x.float()), x)


@pytest.mark.parametrize("kind", TYPES)
def test_narrowing_rounds_to_nearest_even(kind):
    x = near_halfway(TYPES[kind])
    y = torch.empty(x.numel(), dtype=TYPES[kind])
    assert_same_bits(apply(f"narrow_{kind}s", y, x), x.to(TYPES[kind]))


def test_narrowing_makes_the_nan_that_the_instruction_makes():
    x = torch.tensor([0x7FC00000, 0x7F800001, -1, -0x400000], dtype=torch.int32).view(torch.float32)
    for kind, dtype in TYPES.items():
        y = apply(f"narrow_{kind}s", torch.empty(4, dtype=dtype), x)
        assert y.view(torch.int16).tolist() == [0x7FFF] * 4


def test_helpers_may_pass_bare_bits():
    x = near_halfway(torch.bfloat16)
    y = apply(
        "narrow_bf16s", torch.empty(x.numel(), dtype=torch.bfloat16), x,
        helpers=BITS_HELPERS, kernels=BITS_KERNELS,
    )  # fmt: skip
    assert_same_bits(y, x.bfloat16())
    x = every_value(torch.float16)
    y = apply("widen_f16s", torch.empty(65536), x, helpers=BITS_HELPERS, kernels=BITS_KERNELS)
    assert_same_bits(y, x.float())


@pytest.mark.parametrize(
    ("name", "function"), [("maxima", torch.maximum), ("minima", torch.minimum)]
)
def test_extrema_keep_nan_and_order_zeros(name, function):
    values = torch.tensor([0.0, -0.0, 1.0, -1.0, 3e38, float("inf"), -float("inf"), float("nan")])
    a, b = (grid.flatten() for grid in torch.meshgrid(values, values, indexing="ij"))
    y = apply(name, torch.empty(64), a.contiguous(), b.contiguous())
    want = function(a, b)
    assert torch.equal(y.isnan(), want.isnan())
    assert torch.equal(y[~want.isnan()], want[~want.isnan()])
    # PTX: -0.0 is less than +0.0, whichever comes first.
    sign = name == "minima"
    assert np.signbit(y.numpy()[[1, 8]]).tolist() == [sign, sign]


def test_keeping_packed_returns_the_value_itself():
    y = apply("kept", torch.empty(64), torch.arange(64.0))
    assert torch.equal(y, torch.arange(64.0) + 1)


def test_every_replacement_is_tested_here():
    tested = [name for name in REPLACEMENTS if f"{name}(" in HELPERS]
    assert sorted(tested) == sorted(REPLACEMENTS)


def test_only_helpers_with_inline_ptx_are_replaced_and_lines_keep_their_numbers():
    plain = "struct Max {\n  float a;\n};\n\n__device__ float max_nan(float a, float b) {\n"
    plain += "  return a > b ? a : b;  // no asm here\n}\n"
    assert without_inline_ptx(plain).count("return a > b ? a : b;") == 1

    replaced = without_inline_ptx(HELPERS)
    assert "asm" not in replaced
    assert "return {emulator::float_to_bf16(value)};" in replaced
    lines = HELPERS.split("\n")
    for number, first in zip(*(replaced.split("\n")[start::1] for start in (0, 1)), strict=False):
        if number.startswith("#line"):
            assert lines[int(number.split()[1]) - 1] == first


def test_inline_ptx_without_a_replacement_is_refused():
    helper = '__device__ unsigned clock() {\n  unsigned t;\n  asm("mov.u32 %0, %clock;");\n}\n'
    with pytest.raises(MissingReplacementError, match="helper 'clock' holds inline PTX"):
        without_inline_ptx(helper)
