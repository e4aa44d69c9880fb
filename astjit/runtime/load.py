"""Makes programs, and makes them callable: kernels built and loaded, host functions defined."""

import linecache
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from astjit.codegen.emit import cpu_unit
from astjit.codegen.signature import Entry, Text
from astjit.errors import KernelBuildError
from astjit.frontend.reads import Reads
from astjit.fusion.kernel import Group, Kernel, Parts
from astjit.fusion.schedule import Schedule, schedule
from astjit.ir.function import Function
from astjit.ir.value import Value
from astjit.location import Location
from astjit.runtime.binding import binding_text, bound
from astjit.runtime.entry import Loaded
from astjit.runtime.host import HostText, HostWriter, plain_entry
from astjit.runtime.interpret import bind_sizes, interpret
from astjit.runtime.machine import Machine
from astjit.runtime.pool import POOL
from astjit.runtime.program import Program
from astjit.runtime.units import cpu_library
from astjit.runtime.variants import CudaKernel
from astjit.targets.cxx import flags
from astjit.targets.spec import Target
from astjit.targets.table import TARGETS
from astjit.types.shape import hint, mul
from astjit.types.tensor import TensorType

_log = logging.getLogger("astjit.build")
_told: set[str] = set()  # warnings that this process has given


def source_line(location: Location) -> str:
    """The user's source text at a location, "" when it cannot be had."""
    return linecache.getline(location.file, location.line)


def program(function: Function, parts: Parts, reads: Reads, target: Target) -> Program:
    """The program that runs `parts`."""
    kernels = [(p.kernel, _cpu(p.kernel)) for p in parts.parts if isinstance(p, Group)]
    unit: Text | None = None
    entries: dict[str, Entry] = {kernel.name: plain_entry(kernel) for kernel, _ in kernels}
    if target is TARGETS["cpu"] and kernels:
        unit = cpu_unit(kernels, source_line, " ".join(flags()))
        entries = unit.entries
    host = HostWriter(function, reads, source_line).write(parts, entries)
    return Program(function, parts, reads, target.name, host, unit)


def _cpu(kernel: Kernel) -> Schedule:
    return schedule(kernel, "cpu", {}, 1)


def measure(
    made: Program, arguments: Mapping[str, object]
) -> tuple[dict[str, int], dict[Value, int]]:
    """The sizes and the addresses of a program's inputs in a call.

    Args:
        made: any program of the function.
        arguments: values of all parameters by name, in order.
    """
    values = _inputs(made, arguments)
    pairs = zip(made.function.params, values, strict=True)
    pointers: dict[Value, int] = {p: v.data_ptr() for p, v in pairs if isinstance(v, torch.Tensor)}
    return bind_sizes(made.function.params, values), pointers


def _inputs(made: Program, arguments: Mapping[str, object]) -> list[Any]:
    """The values of a program's inputs in a call."""
    values_of = zip(made.reads.parameters, arguments.values(), strict=True)
    names = {**made.reads.constants, **dict(values_of)}
    return [eval(param.path, names) for param in made.function.params]


def interpret_call(made: Program, arguments: Mapping[str, object]) -> None:
    """Run a call through PyTorch for what it raises.

    Args:
        made: a program of it.
        arguments: values of all parameters by name, in order.
    """
    interpret(made.function, _inputs(made, arguments))


def load(made: Program, machine: Machine | None = None) -> Loaded:
    """Make a program callable; CPU kernels are built now, CUDA variants when first needed.

    Without a C++ compiler (told once in a process), and where a text does not compile (told for
    each, and logged), the function runs through PyTorch, op by op.

    Args:
        made: the program.
        machine: what CUDA kernels run on, by default this machine.
    """
    if made.target != "cpu":
        launched = {name: _cuda(group, machine) for name, group in made.host.kernels.items()}
        return _made(made, made.host, launched, lambda: _origins(launched.values()))
    if made.unit is None:
        return _made(made, made.host, {}, lambda: ())
    try:
        entries = [made.unit.entries[group.kernel.name] for group in made.groups]
        built = cpu_library(made.unit.source + binding_text(entries))
    except FileNotFoundError as error:
        told = f"kernels run through PyTorch: {error}"
        return _interpreted(made, "" if told in _told else told)
    except (KernelBuildError, OSError) as error:
        _log.error("%s", error)
        shown = str(error).partition("\n")[0]
        return _interpreted(made, f"{made.function.name} runs through PyTorch: {shown}")
    POOL.prepare(_largest(made.groups))
    kernels = {
        name: bound(built.code, made.unit.entries[group.kernel.name])
        for name, group in made.host.kernels.items()
    }
    origin = ((built.origin, len(kernels)),)
    return _made(made, made.host, kernels, lambda: origin)


def _largest(groups: Iterable[Group]) -> int:
    """Bytes of the largest value that kernels write, in the call that was captured."""
    types = [v.type for group in groups for v in group.outputs]
    return max((_bytes(t) for t in types if isinstance(t, TensorType)), default=0)


def _bytes(kind: TensorType) -> int:
    try:
        return hint(mul(kind.dtype.itemsize, *kind.dims))
    except KeyError:  # not from a capture
        return 0


def _origins(kernels: Iterable[CudaKernel]) -> list[tuple[str, int]]:
    return [(origin, 1) for kernel in kernels for origin in kernel.origins]


def _interpreted(made: Program, warning: str) -> Loaded:
    _told.add(warning)
    run = partial(_interpret, made.function)
    writer = HostWriter(made.function, made.reads, source_line)
    return _made(made, writer.write_interpreted(run), {}, lambda: (), warning)


def _interpret(function: Function, *arguments: object) -> list[object]:
    return list(interpret(function, arguments))  # type: ignore[arg-type]  # as the guards checked


def _cuda(group: Group, machine: Machine | None) -> CudaKernel:
    kind = (*group.outputs, *group.inputs)[0].type
    assert isinstance(kind, TensorType)
    device = int(kind.device.partition(":")[2] or 0)
    return CudaKernel(group.kernel, source_line, device, machine)


def _made(
    made: Program,
    host: HostText,
    kernels: Mapping[str, Callable[..., object]],
    origins: Callable[[], Sequence[tuple[str, int]]],
    warning: str = "",
) -> Loaded:
    """The functions that the texts define."""
    namespace: dict[str, Any] = {**host.namespace, **kernels}
    for kind, text in (("program", host.text), ("guards", host.reason)):
        file = f"<astjit {kind} of {made.function.name}>"
        exec(compile(text, file, "exec"), namespace)
    return Loaded(namespace[host.name], namespace[host.why], origins, warning)
