"""Kernel text is compiled many units at a time, and once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.emulator import BuildError, build, emulate, library

ROOT = Path(__file__).resolve().parent.parent

# Units of one library may define the same names differently.
KERNEL = """
extern "C" __global__ void store(float* y) {
  __shared__ float held;
  held = value();
  *y = held;
}
"""


def unit(value):
    helpers = f"#define VALUE {value}\n\n__device__ float value() {{\n  return VALUE;\n}}\n"
    return helpers, KERNEL


def stored(value, **options):
    y = torch.zeros(1)
    report = emulate(*unit(value), "store", None, [y], 1, 1, **options)
    assert report.errors == []
    return y.item()


@pytest.fixture
def compilations(tmp_path, monkeypatch):
    """Starts from a cache that holds the runtime only; returns the list of units compiled."""
    compiled = []
    compile_units, runtime = library._compile, library._runtime_object()

    def recorded(units, checked):
        compiled.append(len(units))
        compile_units(units, checked)

    monkeypatch.setattr(library, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(library, "_runtime_object", lambda: runtime)
    monkeypatch.setattr(library, "_compile", recorded)
    return compiled


def test_many_units_are_one_compilation_and_are_compiled_once(compilations):
    build([unit(value) for value in (1, 2, 3, 2)])
    assert compilations == [3]
    assert [stored(value) for value in (1, 2, 3)] == [1, 2, 3]
    assert compilations == [3]
    assert stored(4) == 4
    assert compilations == [3, 1]
    assert stored(4, checked=False) == 4
    assert compilations == [3, 1, 1]


def test_a_unit_that_does_not_compile_does_not_spoil_the_others(compilations):
    with pytest.raises(BuildError, match=r"helpers:1:.*wrong|helpers:4:.*wrong"):
        build([unit(5), unit("wrong")])
    assert compilations == [2, 1, 1]
    assert stored(5) == 5
    assert compilations == [2, 1, 1]


def test_processes_may_compile_the_same_unit_at_once(tmp_path):
    # The runtime takes longest to compile, and is there already.
    runtime = library._runtime_object()
    folder = tmp_path / library.cache_folder().name
    folder.mkdir()
    shutil.copy(runtime, folder)
    program = (
        "import torch\n"
        "from tests.emulator import emulate\n"
        "y = torch.zeros(1)\n"
        f"emulate(*{unit(6)!r}, 'store', None, [y], 1, 1)\n"
        "assert y.item() == 6\n"
    )
    environment = {"TMPDIR": str(tmp_path), "PATH": os.environ["PATH"]}
    running = [
        subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environment)
        for _ in range(2)
    ]
    assert [process.wait() for process in running] == [0, 0]
    assert sorted(path.suffix for path in folder.iterdir()) == [".o", ".so"]


def test_fibers_of_the_c_library_do_the_same(tmp_path, monkeypatch):
    """What runs on other processors than x86-64."""
    runtime = tmp_path / "runtime.o"
    library.compile_runtime(runtime, "-DEMULATOR_UCONTEXT", "-O0")
    monkeypatch.setattr(library, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(library, "_runtime_object", lambda: runtime)
    kernel = """
__global__ void rotate(const float* x, float* y) {
  __shared__ float held[64];
  held[threadIdx.x] = __shfl_xor_sync(~0u, x[threadIdx.x], 1);
  __syncthreads();
  y[threadIdx.x] = held[(threadIdx.x + 32) % 64];
}
"""
    x, y = torch.arange(64.0), torch.zeros(64)
    assert emulate("", kernel, "rotate", None, [x, y], 1, 64).errors == []
    assert torch.equal(y, x.view(32, 2).flip(1).flatten().roll(32))
    broken = kernel.replace("__syncthreads();", "")
    (error, *_) = emulate("", broken, "rotate", None, [x, y], 1, 64).errors
    assert "held[" in error
