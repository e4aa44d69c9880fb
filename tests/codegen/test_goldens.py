"""The texts of a few kernels, kept for people to read, and measured against hand-written ones.

tests/golden/cpu and tests/golden/cuda hold the kernel sections. `pytest --update-golden` writes
them after a change; the diff is what a reviewer looks at.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from astjit.codegen.emit import cpu_unit, cuda_unit
from astjit.fusion.schedule import schedule
from astjit.fusion.split import launches
from tests import rubric
from tests.codegen import records

REFERENCE = Path(__file__).resolve().parents[2] / "benchmarks" / "reference"


@dataclass(frozen=True)
class Golden:
    """One text.

    Attributes:
        path: in tests/golden.
        make: the kernel's record.
        dtype: of its buffers.
        cols: the length of a row.
        alignment: of its buffers, in bytes.
        variant: the schedule that follows from these.
        rows: how many there are.
        reference: the hand-written text beside it, "" where there is none.
    """

    path: str
    make: Any
    dtype: str = "f32"
    cols: int = 4096
    alignment: int = 16
    variant: str = "plain"
    reference: str = ""
    rows: int = 32

    @property
    def target(self):
        return self.path.partition("/")[0]


BIAS_GELU, RMS_NORM, SOFTMAX = records.bias_gelu, records.rms_norm, records.softmax
SIN_COS_SUM, LOGSUMEXP_MEAN = records.sin_cos_sum, records.logsumexp_mean
SQUARE_SUM0, SOFTMAX0 = records.square_sum0, records.softmax0
GOLDENS = (
    Golden("cpu/square_sum0.cpp", SQUARE_SUM0, reference="cpu/square_sum0.cpp"),
    Golden("cpu/softmax0_bf16.cpp", SOFTMAX0, "bf16"),
    Golden("cpu/softmax0_f64.cpp", SOFTMAX0, "f64"),
    Golden("cuda/square_sum0.cu", SQUARE_SUM0, variant="looped"),
    Golden("cuda/square_sum0_unaligned.cu", SQUARE_SUM0, "f32", 1023, 4, variant="looped"),
    Golden("cuda/softmax0.cu", SOFTMAX0, variant="resident"),
    Golden("cuda/softmax0_bf16.cu", SOFTMAX0, "bf16", variant="looped"),
    Golden("cpu/bias_gelu.cpp", BIAS_GELU, reference="cpu/bias_gelu.cpp"),
    Golden("cpu/bias_gelu_bf16.cpp", BIAS_GELU, "bf16"),
    Golden("cpu/rms_norm.cpp", RMS_NORM, reference="cpu/rms_norm.cpp"),
    Golden("cpu/rms_norm_bf16.cpp", RMS_NORM, "bf16"),
    Golden("cpu/softmax.cpp", SOFTMAX, reference="cpu/softmax.cpp"),
    Golden("cpu/softmax_bf16.cpp", SOFTMAX, "bf16"),
    Golden("cpu/softmax_f64.cpp", SOFTMAX, "f64"),
    Golden("cuda/bias_gelu.cu", BIAS_GELU, reference="cuda/bias_gelu.cu"),
    Golden("cuda/bias_gelu_bf16.cu", BIAS_GELU, "bf16"),
    Golden("cuda/bias_gelu_unaligned.cu", BIAS_GELU, "f32", 1023, 4),
    Golden("cuda/rms_norm.cu", RMS_NORM, variant="resident", reference="cuda/rms_norm.cu"),
    Golden("cuda/rms_norm_bf16.cu", RMS_NORM, "bf16", 8192, 16, "resident",
           "cuda/rms_norm_bf16.cu"),
    Golden("cuda/rms_norm_looped.cu", RMS_NORM, "f32", 50256, 16, "looped",
           "cuda/rms_norm_looped.cu", rows=999),
    Golden("cuda/rms_norm_split.cu", RMS_NORM, "bf16", 1 << 20, 16, "split"),
    Golden("cuda/square_sum0_split.cu", SQUARE_SUM0, "f32", 8, 16, "split", rows=1 << 20),
    Golden("cuda/rms_norm_unaligned.cu", RMS_NORM, "f32", 4095, 4, "resident"),
    Golden("cuda/softmax.cu", SOFTMAX, variant="resident", reference="cuda/softmax.cu"),
    Golden("cuda/softmax_bf16.cu", SOFTMAX, "bf16", 8192, 16, "resident", "cuda/softmax_bf16.cu"),
    Golden("cuda/softmax_bf16_looped.cu", SOFTMAX, "bf16", 50256, 16, "looped"),
    Golden("cuda/softmax_looped.cu", SOFTMAX, "f32", 50256, 16, "looped", "cuda/softmax_looped.cu"),
    Golden("cuda/softmax_warp.cu", SOFTMAX, "f32", 500, 16, "warp"),
    Golden("cuda/softmax_warp_bf16.cu", SOFTMAX, "bf16", 64, 16, "warp"),
    Golden("cuda/rms_norm_warp_unaligned.cu", RMS_NORM, "f32", 100, 4, "warp"),
    Golden("cuda/softmax_unaligned.cu", SOFTMAX, "f32", 4095, 4, "resident",
           "cuda/softmax_unaligned.cu"),
    Golden("cpu/sin_cos_sum.cpp", SIN_COS_SUM, reference="cpu/sin_cos_sum.cpp"),
    Golden("cpu/sin_cos_sum_f64.cpp", SIN_COS_SUM, "f64"),
    Golden("cpu/logsumexp_mean.cpp", LOGSUMEXP_MEAN),
    Golden("cuda/sin_cos_sum.cu", SIN_COS_SUM, reference="cuda/sin_cos_sum.cu"),
    Golden("cuda/sin_cos_sum_bf16.cu", SIN_COS_SUM, "bf16"),
    Golden("cuda/logsumexp_mean.cu", LOGSUMEXP_MEAN, variant="resident"),
    Golden("cuda/logsumexp_mean_looped.cu", LOGSUMEXP_MEAN, "f32", 50256, 16, "looped"),
)  # fmt: skip
EACH = pytest.mark.parametrize("case", GOLDENS, ids=[g.path for g in GOLDENS])
REFERENCES = pytest.mark.parametrize(
    "case", [g for g in GOLDENS if g.reference], ids=[g.path for g in GOLDENS if g.reference]
)


def rendered(case):
    """The kernel, its schedule and the unit of it alone."""
    kernel = case.make(case.dtype)
    sizes = {**dict.fromkeys(kernel.axes, case.cols), "outer": 64, "rows": case.rows}
    chosen = schedule(kernel, case.target, sizes, case.alignment)
    if case.target == "cpu":
        return kernel, chosen, cpu_unit([(kernel, chosen)], records.source_line, "g++")
    return kernel, chosen, cuda_unit(launches(kernel, chosen), records.source_line, "sm_90")


def reference(case):
    return rubric.kernel_section((REFERENCE / case.reference).read_text())


def user_names(kernel):
    """The user's variables that are still values of the body."""
    values = (r for node in kernel.body.nodes for r in node.results)
    return sorted({value.name.rstrip("_") for value in values if value.name})


@EACH
def test_text(case, golden):
    _, chosen, text = rendered(case)
    assert (chosen.variant, chosen.aligned) == (case.variant, case.alignment >= 16)
    golden(case.path, text.kernels)


@EACH
def test_rubric(case):
    kernel, _, text = rendered(case)
    lines = {line.line: records.LINES[line.line] for line in kernel.lines}
    hand = reference(case) if case.reference else None
    head, *kernels = text.kernels.split('extern "C" __global__')
    if len(kernels) == 1 or case.target == "cpu":
        assert rubric.faults(text.kernels, lines, user_names(kernel), hand) == []
        return
    assert rubric.missing_names(text.kernels, user_names(kernel)) == []
    for one in kernels:  # launches of one kernel quote the lines of what they do
        quoted = {n: lines[n] for _, n in rubric.source_lines(one)}
        assert rubric.faults(head + one, quoted, [], None) == []


@REFERENCES
def test_no_more_memory_is_touched_than_by_hand(case):
    _, _, text = rendered(case)
    assert rubric.structure(text.kernels) == rubric.structure(reference(case))


def test_every_hand_written_variant_of_the_three_has_a_golden():
    for target in ("cpu", "cuda"):
        for path in (REFERENCE / target).glob("*.c*"):
            if path.stem.startswith(("bias_gelu", "rms_norm", "softmax")):
                assert f"{target}/{path.name}" in {g.reference for g in GOLDENS}


def test_comments_quote_the_functions_that_the_references_come_from():
    lines = (REFERENCE / "functions.py").read_text().splitlines()
    for case in GOLDENS:
        for where in case.make().lines:
            assert records.LINES[where.line] == lines[where.line - 1].strip()
