"""A machine whose driver runs launches in the emulator, so that CPU tensors pose as CUDA's.

    with posing(EmulatedDriver()) as driver:
        astjit.compile(f, target="cuda")(x)      # NVRTC builds the text, the emulator executes it
    assert driver.launches[0].errors == []

What a launch is given passes through `Launcher` as it would on the way to cuda.core, and is read
here as C does: an int fills 8 bytes, a float a double, a bool one byte, and a parameter takes as
many of them as its declared type has. A pointer may reach what the storage that it points into
holds from there on.
"""

import contextlib
import gc
import re
import struct
import sys
from dataclasses import dataclass, replace
from unittest import mock

import torch

from astjit.runtime import variants
from astjit.runtime.machine import Machine
from astjit.runtime.units import cuda_image
from astjit.runtime.workspace import Workspaces
from astjit.targets.cuda import CUDA
from astjit.targets.driver import Launcher
from astjit.targets.table import TARGETS
from tests.emulator.launch import SCHEDULES, emulate
from tests.emulator.library import build
from tests.emulator.text import parameter_list, without_comments

STREAM = 0x5EED  # the raw handle of what poses as torch's current stream
_TENSORS = (torch.Tensor, torch.nn.Parameter)
_WORK = re.compile(r"^arrived$|_part\d*$")  # a workspace, of which a launch writes what it needs
_FORMATS = {"int": "<i", "long long": "<q", "float": "<f", "double": "<d", "bool": "<?"}


@dataclass(frozen=True)
class Launched:
    """One launch, and what the emulator said about it."""

    name: str
    grid: tuple
    block: tuple
    shared: int
    stream: int
    errors: list
    unwritten: dict


@dataclass(frozen=True)
class Image:
    """What a driver has after loading: text instead of machine code."""

    helpers: str
    kernels: str
    name: str
    types: tuple


def halves(text):
    """The helpers and the kernels of a CUDA text."""
    at = text.index('extern "C" __global__')
    return text[:at], text[at:]


def declared_types(kernels, name):
    """The C type of each parameter, "*" for pointers."""
    code = without_comments(kernels)
    opening = code.index("(", re.search(rf"\b{name}\b(?=\()", code).start())
    types = []
    for parameter in parameter_list(code, opening):
        words = parameter.replace("__restrict__", " ").rsplit(None, 1)[0].strip()
        types.append("*" if "*" in parameter else words)
    return tuple(types)


def as_declared(kind, given):
    """A number as a parameter of this type receives it."""
    if isinstance(given, bool):
        raw = struct.pack("<?7x", given)
    elif isinstance(given, int):
        raw = (given % 2**64).to_bytes(8, "little")
    else:
        raw = struct.pack("<d", given)
    form = _FORMATS[kind]
    return struct.unpack(form, raw[: struct.calcsize(form)])[0]


def tensors_near():
    """Tensors that may be meant: those of the callers first, then all that Python knows of."""
    frame = sys._getframe(1)
    while frame is not None:
        yield from (v for v in list(frame.f_locals.values()) if type(v) in _TENSORS)
        frame = frame.f_back
    yield from (v for v in gc.get_objects() if type(v) in _TENSORS)


def memory_at(address):
    """What lies from an address to the end of the storage that it points into."""
    if address == 0:
        return torch.empty(0)
    for found in tensors_near():
        if found.layout is not torch.strided:
            continue
        storage = found.untyped_storage()
        begin = 0 if found.is_meta else storage.data_ptr()
        if begin and begin <= address < begin + storage.nbytes():
            offset, rest = divmod(address - begin, found.element_size())
            assert rest == 0, "a pointer between two elements"
            count = storage.nbytes() // found.element_size() - offset
            return torch.empty(0, dtype=found.dtype).set_(storage, offset, (count,), (1,))
    raise AssertionError(f"no live tensor holds {address:#x}")


class EmulatedDriver:
    """A `Driver` that executes what it is asked to launch.

    Attributes:
        launches: one record each.
        texts: the CUDA text of every image by its machine code.
        executes: False only takes notes, to see which texts there are before any is compiled.
    """

    def __init__(self, executes=True):
        self.launches, self.texts, self.executes = [], {}, executes
        self.device = 0
        self.devices = []  # made current by the launcher

    def use_device(self, device):
        self.device = device
        self.devices.append(device)

    def kernel(self, cubin, name):
        assert cubin[:4] == b"\x7fELF"
        helpers, kernels = halves(self.texts[cubin])
        return Image(helpers, kernels, name, declared_types(kernels, name))

    def allow_shared(self, kernel, device, size):
        raise AssertionError("no kernel wants that much")

    def stream(self, device, handle):
        return device, handle

    def config(self, grid, block, shared):
        return grid, block, shared

    def launch(self, stream, config, kernel, arguments):
        (device, handle), (grid, block, shared) = stream, config
        assert device == self.device
        errors, unwritten = [], {}
        if self.executes:
            given = [
                memory_at(value) if kind == "*" else as_declared(kind, value)
                for kind, value in zip(kernel.types, arguments, strict=True)
            ]
            order = SCHEDULES[len(self.launches) % len(SCHEDULES)]
            report = emulate(
                kernel.helpers, kernel.kernels, kernel.name, None, given, grid, block,
                shared_bytes=shared, schedule=order, seed=len(self.launches),
            )  # fmt: skip
            errors = report.errors
            unwritten = {n: c for n, c in report.unwritten.items() if not _WORK.search(n)}
        launched = Launched(kernel.name, grid, block, shared, handle, errors, unwritten)
        self.launches.append(launched)

    def image(self, text, arch):
        """NVRTC's machine code, whose text is remembered."""
        built = cuda_image(text, arch)
        self.texts[built.code] = text
        return built

    def compile_all(self):
        """Compile every text that was seen, in one start of g++."""
        build([halves(text) for text in self.texts.values()])


def machine_of(driver, current_device=lambda: 0, arch="sm_90"):
    """The machine of a driver; `current_device` poses as torch's.

    Its workspaces are its own: a launch that fails half way leaves its counters as they are.
    """
    workspaces = Workspaces()
    return Machine(
        Launcher(driver),
        image=driver.image,
        arch=lambda device: arch,
        current_device=current_device,
        on_device=contextlib.nullcontext,
        current_stream=lambda device: STREAM + device,
        workspace=lambda device, stream, size: workspaces.address("cpu", stream, size),
    )


@contextlib.contextmanager
def posing(driver):
    """CUDA is this driver, and CPU tensors are what it takes."""
    machine = machine_of(driver)
    with (
        mock.patch.object(variants, "this_machine", return_value=machine),
        mock.patch.dict(TARGETS, cuda=replace(CUDA, device="cpu")),
    ):
        yield driver
