"""Branches and loops of kernels as C: random bodies, and texts that people read."""

from functools import cache

import pytest
import torch

from astjit.codegen.emit import cuda_unit
from astjit.config import Config
from astjit.fusion.group import groups
from astjit.runtime.interpret import bind_sizes
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
