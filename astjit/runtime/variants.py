"""CUDA kernels at launch: the variant for the sizes and pointers of this call, built when new.

kernel(x.data_ptr(), y.data_ptr(), rows, cols)  =>  `schedule` picks a variant, NVRTC builds it the
first time, the driver queues it on torch's stream
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import torch

from astjit.codegen.emit import cuda_unit
from astjit.codegen.signature import Entry
from astjit.fusion.kernel import Group, Kernel
from astjit.fusion.launch import launch
from astjit.fusion.schedule import Schedule, schedule
from astjit.ir.value import Value
from astjit.location import Location
from astjit.runtime.locks import Lock
from astjit.runtime.units import cuda_image
from astjit.targets.cuda import DEFAULT_ARCH, device_arch
from astjit.targets.driver import Launcher, Loaded
from astjit.types.shape import evaluate

SourceLine = Callable[[Location], str]
_LETTERS = {"pointer": "p", "long": "l", "int": "i", "double": "d", "float": "f", "bool": "b"}
_WIDEST = 16  # bytes of one access
_MOST_PLANS = 4096


def alignment(*numbers: int) -> int:
    """The largest power of two, at most 16, that divides all of the numbers."""
    joined = _WIDEST
    for number in numbers:
        joined |= number
    return joined & -joined


@dataclass(frozen=True, slots=True)
class Plan:
    """What a launch with certain sizes and alignment needs.

    Attributes:
        loaded: the kernel, None when there is nothing to do.
        grid: blocks.
        block: threads.
        picks: for each parameter of the text the position of what the host function gives.
    """

    loaded: Loaded | None
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    picks: tuple[int, ...] = ()


class CudaKernel:
    """A kernel as the host function calls it: pointers, sizes, strides, numbers.

    Args:
        kernel: what is run.
        source_line: for the comments of its text.
        device: the ordinal of the device.
        launcher: by default the one of this machine.
        arch: by default the device's.

    Attributes:
        built: the variants so far.
        origins: where the machine code of each came from.
    """

    def __init__(
        self,
        kernel: Kernel,
        source_line: SourceLine,
        device: int = 0,
        launcher: Launcher | None = None,
        arch: str = "",
    ) -> None:
        self.kernel, self.source_line, self.device = kernel, source_line, device
        self.built: dict[Schedule, tuple[Loaded, Entry]] = {}
        self.origins: list[str] = []
        self._launcher, self._arch = launcher, arch
        self._plans: dict[tuple[object, ...], Plan] = {}
        self._lock = Lock()
        self._pointers = len(kernel.buffers)
        self._sizes = self._pointers + len(kernel.axes)
        self._strides = self._sizes + len(kernel.stride_names)
        self._widths = _stride_widths(kernel)

    def __call__(self, *given: int) -> None:
        """Queue one launch on torch's current stream of the device."""
        sizes = given[self._pointers : self._sizes]
        strides = given[self._sizes : self._strides]
        steps = (s * w for s, w in zip(strides, self._widths, strict=True))
        aligned = alignment(*given[: self._pointers], *steps)
        plan = self._plans.get((sizes, aligned))
        if plan is None:
            plan = self._plan(sizes, aligned)
        if plan.loaded is None:
            return
        arguments = [given[at] for at in plan.picks]
        if self._launcher is None and torch.cuda.current_device() != self.device:
            with torch.cuda.device(self.device):
                self._launch(plan, arguments)
        else:
            self._launch(plan, arguments)

    def _launch(self, plan: Plan, arguments: list[int]) -> None:
        assert plan.loaded is not None
        handle = 0 if self._launcher is not None else current_stream(self.device)
        used = self._launcher or machine_launcher()
        used.launch(plan.loaded, plan.grid, plan.block, arguments, stream=handle)

    def _plan(self, sizes: tuple[int, ...], aligned: int) -> Plan:
        named = dict(zip(self.kernel.axes, sizes, strict=True))
        chosen = schedule(self.kernel, "cuda", named, aligned)
        shape = launch(self.kernel, chosen, named)
        if shape is None:
            return Plan(None)
        with self._lock:
            if chosen not in self.built:
                self.built[chosen] = self._build(chosen, shape.shared)
            loaded, entry = self.built[chosen]
            plan = Plan(loaded, shape.grid, shape.block, self._picks(entry))
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[sizes, aligned] = plan
        return plan

    def _build(self, chosen: Schedule, shared: int) -> tuple[Loaded, Entry]:
        arch = self._arch or (device_arch(self.device) if self._launcher is None else DEFAULT_ARCH)
        text = cuda_unit([(self.kernel, chosen)], self.source_line, arch)
        entry = text.entries[self.kernel.name]
        letters = "".join(_LETTERS[argument.ctype] for argument in entry.arguments)
        image = cuda_image(text.source, arch)
        self.origins.append(image.origin)
        used = self._launcher or machine_launcher()
        loaded = used.load(image.code, entry.name, letters, device=self.device, shared=shared)
        return loaded, entry

    def _picks(self, entry: Entry) -> tuple[int, ...]:
        kernel = self.kernel
        names = [("buffer", b.name) for b in kernel.buffers]
        names += [("size", axis) for axis in kernel.axes]
        names += [("stride", name) for name in kernel.stride_names]
        names += [("number", p.name) for p in kernel.numbers]
        return tuple(names.index((a.role, a.name)) for a in entry.arguments)


def _stride_widths(kernel: Kernel) -> tuple[int, ...]:
    """Bytes of one step of each stride parameter; 16 where vectors never run across it."""
    inner = kernel.swept[-1:]
    widths = dict.fromkeys(kernel.stride_names, _WIDEST)
    for buffer in kernel.buffers:
        for axis, stride in zip(buffer.axes, buffer.strides or (), strict=False):
            if isinstance(stride, str) and (axis,) != inner:
                widths[stride] = min(widths[stride], buffer.dtype.itemsize)
    return tuple(widths.values())


@cache
def machine_launcher() -> Launcher:
    """The launcher of this machine's driver."""
    return Launcher()


def current_stream(device: int) -> int:
    """The raw handle of torch's current stream of a device."""
    try:
        return int(torch._C._cuda_getCurrentRawStream(device))
    except AttributeError:  # a private name; the public way makes an object
        return int(torch.cuda.current_stream(device).cuda_stream)


def call_variants(
    groups: list[Group], sizes: Mapping[str, int], pointers: Mapping[Value, int]
) -> list[tuple[Kernel, Schedule]]:
    """The variants that a call takes, one a kernel.

    Args:
        groups: the kernels of a program with what they are run on.
        sizes: the value of every size symbol.
        pointers: addresses of inputs; memory that the program allocates counts as aligned.
    """
    found = []
    for group in groups:
        named = {axis: evaluate(dim, sizes) for axis, dim in group.extents.items()}
        inputs = zip(group.inputs, group.offsets, _inputs(group.kernel), strict=True)
        numbers = [pointers.get(v, 0) + evaluate(o, sizes) * size for v, o, size in inputs]
        numbers += [pointers.get(param, 0) for param in group.held.values()]
        widths = _stride_widths(group.kernel)
        strides = [evaluate(group.strides[name], sizes) for name in group.kernel.stride_names]
        numbers += [s * w for s, w in zip(strides, widths, strict=True)]
        found.append((group.kernel, schedule(group.kernel, "cuda", named, alignment(*numbers))))
    return found


def _inputs(kernel: Kernel) -> list[int]:
    return [b.dtype.itemsize for b in kernel.buffers if b.role != "out"]
