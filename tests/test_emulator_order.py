"""Order between threads that no barrier orders: fences, atomics, and the blocks that use them."""

import re

import pytest
import torch

from tests.emulator import SCHEDULES, build, emulate

# Each block stores partial sums; the block that counts last adds them up.
LAST_BLOCK = """
extern "C" __global__ void __launch_bounds__(64)
total(const float* x, float* part, unsigned* arrived, float* out, int n) {
  __shared__ bool last;
  const int t = threadIdx.x;
  const int i = blockIdx.x * 64 + t;
  const float mine = i < n ? x[i] : 0.0f;
  part[i] = mine;
  RELEASE
  if (t == 0) last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  ACQUIRE
  float sum = 0.0f;
  for (int b = 0; b < gridDim.x; ++b) sum += part[b * 64 + t];
  out[t] = sum;
  if (t == 0) *arrived = 0;
}
"""

FENCE = "__threadfence();"
BARRIER = "__syncthreads();"
FENCE_BY_ONE = "if (t == 0) __threadfence();"
FENCE_BY_FIRST_WARP = "if (t < 32) __threadfence();"

# name -> (before the counter, after it)
RIGHT = {
    "each-thread-fences": (FENCE + BARRIER, FENCE),
    "one-fences-after-the-barrier": (BARRIER + FENCE_BY_ONE, FENCE_BY_ONE + BARRIER),
    "one-fences-for-readers": (FENCE + BARRIER, FENCE_BY_ONE + BARRIER),
}
# name -> (before the counter, after it, what is said)
WRONG = {
    "no-fences": (BARRIER, "", "no __threadfence followed by an atomic in between"),
    "no-fence-before-the-counter": (
        BARRIER,
        FENCE,
        "no __threadfence followed by an atomic in between",
    ),
    "no-fence-after-the-counter": (
        FENCE + BARRIER,
        "",
        "no __threadfence after the atomic that tells of it",
    ),
    "only-one-thread-fences-its-own-stores": (
        FENCE_BY_ONE + BARRIER,
        FENCE,
        "no __threadfence followed by an atomic in between",
    ),
    "only-one-warp-fences": (
        FENCE_BY_FIRST_WARP + BARRIER,
        FENCE,
        "no __threadfence followed by an atomic in between",
    ),
    "fence-without-a-barrier": (FENCE, FENCE, "no __threadfence followed by an atomic in between"),
    "only-one-reader-acquires": (
        FENCE + BARRIER,
        FENCE_BY_ONE,
        "no __threadfence after the atomic that tells of it",
    ),
    "fence-of-the-block-only": (
        "__threadfence_block();" + BARRIER,
        FENCE,
        "no __threadfence followed by an atomic in between",
    ),
}


def last_block(release, acquire):
    return LAST_BLOCK.replace("RELEASE", release).replace("ACQUIRE", acquire)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    pairs = [*RIGHT.values(), *((release, acquire) for release, acquire, _ in WRONG.values())]
    build([("", last_block(*pair)) for pair in pairs])


def run_last_block(release, acquire, schedule):
    x = torch.randn(150, generator=torch.Generator().manual_seed(0))
    part, out = torch.full((192,), float("nan")), torch.full((64,), float("nan"))
    arrived = torch.zeros(1, dtype=torch.int32)
    report = emulate(
        "", last_block(release, acquire), "total", None, [x, part, arrived, out, 150], 3, 64,
        schedule=schedule, seed=5, uninitialised=("part",),
    )  # fmt: skip
    return x, out, arrived, report


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("pair", RIGHT.values(), ids=RIGHT)
def test_last_block_with_fences_is_silent(pair, schedule):
    x, out, arrived, report = run_last_block(*pair, schedule)
    assert report.errors == []
    assert report.unwritten == {"part": 0, "arrived": 0, "out": 0}
    padded = torch.nn.functional.pad(x, (0, 42)).view(3, 64)
    torch.testing.assert_close(out, padded[0] + padded[1] + padded[2], rtol=0, atol=0)
    assert arrived.item() == 0


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("row", WRONG.values(), ids=WRONG)
def test_missing_fence_is_caught(row, schedule):
    release, acquire, said = row
    _, _, _, report = run_last_block(release, acquire, schedule)
    races = [error for error in report.errors if "race on part[" in error]
    assert any(said in error and " of block " in error for error in races), report.errors


# Running sums over blocks: each takes the sum of those before it from its neighbour.
CHAIN = """
extern "C" __global__ void chain(const float* x, float* sums, unsigned* ready, unsigned* ticket) {
  const unsigned tile = atomicAdd(ticket, 1u);
  float before = 0.0f;
  if (tile > 0) {
    while (atomicAdd(ready + tile - 1, 0u) == 0) __nanosleep(20);
    ACQUIRE
    before = sums[tile - 1];
  }
  sums[tile] = before + x[tile];
  RELEASE
  atomicExch(ready + tile, 1u);
}
"""


def run_chain(release, acquire, schedule, resident):
    kernel = CHAIN.replace("RELEASE", release).replace("ACQUIRE", acquire)
    x, sums = torch.arange(8.0), torch.zeros(8)
    ready, ticket = torch.zeros(8, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    report = emulate(
        "", kernel, "chain", None, [x, sums, ready, ticket], 8, 1,
        schedule=schedule, seed=2, resident=resident, uninitialised=("sums",),
    )  # fmt: skip
    return x, sums, report


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("resident", [1, 3, 8])
def test_blocks_that_wait_for_each_other(resident, schedule):
    x, sums, report = run_chain(FENCE, FENCE, schedule, resident)
    assert report.errors == []
    assert torch.equal(sums, x.cumsum(0))


@pytest.mark.parametrize("resident", [1, 8])
@pytest.mark.parametrize("fences", [("", FENCE), (FENCE, "")], ids=["release", "acquire"])
def test_chain_without_a_fence_is_caught(fences, resident):
    _, _, report = run_chain(*fences, "natural", resident)
    assert any("read-after-write race on sums[" in error for error in report.errors)


# (statements that run in every block, expected error or None)
ACCESSES = (
    ("y[t] = 1.0f;", "silent"),  # the same value from every block
    ("y[t] = blockIdx.x;", r"write-after-write race on y\[\d+\].*of block [01]"),
    ("if (blockIdx.x == 0) y[t] = 1.0f; else y[32 + t] = y[t];", r"race on y\[\d+\]"),
    ("y[32 * blockIdx.x + t] = y[t ^ 1];", r"race on y\[\d+\]"),
    ("atomicAdd(y, 1.0f);", "silent"),
    ("atomicAdd(y + t / 2, 1.0f);", "silent"),
    ("atomicAdd(y, 1.0f); if (t == 1) y[0] = 0.0f;", r"race on y\[0\]"),
    ("volatile float* v = y; v[0] = t;", "silent"),
    ("volatile float* v = y; if (t == 0) v[0] = 1; else y[32 + t] = y[0];", r"race on y\[0\]"),
    ("y[32 * blockIdx.x + t] = t; __syncwarp(); y[32 * blockIdx.x + (t ^ 1)] += 1.0f;", "silent"),
    (
        "y[32 * blockIdx.x + t] = t; __shfl_sync(~0u, t, 0); y[32 * blockIdx.x + (t ^ 1)] += 1.0f;",
        r"race on y\[\d+\].*no barrier in between",  # a shuffle orders no memory
    ),
)


@pytest.fixture(scope="module")
def access_kernels():
    texts = [
        f"__global__ void access(float* y) {{\n  const int t = threadIdx.x;\n  {statements}\n}}\n"
        for statements, _ in ACCESSES
    ]
    build([("", text) for text in texts])
    return texts


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("number", range(len(ACCESSES)))
def test_races_between_plain_atomic_and_volatile_accesses(access_kernels, number, schedule):
    y = torch.zeros(64)
    report = emulate("", access_kernels[number], "access", None, [y], 2, 32, schedule=schedule)
    expected = ACCESSES[number][1]
    if expected == "silent":
        assert report.errors == []
    else:
        assert any(re.search(expected, error) for error in report.errors), report.errors


READERS = """
__global__ void readers(float* y, float* out) {
  out[blockIdx.x * 32 + threadIdx.x] = y[0];
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 31) y[0] = 1.0f;
}
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_write_after_reads_by_other_blocks_is_caught(schedule):
    report = emulate("", READERS, "readers", None, [torch.zeros(1), torch.zeros(128)], 4, 32,
                     schedule=schedule)  # fmt: skip
    assert any(re.search(r"race on y\[0\].* of block \d", error) for error in report.errors)


def test_two_fences_pass_on_what_a_third_block_wrote():
    # Block 0 tells block 1, which tells block 2: fences are cumulative.
    kernel = """
__global__ void relay(float* y, unsigned* first, unsigned* second) {
  if (blockIdx.x == 0) {
    y[0] = 7.0f;
    __threadfence();
    atomicExch(first, 1u);
  } else if (blockIdx.x == 1) {
    while (atomicAdd(first, 0u) == 0) __nanosleep(20);
    __threadfence();
    atomicExch(second, 1u);
  } else {
    while (atomicAdd(second, 0u) == 0) __nanosleep(20);
    __threadfence();
    y[1] = y[0];
  }
}
"""
    y = torch.zeros(2)
    words = [torch.zeros(1, dtype=torch.int32) for _ in range(2)]
    report = emulate("", kernel, "relay", None, [y, *words], 3, 1, resident=3, schedule="reverse")
    assert report.errors == []
    assert y.tolist() == [7.0, 7.0]


@pytest.mark.parametrize(("fence", "silent"), [(FENCE, True), ("", False)])
def test_a_flag_may_be_reset_by_who_has_acquired_it(fence, silent):
    kernel = """
__global__ void hand_over(volatile unsigned* flag) {
  unsigned* plain = const_cast<unsigned*>(flag);
  if (blockIdx.x == 0) {
    __threadfence();
    atomicExch(plain, 1u);
  } else {
    while (*flag == 0) __nanosleep(20);
    FENCE
    *plain = 0;
  }
}
""".replace("FENCE", fence)
    flag = torch.zeros(1, dtype=torch.int32)
    report = emulate("", kernel, "hand_over", None, [flag], 2, 1, resident=2)
    assert (report.errors == []) == silent
    assert flag.item() == 0
