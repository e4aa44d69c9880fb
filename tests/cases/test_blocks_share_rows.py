"""Rows and columns that several blocks share: right, clean under the emulator, few registers.

The sizes from which sharing pays are made small, so that the emulator gets along.
"""

from dataclasses import replace

import pytest
import torch

import astjit
from astjit.codegen.emit import cuda_unit
from astjit.fusion import schedule as schedules
from astjit.fusion.kernel import Group, is_final
from astjit.fusion.launch import launch
from astjit.fusion.schedule import schedule
from astjit.fusion.split import launches
from astjit.runtime.interpret import bind_sizes
from astjit.targets.nvrtc import ARCHES
from astjit.types.tensor import TensorType
from tests.codegen.columns import assert_close, programs, shape_of
from tests.cuda_builds import resources
from tests.emulator import build, emulate
from tests.emulator.machine import EmulatedDriver, posing
from tests.fusion.cases import BY_NAME, CASES
from tests.fusion.column_cases import COLUMN_CASES
from tests.kernels import cuda_variant, emulate_split, no_source, run_parts

ROWS = tuple(c for c in CASES if c.kind == "row" and c.name != "layer_norm_two")
TALL = tuple(c for c in COLUMN_CASES if c.name != "transposed")  # a row, as memory sees it


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(schedules, "_SHARE", 1 << 11)
    monkeypatch.setattr(schedules, "_LONG", 1 << 12)
    monkeypatch.setattr(schedules, "_BLOCKS", 10)


def sizes_of(case, cols):
    """Long rows, or tall columns."""
    if case in TALL:
        return shape_of(case, 700, cols)
    dims = {d.name for p in case.function().params for d in getattr(p.type, "dims", ()) if d != 1}
    return (
        dict.fromkeys(dims, 1) | {"rows": 2, "h": 2} | {d: cols for d in dims if d in ("cols", "t")}
    )


def made_of(kind, sizes, generator):
    """A normal tensor, or a number."""
    if not isinstance(kind, TensorType):
        return 0.7
    shape = [d if isinstance(d, int) else sizes[d.name] for d in kind.dims]
    dtype = getattr(torch, kind.dtype.torch)
    return torch.randn(shape, dtype=torch.float64, generator=generator).to(dtype)


def waiting(cases, dtype, cols):
    made = programs(cases, dtype, "cuda")
    for case in cases:
        function, parts = made[case.name]
        kernels = [p.kernel for p in parts.parts if isinstance(p, Group)]
        if any(is_final(n) for k in kernels for n in k.body.nodes):
            continue  # blocks of rows already
        generator = torch.Generator().manual_seed(cols)
        inputs = [made_of(p.type, sizes_of(case, cols), generator) for p in function.params]
        yield case, function, parts, inputs


def check(cases, dtype, cols, order="random", *, every=True):
    """Every case in one text: split, as eager's, without a report."""
    given, variants = list(waiting(cases, dtype, cols)), []

    def note(group, memory, sizes):
        _, _, chosen, _ = cuda_variant(group, memory, sizes)
        assert chosen.variant == "split" or not every, group.kernel.name
        variants.extend(launches(group.kernel, chosen))

    def one(group, memory, sizes):
        buffers, values, chosen, plan = cuda_variant(group, memory, sizes)
        assert plan.grid[1] > 1 or not every
        emulate_split(text, group.kernel, chosen, buffers, values, plan, order)

    for _, function, parts, inputs in given:
        run_parts(function, parts, inputs, bind_sizes(function.params, inputs), note)
    text = cuda_unit(variants, no_source, "sm_90")
    build([(text.helpers, text.kernels)])
    for case, function, parts, inputs in given:
        found = run_parts(function, parts, inputs, bind_sizes(function.params, inputs), one)
        assert_close(case, found, inputs, dtype, terms=2)


def test_rows():
    check(ROWS, "f32", 4603)


def test_columns():
    check(TALL, "f32", 7)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f64"])
def test_whole_vectors(dtype):
    check(ROWS, dtype, 8208)
    check(TALL, dtype, 8, every=False)


def variants(dtype):
    """Every launch of every case, unaligned if of 16 bits, under a name of its own."""
    found = {}
    for case in (*ROWS, *TALL):
        (_, parts) = programs([case], dtype, "cuda")[case.name]
        for group in parts.parts:
            for cols in (8208 if dtype == "f32" else 8211,) if isinstance(group, Group) else ():
                sizes = dict.fromkeys(group.kernel.axes, 2 if case in ROWS else 8)
                sizes |= {group.kernel.reduced[0]: cols}
                alignment = 16 if cols % 16 == 0 else 2
                chosen = schedule(group.kernel, "cuda", sizes, alignment)
                if chosen.variant == "split":
                    name = f"{case.name}_{dtype}_{len(found)}"
                    for one in launches(replace(group.kernel, name=name), chosen):
                        found[one[0].name] = one
    return list(found.values())


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_few_registers(arch):
    pairs = [pair for dtype in ("f32", "bf16") for pair in variants(dtype)]
    assert len(pairs) > 40
    found = resources([pairs], arch)
    over = {
        name: used
        for name, used in found.items()
        if (used.stack, used.spill_stores, used.spill_loads) != (0, 0, 0) or used.registers > 96
    }
    assert not over


def test_a_missing_fence_is_caught():
    _, parts = programs([BY_NAME["var_mean"]], "f32", "cuda")["var_mean"]
    (group,) = (p for p in parts.parts if isinstance(p, Group))
    sizes = {"rows": 2, "cols": 9000}
    chosen = schedule(group.kernel, "cuda", sizes, 16)
    plan = launch(group.kernel, chosen, sizes)
    _, last = launches(group.kernel, chosen)
    text = cuda_unit([last], no_source, "sm_90")
    entry = text.entries[last[0].name]
    made = {b.name: torch.zeros(18_000 if "cols" in b.axes else 2) for b in group.kernel.buffers}
    made |= {a.name: torch.zeros(2 * plan.grid[1]) for a in entry.arguments if a.role == "part"}
    known = {**made, **sizes, "arrived": torch.zeros(2, dtype=torch.int32)}
    fence = "  __threadfence();\n  __syncthreads();\n"
    unfenced = text.helpers.replace(fence, "  __syncthreads();\n")
    assert unfenced != text.helpers
    for helpers in (text.helpers, unfenced):
        report = emulate(
            helpers, text.kernels, entry.name, None, [known[a.name] for a in entry.arguments],
            plan.grid, plan.block,
        )  # fmt: skip
        assert bool(report.errors) == (helpers is unfenced), report.errors


def shared(x, y):
    return torch.softmax(x, -1), (y - y.mean(0)).square().sum(0)


def test_whole_functions():
    x, y = torch.randn(2, 9001) + 3, torch.randn(1500, 5)
    compiled = astjit.compile(shared, target="cuda", fullgraph=True)
    with posing(EmulatedDriver()) as driver:
        got, again = compiled(x, y), compiled(x, y)
    torch.testing.assert_close(got, shared(x, y))
    assert all(map(torch.equal, got, again))  # whatever the order of blocks was
    names = [launched.name for launched in driver.launches]
    assert [name.rpartition("_")[2] for name in names[:5]] == [
        "pass1", "pass2", "pass3", "pass1", "pass2"
    ]  # fmt: skip
    assert all(launched.errors == [] and launched.grid[1] > 1 for launched in driver.launches)
