"""From source through SSA, the first three functions give what was written by hand for them.

The texts are the generator's own, so they are compared by what they do to memory (loads, stores,
reductions), by their length and by the rubric of readable text, not letter by letter.
"""

import importlib.util
from pathlib import Path

import pytest
import torch

import astjit
from tests.rubric import kernel_section, long_faults, structure, unused_names, wide_lines

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "reference"
SPEC = importlib.util.spec_from_file_location("reference_functions", FOLDER / "functions.py")
functions = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(functions)

FULL, ROW = (64, 4096), (4096,)
ARGUMENTS = {
    "bias_gelu": (FULL, ROW, FULL),
    "rms_norm": (FULL, FULL, ROW),
    "softmax": (FULL,),
}


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_from_source(name, target):
    function = astjit.compile(getattr(functions, name), fullgraph=True)
    arguments = [torch.randn(shape) for shape in ARGUMENTS[name]]
    if target == "cuda":
        text, suffix = function.cuda_source(*arguments, arch="sm_90"), "cu"
    else:
        text, suffix = function.cpp_source(*arguments), "cpp"
    ours = kernel_section(text)
    hand = kernel_section((FOLDER / target / f"{name}.{suffix}").read_text(encoding="utf-8"))
    assert structure(ours) == structure(hand)
    assert [*long_faults(ours, hand), *wide_lines(ours), *unused_names(ours)] == []
