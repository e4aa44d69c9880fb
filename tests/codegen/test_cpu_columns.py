"""Column kernels on the CPU: right at every size, dtype and number of threads."""

from functools import cache

import pytest
import torch

import astjit
from tests.codegen import columns, records
from tests.codegen.columns import DTYPES, assert_close, inputs_of, run_on_cpu, shape_of
from tests.fusion.column_cases import BY_NAME, COLUMN_CASES

ROWS, COLS = (2, 33, 300), (7, 33, 260)


@cache
def built(dtype):
    made = columns.programs(COLUMN_CASES, dtype)
    return made, columns.library_of(made)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_case_is_one_kernel_and_right(dtype):
    made, library = built(dtype)
    for case in COLUMN_CASES:
        function, parts = made[case.name]
        assert [p.kernel.kind for p in parts.parts] == ["column"], case.name
        for rows in ROWS:
            for cols in COLS:
                inputs = inputs_of(function, shape_of(case, rows, cols), rows + cols)
                results = run_on_cpu(library, function, parts, inputs)
                assert_close(case, results, inputs, dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", ["square_sum", "standardise", "softmax", "extremes"])
def test_no_thread_changes_a_bit(name, dtype):
    """The rows of a strip are shared where there are fewer strips than threads."""
    made, library = built(dtype)
    function, parts = made[name]
    for rows, cols in ((5000, 3), (1027, 40), (70, 300)):
        inputs = inputs_of(function, {"rows": rows, "cols": cols})
        alone = run_on_cpu(library, function, parts, inputs, 1)
        assert_close(BY_NAME[name], alone, inputs, dtype)
        for threads in (2, 3, 7):
            shared = run_on_cpu(library, function, parts, inputs, threads)
            assert all(torch.equal(a, b) for a, b in zip(alone, shared, strict=True))


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64"])
def test_special_values_stay_in_their_columns(dtype):
    made, library = built(dtype)
    for name in ("softmax", "extremes", "square_sum"):
        function, parts = made[name]
        inputs = inputs_of(function, {"rows": 70, "cols": 37})
        (x,) = inputs
        x[3, 1], x[5, 2], x[6, 3] = float("nan"), float("inf"), -float("inf")
        x[:, 4], x[:, 5] = -float("inf"), 0.0
        x[7, 6] = x[9, 6] = 50.0
        results = run_on_cpu(library, function, parts, inputs)
        assert_close(BY_NAME[name], results, inputs, dtype)


def test_nothing_to_reduce_and_nothing_to_do():
    made, library = built("f32")
    function, parts = made["square_sum"]
    (empty,) = run_on_cpu(library, function, parts, [torch.zeros(0, 5)])
    assert torch.equal(empty, torch.zeros(5))
    (none,) = run_on_cpu(library, function, parts, [torch.zeros(5, 0)])
    assert none.shape == (0,)


def test_two_reductions_of_a_stage_share_a_sweep():
    text = built("f32")[1][1].kernels
    extremes = text[text.index("void extremes_0_kernel") :]
    extremes = extremes[: extremes.index("\n}\n")]
    assert extremes.count("columns<2, Max, Min, Sum>(") == extremes.count("columns<") == 1
    assert extremes.count("load(x_strip") == 1


def test_a_value_of_a_column_is_kept_in_an_array_only_if_a_sweep_reads_it():
    text = built("f32")[1][1].kernels
    standardise = text[text.index("void standardise_0_kernel") :]
    standardise = standardise[: standardise.index("\n}\n")]
    arrays = [line.split()[1] for line in standardise.splitlines() if "[strip_columns];" in line]
    assert [a.removesuffix("[strip_columns];") for a in arrays] == [
        *("column_sum", "mean2"),  # a result is called mean
        *("column_sum2", "r"),
    ]


def test_the_record_reads_what_the_hand_written_text_reads():
    _, text = columns.build_cpu([records.square_sum0()], records.source_line)
    assert "columns<8, Sum>(strip, {column_sum}" in text.kernels


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_a_tensor_of_one_element_beside_columns(dtype):
    def scaled(x, s):
        return (x * s).sum(0), torch.softmax(x + s, 0)

    x, s = torch.randn(33, 40).to(dtype), torch.tensor(2.5).to(dtype)
    compiled = astjit.compile(scaled, fullgraph=True)
    for ours, eager in zip(compiled(x, s), scaled(x, s), strict=True):
        torch.testing.assert_close(ours, eager)
    assert compiled.cpp_source(x, s).count("_kernel(") == 1
