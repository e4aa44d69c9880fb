"""Each example runs, on small tensors, and shows what it promises."""

import runpy
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import torch

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def show(name, *arguments):
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), "--small", *arguments]
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


@pytest.mark.slow
def test_transformer_norm():
    printed = show("transformer_norm.py")
    assert printed.startswith("two batches agree, 1 program\n")
    assert "// scale = torch.rsqrt(h.square()" in printed
    assert "__global__" in printed


@pytest.mark.slow
def test_loss_zoo():
    lines = show("loss_zoo.py").splitlines()
    assert len(lines) == 6
    assert all(line.endswith("agrees with eager") for line in lines)
    assert "dice: 1 kernel(s), no library call; agrees with eager" in lines


@pytest.mark.slow
def test_save_cuda(tmp_path):
    printed = show("save_cuda.py", str(tmp_path))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        f"gelu_residual.sm_{number}.cu" for number in (120, 80, 90)
    ]
    text = (tmp_path / "gelu_residual.sm_80.cu").read_text()
    assert text.startswith("// nvrtc --gpu-architecture=sm_80 ")
    assert printed.count("0 bytes spilled") == 3


@pytest.mark.slow
def test_reading_explain():
    printed = show("reading_explain.py")
    assert "scores on cpu\n  kernel scores_weights (row): reads " in printed
    assert '  line 23, print("seen", y.shape): print() is an effect\n' in printed
    assert "sm_120: " in printed
    assert "torch.cumsum is a library call" in printed


def test_every_example_is_tested():
    here = Path(__file__).read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in here] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mandelbrot.py", "(60, 84), 26.4% of the points never escaped"),
        ("newton_basins.py", "(64, 64), the three roots from 34.4%, 32.8%, 32.8%"),
        ("pendulum_ode.py", "(48, 48), up to 5 turns, the last after 10.5 s"),
        ("implied_volatility.py", "1600 of 1600 found, worst error"),
    ],
)
def test_pictures(name, said, tmp_path):
    file = tmp_path / "picture.png"
    printed = show(name, "--out", str(file))
    assert f"{file}: {said}" in printed
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(data) > 300


def test_a_picture_holds_its_colors(tmp_path):
    pictures = runpy.run_path(str(EXAMPLES / "pictures.py"))
    shades = pictures["palette"](torch.tensor([[0.0, 0.5, 1.0]]), [(0, 0, 0), (100, 200, 50)])
    assert shades.tolist() == [[[0, 0, 0], [50, 100, 25], [100, 200, 50]]]
    pictures["write_png"](tmp_path / "p.png", shades)
    data = (tmp_path / "p.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT") + 4
    assert (width, height) == (3, 1)
    assert list(zlib.decompressobj().decompress(data[start:])) == [
        0,
        0,
        0,
        0,
        50,
        100,
        25,
        100,
        200,
        50,
    ]
