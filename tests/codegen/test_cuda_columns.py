"""Column kernels for CUDA: right and clean under the checked emulator, few registers."""

from dataclasses import replace

import pytest

from astjit.fusion.schedule import schedule
from astjit.targets.nvrtc import ARCHES
from tests.codegen import columns
from tests.codegen.columns import DTYPES, assert_close, emulated, inputs_of, shape_of
from tests.cuda_builds import resources
from tests.fusion.column_cases import BY_NAME, COLUMN_CASES

SHAPES = ((2, 2), (3, 33), (31, 7), (33, 130), (130, 31), (300, 260))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_case_is_right(dtype):
    made = columns.programs(COLUMN_CASES, dtype, "cuda")
    waiting, cases = [], []
    for case in COLUMN_CASES:
        function, parts = made[case.name]
        for rows, cols in SHAPES:
            sizes = shape_of(case, rows, cols)
            waiting.append((function, parts, inputs_of(function, sizes, rows + cols)))
            cases.append(case)
    results = emulated(waiting)
    for case, (_, _, inputs), found in zip(cases, waiting, results, strict=True):
        assert_close(case, found, inputs, dtype, terms=2)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_special_values_stay_in_their_columns(dtype):
    names = ("softmax", "extremes", "square_sum")
    made = columns.programs([BY_NAME[n] for n in names], dtype, "cuda")
    waiting = []
    for name in names:
        function, parts = made[name]
        inputs = inputs_of(function, {"rows": 70, "cols": 37})
        (x,) = inputs
        x[3, 1], x[5, 2], x[6, 3] = float("nan"), float("inf"), -float("inf")
        x[:, 4], x[:, 5] = -float("inf"), 0.0
        x[7, 6] = x[9, 6] = 50.0
        waiting.append((function, parts, inputs))
    for name, (_, _, inputs), found in zip(names, waiting, emulated(waiting), strict=True):
        assert_close(BY_NAME[name], found, inputs, dtype, terms=2)


def variants(dtype):
    """Every variant of every case, under a name of its own."""
    found = {}
    for name, (_, parts) in columns.programs(COLUMN_CASES, dtype, "cuda").items():
        (group,) = parts.parts
        for rows in (3, 16, 64, 5000):
            for cols in (7, 4096):
                for alignment in (16, 2 if dtype in ("bf16", "f16") else 4):
                    sizes = dict.fromkeys(group.kernel.axes, 3) | {"rows": rows, "cols": cols}
                    chosen = schedule(group.kernel, "cuda", sizes, alignment)
                    found.setdefault((name, chosen), group.kernel)
    return [
        (replace(kernel, name=f"{name}_{dtype}_{at}"), chosen)
        for at, ((name, chosen), kernel) in enumerate(found.items())
    ]


def check_resources(arch, parts):
    found = resources(parts, arch)
    pairs = [pair for part in parts for pair in part]
    assert len(found) == len(pairs)
    over = {}
    for kernel, chosen in pairs:
        used = found[kernel.name]
        limit = 72 if chosen.variant == "resident" else 64
        if chosen.vector == 8 or chosen.variant == "split" or "_f64_" in kernel.name:
            limit = 120  # accumulators of eight lanes, guarded loads, functions of f64
        spilled = used.stack, used.spill_stores, used.spill_loads
        if spilled != (0, 0, 0) or used.registers > limit:
            over[kernel.name] = used
    assert not over


def test_few_registers_on_one_architecture():
    check_resources("sm_90", [variants("f32")])


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_few_registers(arch):
    check_resources(arch, [variants(dtype) for dtype in ("f32", "bf16", "f64")])
