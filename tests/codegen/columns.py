"""Runs column cases at many sizes, on the CPU and under the emulator."""

import re
from dataclasses import replace

import torch

from astjit.codegen.emit import cuda_unit
from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.kernel import Group
from astjit.fusion.split import launches
from astjit.passes.pipeline import run
from astjit.runtime.interpret import bind_sizes
from tests.kernels import (
    build_cpu,
    cuda_variant,
    emulate_launch,
    emulate_split,
    no_source,
    run_cpu,
    run_parts,
)

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}


def named(part, name):
    """The part with another kernel name, so that many share one text."""
    return replace(part, kernel=replace(part.kernel, name=name)) if type(part) is Group else part


def programs(cases, dtype, target="cpu"):
    """Each case as (function, parts), every kernel under the name of its case."""
    made = {}
    for case in cases:
        function = case.function(dtype)
        run(function, Config())
        parts = groups(function, target, Config())
        cut = tuple(named(p, f"{case.name}_{i}") for i, p in enumerate(parts.parts))
        made[case.name] = function, replace(parts, parts=cut)
    return made


def library_of(made):
    """One CPU unit of all kernels."""
    return build_cpu([p.kernel for _, ps in made.values() for p in ps.parts if type(p) is Group])


def run_on_cpu(built, function, parts, inputs, threads=2):
    """The results of a function whose kernels are in a built unit."""
    library, text = built

    def one(group, memory, sizes):
        run_cpu(library, text.entries[group.kernel.name], group, memory, sizes, threads)

    return run_parts(function, parts, inputs, bind_sizes(function.params, inputs), one)


def shape_of(case, rows, cols):
    """Sizes of a case's dims: rows and cols, 3 for what lies outside or between."""
    names = dict.fromkeys(re.findall(r"\b(outer|width|rows|cols)\b", case.text))
    return {name: {"rows": rows, "cols": cols}.get(name, 3) for name in names}


def inputs_of(function, sizes, seed=0):
    """Normal inputs."""
    generator = torch.Generator().manual_seed(seed)
    made = []
    for param in function.params:
        shape = [d if isinstance(d, int) else sizes[d.name] for d in param.type.dims]
        dtype = getattr(torch, param.type.dtype.torch)
        made.append(torch.randn(shape, dtype=torch.float64, generator=generator).to(dtype))
    return made


def emulated(waiting, sources=no_source):
    """For each (function, parts, inputs) its results under the emulator, all in one text."""
    variants = {}

    def note(group, memory, sizes):
        _, _, chosen, plan = cuda_variant(group, memory, sizes)
        if plan is not None and (group.kernel.name, chosen) not in variants:
            name = f"{group.kernel.name}_{len(variants)}"
            variants[group.kernel.name, chosen] = named(group, name), chosen

    for function, parts, inputs in waiting:
        run_parts(function, parts, inputs, bind_sizes(function.params, inputs), note)
    made = [one for g, chosen in variants.values() for one in launches(g.kernel, chosen)]
    text = cuda_unit(made, sources, "sm_90")
    for count, (function, parts, inputs) in enumerate(waiting):

        def one(group, memory, sizes, order=("natural", "reverse", "random")[count % 3]):
            buffers, values, chosen, plan = cuda_variant(group, memory, sizes)
            if plan is None:
                return
            kernel = variants[group.kernel.name, chosen][0].kernel
            if chosen.variant == "split":
                emulate_split(text, kernel, chosen, buffers, values, plan, order)
            else:
                emulate_launch(text, text.entries[kernel.name], buffers, values, plan, order)

        yield run_parts(function, parts, inputs, bind_sizes(function.params, inputs), one)


def assert_close(case, results, inputs, dtype, terms=1):
    """Within 1.5 times eager's error against float64 plus an ulp of the largest value (D8).

    `terms` more roundings are allowed where a target adds in fewer, longer runs than eager does.
    """
    tensors = [t for t in inputs if isinstance(t, torch.Tensor)]
    doubles = [t.double() if isinstance(t, torch.Tensor) else t for t in inputs]
    wants, eagers = case.eager(*doubles), case.eager(*inputs)
    if not isinstance(wants, tuple):
        wants, eagers = (wants,), (eagers,)
    for got, want, eager in zip(results, wants, eagers, strict=True):
        assert (got.dtype, got.shape) == (eager.dtype, eager.shape)
        assert torch.equal(got.isnan(), eager.isnan())
        infinite = eager.isinf() & ~eager.isnan()
        assert torch.equal(got[infinite], eager[infinite])
        special = ~eager.isfinite()
        got, eager, want = (t.double().masked_fill(special, 0) for t in (got, eager, want))
        if got.numel():
            eps = torch.finfo(DTYPES[dtype]).eps * (200 if dtype == "f64" else 1)
            scale = max(want.abs().max().item(), max(t.abs().max() for t in tensors) / 32)
            allowed = 1.5 * (eager - want).abs().max() + terms * eps * scale
            assert (got - want).abs().max() <= allowed
