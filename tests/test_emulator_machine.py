"""What passes for a driver in tests reads arguments as a GPU does, and executes launches."""

import ctypes

import pytest
import torch

from astjit.runtime import variants
from astjit.targets.driver import Launcher
from astjit.targets.nvrtc import compile_cuda
from astjit.targets.table import TARGETS
from tests.emulator.machine import (
    EmulatedDriver,
    Launched,
    as_declared,
    declared_types,
    halves,
    memory_at,
    posing,
)

TEXT = """// nvrtc
struct Two {
  int a, b;
};

extern "C" __global__ void __launch_bounds__(64)
fill(float* __restrict__ y, const double* x, int n, long long at, float a, double b, bool add) {
  extern __shared__ float staged[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  staged[threadIdx.x] = a;
  if (i < n) y[i + at] = staged[threadIdx.x] * b + (add ? x[0] : 0.0);
}
"""


def test_a_text_is_cut_before_its_first_kernel():
    helpers, kernels = halves(TEXT)
    assert "struct Two" in helpers
    assert kernels.startswith('extern "C"')
    assert helpers + kernels == TEXT


def test_declared_types():
    assert declared_types(TEXT, "fill") == (
        *("*", "*", "int", "long long"),
        *("float", "double", "bool"),
    )


@pytest.mark.parametrize(
    ("kind", "given", "wanted"),
    [
        ("int", 2**32 + 5, 5),
        ("int", -1, -1),
        ("long long", 2**40, 2**40),
        ("float", 0x3DCCCCCD, ctypes.c_float(0.1).value),  # bits, as the launcher gives them
        ("float", 1.0, 0.0),  # cuda.core gives a double: its low half is something else
        ("double", 1.5, 1.5),
        ("double", 1, 5e-324),  # an int's bits
        ("bool", True, True),
    ],
)
def test_a_parameter_takes_as_many_bytes_as_it_has(kind, given, wanted):
    assert as_declared(kind, given) == wanted


def test_memory_reaches_to_the_end_of_the_storage():
    whole = torch.arange(10.0)
    part = whole[3:5]
    found = memory_at(part.data_ptr())
    assert found.tolist() == list(range(3, 10))
    assert found.data_ptr() == part.data_ptr()
    with pytest.raises(AssertionError, match="no live tensor"):
        memory_at(64)


@pytest.fixture
def driver():
    made = EmulatedDriver()
    made.texts[CUBIN := compile_cuda(TEXT, "sm_90").cubin] = TEXT
    made.cubin = CUBIN
    return made


def test_a_launch_is_executed_with_what_it_is_given(driver):
    launcher = Launcher(driver)
    loaded = launcher.load(driver.cubin, "fill", "ppilfdb", shared=256)
    y, x = torch.zeros(102), torch.tensor([0.5], dtype=torch.float64)
    arguments = (y.data_ptr(), x.data_ptr(), 100, 2, 0.25, 2.0, True)
    launcher.launch(loaded, (2,), (64,), arguments, stream=7)
    assert y.tolist() == [0.0] * 2 + [1.0] * 100
    assert driver.launches == [Launched("fill", (2,), (64,), 256, 7, [], {"y": 2})]


def test_what_the_emulator_says_is_kept(driver):
    launcher = Launcher(driver)
    loaded = launcher.load(driver.cubin, "fill", "ppilfdb", shared=4)
    y, x = torch.zeros(64), torch.zeros(1, dtype=torch.float64)
    launcher.launch(loaded, (1,), (64,), (y.data_ptr(), x.data_ptr(), 64, 0, 1, 1, 0), stream=7)
    assert "past the end of dynamic shared memory" in driver.launches[0].errors[0]


def test_a_note_taker_executes_nothing(driver):
    driver.executes = False
    launcher = Launcher(driver)
    loaded = launcher.load(driver.cubin, "fill", "ppilfdb", shared=256)
    launcher.launch(loaded, (1,), (64,), (0, 0, 64, 0, 1, 1, 0), stream=7)
    assert driver.launches == [Launched("fill", (1,), (64,), 256, 7, [], {})]


def test_posing_ends():

    before = variants.this_machine, TARGETS["cuda"]
    with posing(EmulatedDriver()) as driver:
        assert variants.this_machine().image == driver.image
        assert TARGETS["cuda"].device == "cpu"
    assert (variants.this_machine, TARGETS["cuda"]) == before
