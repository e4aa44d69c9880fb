"""What README.md claims: its example, and the CUDA it shows for it."""

import importlib.util
import re
import sys
from pathlib import Path

import torch

README = Path(__file__).resolve().parent.parent / "README.md"
NAME = "norm.py"  # what the comments of the shown CUDA call the example's file


def block(language, text=None):
    """The first fenced block of a language."""
    text = README.read_text(encoding="utf-8") if text is None else text
    found = re.search(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found, f"README.md has no {language} block"
    return found[1]


def example(folder):
    """The module of README's Python block, from a file, so that it has source lines."""
    path = Path(folder) / NAME
    path.write_text(block("python"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("readme_norm", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["readme_norm"] = module
    spec.loader.exec_module(module)
    return module


def arguments():
    torch.manual_seed(0)
    return torch.randn(64, 4096), torch.randn(64, 4096), torch.randn(4096)


def shown_cuda(module):
    """The kernel section of the CUDA for the example, as README shows it."""
    source = module.rms_norm.cuda_source(*arguments(), arch="sm_90")
    return source[source.index('extern "C" __global__') :].rstrip("\n") + "\n"
