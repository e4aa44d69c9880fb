"""Each example runs, on small tensors, and shows what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def show(name):
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), "--small"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_quickstart():
    printed = show("quickstart.py")
    parts = [line for line in printed.splitlines() if line.startswith("== ")]
    assert [part.split("(")[0].strip() for part in parts] == [
        "== the function",
        "== its SSA",
        "== its CUDA for sm_90",
        "== its result",
        "== its speed",
    ]
    assert "def rms_norm(x, residual, w, eps=1e-6):" in printed
    assert "__global__" in printed
    assert "64x1024" in printed


def test_every_example_is_tested():
    here = Path(__file__).read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in here] == []
