"""The emulator is silent on right kernels, and catches every planted bug in every schedule."""

import ctypes
import re
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from tests.emulator import SCHEDULES, BuildError, build, emulate

HELPERS = """
struct alignas(16) Vec {
  float lane[4];
};

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
  return v;
}

template <int NT>
__device__ __forceinline__ float block_sum(float v, float* slot) {
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) slot[threadIdx.x / 32] = v;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < NT / 32 ? slot[threadIdx.x % 32] : 0.0f);
}
"""

# Standardises rows of 4 * NT columns: two reductions, each with a slot of its own.
STANDARDISE = """
extern "C" __global__ void __launch_bounds__(128)
standardise(const float* __restrict__ x, float* __restrict__ y, int cols, float eps) {
  __shared__ float slots[2][4];
  const Vec* row = reinterpret_cast<const Vec*>(x + blockIdx.x * cols);
  Vec held = row[threadIdx.x];
  float sum = 0.0f;
  for (int v = 0; v < 4; ++v) sum += held.lane[v];
  const float mean = block_sum<128>(sum, slots[0]) / cols;
  float squares = 0.0f;
  for (int v = 0; v < 4; ++v) squares += (held.lane[v] - mean) * (held.lane[v] - mean);
  const float scale = rsqrtf(block_sum<128>(squares, slots[1]) / cols + eps);
  for (int v = 0; v < 4; ++v) held.lane[v] = (held.lane[v] - mean) * scale;
  reinterpret_cast<Vec*>(y + blockIdx.x * cols)[threadIdx.x] = held;
}
"""

# Reverses every group of 64 elements through shared memory.
REVERSE = """
extern "C" __global__ void __launch_bounds__(64)
reverse(const float* x, float* y, int n) {
  extern __shared__ float staged[];
  __shared__ bool any;
  const int t = threadIdx.x;
  const int i = blockIdx.x * 64 + t;
  if (t == 0) any = false;
  staged[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n && x[i] < 0.0f) any = true;
  const float mine = staged[63 - t];
  __syncthreads();
  y[i] = any ? mine : -mine;
}
"""


@dataclass(frozen=True)
class Bug:
    """A change to a right kernel, or to its helpers, and what the emulator must say of it."""

    name: str
    kernel: str
    old: str
    new: str
    expected: str

    def unit(self):
        changed = [text.replace(self.old, self.new) for text in (HELPERS, self.kernel)]
        assert changed != [HELPERS, self.kernel], "the bug is not planted"
        return tuple(changed)


PLANTED_BUGS = (
    Bug(
        "missing barrier",
        STANDARDISE,
        "__syncthreads();",
        "",
        r"uninitialised slots\[\d\]|race on slots\[\d\]",
    ),
    Bug(
        "write after read between two reductions",
        STANDARDISE,
        "slots[1]",
        "slots[0]",
        r"write-after-read race on slots\[\d\].*no barrier in between",
    ),
    Bug(
        "missing barrier around dynamic shared memory",
        REVERSE,
        "const float mine = staged[63 - t];\n  __syncthreads();",
        "const float mine = staged[63 - t];\n  staged[t] = 0.0f;\n  __syncthreads();",
        r"(write-after-read|read-after-write) race on dynamic shared memory",
    ),
    Bug(
        "barrier that some threads pass by",
        STANDARDISE,
        "float squares",
        "if (threadIdx.x < 100) __syncthreads();\n  float squares",
        r"divergent barrier: some threads wait at (kernels|helpers):\d+.*others at|deadlock",
    ),
    Bug(
        "barrier after some threads have left",
        REVERSE,
        "__syncthreads();\n  y[i]",
        "if (t == 9) return;\n  __syncthreads();\n  y[i]",
        r"divergent barrier at kernels:\d+",
    ),
    Bug(
        "collective that names an exited lane",
        STANDARDISE,
        "float sum",
        "if (threadIdx.x == 5) return;\n  float sum",
        r"the warp collective at helpers:\d+ .*names lane 5, which has exited",
    ),
    Bug(
        "full mask where half of the warp calls",
        STANDARDISE,
        "float sum = 0.0f;",
        "float sum = 0.0f;\n  if (threadIdx.x % 32 < 16) sum = __shfl_xor_sync(~0u, sum, 1);",
        r"divergent warp collectives|deadlock",
    ),
    Bug(
        "collective by a lane outside its mask",
        STANDARDISE,
        "float sum = 0.0f;",
        "float sum = 0.0f * __shfl_xor_sync(0xffffu, held.lane[0], 1);",
        r"called by lane (1[6-9]|2\d|3[01]), which is not in its mask",
    ),
    Bug(
        "misaligned vector load",
        STANDARDISE,
        "(x + blockIdx.x * cols)",
        "(x + blockIdx.x * cols + (blockIdx.x == 0))",
        r"misaligned access at kernels:\d+.*4 past a multiple of 16",
    ),
    Bug(
        "vector access to an array of floats",
        STANDARDISE,
        "float squares = 0.0f;",
        "float squares = 0.0f * reinterpret_cast<Vec*>(slots[0])->lane[0];",
        r"misaligned access at kernels:\d+.*past a multiple of 16",
    ),
    Bug(
        "over-read",
        REVERSE,
        "i < n ? x[i]",
        "i <= n ? x[i]",
        r"out-of-bounds read of 4 bytes at kernels:\d+.*0 bytes past the end of x",
    ),
    Bug(
        "over-write",
        REVERSE,
        "y[i] =",
        "y[i + 1] =",
        r"out-of-bounds write of 4 bytes at kernels:\d+.*0 bytes past the end of y"
        r"|write-after-write race on y",
    ),
    Bug(
        "write before the start",
        REVERSE,
        "y[i] =",
        "y[i - 1] =",
        r"out-of-bounds write of 4 bytes at kernels:\d+.*4 bytes before the start of y"
        r"|write-after-write race on y",
    ),
    Bug(
        "write into the next row",
        STANDARDISE,
        "(y + blockIdx.x * cols)[threadIdx.x]",
        "(y + blockIdx.x * cols)[threadIdx.x + (blockIdx.x == 0)]",
        r"write-after-write race on y\[\d+\].*of block \d",
    ),
    Bug(
        "shared over-read",
        REVERSE,
        "staged[63 - t]",
        "staged[64 - t]",
        r"out-of-bounds read .* 0 bytes past the end of dynamic shared memory",
    ),
    Bug(
        "shared row over-read",
        STANDARDISE,
        "const float mean",
        "sum += slots[0][4] * 0.0f;\n  const float mean",
        r"index 4 out of the bounds of an array at kernels:\d+",
    ),
    Bug(
        "static shared over-write",
        STANDARDISE,
        "const float mean",
        "float* slot = slots[0];\n  slot[8 + threadIdx.x] = 0.0f;\n  const float mean",
        r"out-of-bounds write of 4 bytes .* past the end of slots",
    ),
    Bug(
        "uninitialised shared read",
        REVERSE,
        "staged[t] = i",
        "if (t != 7) staged[t] = i",
        r"read of uninitialised dynamic shared memory",
    ),
    Bug(
        "flag set to different values",
        REVERSE,
        "any = true",
        "any = t % 2",
        r"write-after-write race on any\[0\]",
    ),
    Bug(
        "write to a read-only buffer",
        REVERSE,
        "y[i] =",
        "const_cast<float*>(x)[0] =",
        r"write to read-only x\[0\] at kernels:\d+",
    ),
    Bug(
        "integer division by zero",
        REVERSE,
        "blockIdx.x * 64 + t",
        "(int)blockIdx.x * 64 + t / (n - 120)",
        r"integer division by zero at kernels:7",
    ),
    Bug(
        "read through a null pointer",
        REVERSE,
        "y[i] =",
        "y[i] = *reinterpret_cast<const float*>(static_cast<long long>(n - 120)) +",
        r"out-of-bounds read .* a null pointer",
    ),
)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Builds all units of this module at once: most of a small build is the start of g++."""
    right = [(HELPERS, STANDARDISE), (HELPERS, REVERSE)]
    build([*right, *(bug.unit() for bug in PLANTED_BUGS)])


def run(helpers, kernel, schedule, seed=0):
    """Launches STANDARDISE or REVERSE, or a changed copy; returns inputs, outputs, the report."""
    generator = torch.Generator().manual_seed(1)
    if "standardise" in kernel:
        x = torch.randn(3, 512, generator=generator)
        y = torch.full_like(x, float("nan"))
        report = emulate(
            helpers, kernel, "standardise", None, [x, y, 512, 1e-5], 3, 128,
            schedule=schedule, seed=seed,
        )  # fmt: skip
    else:
        x = torch.randn(120, generator=generator)
        y = torch.full((128,), float("nan"))
        report = emulate(
            helpers, kernel, "reverse", None, [x, y, 120], 2, 64,
            shared_bytes=64 * 4, schedule=schedule, seed=seed,
        )  # fmt: skip
    return x, y, report


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_right_kernels_are_silent_and_right(schedule):
    x, y, report = run(HELPERS, STANDARDISE, schedule)
    assert report.errors == []
    assert report.unwritten == {"y": 0}
    torch.testing.assert_close(y, torch.nn.functional.layer_norm(x, (512,)))

    x, y, report = run(HELPERS, REVERSE, schedule)
    assert report.errors == []
    assert report.unwritten == {"y": 0}
    padded = torch.nn.functional.pad(x, (0, 8))
    torch.testing.assert_close(y, padded.view(2, 64).flip(1).flatten(), rtol=0, atol=0)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("bug", PLANTED_BUGS, ids=lambda bug: bug.name.replace(" ", "-"))
def test_planted_bug_is_caught(bug, schedule):
    _, _, report = run(*bug.unit(), schedule, seed=3)
    assert report.errors
    assert any(re.search(bug.expected, error) for error in report.errors), report.errors


def test_a_missing_barrier_is_reported_with_its_lines():
    bug = PLANTED_BUGS[1]
    _, _, report = run(*bug.unit(), "natural")
    (error,) = report.errors
    assert "`if (threadIdx.x % 32 == 0) slot[threadIdx.x / 32] = v;`" in error
    assert "`const float scale = rsqrtf(block_sum<128>(squares, slots[0]) / cols + eps);`" in error
    assert "[block (0, 0, 0) thread (" in error


def test_a_barrier_says_who_is_missing():
    kernel = """
__global__ void leave(float* y) {
  if (threadIdx.x == LEAVES) return;
  __syncthreads();
}
"""
    for leaves, said in ((0, "1 threads of the block have exited"), (31, "a thread exits while")):
        text = kernel.replace("LEAVES", str(leaves))
        (error,) = emulate("", text, "leave", None, [torch.zeros(1)], 1, 32).errors
        assert f"divergent barrier at kernels:4 `__syncthreads();`: {said}" in error


CONVERSIONS = """
struct bfloat16 {
  unsigned short bits;
};

struct Pair {
  int low;
  long long high;
};

extern "C" __global__ void copies(const double* a, double* b, const long long* c, long long* d,
                                  const signed char* e, signed char* f, const bool* g, bool* h,
                                  const bfloat16* i, bfloat16* j) {
  const int t = threadIdx.x;
  b[t] = a[t];
  d[t] = c[t];
  f[t] = e[t];
  h[t] = g[t];
  j[t] = i[t];
}

extern "C" __global__ void scalars(double* out, int a, long long b, unsigned c, float d, double e,
                                   bool f, unsigned char g, Pair pair) {
  const double values[] = {(double)a, (double)b, (double)c, d, e, (double)f, (double)g,
                           (double)pair.low, (double)pair.high};
  for (int i = 0; i < 9; ++i) out[i] = values[i];
}

extern "C" __global__ void indices(int* out) {
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = 100 * block + thread;
}

extern "C" __global__ void some(float* y, const float* x, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y[i] += x[0];
}
"""


def test_element_types_pass_through():
    pairs = []
    for dtype in (torch.float64, torch.int64, torch.int8, torch.bool, torch.bfloat16):
        source = torch.arange(-16, 16).to(dtype)
        pairs += [source, torch.zeros_like(source)]
    report = emulate("", CONVERSIONS, "copies", None, pairs, 1, 32)
    assert report.errors == []
    assert report.unwritten == dict.fromkeys("bdfhj", 0)
    for source, target in zip(pairs[::2], pairs[1::2], strict=True):
        assert torch.equal(source, target)


def test_scalars_and_structures_are_passed_by_value():
    class Pair(ctypes.Structure):
        _fields_ = (("low", ctypes.c_int), ("high", ctypes.c_longlong))

    out = np.zeros(9)
    args = [out, -3, 2**40, 2**32 - 1, 0.5, 1e-300, True, 200, Pair(-7, -(2**41))]
    assert emulate("", CONVERSIONS, "scalars", None, args, 1, 1).errors == []
    assert out.tolist() == [-3, 2**40, 2**32 - 1, 0.5, 1e-300, 1, 200, -7, -(2**41)]


def test_grids_and_blocks_have_three_dimensions():
    out = torch.full((2 * 3 * 2 * 8 * 2 * 3,), -1, dtype=torch.int32)
    report = emulate("", CONVERSIONS, "indices", None, [out], (2, 3, 2), (8, 2, 3))
    assert report.errors == []
    assert report.unwritten == {"out": 0}
    want = 100 * torch.arange(12)[:, None] + torch.arange(48)
    assert torch.equal(out, want.flatten().int())


def test_unwritten_elements_are_counted():
    y = torch.zeros(70)
    report = emulate("", CONVERSIONS, "some", None, [y, torch.ones(1), 60], 2, 32)
    assert report.errors == []
    assert report.unwritten == {"y": 10}
    assert y.sum() == 60


def test_an_output_must_be_written_before_it_is_read_where_asked():
    args = [torch.zeros(32), torch.ones(1), 32]
    report = emulate("", CONVERSIONS, "some", None, args, 1, 32, uninitialised=("y",))
    assert re.search(r"read of uninitialised y\[0\] at kernels:\d+", report.errors[0])


def test_views_keep_their_alignment_and_their_bounds():
    storage = torch.zeros(520)
    x, y = storage[4:516], torch.zeros(512)
    arguments = (None, [x, y, 512, 1.0], 1, 128)
    assert emulate(HELPERS, STANDARDISE, "standardise", *arguments).errors == []

    arguments[1][0] = storage[1:513]
    (error,) = emulate(HELPERS, STANDARDISE, "standardise", *arguments).errors
    assert "4 past a multiple of 16" in error

    arguments[1][0] = storage[4:514]
    (error,) = emulate(HELPERS, STANDARDISE, "standardise", *arguments).errors
    assert "out-of-bounds read of 16 bytes" in error
    assert "runs past the end of x" in error


@pytest.mark.parametrize("lanes", [3, 8, 64])
def test_copies_of_structures_are_checked_whole(lanes):
    kernel = f"""
struct Big {{
  float lane[{lanes}];
}};

__global__ void copy(const Big* x, Big* y) {{
  y[threadIdx.x] = x[threadIdx.x];
}}
"""
    x, y = torch.randn(4 * lanes), torch.zeros(4 * lanes)
    report = emulate("", kernel, "copy", None, [x, y], 1, 4)
    assert (report.errors, report.unwritten) == ([], {"y": 0})
    assert torch.equal(x, y)
    (error,) = emulate("", kernel, "copy", None, [x[:-1], y], 1, 4).errors
    assert "runs past the end of x" in error
    (error,) = emulate("", kernel, "copy", None, [x, y[:-1]], 1, 4).errors
    assert "runs past the end of y" in error


def test_arguments_that_overlap_are_one_buffer():
    both = torch.arange(40.0)
    # y[0:32] += both[8]: thread 8 writes what the others read.
    report = emulate("", CONVERSIONS, "some", None, [both[:32], both[8:], 32], 1, 32)
    assert re.search(r"race on y/x\[8\]", report.errors[0])

    apart = torch.arange(40.0)
    report = emulate("", CONVERSIONS, "some", None, [apart[:32], apart[32:], 32], 1, 32)
    assert report.errors == []
    assert torch.equal(apart[:32], torch.arange(32.0) + 32)


def test_numpy_arrays_and_empty_tensors_are_arguments():
    y = np.zeros(32, np.float32)
    assert (
        emulate("", CONVERSIONS, "some", None, [y, np.ones(1, np.float32), 32], 1, 32).errors == []
    )
    assert y.sum() == 32

    empty = torch.empty(0)
    report = emulate("", CONVERSIONS, "some", None, [empty, torch.ones(1), 0], 1, 32)
    assert (report.errors, report.unwritten) == ([], {"y": 0})
    report = emulate("", CONVERSIONS, "some", None, [empty, torch.ones(1), 1], 1, 32)
    assert "0 bytes past the end of y" in report.errors[0]


def test_unchecked_text_gives_the_same_results():
    x, y, _ = run(HELPERS, STANDARDISE, "natural")
    unchecked = torch.zeros_like(y)
    arguments = (None, [x, unchecked, 512, 1e-5], 3, 128)
    report = emulate(HELPERS, STANDARDISE, "standardise", *arguments, checked=False)
    assert (report.errors, report.unwritten) == ([], {})
    assert torch.equal(y, unchecked)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kernel_name": "other"}, "no kernel named 'other'"),
        ({"args": [torch.zeros(4)]}, "has 4 parameters, got 1"),
        ({"args": [torch.zeros(4), 1, 2, 3.0]}, "y: int for this parameter"),
        ({"grid": 0}, "grid must be one to three positive numbers"),
        ({"grid": (1, 65536)}, "exceeds"),
        ({"block": 160}, r"160 threads exceed __launch_bounds__\(128\)"),
        ({"block": 2048}, "exceeds 1024 threads"),
        ({"shared_bytes": 10**6}, "bytes of shared memory"),
        ({"schedule": "sideways"}, "schedule must be one of"),
    ],
)
def test_a_launch_that_a_gpu_would_refuse_raises(changes, message):
    launch = {
        "kernel_name": "standardise",
        "parameters": None,
        "args": [torch.zeros(1, 512), torch.zeros(1, 512), 512, 1.0],
        "grid": 1,
        "block": 128,
    }
    with pytest.raises(ValueError, match=message):
        emulate(HELPERS, STANDARDISE, **{**launch, **changes})


def test_parameters_can_be_given_as_declarations():
    # The same pointer declared const: now its buffer is read-only.
    y = torch.zeros(32)
    parameters = ["const float* y", "const float* x", "int n"]
    report = emulate("", CONVERSIONS, "some", parameters, [y, torch.ones(1), 32], 1, 32)
    assert "write to read-only y[0]" in report.errors[0]


def test_text_that_does_not_compile_raises_with_the_compilers_message():
    with pytest.raises(BuildError, match=r"kernels:1:.*missing"):
        emulate("", "__global__ void broken(int* y) { *y = missing; }", "broken", None,
                [torch.zeros(1, dtype=torch.int32)], 1, 1)  # fmt: skip


def test_a_thread_that_waits_for_ever_is_an_error():
    kernel = """
__global__ void spin(int* flag) {
  while (atomicAdd(flag, 0) == 0) __nanosleep(20);
}
"""
    report = emulate("", kernel, "spin", None, [torch.zeros(1, dtype=torch.int32)], 1, 2)
    assert "threads spin for ever" in report.errors[0]
