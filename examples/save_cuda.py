"""The CUDA of a function for three architectures, saved and built, on any machine.

    python examples/save_cuda.py FOLDER

A text compiles alone: its first line holds the options for NVRTC, and nvcc takes it as well.
"""

import sys
import tempfile
from pathlib import Path

import torch

import astjit
from astjit.targets.nvrtc import compile_cuda

ARCHES = ("sm_80", "sm_90", "sm_120")


@astjit.compile
def gelu_residual(x, bias, residual):
    """A linear layer's epilogue."""
    h = x + bias
    return torch.nn.functional.gelu(h, approximate="tanh") + residual


def main(folder: Path) -> None:
    """Save a text for each architecture, build each, and say what the assembler gave it."""
    args = torch.empty(64, 4096), torch.empty(4096), torch.empty(64, 4096)
    for arch in ARCHES:
        text = gelu_residual.cuda_source(*args, arch=arch)
        file = folder / f"gelu_residual.{arch}.cu"
        file.write_text(text, encoding="utf-8")
        for name, used in compile_cuda(text, arch).resources.items():
            shown = f"{used.registers} registers, {used.spill_stores} bytes spilled"
            print(f"{file.name}: {len(text.splitlines())} lines, {name}: {shown}")
    print()
    print(text)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if not word.startswith("--")]
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(given[0]) if given else Path(scratch))
