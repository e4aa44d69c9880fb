"""From machine code to running kernels through cuda-python; nothing here knows of tensors.

    softmax = launcher.load(compiled.cubin, "softmax", "ppi")
    launcher.launch(softmax, (rows,), (256,), (x, out, cols), stream=handle)

The caller gives pointers as ints and the raw handle of the stream it works on, so kernels queue up
in order with PyTorch's own. What CUDA itself must do is behind `Driver`, an interface of six calls:
`CudaCore` is the real one, and a test may give one that only takes notes.
"""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from struct import Struct
from typing import Any, Protocol

from cuda.bindings import driver as bindings

Extent = tuple[int, ...]
"""A grid or a block: one to three counts, x first."""

PARAMETERS = {
    "p": "pointer",
    "i": "int",
    "l": "long long",
    "f": "float",
    "d": "double",
    "b": "bool",
}
"""The types of a kernel's parameters, by letter."""

_pack_single = Struct("<f").pack
_PLAIN_SHARED = 48 * 1024  # bytes of dynamic shared memory that need no permission


class Driver(Protocol):
    """What a launch needs of CUDA. The objects it hands out are opaque to the launcher."""

    def use_device(self, device: int) -> None:
        """Make the device current in this thread."""
        ...

    def kernel(self, cubin: bytes, name: str) -> Any:
        """Load an image and look up one kernel of it."""
        ...

    def allow_shared(self, kernel: Any, device: int, size: int) -> None:
        """Permit this much dynamic shared memory to the kernel's blocks."""
        ...

    def stream(self, device: int, handle: int) -> Any:
        """Wrap the raw handle of a stream that someone else owns; 0 is the default stream."""
        ...

    def config(self, grid: Extent, block: Extent, shared: int) -> Any:
        """The shape of a launch; may be used for many."""
        ...

    def launch(self, stream: Any, config: Any, kernel: Any, arguments: Sequence[Any]) -> None:
        """Queue the kernel. An int fills 8 bytes, a float a double, a bool 1 byte."""
        ...


class CudaCore:
    """The driver of this machine, reached through cuda.core; needs a GPU from the first call on.

    cuda.core is imported when the first is made: it takes longer than the rest of astjit together.
    """

    def __init__(self) -> None:
        self._core: Any = import_module("cuda.core")

    def use_device(self, device: int) -> None:
        """Make the device's primary context, which PyTorch uses too, current in this thread."""
        self._core.Device(device).set_current()

    def kernel(self, cubin: bytes, name: str) -> Any:
        """Load an image at once, since loading is not allowed while a graph is captured."""
        return self._core.ObjectCode.from_cubin(cubin, name=name).get_kernel(name)

    def allow_shared(self, kernel: Any, device: int, size: int) -> None:
        """Raise the kernel's limit; cuda.core only reads this attribute, so the bindings set it.

        Raises:
            RuntimeError: the device has less.
        """
        attribute = bindings.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        handle, number = kernel.handle, bindings.CUdevice(device)
        (status,) = bindings.cuKernelSetAttribute(attribute, size, handle, number)
        if status != bindings.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"{size} bytes of shared memory on device {device}: {status.name}")

    def stream(self, device: int, handle: int) -> Any:
        """Wrap a stream of PyTorch's, which stays its owner."""
        core = self._core
        return core.Stream.from_handle(handle) if handle else core.LEGACY_DEFAULT_STREAM

    def config(self, grid: Extent, block: Extent, shared: int) -> Any:
        """The shape of a launch."""
        return self._core.LaunchConfig(grid=grid, block=block, shmem_size=shared)

    def launch(self, stream: Any, config: Any, kernel: Any, arguments: Sequence[Any]) -> None:
        """Queue the kernel on the stream."""
        self._core.launch(stream, config, kernel, *arguments)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A kernel ready to run on one device.

    Attributes:
        name: as in the text.
        parameters: one letter of `PARAMETERS` for each.
        shared: bytes of dynamic shared memory per block.
        device: where it runs.
        handle: the driver's own object.
        singles: positions of float parameters.
    """

    name: str
    parameters: str
    shared: int
    device: int
    handle: Any
    singles: tuple[int, ...]


class Launcher:
    """Loads and launches kernels; may be shared by threads.

    Shapes of launches and wrapped streams are kept (the last 1024 and 256), a thread's device is
    made current when it changes, and nothing else is done between the caller and the driver.
    """

    def __init__(self, driver: Driver | None = None) -> None:
        self._driver: Driver = CudaCore() if driver is None else driver
        self._config = lru_cache(maxsize=1024)(self._driver.config)
        self._stream = lru_cache(maxsize=256)(self._driver.stream)
        self._thread = threading.local()

    def load(
        self, cubin: bytes, name: str, parameters: str, *, device: int = 0, shared: int = 0
    ) -> Loaded:
        """Load one kernel of a cubin.

        Args:
            cubin: an image for the device's own architecture.
            name: the kernel's name in the text.
            parameters: its parameters' types, one letter of `PARAMETERS` each, such as "ppif".
            device: the ordinal of the device.
            shared: bytes of dynamic shared memory that every launch will have per block.

        Raises:
            ValueError: an unknown letter.
        """
        if unknown := sorted(set(parameters) - set(PARAMETERS)):
            raise ValueError(f"parameters {parameters!r} of {name}: no type {', '.join(unknown)}")
        self._use(device)
        handle = self._driver.kernel(cubin, name)
        if shared > _PLAIN_SHARED:
            self._driver.allow_shared(handle, device, shared)
        singles = tuple(i for i, letter in enumerate(parameters) if letter == "f")
        return Loaded(name, parameters, shared, device, handle, singles)

    def launch(
        self, loaded: Loaded, grid: Extent, block: Extent, args: Sequence[float], *, stream: int
    ) -> None:
        """Queue one launch on a stream; returns before the kernel has run.

        A grid that has a count of 0 launches nothing. An "i" takes the low 32 bits of an int: that
        sizes fit is for whoever chose the variant to see to.

        Args:
            loaded: from `load`; its device must be PyTorch's current one.
            grid: blocks, x first.
            block: threads.
            args: pointers as ints, then numbers, in the order of the text's parameters.
            stream: raw handle of a stream of that device.

        Raises:
            TypeError: the number of arguments is not that of the parameters.
        """
        if len(args) != len(loaded.parameters):
            wants = f"{len(loaded.parameters)} arguments ({loaded.parameters})"
            raise TypeError(f"{loaded.name} takes {wants}, not {len(args)}")
        if 0 in grid:
            return
        self._use(loaded.device)
        values: list[Any] = list(args)
        for at in loaded.singles:
            values[at] = _single(values[at])
        config = self._config(grid, block, loaded.shared)
        self._driver.launch(self._stream(loaded.device, stream), config, loaded.handle, values)

    def _use(self, device: int) -> None:
        """A context is current per thread, and a new thread has none."""
        if getattr(self._thread, "device", None) != device:
            self._driver.use_device(device)
            self._thread.device = device


def _single(number: float) -> int:
    """The bits of a float, as an int whose low half a float parameter takes.

    cuda.core would pass a Python float as a double, and takes twice as long over a ctypes float.
    """
    try:
        packed = _pack_single(number)
    except OverflowError:  # struct refuses what a conversion in C rounds to infinity
        packed = _pack_single(math.inf if number > 0 else -math.inf)
    return int.from_bytes(packed, "little")
