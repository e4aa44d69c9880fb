import threading
from ctypes import c_float

import pytest

from astjit.targets.driver import Launcher


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
    pointer, single, count, double, flag = notes.launches[0][3]
    assert (pointer, count, double, flag) == (0x1000, 1 << 40, 0.1, True)
    assert isinstance(single, c_float)
    assert single.value == c_float(0.1).value != 0.1
    assert isinstance(double, float)


def test_an_int_given_for_a_float_becomes_one(notes, launcher):
    loaded = launcher.load(b"image", "scale", "f")
    launcher.launch(loaded, (1,), (32,), (2,), stream=0)
    assert notes.launches[0][3][0].value == 2.0


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
