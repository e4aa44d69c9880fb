"""benchmarks/resources.py counts what it says, and its committed table holds what is promised."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from astjit.targets.nvrtc import ARCHES, compile_cuda

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import resources

TABLE = Path(resources.__file__).parent / "results" / "resources.md"


def committed():
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    head, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(head, row, strict=True)) for row in rows[1:]]


@pytest.mark.parametrize(
    ("instruction", "wanted"),
    [
        ("LDG.E.128.CONSTANT R4, desc[UR4][R2.64]", 128),
        ("LDG.E.ENL2.256 R4, R8, desc[UR4][R2.64]", 256),
        ("STG.E.U16 desc[UR4][R2.64], R4", 16),
        ("LDG.E.64 R4, desc[UR4][R2.64]", 64),
        ("STG.E desc[UR4][R2.64], R4", 32),
    ],
)
def test_bits_of_an_access(instruction, wanted):
    assert resources.bits(instruction) == wanted


def test_instructions_are_counted():
    tool = resources.disassembler()
    if tool is None:
        pytest.skip("needs nvdisasm (pip install nvidia-cuda-nvdisasm)")
    text = """
extern "C" __global__ void divided(const float4* x, float* y, float by) {
  const float4 a = x[threadIdx.x];
  y[threadIdx.x] = (a.x + a.y + a.z + a.w) / by;
}
"""
    instructions = resources.disassembled(compile_cuda(text, "sm_90").cubin, tool)["divided"]
    code = resources.code_of(instructions)
    assert (code.loads, code.stores) == (Counter({128: 1}), Counter({32: 1}))
    assert (code.local, code.calls) == (0, 1)


def test_the_committed_table():
    rows = committed()
    assert {row["arch"] for row in rows} == set(ARCHES)
    assert {row["dtype"] for row in rows} == {"f32", "bf16"}
    assert {row["kind"] for row in rows} == {"pointwise", "row", "column", "full"}
    variants = {row["variant"].split(",")[0] for row in rows}
    assert variants == {"plain", "warp", "resident", "looped", "split"}
    for row in rows:
        assert int(row["registers"]) <= (96 if row["kind"] == "column" else 64)
        assert {row["stack"], row["spills"], row["local"]} == {"0"}
        plain = row["kernel"] in resources.NAMES
        for accesses in (row["loads"], row["stores"]):  # those of OTHERS store single elements, too
            wide = re.fullmatch(r"\d+ x (128|256)", accesses)
            assert wide or not plain, row
        assert plain or re.match(r"\d+ x (128|256)", row["loads"]), row


def test_every_workload_is_in_the_committed_table():
    names = {re.sub(r"_pass\d$", "", row["kernel"]) for row in committed()}
    assert names == {*resources.NAMES, *resources.OTHERS}
    passes = [row["kernel"] for row in committed() if row["kernel"].startswith("softmax_shared")]
    assert set(passes) == {f"softmax_shared_pass{n}" for n in (1, 2, 3)}
