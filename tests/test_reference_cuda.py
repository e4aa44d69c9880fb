"""The hand-written CUDA: what the templates should emit, right and tight before any template is.

Every text is built for all architectures, its machine code looked at, and run in the emulator.
"""

import re
import runpy
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import torch

from astjit.targets.nvrtc import ARCHES, compile_cuda, nvrtc_options
from tests.emulator import SCHEDULES, build, emulate, split_definitions

ROOT = Path(__file__).resolve().parent.parent
SLOW = pytest.mark.slow
FOLDER = ROOT / "benchmarks" / "reference" / "cuda"
FUNCTIONS = runpy.run_path(str(FOLDER.parent / "functions.py"))
PIECES = ROOT / "templates" / "cuda" / "helpers"


@dataclass(frozen=True)
class Limits:
    """What a kernel may take of the machine, on any architecture.

    Attributes:
        registers: per thread; 32 let an SM hold 2048 threads, 40 hold 1536, 48 hold 1280.
        loads: at least this many 16-byte loads stand in the machine code: those of the unrolled
            loops, whose number is what is in flight at once.
        stores: likewise 16-byte stores.
        narrow: whether there are also accesses of less than 16 bytes.
    """

    registers: int
    loads: int = 0
    stores: int = 0
    narrow: bool = False


LIMITS = {
    "bias_gelu": Limits(40, loads=5, stores=2),
    "cross_entropy": Limits(40, loads=8, narrow=True),
    "rms_norm": Limits(48, loads=12, stores=8),
    "rms_norm_bf16": Limits(48, loads=12, stores=8),
    "rms_norm_looped": Limits(40, loads=8, stores=4),
    "sin_cos_sum": Limits(40, loads=1, narrow=True),
    "softmax": Limits(40, loads=4, stores=4),
    "softmax_bf16": Limits(40, loads=4, stores=4),
    "softmax_looped": Limits(40, loads=12, stores=4),
    "softmax_unaligned": Limits(40, narrow=True),
    "square_sum0": Limits(48, loads=8, stores=2, narrow=True),
}


@dataclass(frozen=True)
class Reference:
    """One hand-written text, taken apart."""

    options: str
    helpers: str
    kernels: str
    source: str


def reference(name):
    source = (FOLDER / f"{name}.cu").read_text()
    options, _, rest = source.partition("\n\n")
    paragraphs = rest.split("\n\n")
    at = next(i for i, paragraph in enumerate(paragraphs) if 'extern "C"' in paragraph)
    return Reference(options, "\n\n".join(paragraphs[:at]), "\n\n".join(paragraphs[at:]), source)


def kernel_of(name):
    """The kernel in the file `name`: variants of one kernel have files of their own."""
    return re.sub(r"_(looped|unaligned|bf16)$", "", name)


REFERENCES = {path.stem: reference(path.stem) for path in sorted(FOLDER.glob("*.cu"))}


def needs(text):
    first = text.partition("\n")[0]
    return first.removeprefix("// needs:").split() if first.startswith("// needs:") else []


def body(text):
    return text.partition("\n")[2] if needs(text) else text


ORDERS = [pytest.param(order, marks=() if order == "natural" else SLOW) for order in SCHEDULES]
PIECE_TEXTS = {path.stem: path.read_text() for path in sorted(PIECES.glob("*.cuh"))}


def with_needs(*names):
    """The text of pieces after all that they need."""
    order = []

    def visit(name):
        for need in needs(PIECE_TEXTS[name]):
            visit(need)
        if name not in order:
            order.append(name)

    for name in names:
        visit(name)
    return "\n".join(body(PIECE_TEXTS[name]) for name in order)


@cache
def built(source, arch="sm_90"):
    return compile_cuda(source, arch)


def test_every_text_has_limits():
    assert set(REFERENCES) == set(LIMITS)


# ---- the text ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REFERENCES)
def test_first_line_holds_the_exact_options(name):
    assert REFERENCES[name].options == f"// nvrtc {' '.join(nvrtc_options('sm_90'))}"


@pytest.mark.parametrize("name", REFERENCES)
def test_lines_fit_a_page(name):
    assert max(map(len, REFERENCES[name].source.splitlines())) <= 100


@pytest.mark.parametrize("name", REFERENCES)
def test_helpers_are_pieces_and_each_is_used(name):
    helpers = REFERENCES[name].helpers + "\n"
    found = [piece for piece, text in PIECE_TEXTS.items() if body(text) in helpers]
    places = {piece: helpers.index(body(PIECE_TEXTS[piece])) for piece in found}
    printed = [body(PIECE_TEXTS[piece]) for piece in sorted(found, key=places.__getitem__)]
    assert "\n".join(printed) == helpers
    for piece in found:
        assert all(places[need] < places[piece] for need in needs(PIECE_TEXTS[piece]))
        after = REFERENCES[name].source[REFERENCES[name].source.index(body(PIECE_TEXTS[piece])) :]
        for definition in split_definitions(body(PIECE_TEXTS[piece])):
            uses = re.findall(rf"\b{definition.name}\b", after.replace(definition.text, "", 1))
            assert uses, f"{definition.name} is not used"


@pytest.mark.parametrize("name", REFERENCES)
def test_comments_quote_the_lines_of_the_function(name):
    lines = (FOLDER.parent / "functions.py").read_text().splitlines()
    quoted = re.findall(r"// (.*)   \(functions\.py:(\d+)\)", REFERENCES[name].kernels)
    assert quoted
    for text, number in quoted:
        assert lines[int(number) - 1].strip() == text


# ---- the machine code ----------------------------------------------------------------------------


@cache
def joined():
    """All kernels in one text, each named after its file, with every piece they use once."""
    used = {
        p
        for p in PIECE_TEXTS
        for text in REFERENCES.values()
        if body(PIECE_TEXTS[p]) in text.source
    }
    kernels = [
        re.sub(rf"^{kernel_of(name)}\(", f"{name}(", text.kernels, flags=re.MULTILINE)
        for name, text in REFERENCES.items()
    ]
    return "\n".join([with_needs(*sorted(used)), *kernels])


@pytest.mark.parametrize("name", REFERENCES)
def test_builds_alone_and_declares_nothing_unused(name):
    compiled = compile_cuda(REFERENCES[name].source, "sm_90")
    assert list(compiled.resources) == [kernel_of(name)]
    assert "warning" not in compiled.log


@pytest.mark.parametrize("arch", ARCHES)
def test_builds_without_spills_or_stack_in_few_registers(arch):
    resources = built(joined(), arch).resources
    assert set(resources) == set(LIMITS)
    for name, used in resources.items():
        assert (used.stack, used.spill_stores, used.spill_loads) == (0, 0, 0), name
        assert used.registers <= LIMITS[name].registers, name


@pytest.fixture(scope="module")
def machine_code(tmp_path_factory):
    """The instructions of each kernel on sm_90, predicates and operands included."""
    beside = Path(torch.__file__).parents[1] / "nvidia" / "cu13" / "bin" / "nvdisasm"
    tool = shutil.which("nvdisasm") or (str(beside) if beside.exists() else None)
    if tool is None:
        pytest.skip("needs nvdisasm (pip install nvidia-cuda-nvdisasm)")
    image = tmp_path_factory.mktemp("cubin") / "joined.cubin"
    image.write_bytes(built(joined(), "sm_90").cubin)
    done = subprocess.run([tool, "-c", image], capture_output=True, text=True, check=True)
    sections = re.split(r"^\.text\.(\w+):$", done.stdout, flags=re.MULTILINE)
    return {
        name: re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*?) ;", code, re.MULTILINE)
        for name, code in zip(sections[1::2], sections[2::2], strict=True)
    }


@pytest.mark.parametrize("name", REFERENCES)
def test_global_memory_is_accessed_16_bytes_at_a_time(name, machine_code):
    limits, code = LIMITS[name], machine_code[name]
    loads = [line for line in code if re.search(r"\bLDG", line)]
    stores = [line for line in code if re.search(r"\bSTG", line)]
    assert sum(".128" in line for line in loads) >= limits.loads
    assert sum(".128" in line for line in stores) >= limits.stores
    if not limits.narrow:
        assert all(".128" in line for line in loads + stores)
    assert not [line for line in code if re.search(r"\b(LDL|STL)", line)]


@pytest.mark.parametrize("name", ["softmax", "softmax_bf16"])
def test_a_kept_row_is_loaded_before_anything_is_computed(name, machine_code):
    code = machine_code[name]
    loads = [at for at, line in enumerate(code) if re.search(r"\bLDG", line)]
    between = code[loads[0] : loads[-1]]
    assert len(loads) == 4
    assert not [line for line in between if re.search(r"\b(FMNMX|FADD|MUFU)", line)]


def test_packed_lanes_take_fewer_registers_than_the_floats_made_of_them():
    unpacked = REFERENCES["softmax_bf16"].source.replace("      keep_packed(x_v[j]);\n", "")
    (floats,) = compile_cuda(unpacked, "sm_90").resources.values()
    packed = built(joined(), "sm_90").resources["softmax_bf16"]
    assert packed.registers + 16 <= floats.registers


# ---- the results ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def emulated():
    """One start of g++ for all texts."""
    build([(text.helpers, text.kernels) for text in REFERENCES.values()])


def run(name, args, grid, block, schedule="natural", **options):
    text = REFERENCES[name]
    kernel = kernel_of(name)
    report = emulate(
        text.helpers, text.kernels, kernel, None, args, grid, block, schedule=schedule, **options
    )
    assert report.errors == []
    return report.unwritten


def poisoned(*shape, dtype=torch.float32):
    return torch.full(shape, float("nan"), dtype=dtype)


def apart(*shape, offset, dtype=torch.float32, seed=0):
    """Random numbers, `offset` elements after the start of their allocation."""
    generator = torch.Generator().manual_seed(seed)
    whole = torch.randn(torch.Size(shape).numel() + offset, generator=generator).to(dtype)
    return whole[offset:].view(shape)


def error(found, exact):
    return ((found.double() - exact).abs() / exact.abs().amax().clamp_min(1e-30)).amax().item()


def assert_close(found, function, *inputs):
    """At most 1.5 times the error of eager's kernel against float64, and one ulp (D8)."""
    exact = function(*(t.double() if t.is_floating_point() else t for t in inputs))
    eager = function(*inputs)
    assert error(found, exact) <= 1.5 * error(eager, exact) + 2.0**-23


@pytest.mark.parametrize("schedule", ORDERS)
@pytest.mark.parametrize(
    ("rows", "cols", "threads"),
    [(3, 1000, 256), (9, 36, 16), (1, 4, 1), (33, 64, 16), (5, 1028, 256), (17, 8, 2)],
)
def test_bias_gelu(emulated, rows, cols, threads, schedule):
    x, residual = apart(rows, cols, offset=0), apart(rows, cols, offset=0, seed=1)
    bias, out = apart(cols, offset=4, seed=2), poisoned(rows, cols)
    down = 256 // threads
    grid = (-(-rows // (2 * down)), -(-cols // (4 * threads)))
    args = (x, bias, residual, out, rows, cols)
    assert run("bias_gelu", args, grid, (threads, down), schedule) == {"out": 0}
    assert_close(out, FUNCTIONS["bias_gelu"], x, bias, residual)


@pytest.mark.parametrize("schedule", ORDERS)
@pytest.mark.parametrize(
    ("name", "threads", "rows", "cols"),
    [
        ("rms_norm", 256, 3, 1000),
        ("rms_norm", 256, 2, 4096),
        ("rms_norm", 256, 2, 4),
        ("rms_norm_looped", 512, 2, 5000),
        ("rms_norm_looped", 512, 2, 36),
    ],
)
def test_rms_norm(emulated, name, threads, rows, cols, schedule):
    x, residual = apart(rows, cols, offset=0), apart(rows, cols, offset=8, seed=1)
    weight = apart(cols, offset=0, seed=2)
    h, y = poisoned(rows, cols), poisoned(rows, cols)
    args = (x, residual, weight, h, y, cols, 0.5)
    assert run(name, args, rows, threads, schedule) == {"h": 0, "y": 0}
    assert torch.equal(h, x + residual)
    assert_close(y, lambda *inputs: FUNCTIONS["rms_norm"](*inputs, 0.5)[0], x, residual, weight)


@pytest.mark.parametrize(("rows", "cols"), [(3, 1000), (1, 8192), (2, 8)])
def test_rms_norm_in_bfloat16_rounds_after_every_operation(emulated, rows, cols):
    half = torch.bfloat16
    x, residual = apart(rows, cols, offset=0, dtype=half), apart(rows, cols, offset=0, dtype=half)
    weight = apart(cols, offset=8, dtype=half, seed=2)
    h, y = poisoned(rows, cols, dtype=half), poisoned(rows, cols, dtype=half)
    args = (x, residual, weight, h, y, cols, 1e-6)
    assert run("rms_norm_bf16", args, rows, 256) == {"h": 0, "y": 0}
    assert torch.equal(h, x + residual)
    mean = h.square().double().mean(-1, keepdim=True).to(half)
    rstd = (
        (mean + 1e-6).double().rsqrt().to(half)
    )  # eager's rounds twice where a vector is not full
    assert torch.equal(y, h * rstd * weight)


SOFTMAX = [
    ("softmax", 256, 3, 1000),
    ("softmax", 256, 2, 4096),
    ("softmax", 256, 2, 4),
    ("softmax_looped", 512, 2, 5000),
    ("softmax_looped", 512, 2, 36),
    ("softmax_unaligned", 256, 3, 997),
    ("softmax_unaligned", 256, 2, 4095),
    ("softmax_unaligned", 256, 3, 1),
]


@pytest.mark.parametrize("schedule", ORDERS)
@pytest.mark.parametrize(("name", "threads", "rows", "cols"), SOFTMAX)
def test_softmax(emulated, name, threads, rows, cols, schedule):
    x = apart(rows, cols, offset=1 if "unaligned" in name else 4)
    x -= 200.0  # exp(x) is 0, and so would be exp(x - 0): a lane that does not exist may not count
    out = poisoned(rows, cols)
    assert run(name, (x, out, cols), rows, threads, schedule) == {"out": 0}
    assert_close(out, FUNCTIONS["softmax"], x)


@pytest.mark.parametrize(("name", "threads"), [(case[0], case[1]) for case in SOFTMAX[2:6]])
def test_softmax_of_infinities_and_nan_is_eagers(emulated, name, threads):
    x = torch.linspace(-3, 3, 36).repeat(6, 1)
    x[0, 7] = float("nan")
    x[1, 35] = float("inf")
    x[2] = float("-inf")
    x[3, 1:] = float("-inf")
    x[4] = 3e38
    x[5, 20] = -3e38
    out = poisoned(6, 36)
    run(name, (x, out, 36), 6, threads)
    torch.testing.assert_close(out, torch.softmax(x, -1), rtol=3e-7, atol=0, equal_nan=True)


def test_alignment_changes_no_bit(emulated):
    x, aligned, unaligned = apart(2, 1000, offset=0), poisoned(2, 1000), poisoned(2, 1000)
    run("softmax", (x, aligned, 1000), 2, 256)
    run("softmax_unaligned", (x, unaligned, 1000), 2, 256)
    assert torch.equal(aligned, unaligned)


@pytest.mark.parametrize(("rows", "cols"), [(3, 1000), (1, 8192), (2, 8)])
def test_softmax_in_bfloat16_rounds_once(emulated, rows, cols):
    x = apart(rows, cols, offset=8, dtype=torch.bfloat16)
    out = poisoned(rows, cols, dtype=torch.bfloat16)
    assert run("softmax_bf16", (x, out, cols), rows, 256) == {"out": 0}
    exact = torch.softmax(x.double(), -1).bfloat16()
    assert (out != exact).double().mean() <= 2e-3  # a tie decided by the last bit of a float
    torch.testing.assert_close(out, exact, rtol=2.0**-7, atol=0)


@pytest.mark.parametrize("schedule", ORDERS)
@pytest.mark.parametrize(("rows", "cols"), [(4, 1000), (2, 5000), (3, 4)])
def test_cross_entropy(emulated, rows, cols, schedule):
    x, out = apart(rows, cols, offset=0) * 3, poisoned(rows)
    target = torch.randint(cols, (rows,), generator=torch.Generator().manual_seed(0))
    target[1] = -100  # PyTorch's ignore_index
    status = torch.zeros(1, dtype=torch.int32)
    unwritten = run("cross_entropy", (x, target, out, status, cols), rows, 512, schedule)
    assert unwritten["out"] == 0
    assert status.item() == 0
    assert out[1] == 0.0
    assert_close(out, FUNCTIONS["cross_entropy"], x, target)


@pytest.mark.parametrize("wrong", [36, -1, 2**40, -101])
def test_a_target_out_of_range_is_reported_and_reads_nothing(emulated, wrong):
    x, out = apart(3, 36, offset=0), poisoned(3)
    target, status = torch.tensor([3, wrong, 35]), torch.zeros(1, dtype=torch.int32)
    run("cross_entropy", (x, target, out, status, 36), 3, 512)
    assert status.item() == 1


@pytest.mark.parametrize("schedule", ORDERS)
@pytest.mark.parametrize(
    ("rows", "cols", "chunk"), [(70, 132, 16), (1, 4, 8), (9, 128, 64), (40, 36, 3)]
)
def test_square_sum0(emulated, rows, cols, chunk, schedule):
    x, out = apart(rows, cols, offset=0), poisoned(cols)
    grid = (-(-cols // 128), -(-rows // chunk))
    work, arrived = poisoned(grid[1] * cols), torch.zeros(grid[0], dtype=torch.int32)
    for _ in range(2):  # the counters are ready again after each launch
        out.fill_(float("nan"))
        args = (x, out, work, arrived, rows, cols, chunk)
        unwritten = run("square_sum0", args, grid, (32, 8), schedule, uninitialised=["work"])
        assert unwritten["out"] == 0
        assert not arrived.any()
        assert_close(out, FUNCTIONS["square_sum0"], x)


@pytest.mark.parametrize("schedule", ORDERS)
@pytest.mark.parametrize(("n", "grid"), [(4, 3), (20000, 8), (8192, 8)])
def test_sin_cos_sum(emulated, n, grid, schedule):
    x, out = apart(n, offset=0) * 5, poisoned()
    work, arrived = poisoned(grid), torch.zeros(1, dtype=torch.int32)
    args = (x, out, work, arrived, n)
    unwritten = run("sin_cos_sum", args, grid, 256, schedule, uninitialised=["work"])
    assert unwritten["out"] == 0
    assert not arrived.any()
    exact = FUNCTIONS["sin_cos_sum"](x.double())
    assert abs(out.double() - exact) <= 2e-7 * n**0.5


# ---- pieces that none of these texts use ---------------------------------------------------------

EVERY_PIECE = """
extern "C" __global__ void __launch_bounds__(64)
every_piece(const float16* __restrict__ x, const long long* __restrict__ k,
            const double* __restrict__ d, float16* __restrict__ tripled, float* __restrict__ low,
            long long* __restrict__ ends, double* __restrict__ product,
            long long* __restrict__ whole, int n) {
  __shared__ float singles[1][2];
  __shared__ long long integers[2][2];
  __shared__ double doubles[1][2];
  const int i = threadIdx.x * 8;
  const Vec<float16, 8> x_v = load<8>(x + i, n - i);
  const Vec<long long, 2> k_v = load_strided<2>(k + threadIdx.x, 64, 2);
  Vec<float16, 8> tripled_v;
  Vec<float, 8> low_v = splat<8>(INFINITY);
  for (int v = 0; v < 8; ++v) {
    tripled_v[v] = narrow_f16(round_f16(widen_f16(x_v[v]) * 3.0f));
    if (i + v < n) low_v[v] = widen_f16(x_v[v]);
  }
  store<8>(tripled + i, tripled_v, n - i);
  float lowest = NAN;
  for (int v = 0; v < 8; ++v) lowest = v == 0 ? low_v[v] : min_nan(lowest, low_v[v]);
  lowest = block_reduce<Min, 64>(lowest, singles[0]);
  const long long first = block_reduce<MinAny, 64>(min(k_v[0], k_v[1]), integers[0]);
  const long long last = block_reduce<MaxAny, 64>(max(k_v[0], k_v[1]), integers[1]);
  const double all = block_reduce<Prod, 64>(d[threadIdx.x], doubles[0]);
  const bool none = !Any::combine(k_v[0] > 0, All::combine(k_v[1] > 0, all > 0.0));
  if (threadIdx.x == 0) {
    *low = lowest;
    Vec<long long, 2> ends_v;
    ends_v[0] = first;
    ends_v[1] = last;
    store_strided(ends, 2, ends_v, 2);
    *product = round_bf16(1.0f) * all;
    whole[0] = floor_quotient<long long>(k[in_range(0, n)], -7);
    whole[1] = floor_rest<long long>(k[0], -7);
    whole[2] = shift_left<long long>(k[0], 3);
    whole[3] = shift_left<long long>(k[0], 64);
    whole[4] = shift_right<long long>(k[0], 5);
    whole[5] = shift_right<long long>(k[0], -1);
  }
}
"""

COLUMN_PIECE = """
extern "C" __global__ void __launch_bounds__(128)
column_piece(const float* __restrict__ x, float* __restrict__ out) {
  __shared__ Vec<float, 2> tile[4][32];
  const Vec<float, 2> x_v = load<2>(x + (threadIdx.y * 32 + threadIdx.x) * 2);
  Vec<float, 2> out_v = column_reduce_all<Sum, 32, 4>(x_v, tile);
  const Vec<float, 2> most_v = column_reduce_all<Max, 32, 4>(x_v, tile);
  for (int v = 0; v < 2; ++v) out_v[v] -= most_v[v];
  store<2>(out + (threadIdx.y * 32 + threadIdx.x) * 2, out_v);
}
"""

SHARE_PIECES = """
extern "C" __global__ void __launch_bounds__(64)
row_share(const float* __restrict__ x, const long long* __restrict__ k, float* __restrict__ out,
          long long* __restrict__ whole, float* part, unsigned* arrived, int last) {
  __shared__ float slots[2][2];
  const int at = blockIdx.x * gridDim.y + blockIdx.y;
  float sum = block_reduce<Sum, 64>(x[at * 64 + threadIdx.x], slots[0]);
  if (threadIdx.x == 0) part[at] = sum;
  if (!last_block(arrived + blockIdx.x, gridDim.y)) return;
  sum = parts_reduce<Sum, 64>(0.0f, part, slots[1]);
  if (threadIdx.x > 0) return;
  out[blockIdx.x] = float_of(order_of(sum));
  if (blockIdx.x > 0) return;
  for (int i = 0; i <= last; ++i) {
    check_step(k[3 * i + 2]);
    whole[i] = range_length(k[3 * i], k[3 * i + 1], k[3 * i + 2]);
  }
}

extern "C" __global__ void __launch_bounds__(128)
column_share(const float* __restrict__ x, float* __restrict__ out, float* part,
             unsigned* arrived) {
  __shared__ Vec<float, 2> tile[4][32];
  const int group = blockIdx.y * 4 + threadIdx.y, at = blockIdx.x * 32 + threadIdx.x;
  const Vec<float, 2> x_v = load<2>(x + (group * gridDim.x * 32 + at) * 2);
  Vec<float, 2> sum_v = column_reduce_all<Sum, 32, 4>(x_v, tile);
  leave_columns<32>(part, sum_v);
  if (!last_block(arrived + blockIdx.x, gridDim.y)) return;
  sum_v = column_parts_reduce<Sum, 32, 4>(splat<2>(0.0f), part, tile);
  store<2>(out + (threadIdx.y * gridDim.x * 32 + at) * 2, sum_v);
}
"""
NO_CASE = EVERY_PIECE + COLUMN_PIECE + SHARE_PIECES


def run_row_share(ranges, schedule="natural"):
    x, out, part = torch.randint(-99, 99, (2, 192)).float(), poisoned(2), poisoned(6)
    whole, arrived = torch.zeros(len(ranges), dtype=torch.int64), torch.zeros(2, dtype=torch.int32)
    helpers, k = with_needs(*sorted(PIECE_TEXTS)), torch.tensor(ranges, dtype=torch.int64)
    args = (x, k, out, whole, part, arrived, len(ranges) - 1)
    report = emulate(
        helpers, SHARE_PIECES, "row_share", None, args, (2, 3), 64,
        schedule=schedule, uninitialised=["part"],
    )  # fmt: skip
    return report.errors, x, out, whole, arrived


@pytest.mark.parametrize("schedule", ORDERS)
def test_the_last_block_combines_what_the_blocks_of_a_row_have_left(schedule):
    top, low = 2**63 - 1, -(2**63)
    ranges = [(0, 7, 3), (7, 0, -3), (0, 0, 1), (5, 0, 1), (low, top, top), (top, low, low)]
    errors, x, out, whole, arrived = run_row_share(ranges, schedule)
    assert errors == []
    assert torch.equal(out, x.sum(1))
    assert whole.tolist() == [len(range(*r)) for r in ranges]
    assert not arrived.any()


def test_a_step_of_0_ends_the_launch():
    errors, *_ = run_row_share([(0, 7, 3), (0, 7, 0)])
    assert "a thread trapped" in str(errors)


@pytest.mark.parametrize("schedule", ORDERS)
def test_the_last_block_combines_what_the_blocks_of_columns_have_left(schedule):
    x, out = torch.randint(-99, 99, (12, 128)).float(), poisoned(4, 128)
    arrived = torch.zeros(2, dtype=torch.int32)
    report = emulate(
        with_needs(*sorted(PIECE_TEXTS)), SHARE_PIECES, "column_share", None,
        (x, out, poisoned(3, 128), arrived), (2, 3), (32, 4),
        schedule=schedule, uninitialised=["part"],
    )  # fmt: skip
    assert report.errors == []
    assert torch.equal(out, x.sum(0).expand(4, 128))
    assert not arrived.any()


def test_every_group_gets_what_its_columns_combine():
    x, out = torch.randint(-99, 99, (4, 64)).float(), poisoned(4, 64)
    helpers = with_needs(*sorted(PIECE_TEXTS))
    report = emulate(helpers, COLUMN_PIECE, "column_piece", None, (x, out), 1, (32, 4))
    assert report.errors == []
    assert torch.equal(out, (x.sum(0) - x.amax(0)).expand(4, 64))


def run_every_piece(x, k, d):
    n = x.numel()
    tripled, low = poisoned(n, dtype=torch.half), poisoned()
    ends, product = torch.zeros(3, dtype=torch.int64), poisoned(dtype=torch.float64)
    whole = torch.zeros(6, dtype=torch.int64)
    helpers = with_needs(*sorted(PIECE_TEXTS))
    arguments = (x, k, d, tripled, low, ends, product, whole, n)
    report = emulate(helpers, EVERY_PIECE, "every_piece", None, arguments, 1, 64)
    assert report.errors == []
    first = int(k[0])
    shifts = [torch.bitwise_left_shift(k[0], 3), 0, first >> 5, -1 if first < 0 else 0]
    assert whole.tolist() == [first // -7, first % -7, *map(int, shifts)]
    return tripled, low, ends, product


@pytest.mark.parametrize("n", [500, 512, 3])
def test_pieces_compute_what_they_say(n):
    x, k = apart(n, offset=1, dtype=torch.half), torch.randint(-(2**62), 2**62, (128,))
    d = torch.rand(64, dtype=torch.float64) + 0.5
    tripled, low, ends, product = run_every_piece(x, k, d)
    assert torch.equal(tripled, x * 3)
    assert low == x.min().float()
    assert ends.tolist() == [k.min(), 0, k.max()]
    torch.testing.assert_close(product, d.prod(), rtol=1e-14, atol=0)


def test_nan_wins_every_comparison_and_halves_overflow_to_infinity():
    x, k = torch.linspace(-4, 4, 512).half(), torch.arange(128)
    x[100], x[200], x[300] = float("nan"), 6e4, 2e-8
    d = torch.ones(64, dtype=torch.float64)
    d[9] = float("nan")
    tripled, low, _, product = run_every_piece(x, k, d)
    torch.testing.assert_close(tripled, x * 3, rtol=0, atol=0, equal_nan=True)
    assert tripled[200] == float("inf")
    assert low.isnan()
    assert product.isnan()


def test_every_piece_builds_and_none_is_left_out():
    everything = with_needs(*sorted(PIECE_TEXTS)) + NO_CASE
    assert "every_piece" in compile_cuda(everything, "sm_80").resources
    mentioned = joined() + NO_CASE
    for name, text in PIECE_TEXTS.items():
        for definition in split_definitions(body(text)):
            kernels = mentioned.replace(body(text), "")
            assert re.search(rf"\b{definition.name}\b", kernels), f"{name} is tried by no kernel"


@pytest.mark.parametrize("name", PIECE_TEXTS)
def test_a_piece_builds_with_what_it_says_it_needs(name):
    compile_cuda(with_needs(name), "sm_90")
    assert max(map(len, PIECE_TEXTS[name].splitlines())) <= 100
    assert not PIECE_TEXTS[name].startswith("\n")
    assert PIECE_TEXTS[name].endswith("\n")
