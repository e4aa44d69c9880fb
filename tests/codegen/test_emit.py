"""Every case is one kernel, right on the CPU and under the checked emulator, at awkward sizes."""

import itertools
import re
from dataclasses import replace
from functools import cache

import pytest
import torch

from astjit.codegen.emit import cuda_unit
from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.kernel import Group
from astjit.fusion.launch import launch
from astjit.fusion.schedule import schedule
from astjit.fusion.split import launches
from astjit.passes.pipeline import run
from astjit.runtime.interpret import bind_sizes
from astjit.types.tensor import ScalarType
from tests.codegen import records
from tests.fusion.cases import CASES
from tests.kernels import (
    build_cpu,
    cuda_variant,
    emulate_launch,
    emulate_split,
    no_source,
    run_cpu,
    run_parts,
)

NAMES = [case.name for case in CASES]
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}
BATCHES, ROWS = (0, 1, 2, 33), (0, 1, 31, 33, 1000, 4096, 50257)
SHORT = 1000  # rows longer than this are emulated in small batches


def specialised(case, dtype, sizes):
    """The case with the sizes that are 1 as literals, its parts, and the number of dims names."""
    text = case.text
    for name, size in sizes.items():
        if size == 1:
            text = re.sub(rf"\b{name}\b", "1", text)
    function = type(case)(case.name, text, case.eager, case.kind).function(dtype)
    run(function, Config())
    parts = groups(function, "cpu", Config())
    return function, parts


def make_inputs(function, sizes, seed=0):
    torch.manual_seed(seed)
    made = []
    for param in function.params:
        if isinstance(param.type, ScalarType):
            made.append(0.37)
            continue
        shape = [d if isinstance(d, int) else sizes[d.name] for d in param.type.dims]
        dtype = getattr(torch, param.type.dtype.torch)
        made.append(torch.randn(shape, dtype=torch.float64).to(dtype))
    return made


def is_full(value):
    return isinstance(value, torch.Tensor) and value.numel() > 0


def check(case, results, inputs, dtype):
    """Within 1.5 times eager's error against float64, plus an ulp of the largest value (D8).

    A mean may be far smaller than what it is the mean of: its order of summation shows at a
    fraction of an ulp of the inputs.
    """
    inputs_scale = max((t.abs().max().item() for t in inputs if is_full(t)), default=0.0)
    wide = [t.double() if isinstance(t, torch.Tensor) else t for t in inputs]
    wants, eagers = case.eager(*wide), case.eager(*inputs)
    if not isinstance(wants, tuple):
        wants, eagers = (wants,), (eagers,)
    for got, want, eager in zip(results, wants, eagers, strict=True):
        assert got.dtype == eager.dtype
        assert got.shape == eager.shape
        special = ~eager.isfinite()
        assert torch.equal(got[special], eager[special]) or got[special].isnan().all()
        assert torch.equal(got.isfinite(), eager.isfinite())
        got, eager, want = (t.double().masked_fill(special, 0) for t in (got, eager, want))
        if not got.numel():
            continue
        unit = torch.finfo(DTYPES[dtype]).eps * (200 if dtype == "f64" else 1)  # eager's own error
        scale = max(2 * want.abs().max().item(), inputs_scale / 32)
        allowed = 1.5 * (eager - want).abs().max() + unit * scale
        assert (got - want).abs().max() <= allowed


def dims_of(case):
    """The names of the case's dims: the last is the row."""
    header = case.text.split("):")[0]
    shapes = [s.split(", ") for s in re.findall(r"FLOAT\[([^\]]*)\]", header)]
    names = dict.fromkeys(d for shape in shapes for d in shape if d.isidentifier())
    return list(names)


def fitting(case, batch, row):
    names = dims_of(case)
    sizes = dict.fromkeys(names, 3)
    sizes[names[0]], sizes[names[-1]] = batch, row
    return sizes


def unfit(case, sizes):
    """Shapes that the function itself refuses: halves of different lengths."""
    return case.name == "swiglu_chunk" and sizes["cols"] % 2 == 1


def pattern(sizes):
    """Which of the case's sizes are 1: one program each."""
    return tuple(name for name, size in sizes.items() if size == 1)


def shapes(case, batches, rows, limit, longest=33):
    """The sizes to try, by pattern of ones."""
    found = {}
    for batch, row in itertools.product(batches, rows):
        sizes = fitting(case, min(batch, longest if row > SHORT else batch), row)
        if not unfit(case, sizes) and batch * row <= limit:
            found.setdefault(pattern(sizes), []).append(sizes)
    return found


def named(part, name):
    """The part with another kernel name, so that many share one text."""
    if not isinstance(part, Group):
        return part
    return replace(part, kernel=replace(part.kernel, name=name))


@cache
def programs(dtype):
    """Every case and pattern of ones as (function, parts), and one library of all their kernels."""
    made = {}
    for case in CASES:
        for number, (ones, found) in enumerate(shapes(case, BATCHES, ROWS, 2_000_000).items()):
            function, parts = specialised(case, dtype, found[0])
            cut = [named(p, f"{case.name}_{number}_{i}") for i, p in enumerate(parts.parts)]
            made[case.name, ones] = function, replace(parts, parts=tuple(cut))
    kernels = [p.kernel for _, ps in made.values() for p in ps.parts if isinstance(p, Group)]
    return made, build_cpu(kernels)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("dtype", DTYPES)
def test_cpu(dtype):
    """One unit holds every case; each is right at every size of its pattern of ones."""
    made, (library, text) = programs(dtype)

    def run_one(group, memory, sizes):
        run_cpu(library, text.entries[group.kernel.name], group, memory, sizes)

    for case in CASES:
        for ones, found in shapes(case, BATCHES, ROWS, 2_000_000).items():
            function, parts = made[case.name, ones]
            for sizes in found:
                inputs = make_inputs(function, sizes, sum(sizes.values()))
                bound = bind_sizes(function.params, inputs)
                results = run_parts(function, parts, inputs, bound, run_one)
                check(case, results, inputs, dtype)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_emulated(case, dtype):
    """Every variant that the sizes take, in one text, clean and right under the emulator."""
    waiting, variants = [], {}
    for number, (ones, found) in enumerate(shapes(case, BATCHES, ROWS, 200_000, longest=3).items()):
        function, parts = specialised(case, dtype, found[0])
        cut = [named(p, f"{case.name}_{number}_{i}") for i, p in enumerate(parts.parts)]
        for sizes in found:
            waiting.append((function, replace(parts, parts=tuple(cut)), sizes, ones))
    for function, parts, sizes, _ in waiting:  # first only to see which variants there are
        inputs = make_inputs(function, sizes)
        bound = bind_sizes(function.params, inputs)
        run_parts(function, parts, inputs, bound, lambda g, m, s: variant_of(variants, g, m, s))
    made = [one for g, chosen in variants.values() for one in launches(g.kernel, chosen)]
    text = cuda_unit(made, no_source, "sm_90")
    for count, (function, parts, sizes, _) in enumerate(waiting):
        inputs = make_inputs(function, sizes, sum(sizes.values()))
        bound = bind_sizes(function.params, inputs)
        order = ("natural", "reverse", "random")[count % 3]

        def run_one(group, memory, sizes, order=order):
            buffers, values, chosen, plan = cuda_variant(group, memory, sizes)
            if plan is not None:
                kernel = variants[group.kernel.name, chosen][0].kernel
                emulate_split(text, kernel, chosen, buffers, values, plan, order)

        results = run_parts(function, parts, inputs, bound, run_one)
        check(case, results, inputs, dtype)


def variant_of(variants, group, memory, sizes):
    """Note the variant that a launch takes, under a name of its own."""
    _, _, chosen, plan = cuda_variant(group, memory, sizes)
    if plan is not None:
        name = f"{group.kernel.name}_{len(variants)}"
        variants.setdefault((group.kernel.name, chosen), (named(group, name), chosen))


def test_tiles_first_covers_the_same_elements():
    """The variant for very long rows, here forced on short ones."""
    kernel = records.bias_gelu()
    sizes = {"rows": 5, "cols": 600}
    chosen = replace(schedule(kernel, "cuda", sizes, 16), tiles_first=True)
    text = cuda_unit([(kernel, chosen)], no_source, "sm_90")
    x, bias, residual = torch.randn(5, 600), torch.randn(600), torch.randn(5, 600)
    out = torch.full((5, 600), float("nan"))
    buffers = {"x": x, "bias": bias, "residual": residual, "out": out}
    entry = text.entries[kernel.name]
    emulate_launch(text, entry, buffers, sizes, launch(kernel, chosen, sizes))
    want = torch.nn.functional.gelu(x + bias, approximate="tanh") + residual
    torch.testing.assert_close(out, want)
