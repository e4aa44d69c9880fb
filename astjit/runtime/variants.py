"""CUDA kernels at launch: the variant for the sizes and pointers of this call, built when new.

kernel(x.data_ptr(), y.data_ptr(), rows, cols)  =>  `schedule` picks a variant, NVRTC builds it the
first time, the driver queues it on torch's stream
"""

import logging
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from astjit.codegen.emit import cuda_unit
from astjit.codegen.signature import Entry
from astjit.errors import AstjitWarning, KernelBuildError
from astjit.frontend.stops import from_signal
from astjit.fusion.kernel import Group, Kernel
from astjit.fusion.launch import launch
from astjit.fusion.schedule import Schedule, schedule
from astjit.fusion.split import launches
from astjit.ir.value import Value
from astjit.location import Location
from astjit.runtime.locks import Lock
from astjit.runtime.machine import Machine, this_machine
from astjit.runtime.workspace import COUNTERS
from astjit.targets.driver import Loaded
from astjit.types.shape import evaluate

_log = logging.getLogger("astjit")
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
class Step:
    """One launch of a plan.

    Attributes:
        loaded: the kernel.
        picks: for each parameter of the text the position of what the host function gives, then
            of the counter and of the arrays of a workspace.
    """

    loaded: Loaded
    picks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call with certain sizes and alignment needs.

    Attributes:
        steps: launches one after another, none where there is nothing to do.
        grid: blocks.
        block: threads.
        arrays: how many arrays of a workspace the texts take.
        array: bytes of one.
    """

    steps: tuple[Step, ...] = ()
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    arrays: int = 0
    array: int = 0


class CudaKernel:
    """A kernel as the host function calls it: pointers, sizes, strides, numbers.

    Args:
        kernel: what is run.
        source_line: for the comments of its text.
        device: the ordinal of the device.
        machine: what it runs on, by default this machine.

    Attributes:
        built: the variants so far.
        origins: where the machine code of each came from.
    """

    def __init__(
        self,
        kernel: Kernel,
        source_line: SourceLine,
        device: int = 0,
        machine: Machine | None = None,
    ) -> None:
        self.kernel, self.source_line, self.device = kernel, source_line, device
        self.built: dict[Schedule, tuple[Loaded, Entry]] = {}
        self.origins: list[str] = []
        self._given = machine
        self._plans: dict[tuple[object, ...], Plan] = {}
        self._refused: dict[Schedule, KernelBuildError] = {}
        self._told: set[str] = set()
        self._lock = Lock()
        self._pointers = len(kernel.buffers)
        self._sizes = self._pointers + len(kernel.axes)
        self._strides = self._sizes + len(kernel.stride_names)
        self._widths = _stride_widths(kernel)

    def __call__(self, *given: int) -> None:
        """Queue one launch on torch's current stream of the device.

        Loading makes a device current as launching does, so both happen while it is torch's own.
        """
        machine = self._given or this_machine()
        try:
            if machine.current_device() == self.device:
                self._run(machine, given)
            else:
                with machine.on_device(self.device):
                    self._run(machine, given)
        except KernelBuildError:
            raise  # told of already
        except Exception as error:
            if not from_signal(error):
                shown = f"{type(error).__name__}: {error}".partition("\n")[0]
                self._tell(error, f"a call runs eagerly: {self.kernel.name} cannot run: {shown}")
            raise

    def _run(self, machine: Machine, given: tuple[int, ...]) -> None:
        sizes = given[self._pointers : self._sizes]
        strides = given[self._sizes : self._strides]
        steps = (s * w for s, w in zip(strides, self._widths, strict=True))
        aligned = alignment(*given[: self._pointers], *steps)
        plan = self._plans.get((sizes, aligned))
        if plan is None:
            plan = self._plan(machine, sizes, aligned)
        if not plan.steps:
            return
        stream = machine.current_stream(self.device)
        if plan.arrays:
            given += self._workspace(machine, plan, stream)
        for step in plan.steps:
            arguments = [given[at] for at in step.picks]
            machine.launcher.launch(step.loaded, plan.grid, plan.block, arguments, stream=stream)

    def _workspace(self, machine: Machine, plan: Plan, stream: int) -> tuple[int, ...]:
        """The addresses of counters and of arrays."""
        start = machine.workspace(self.device, stream, plan.array * plan.arrays)
        return start, *(start + COUNTERS + plan.array * at for at in range(plan.arrays))

    def _plan(self, machine: Machine, sizes: tuple[int, ...], aligned: int) -> Plan:
        named = dict(zip(self.kernel.axes, sizes, strict=True))
        chosen = schedule(self.kernel, "cuda", named, aligned)
        shape = launch(self.kernel, chosen, named)
        if shape is None:
            return Plan()
        with self._lock:
            ones = launches(self.kernel, chosen)
            made = [self._made(machine, *one, shape.shared) for one in ones]
            steps = tuple(Step(loaded, self._picks(entry)) for loaded, entry in made)
            parts = [a.array for _, entry in made for a in entry.arguments if a.role == "part"]
            array = math.prod(shape.grid) * shape.left * 8
            plan = Plan(steps, shape.grid, shape.block, max(parts, default=-1) + 1, array)
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[sizes, aligned] = plan
        return plan

    def _made(
        self, machine: Machine, kernel: Kernel, chosen: Schedule, shared: int
    ) -> tuple[Loaded, Entry]:
        """A variant, built if it is new."""
        if chosen in self._refused:
            raise self._refused[chosen].with_traceback(None)
        if chosen not in self.built:
            try:
                self.built[chosen] = self._build(machine, kernel, chosen, shared)
            except KernelBuildError as error:
                self._refuse(chosen, error)
                raise
        return self.built[chosen]

    def _build(
        self, machine: Machine, kernel: Kernel, chosen: Schedule, shared: int
    ) -> tuple[Loaded, Entry]:
        arch = machine.arch(self.device)
        text = cuda_unit([(kernel, chosen)], self.source_line, arch)
        entry = text.entries[kernel.name]
        letters = "".join(_LETTERS[argument.ctype] for argument in entry.arguments)
        image = machine.image(text.source, arch)
        self.origins.append(image.origin)
        load = machine.launcher.load
        loaded = load(image.code, entry.name, letters, device=self.device, shared=shared)
        return loaded, entry

    def _refuse(self, chosen: Schedule, error: KernelBuildError) -> None:
        """Once a variant: calls that need it run eagerly, and nothing builds it again."""
        self._refused[chosen] = error
        shown = str(error).partition("\n")[0]
        told = f"calls that need {self.kernel.name} for these sizes run eagerly: {shown}"
        self._tell(error, told)

    def _tell(self, error: Exception, told: str) -> None:
        """In the log and, once, in a warning: that a call runs eagerly must not go unnoticed."""
        if told not in self._told:
            self._told.add(told)
            _log.error("%s: %s", self.kernel.name, error)
            warnings.warn(AstjitWarning(told), stacklevel=2)

    def _picks(self, entry: Entry) -> tuple[int, ...]:
        kernel = self.kernel
        names = [("buffer", b.name) for b in kernel.buffers]
        names += [("size", axis) for axis in kernel.axes]
        names += [("stride", name) for name in kernel.stride_names]
        names += [("number", p.name) for p in kernel.numbers]
        names += [("arrived", "arrived")]
        return tuple(
            len(names) + a.array if a.role == "part" else names.index((a.role, a.name))
            for a in entry.arguments
        )


def _stride_widths(kernel: Kernel) -> tuple[int, ...]:
    """Bytes of one step of each stride parameter; 16 where vectors never run across it."""
    inner = kernel.inner
    widths = dict.fromkeys(kernel.stride_names, _WIDEST)
    for buffer in kernel.buffers:
        for axis, stride in zip(buffer.axes, buffer.strides or (), strict=False):
            if isinstance(stride, str) and axis != inner:
                widths[stride] = min(widths[stride], buffer.dtype.itemsize)
    return tuple(widths.values())


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
