"""What NVRTC makes of kernels for the tests, each text built once for all tests, workers and runs.

    resources([pairs of f32, pairs of bf16], "sm_90")   => Resources by the kernel's name
    machine_code(pairs, "sm_90")                        => instructions by the kernel's name

An image lies in the system's temp dir under its text, the options and the compiler's version, as
units of C++ do; pairs that several tests ask for are a part of their own, so that they share it.
"""

import fcntl
import functools
import getpass
import hashlib
import re
import shutil
import subprocess
import tempfile
import zlib
from pathlib import Path

import pytest
import torch

from astjit.codegen.emit import cuda_unit
from astjit.targets.nvrtc import (
    Compiled,
    compile_cuda,
    nvrtc_options,
    nvrtc_version,
    parse_resources,
)
from tests.kernels import no_source

_START = 'extern "C" __global__'


@functools.cache
def folder():
    """The folder of images; it can be deleted at any time."""
    found = Path(tempfile.gettempdir()) / f"astjit_images_{getpass.getuser()}"
    found.mkdir(mode=0o700, exist_ok=True)
    return found


def compiled(text, arch):
    """As `compile_cuda`, unless the text was built before; who comes second waits for the first."""
    parts = (nvrtc_version(), *nvrtc_options(arch), text)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    image, log = folder() / f"{key}.cubin", folder() / f"{key}.log"
    with open(folder() / f"{key}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not log.exists():  # written last
            made = compile_cuda(text, arch)
            image.write_bytes(zlib.compress(made.cubin, 1))
            whole = log.with_suffix(".part")
            whole.write_text(made.log, encoding="utf-8")
            whole.replace(log)
    said = log.read_text(encoding="utf-8")
    return Compiled(zlib.decompress(image.read_bytes()), said, parse_resources(said))


def distinct(pairs, arch):
    """A text of these kernels without those that are another but for the name, and whose they are.

    Returns the text and a dict of every kernel's name to the name of the one that stands for it.
    """
    source = cuda_unit(pairs, no_source, arch).source
    head, *kernels = source.split(_START)
    assert len(kernels) == len(pairs)
    first, stands, kept = {}, {}, []
    for text, (kernel, _) in zip(kernels, pairs, strict=True):
        body = re.sub(rf"\b{kernel.name}\b", "NAME", text)
        assert body != text
        if body not in first:
            first[body] = kernel.name
            kept.append(text)
        stands[kernel.name] = first[body]
    return _START.join([head, *kept]), stands


def resources(parts, arch):
    """What every kernel of lists of (kernel, schedule) takes; the compiler warned of nothing."""
    found = {}
    for pairs in parts:
        text, stands = distinct(pairs, arch)
        built = compiled(text, arch)
        assert "warning" not in built.log
        assert set(built.resources) == set(stands.values())
        found |= {name: built.resources[one] for name, one in stands.items()}
    return found


def machine_code(pairs, arch):
    """The instructions of each kernel, predicates and operands included."""
    beside = Path(torch.__file__).parents[1] / "nvidia" / "cu13" / "bin" / "nvdisasm"
    tool = shutil.which("nvdisasm") or (str(beside) if beside.exists() else None)
    if tool is None:
        pytest.skip("needs nvdisasm (pip install nvidia-cuda-nvdisasm)")
    text, stands = distinct(pairs, arch)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(compiled(text, arch).cubin)
        file.flush()
        done = subprocess.run([tool, "-c", file.name], capture_output=True, text=True, check=True)
    sections = re.split(r"^\.text\.(\w+):$", done.stdout, flags=re.MULTILINE)
    code = {
        name: re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*?) ;", lines, re.MULTILINE)
        for name, lines in zip(sections[1::2], sections[2::2], strict=True)
    }
    return {name: code[one] for name, one in stands.items()}
