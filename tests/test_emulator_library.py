"""Kernel text is compiled many units at a time, and once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from tests.emulator import BuildError, build, emulate, library

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


def test_the_same_unit_may_be_compiled_twice_at_once(compilations, tmp_path):
    """As by two processes of a parallel test run; the last to finish wins."""
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(library._compile, {"same": unit(6)}, True) for _ in range(2)]:
            future.result()
    assert compilations == [1, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["same.so"]
    assert library.Library(library._library_path("same"), "same").launcher("store")


@pytest.mark.slow
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
