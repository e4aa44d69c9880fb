"""Branches and loops of kernels as C: random bodies, and texts that people read."""

from functools import cache

import pytest
import torch

from astjit.codegen.emit import cuda_unit
from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.schedule import schedule
from astjit.ir.parser import parse
from astjit.runtime.interpret import bind_sizes
from astjit.targets.nvrtc import ARCHES, compile_cuda
from tests.codegen.flows import draw, run_map
from tests.kernels import build_cpu, cuda_variant, emulate_launch, no_source, run_cpu, run_parts

SEEDS = {"f32": range(28), "f64": range(100, 116)}
EMULATED = range(6)
LANES = 16  # of a vector, at most


def inputs(real):
    torch.manual_seed(0)
    dtype = {"f32": torch.float32, "f64": torch.float64}[real]
    count = 2 * LANES + 5 if real == "f32" else 9  # two vectors at once, and a part of one
    x = torch.randn(count, dtype=dtype) * 2
    y = torch.randn(count, dtype=dtype)
    x[3], y[5], x[7], y[8] = float("nan"), float("inf"), -0.0, 0.0
    return [x, y]


@cache
def wanted(seed, real):
    function, given = draw(seed, real), inputs(real)
    (node,) = [n for n in function.body.nodes if n.op.name == "map"]
    a, b = run_map(node, given)
    return [a * 0.5, b]


def same(found, right, seed):
    for a, b in zip(found, right, strict=True):
        assert torch.equal(a.nan_to_num(123.0), b.nan_to_num(123.0)), seed


def group_of(function, target):
    parts = groups(function, target, Config())
    (group,) = parts.parts
    return parts, group.kernel


@pytest.mark.parametrize("real", ["f32", "f64"])
def test_random_bodies_give_what_their_elements_give(real):
    functions = [draw(seed, real) for seed in SEEDS[real]]
    made = [group_of(f, "cpu") for f in functions]
    library, text = build_cpu([kernel for _, kernel in made])
    for seed, function, (parts, kernel) in zip(SEEDS[real], functions, made, strict=True):
        given = inputs(real)

        def launch(group, memory, sizes, entry=text.entries[kernel.name]):
            assert run_cpu(library, entry, group, memory, sizes) == 0

        sizes = bind_sizes(function.params, given)
        same(run_parts(function, parts, given, sizes, launch), wanted(seed, real), seed)


def test_random_bodies_in_the_emulator():
    functions = [draw(seed) for seed in EMULATED]
    for seed, function in zip(EMULATED, functions, strict=True):
        parts, kernel = group_of(function, "cuda")
        given = inputs("f32")

        def launch(group, memory, sizes, kernel=kernel):
            buffers, values, chosen, plan = cuda_variant(group, memory, sizes)
            text = cuda_unit([(kernel, chosen)], no_source, "sm_90")
            emulate_launch(text, text.entries[kernel.name], buffers, values, plan)

        sizes = bind_sizes(function.params, given)
        same(run_parts(function, parts, given, sizes, launch), wanted(seed, "f32"), seed)


SQUARES = """fn squares(%x: f64[n], %k: i64[n]):
  %y = map %x, %k : f64[n] {
    body(%v: f64[], %step: i64[]):
      %z = while %v {limit=5} : f64[] {
        test(%z.1: f64[]):
          %0 = gt %z.1, 1.0
          yield %0
        body(%z.2: f64[]):
          %1 = mul %z.2, 0.5
          yield %1
      }
      %t = range 0, 7, %step, %z : f64[] {
        body(%i: i64[], %t.1: f64[]):
          %2 = add %t.1, %i
          yield %2
      }
      yield %t
  }
  return %y
"""


def test_the_text_is_as_people_write_it():
    _, kernel = group_of(parse(SQUARES), "cuda")
    chosen = schedule(kernel, "cuda", {"n": 4096}, 16)
    text = cuda_unit([(kernel, chosen)], no_source, "sm_90").kernels
    lines = [line.strip() for line in text.splitlines()]
    start = lines.index("double z = x_v[v];")
    assert lines[start + 1 : start + 12] == [
        "long long trips = 0;",
        "while (z > 1.0) {",
        "if (++trips > 5) __trap();",
        "z = z * 0.5;",
        "}",
        "double t = z;",
        "check_step(k_v[v]);",
        "long long trips2 = range_length(0, 7, k_v[v]);",
        "for (long long i2 = 0; trips2 > 0; --trips2, i2 += k_v[v]) {",
        "t = t + static_cast<double>(i2);",
        "}",
    ]


def test_a_loop_that_runs_too_often_and_a_step_of_0_end_the_call():
    function = parse(SQUARES)
    parts, kernel = group_of(function, "cpu")
    library, text = build_cpu([kernel])
    status, entry = [], text.entries[kernel.name]

    def launch(group, memory, sizes):
        status.append(run_cpu(library, entry, group, memory, sizes))

    for x, step in ((32.0, 3), (33.0, 3), (1.0, 0)):
        given = [torch.tensor([0.5, x], dtype=torch.float64), torch.tensor([-1, step])]
        found = run_parts(function, parts, given, bind_sizes(function.params, given), launch)
        if not status[-1]:
            assert found[0].tolist() == [0.5, 1.0 + 0 + 3 + 6]
    assert status == [0, 2, 3]


@pytest.mark.parametrize("arch", ARCHES)
def test_every_architecture_builds_it_without_spills(arch):
    functions = [parse(SQUARES), *(draw(seed) for seed in EMULATED)]
    kernels = [group_of(f, "cuda")[1] for f in functions]
    variants = [(k, schedule(k, "cuda", {"n": 4096}, 16)) for k in kernels]
    made = compile_cuda(cuda_unit(variants, no_source, arch).source, arch)
    assert len(made.resources) == len(kernels)
    for used in made.resources.values():
        assert (used.stack, used.spill_stores, used.spill_loads) == (0, 0, 0)
        assert used.registers <= 48


DOUBLED = """fn doubled(%x: f32[rows, cols]):
  %m = amax %x {dim=(1,), keepdim=True}
  %s = map %m : f32[rows, 1] {
    body(%v: f32[]):
      %z = while %v : f32[] {
        test(%z.1: f32[]):
          %0 = lt %z.1, 4.0
          yield %0
        body(%z.2: f32[]):
          %1 = mul %z.2, 2.0
          yield %1
      }
      yield %z
  }
  %y = map %x, %s : f32[rows, cols] {
    body(%a: f32[], %b: f32[]):
      %w = while %a : f32[] {
        test(%w.1: f32[]):
          %2 = lt %w.1, %b
          yield %2
        body(%w.2: f32[]):
          %3 = mul %w.2, 2.0
          yield %3
      }
      yield %w
  }
  return %y
"""


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_loops_end_though_they_would_not_beyond_a_row(target):
    """Doubling 0, which stands for what is not there, never ends; nor doubling -inf."""
    function = parse(DOUBLED)
    parts, kernel = group_of(function, target)
    x = torch.rand(3, 37) + 0.5
    limit = x.amax(1, keepdim=True)
    while (limit < 4).any():
        limit = torch.where(limit < 4, limit * 2, limit)
    right = x
    while (right < limit).any():
        right = torch.where(right < limit, right * 2, right)

    def on_cpu(group, memory, sizes):
        library, text = build_cpu([kernel])
        assert run_cpu(library, text.entries[kernel.name], group, memory, sizes) == 0

    def emulated(group, memory, sizes):
        buffers, values, chosen, plan = cuda_variant(group, memory, sizes)
        text = cuda_unit([(kernel, chosen)], no_source, "sm_90")
        emulate_launch(text, text.entries[kernel.name], buffers, values, plan)

    run = on_cpu if target == "cpu" else emulated
    (found,) = run_parts(function, parts, [x], bind_sizes(function.params, [x]), run)
    assert torch.equal(found, right)
