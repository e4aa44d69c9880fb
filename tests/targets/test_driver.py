import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from astjit.targets.driver import Launcher

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


class Notes:
    """A driver that writes down what it is asked; its objects are tuples that say what they are."""

    def __init__(self):
        self.calls = []
        self.launches = []

    def use_device(self, device):
        self.calls.append(("use_device", device))

    def kernel(self, cubin, name):
        self.calls.append(("kernel", cubin, name))
        return ("kernel", name)

    def allow_shared(self, kernel, device, size):
        self.calls.append(("allow_shared", kernel, device, size))

    def stream(self, device, handle):
        self.calls.append(("stream", device, handle))
        return ("stream", device, handle)

    def config(self, grid, block, shared):
        self.calls.append(("config", grid, block, shared))
        return ("config", grid, block, shared)

    def launch(self, stream, config, kernel, arguments):
        self.launches.append((stream, config, kernel, tuple(arguments)))

    def names(self):
        return [call[0] for call in self.calls]


@pytest.fixture
def notes():
    return Notes()


@pytest.fixture
def launcher(notes):
    return Launcher(notes)


def test_a_kernel_is_loaded_with_its_device_current(notes, launcher):
    loaded = launcher.load(b"image", "softmax", "ppi", device=1)
    assert notes.calls == [("use_device", 1), ("kernel", b"image", "softmax")]
    assert (loaded.name, loaded.parameters, loaded.device) == ("softmax", "ppi", 1)


def test_a_launch_passes_stream_shape_kernel_and_arguments_in_order(notes, launcher):
    loaded = launcher.load(b"image", "softmax", "ppi", shared=64)
    launcher.launch(loaded, (3, 2), (256,), (0x1000, 0x2000, 77), stream=0xABC)
    assert notes.launches == [
        (
            ("stream", 0, 0xABC),
            ("config", (3, 2), (256,), 64),
            ("kernel", "softmax"),
            (0x1000, 0x2000, 77),
        )
    ]


def test_a_float_parameter_gets_four_bytes_and_a_double_eight(notes, launcher):
    loaded = launcher.load(b"image", "scale", "pfldb")
    launcher.launch(loaded, (1,), (32,), (0x1000, 0.1, 1 << 40, 0.1, True), stream=0)
    assert notes.launches[0][3] == (0x1000, 0x3DCCCCCD, 1 << 40, 0.1, True)


@pytest.mark.parametrize(
    ("number", "bits"),
    [
        (2, 0x40000000),
        (-0.0, 0x80000000),
        (1e39, 0x7F800000),
        (-1e39, 0xFF800000),
        (float("-inf"), 0xFF800000),
        (float("nan"), 0x7FC00000),
        (1e-45, 1),
    ],
)
def test_a_number_for_a_float_parameter_is_rounded_as_c_does(notes, launcher, number, bits):
    loaded = launcher.load(b"image", "scale", "f")
    launcher.launch(loaded, (1,), (32,), (number,), stream=0)
    assert notes.launches[0][3] == (bits,)


def test_the_arguments_given_stay_as_they_are(notes, launcher):
    loaded = launcher.load(b"image", "scale", "pf")
    given = [0x1000, 0.5]
    launcher.launch(loaded, (1,), (32,), given, stream=0)
    assert given == [0x1000, 0.5]


def test_shapes_and_streams_are_made_once(notes, launcher):
    loaded = launcher.load(b"image", "softmax", "i")
    for _ in range(3):
        launcher.launch(loaded, (4,), (128,), (1,), stream=7)
    assert len(notes.launches) == 3
    assert notes.names().count("config") == 1
    assert notes.names().count("stream") == 1
    launcher.launch(loaded, (5,), (128,), (1,), stream=8)
    assert notes.names().count("config") == 2
    assert notes.names().count("stream") == 2


def test_the_same_handle_on_two_devices_is_two_streams(notes, launcher):
    for device in (0, 1):
        loaded = launcher.load(b"image", "softmax", "i", device=device)
        launcher.launch(loaded, (4,), (128,), (1,), stream=0)
    assert [launch[0] for launch in notes.launches] == [("stream", 0, 0), ("stream", 1, 0)]


def test_a_device_is_made_current_once_per_thread_and_when_it_changes(notes, launcher):
    first = launcher.load(b"image", "a", "i", device=0)
    launcher.launch(first, (1,), (32,), (1,), stream=0)
    assert notes.calls.count(("use_device", 0)) == 1
    second = launcher.load(b"image", "b", "i", device=1)
    launcher.launch(first, (1,), (32,), (1,), stream=0)
    launcher.launch(second, (1,), (32,), (1,), stream=0)
    asked = [call for call in notes.calls if call[0] == "use_device"]
    assert asked == [("use_device", 0), ("use_device", 1), ("use_device", 0), ("use_device", 1)]


def test_a_new_thread_makes_the_device_current_for_itself(notes, launcher):
    loaded = launcher.load(b"image", "a", "i")
    thread = threading.Thread(
        target=launcher.launch, args=(loaded, (1,), (32,), (1,)), kwargs={"stream": 0}
    )
    thread.start()
    thread.join()
    assert notes.calls.count(("use_device", 0)) == 2
    assert len(notes.launches) == 1


@pytest.mark.parametrize("grid", [(0,), (4, 0), (0, 3, 1)])
def test_an_empty_grid_launches_nothing(notes, launcher, grid):
    loaded = launcher.load(b"image", "a", "i")
    launcher.launch(loaded, grid, (32,), (1,), stream=0)
    assert notes.launches == []


def test_large_dynamic_shared_memory_is_permitted_when_the_kernel_is_loaded(notes, launcher):
    launcher.load(b"image", "small", "i", shared=48 * 1024)
    assert "allow_shared" not in notes.names()
    launcher.load(b"image", "large", "i", shared=48 * 1024 + 1, device=2)
    assert notes.calls[-1] == ("allow_shared", ("kernel", "large"), 2, 48 * 1024 + 1)


def test_a_wrong_number_of_arguments_is_refused(notes, launcher):
    loaded = launcher.load(b"image", "softmax", "ppi")
    with pytest.raises(TypeError, match=r"softmax takes 3 arguments \(ppi\), not 2"):
        launcher.launch(loaded, (1,), (32,), (0x1000, 0x2000), stream=0)
    assert notes.launches == []


def test_an_unknown_parameter_type_is_refused(notes, launcher):
    with pytest.raises(ValueError, match="no type q, z"):
        launcher.load(b"image", "softmax", "pzqi")
    assert notes.calls == []


THROUGH_CUDA_CORE = """
from astjit.targets.driver import Launcher
from astjit.targets.nvrtc import compile_cuda

text = 'extern "C" __global__ void fill(float* x, int n, float f) { if (n > 0) *x = f; }'
launcher = Launcher()
fill = launcher.load(compile_cuda(text, "sm_90").cubin, "fill", "pif", shared=50000)
launcher.launch(fill, (3, 2), (256,), (0xABC000, -7, 0.1), stream=0)
launcher.launch(fill, (70000,), (32, 8), (0xABC000, 2147483647, 3), stream=0x5000)
other = launcher.load(compile_cuda(text, "sm_90").cubin, "fill", "pif", device=1)
launcher.launch(other, (1,), (32,), (0xABC000, 1, 0.5), stream=0x6000)
try:
    launcher.load(b"image", "fill", "pif", shared=300000)
except RuntimeError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def stub_folder(tmp_path_factory):
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    folder = tmp_path_factory.mktemp("stub")
    source, library = HERE / "libcuda_stub.cpp", folder / "libcuda.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return folder


@pytest.mark.slow
def test_cuda_core_is_called_as_it_wants_to_be(stub_folder):
    """The real CudaCore down to the C interface, on a library that prints what arrives."""
    done = subprocess.run(
        [sys.executable, "-c", THROUGH_CUDA_CORE],
        env={**os.environ, "LD_LIBRARY_PATH": str(stub_folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert sorted(set(done.stdout.splitlines())) == sorted(
        [
            "current 0x100",
            "load ELF",
            "kernel 0x200 fill",
            "attribute 8 50000 0x300 0",
            "launch 0x300 grid 3 2 1 block 256 1 1 shared 50000 stream 0x1"
            " x 0xabc000 n -7 f 0.100000001",
            "launch 0x300 grid 70000 1 1 block 32 8 1 shared 50000 stream 0x5000"
            " x 0xabc000 n 2147483647 f 3",
            "current 0x101",
            "launch 0x300 grid 1 1 1 block 32 1 1 shared 0 stream 0x6000 x 0xabc000 n 1 f 0.5",
            "load mag",
            "attribute 8 300000 0x300 0",
            "300000 bytes of shared memory on device 0: CUDA_ERROR_INVALID_VALUE",
        ]
    )
