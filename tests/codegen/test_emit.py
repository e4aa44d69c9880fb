"""Every case is one kernel, right on the CPU and under the checked emulator, at awkward sizes."""

import itertools
import re

import pytest
import torch

from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.kernel import Group
from astjit.passes.pipeline import run
from astjit.runtime.interpret import bind_sizes
from astjit.types.tensor import ScalarType
from tests.fusion.cases import CASES
from tests.kernels import build_cpu, run_cpu, run_emulated, run_parts

NAMES = [case.name for case in CASES]
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}
BATCHES, ROWS = (0, 1, 2, 33), (0, 1, 31, 33, 1000, 4096, 50257)


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


def check(case, results, inputs, dtype):
    """Within 1.5 times eager's error against float64, plus an ulp of the largest value (D8)."""
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
        unit = torch.finfo(DTYPES[dtype]).eps * (8 if dtype == "f64" else 1)  # no wider reference
        allowed = 1.5 * (eager - want).abs().max() + 2 * unit * want.abs().max()
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


UNITS = {}


def unit_of(parts, key):
    if key not in UNITS:
        UNITS[key] = build_cpu([p.kernel for p in parts.parts if isinstance(p, Group)])
    return UNITS[key]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_cpu(case, dtype):
    for batch, row in itertools.product(BATCHES, ROWS):
        sizes = fitting(case, batch, row)
        if unfit(case, sizes) or batch * row > 2_000_000:
            continue
        function, parts = specialised(case, dtype, sizes)
        inputs = make_inputs(function, sizes, batch + row)
        bound = bind_sizes(function.params, inputs)
        unit = unit_of(parts, (case.name, dtype, batch == 1, row == 1))
        results = run_parts(
            function, parts, inputs, bound, lambda g, m, s, unit=unit: run_cpu(unit, g, m, s)
        )
        check(case, results, inputs, dtype)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_emulated(case, dtype):
    for batch, row in itertools.product((0, 1, 2, 3), (0, 1, 31, 33, 1000, 4096)):
        if batch == 3 and row > 33:
            continue
        sizes = fitting(case, batch, row)
        if unfit(case, sizes):
            continue
        function, parts = specialised(case, dtype, sizes)
        inputs = make_inputs(function, sizes, batch + row)
        bound = bind_sizes(function.params, inputs)
        order = ("natural", "reverse", "random")[(batch + row) % 3]
        results = run_parts(
            function, parts, inputs, bound, lambda g, m, s, o=order: run_emulated(g, m, s, o)
        )
        check(case, results, inputs, dtype)
