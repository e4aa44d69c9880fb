"""Runs one kernel launch in the emulator."""

import ctypes
import functools
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from tests.emulator.library import load
from tests.emulator.text import parse_kernels, parse_parameter

SCHEDULES = ("natural", "reverse", "random")

_ALIGNMENT = 256  # of a GPU allocation
_MOST_THREADS = 1024
_MOST_BLOCKS = (2**31 - 1, 65535, 65535)
_MOST_SHARED_BYTES = 227 << 10


@dataclass(slots=True)
class Report:
    """What a launch did wrong, and how many elements of each written buffer it left unwritten."""

    errors: list[str] = field(default_factory=list)
    unwritten: dict[str, int] = field(default_factory=dict)


class _Dim3(ctypes.Structure):
    _fields_ = (("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint))


class _Launch(ctypes.Structure):
    _fields_ = (
        ("grid", _Dim3),
        ("block", _Dim3),
        ("dynamic_shared_bytes", ctypes.c_size_t),
        ("resident_blocks", ctypes.c_int),
        ("schedule", ctypes.c_int),
        ("seed", ctypes.c_uint64),
    )


class _Argument(ctypes.Structure):
    _fields_ = (
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("pointer", ctypes.c_void_p),
    )


class _Buffer(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("host", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("item_bytes", ctypes.c_size_t),
        ("misalignment", ctypes.c_size_t),
        ("writable", ctypes.c_int),
        ("starts_undefined", ctypes.c_int),
    )


@dataclass(slots=True)
class _Extent:
    """The memory that one array argument, or several overlapping ones, can reach."""

    names: list[str]
    start: int
    end: int
    item_bytes: int
    misalignment: int
    writable: bool
    starts_undefined: bool
    device: int = 0


def emulate(
    helpers: str,
    kernels: str,
    kernel_name: str,
    parameters: Sequence[str] | None,
    args: Sequence[object],
    grid: int | Sequence[int],
    block: int | Sequence[int],
    *,
    shared_bytes: int = 0,
    schedule: str = "natural",
    seed: int = 0,
    checked: bool = True,
    uninitialised: Sequence[str] = (),
    resident: int = 1,
) -> Report:
    """Runs `kernel_name` on the CPU, writes its results into the array arguments, and reports.

    Args:
        helpers: Definitions, each after a blank line; inline PTX is replaced by name.
        kernels: The text of the kernels, compiled as it is but for `__shared__` declarations.
        kernel_name: One of the `__global__` functions of `kernels`.
        parameters: C declarations of its parameters; None reads them from the text.
        args: Torch tensors or numpy arrays for pointers, Python numbers or ctypes structures
            for values. A pointer to const makes its array read-only.
        grid: Blocks, as a number or up to three.
        block: Threads of a block, likewise.
        shared_bytes: Size of the `extern __shared__` array.
        schedule: In what order ready threads, and blocks, run: "natural", "reverse" or "random".
        seed: Of the random schedule.
        checked: False compiles without checks; far out-of-bounds accesses then crash Python.
        uninitialised: Names of parameters whose arrays must be written before they are read.
        resident: How many blocks run at the same time, for kernels whose blocks wait for others.

    Raises:
        ValueError: If a GPU would refuse the launch, or the arguments do not fit the parameters.
        BuildError: If g++ refuses the text.
    """
    kernel = parse_kernels(kernels).get(kernel_name)
    if kernel is None:
        raise ValueError(f"no kernel named {kernel_name!r} in the text")
    declared = kernel.parameters if parameters is None else tuple(map(parse_parameter, parameters))
    if len(declared) != len(args):
        raise ValueError(f"{kernel_name} has {len(declared)} parameters, got {len(args)} arguments")
    if schedule not in SCHEDULES:
        raise ValueError(f"schedule must be one of {SCHEDULES}, got {schedule!r}")
    launch = _configuration(kernel, grid, block, shared_bytes)
    launch.resident_blocks = resident
    launch.schedule = SCHEDULES.index(schedule)
    launch.seed = seed

    library = load(helpers, kernels, checked)
    extents = _merged_extents(declared, args, uninitialised)
    functions = library.functions
    functions.emulator_forget_errors()
    for extent in extents:
        _add_buffer(functions, extent)
    try:
        packed = (_Argument * max(len(args), 1))(
            *(
                _packed(parameter, arg, extents)
                for parameter, arg in zip(declared, args, strict=True)
            )
        )
        library.launcher(kernel_name)(ctypes.byref(launch), packed)
        raw = [
            functions.emulator_error(i).decode() for i in range(functions.emulator_error_count())
        ]
        unwritten = _unwritten(functions, declared, args, extents) if checked else {}
    finally:
        functions.emulator_release_buffers()
    return Report(
        [_readable(message, library.path, helpers, kernels) for message in raw], unwritten
    )


def _configuration(kernel, grid, block, shared_bytes):
    sizes = []
    for name, size in (("grid", grid), ("block", block)):
        given = (size,) if isinstance(size, int) else tuple(size)
        whole = (*given, 1, 1, 1)[:3]
        if len(given) > 3 or min(whole) < 1:
            raise ValueError(f"{name} must be one to three positive numbers, got {size}")
        sizes.append(whole)
    blocks, threads = sizes
    if any(number > most for number, most in zip(blocks, _MOST_BLOCKS, strict=True)):
        raise ValueError(f"grid {blocks} exceeds {_MOST_BLOCKS}")
    count = threads[0] * threads[1] * threads[2]
    if count > _MOST_THREADS or threads[2] > 64:
        raise ValueError(f"block {threads} exceeds {_MOST_THREADS} threads, or 64 in z")
    if kernel.most_threads is not None and count > kernel.most_threads:
        raise ValueError(f"{count} threads exceed __launch_bounds__({kernel.most_threads})")
    if shared_bytes > _MOST_SHARED_BYTES:
        raise ValueError(f"{shared_bytes} bytes of shared memory exceed {_MOST_SHARED_BYTES}")
    return _Launch(_Dim3(*blocks), _Dim3(*threads), shared_bytes)


def _is_array(arg):
    return isinstance(arg, torch.Tensor | np.ndarray)


def _address(array):
    return array.data_ptr() if isinstance(array, torch.Tensor) else array.ctypes.data


def _allocation(array):
    """Returns where the allocation begins that the array is a view of."""
    if isinstance(array, torch.Tensor):
        return array.untyped_storage().data_ptr()
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.ctypes.data


def _extent(parameter, array, uninitialised):
    if isinstance(array, torch.Tensor):
        item_bytes = array.element_size()
        strides = [stride * item_bytes for stride in array.stride()]
        empty = array.numel() == 0
    else:
        item_bytes, strides, empty = array.itemsize, array.strides, array.size == 0
        if min(strides, default=0) < 0:
            raise ValueError(f"{parameter.name}: negative strides")
    reach = sum((size - 1) * stride for size, stride in zip(array.shape, strides, strict=True))
    start = _address(array)
    return _Extent(
        names=[parameter.name],
        start=start,
        end=start if empty else start + reach + item_bytes,
        item_bytes=item_bytes,
        misalignment=(start - _allocation(array)) % _ALIGNMENT,
        writable=parameter.writable,
        starts_undefined=parameter.name in uninitialised,
    )


def _merged_extents(parameters, args, uninitialised):
    """Returns the memory of all array arguments; those that overlap stay one piece."""
    extents = []
    for parameter, arg in zip(parameters, args, strict=True):
        if _is_array(arg) != parameter.pointer:
            raise ValueError(f"{parameter.name}: {type(arg).__name__} for this parameter")
        if parameter.pointer:
            extents.append(_extent(parameter, arg, uninitialised))
    extents.sort(key=lambda extent: (extent.start, -extent.end))
    merged = []
    for extent in extents:
        if not merged or extent.start >= merged[-1].end:
            merged.append(extent)
            continue
        whole = merged[-1]
        whole.names += extent.names
        whole.end = max(whole.end, extent.end)
        whole.item_bytes = min(whole.item_bytes, extent.item_bytes)
        whole.writable |= extent.writable
        whole.starts_undefined &= extent.starts_undefined
    return merged


def _add_buffer(functions, extent):
    buffer = _Buffer(
        name="/".join(extent.names).encode(),
        host=extent.start,
        bytes=extent.end - extent.start,
        item_bytes=extent.item_bytes,
        misalignment=extent.misalignment,
        writable=extent.writable,
        starts_undefined=extent.starts_undefined,
    )
    extent.device = functions.emulator_add_buffer(ctypes.byref(buffer))


def _extent_of(parameter, extents):
    return next(i for i, extent in enumerate(extents) if parameter.name in extent.names)


def _packed(parameter, arg, extents):
    if parameter.pointer:
        extent = extents[_extent_of(parameter, extents)]
        return _Argument(pointer=extent.device + _address(arg) - extent.start)
    if isinstance(arg, ctypes.Structure):
        return _Argument(pointer=ctypes.addressof(arg))
    whole = int(arg) if arg == arg and abs(arg) < 2**64 else 0
    return _Argument(integer=ctypes.c_int64(whole).value, real=float(arg))


def _unwritten(functions, parameters, args, extents):
    counts = {}
    for parameter in parameters:
        if parameter.writable:
            index = _extent_of(parameter, extents)
            counts[parameter.name] = functions.emulator_unwritten(index)
    return counts


# ---- messages ------------------------------------------------------------------------------------


def _readable(message, library, helpers, kernels):
    """Turns code offsets into lines of the kernel text, and quotes those lines."""
    message = re.sub(r"<code ([0-9a-f]+)>", lambda match: _line_of(library, match[1]), message)
    texts = {"helpers": helpers.split("\n"), "kernels": kernels.split("\n")}

    def quoted(match):
        lines, number = texts[match[1]], int(match[2])
        return f"{match[0]} `{lines[number - 1].strip()}`" if number <= len(lines) else match[0]

    return re.sub(r"\b(helpers|kernels):(\d+)\b", quoted, message)


@functools.cache
def _line_of(library, offset):
    """Returns `helpers:7 from kernels:12`: the innermost line, and the kernel's that led there."""
    tool = shutil.which("addr2line")
    if tool is None:
        return f"code offset {offset}"
    found = subprocess.run(
        [tool, "-i", "-e", str(library), offset], capture_output=True, text=True, check=True
    )
    lines = re.findall(r"(?:^|/)((?:helpers|kernels):\d+)", found.stdout, re.MULTILINE)
    if not lines:
        return f"code offset {offset}"
    return lines[0] if lines[0] == lines[-1] else f"{lines[0]} from {lines[-1]}"
