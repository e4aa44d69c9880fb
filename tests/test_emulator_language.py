"""CUDA's built-in functions mean what CUDA's documentation says."""

import math

import numpy as np
import pytest
import torch

from tests.emulator import SCHEDULES, build, emulate

# One expression of a, b, c, i, j each -> what it must be, for the values below.
A, B, C, N, M = 0.75, -2.5, 3.0, 12, -7
BITS = np.array([A], np.float32).view(np.int32)[0]
FUNCTIONS = {
    "expf(a)": math.exp(A),
    "exp(a)": math.exp(A),
    "__expf(a)": math.exp(A),
    "exp2f(a)": 2**A,
    "expm1f(a)": math.expm1(A),
    "logf(a)": math.log(A),
    "log1pf(a)": math.log1p(A),
    "log2f(a)": math.log2(A),
    "sinf(b)": math.sin(B),
    "cosf(b)": math.cos(B),
    "tanhf(a)": math.tanh(A),
    "erff(a)": math.erf(A),
    "erfcf(a)": math.erfc(A),
    "sqrtf(a)": math.sqrt(A),
    "sqrt(a)": math.sqrt(A),
    "rsqrtf(a)": 1 / math.sqrt(A),
    "rsqrt(a)": 1 / math.sqrt(A),
    "cbrtf(a)": A ** (1 / 3),
    "powf(a, b)": A**B,
    "atan2f(a, b)": math.atan2(A, B),
    "fabsf(b)": 2.5,
    "floorf(b)": -3,
    "ceilf(b)": -2,
    "truncf(b)": -2,
    "rintf(b)": -2,
    "roundf(b)": -3,
    "fmodf(c, b)": 0.5,
    "copysignf(a, b)": -A,
    "fmaxf(a, NAN_)": A,
    "fminf(NAN_, b)": B,
    "max(a, b)": A,
    "min(i, j)": M,
    "max(i, 40000000000LL)": 40000000000,
    "min(2u, 3ull)": 2,
    "abs(j)": 7,
    "isnan(NAN_) ? 1 : 0": 1,
    "isinf(__int_as_float(0x7f800000)) ? 1 : 0": 1,
    "__float_as_int(a)": int(BITS),
    "__int_as_float(__float_as_int(b))": B,
    "__uint_as_float(__float_as_uint(c))": C,
    "__longlong_as_double(__double_as_longlong(c))": C,
    "__fmaf_rn(a, b, c)": A * B + C,
    "fmaf(a, b, c)": A * B + C,
    "__fdividef(a, b)": A / B,
    "__frcp_rn(b)": 1 / B,
    "__popc(i)": 2,
    "__clz(i)": 28,
    "__ffs(i)": 3,
    "__umulhi(0x80000000u, 6u)": 3,
    "__float2int_rn(b)": -2,
    "make_float4(a, b, c, 1.0f).z": C,
    "make_int2(i, j).y": M,
    "sizeof(float4) + alignof(float4) + alignof(uint2) + sizeof(float3)": 16 + 16 + 8 + 12,
    "__ldg(memory) + __ldcs(memory + 1)": 3,
    "(__stcs(memory + 2, 5.0f), memory[2])": 5,
}
EXPRESSIONS = list(FUNCTIONS)
FUNCTION_KERNEL = "".join(
    (
        "#define NAN_ __int_as_float(0x7fffffff)\n",
        "__global__ void functions(double* y, float* memory, float a, float b, float c, int i,",
        " int j) {\n",
        *(f"  y[{n}] = {expression};\n" for n, expression in enumerate(EXPRESSIONS)),
        "}\n",
    )
)

LANES = {
    "__shfl_sync(~0u, t, 3)": lambda t: 3,
    "__shfl_sync(~0u, t, t + 1, 8)": lambda t: t // 8 * 8 + (t + 1) % 8,
    "__shfl_xor_sync(~0u, t, 5)": lambda t: t ^ 5,
    "__shfl_xor_sync(~0u, t, 4, 4)": lambda t: t if t % 8 < 4 else t - 4,
    "__shfl_up_sync(~0u, t, 2)": lambda t: t - 2 if t >= 2 else t,
    "__shfl_up_sync(~0u, t, 1, 16)": lambda t: t - 1 if t % 16 else t,
    "__shfl_down_sync(~0u, t, 3)": lambda t: t + 3 if t < 29 else t,
    "__shfl_down_sync(~0u, 1.5 * t, 1, 4)": lambda t: 1.5 * (t + 1 if t % 4 < 3 else t),
    "__ballot_sync(~0u, t % 3 == 0)": lambda t: sum(1 << lane for lane in range(0, 32, 3)),
    "__any_sync(~0u, t == 31)": lambda t: 1,
    "__all_sync(~0u, t < 31)": lambda t: 0,
    "__syncthreads_count(t < 7)": lambda t: 7,
    "__syncthreads_or(t == 9)": lambda t: 1,
    "__syncthreads_and(t != 9)": lambda t: 0,
    "t < 16 ? __shfl_xor_sync(0xffffu, t, 1) : __shfl_xor_sync(0xffff0000u, t, 2)": lambda t: (
        t ^ 1 if t < 16 else t ^ 2
    ),
}
LANE_KERNEL = "".join(
    (
        "__global__ void lanes(double* y) {\n  const int t = threadIdx.x;\n",
        *(f"  y[32 * {n} + t] = {expression};\n" for n, expression in enumerate(LANES)),
        "}\n",
    )
)

# (operation, element type, start, what 64 threads with t = 0..63 leave)
ATOMICS = (
    ("atomicAdd(y, t)", torch.int32, 5, 5 + 2016),
    ("atomicAdd(y, 1.0f)", torch.float32, 0.5, 64.5),
    ("atomicAdd(y, 0.25)", torch.float64, 0.0, 16.0),
    ("atomicSub(y, 2)", torch.int32, 0, -128),
    ("atomicMax(y, t)", torch.int32, 7, 63),
    ("atomicMin(y, -t)", torch.int64, 7, -63),
    ("atomicOr(y, 1 << (t % 8))", torch.int32, 0, 255),
    ("atomicAnd(y, ~(1 << (t % 4)))", torch.int32, 255, 240),
    ("atomicXor(y, t)", torch.int32, 3, 3),
    ("atomicExch(y, 8)", torch.int32, 3, 8),
    ("atomicInc(y, 9)", torch.uint32, 0, 4),
)


def atomic_kernel(operation, dtype):
    names = {
        torch.int32: "int",
        torch.uint32: "unsigned",
        torch.int64: "long long",
        torch.float32: "float",
        torch.float64: "double",
    }
    return (
        f"__global__ void atomics({names[dtype]}* y) {{\n"
        f"  const int t = threadIdx.x;\n  {operation};\n}}\n"
    )


COMPARE_AND_SWAP = """
__global__ void atomics(int* y) {
  int seen = 0;
  for (int old; (old = atomicCAS(y, seen, seen + 1)) != seen; seen = old) {
  }
}
"""
STATIC_IN_TEMPLATES = """
struct Sum {
  static __device__ float combine(float a, float b) { return a + b; }
};

struct Max {
  static __device__ float combine(float a, float b) { return a > b ? a : b; }
};

template <class Op>
__device__ float pair(float v) {
  __shared__ float slot[64];
  slot[threadIdx.x] = v;
  __syncthreads();
  return Op::combine(v, slot[threadIdx.x ^ 32]);
}
"""
TWO_INSTANTIATIONS = """
__global__ void both(float* y) {
  y[threadIdx.x] = pair<Sum>(threadIdx.x) + 1000.0f * pair<Max>(threadIdx.x);
}
"""

CONTRACTION = """
__global__ void contraction(const float* x, float* y) {
  y[0] = x[0] * x[1] + x[2];
  y[1] = fmaf(x[0], x[1], x[2]);
}
"""


@pytest.fixture(scope="module", autouse=True)
def compiled():
    atomics = [("", atomic_kernel(operation, dtype)) for operation, dtype, _, _ in ATOMICS]
    rest = [FUNCTION_KERNEL, LANE_KERNEL, COMPARE_AND_SWAP, CONTRACTION]
    build([*atomics, *(("", text) for text in rest), (STATIC_IN_TEMPLATES, TWO_INSTANTIATIONS)])


def test_functions():
    y = torch.zeros(len(EXPRESSIONS), dtype=torch.float64)
    memory = torch.tensor([1.0, 2.0, 0.0])
    report = emulate("", FUNCTION_KERNEL, "functions", None, [y, memory, A, B, C, N, M], 1, 1)
    assert report.errors == []
    for expression, got in zip(EXPRESSIONS, y.tolist(), strict=True):
        assert got == pytest.approx(FUNCTIONS[expression], rel=3e-7), expression


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_lanes_and_threads_tell_each_other(schedule):
    y = torch.zeros(len(LANES), 32, dtype=torch.float64)
    report = emulate("", LANE_KERNEL, "lanes", None, [y], 1, 32, schedule=schedule)
    assert report.errors == []
    for (expression, meaning), row in zip(LANES.items(), y.tolist(), strict=True):
        assert row == [meaning(t) for t in range(32)], expression


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("operation", "dtype", "start", "end"), ATOMICS)
def test_atomics(operation, dtype, start, end, schedule):
    y = torch.tensor([start], dtype=dtype)
    kernel = atomic_kernel(operation, dtype)
    assert emulate("", kernel, "atomics", None, [y], 1, 64, schedule=schedule).errors == []
    assert y.item() == end


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_compare_and_swap(schedule):
    y = torch.zeros(1, dtype=torch.int32)
    report = emulate("", COMPARE_AND_SWAP, "atomics", None, [y], 2, 48, schedule=schedule)
    assert report.errors == []
    assert y.item() == 96


def test_each_instantiation_of_a_template_has_its_own_shared_variables():
    y = torch.zeros(64)
    report = emulate(STATIC_IN_TEMPLATES, TWO_INSTANTIATIONS, "both", None, [y], 1, 64)
    assert report.errors == []
    t = torch.arange(64.0)
    other = t.roll(32)
    assert torch.equal(y, t + other + 1000 * torch.maximum(t, other))


def test_products_are_rounded_before_they_are_added():
    x = torch.tensor([1 + 2**-13, 1 - 2**-13, -1.0])
    y = torch.zeros(2)
    assert emulate("", CONTRACTION, "contraction", None, [x, y], 1, 1).errors == []
    assert y.tolist() == [0.0, -(2.0**-26)]
