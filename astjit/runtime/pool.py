"""Where results get their memory: PyTorch's allocator, and for large ones a pool of used buffers.

    y = empty_strided_cpu((4096, 4096), (4096, 1), float32)   # 64 MiB that nobody touched yet
    del y                                                     # ... which the next result reuses

Pages of a new 64 MiB result cost more than the kernel that fills it. The pool, templates/cpu/
pool.cpp, gives storages of at least SMALLEST bytes memory in huge pages and takes it back when the
storage is freed. At most `bound()` bytes lie idle, the oldest go first, and the system may take
them whenever it needs memory. A storage is PyTorch's own in all else.

It is built against PyTorch's headers in the background, once for each PyTorch on a machine, and
never waited for. Where it cannot be built, everything comes from PyTorch's allocator.
"""

import ctypes
import functools
import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from astjit.errors import KernelBuildError
from astjit.runtime.binding import python_function
from astjit.runtime.units import build_apart, find_apart
from astjit.targets.cxx import find_compiler
from astjit.text.environment import template_root

SMALLEST = 1 << 20
"""Bytes from which a result's memory comes from the pool: below, its pages are soon used again."""

WORTH = 1 << 25
"""Bytes of a result for which the pool is built: the C library maps memory anew for each that is
larger, and no gain could be measured below."""

_MOST = 1 << 30
_HUGE_PAGE = 1 << 21
_C: Any = torch._C
_log = logging.getLogger("astjit.build")


def _from_torch() -> Callable[..., torch.Tensor]:
    """`f(sizes, strides, dtype)`: what torch.compile allocates with, in half the usual time."""
    try:
        return _C._dynamo.guards._empty_strided_cpu  # type: ignore[no-any-return]
    except AttributeError:  # a private name
        return lambda sizes, strides, dtype: torch.empty_strided(
            sizes, strides, dtype=dtype, device="cpu"
        )


empty_strided_cpu: Callable[..., torch.Tensor] = functools.partial(_from_torch())
"""A new tensor of sizes, strides and a dtype. A partial, since what it calls can be replaced in
functions that hold it, and costs 30 ns."""


def bound() -> int:
    """Bytes that may lie idle: 1 GiB, or an eighth of the machine's memory if that is less."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(_MOST, memory // 8)


class Pool:
    """Finds, builds and starts the library, once in a process."""

    def __init__(self) -> None:
        self.started = False
        self._asked = False
        self._library: ctypes.CDLL | None = None

    def prepare(self, largest: int) -> threading.Thread | None:
        """Let results come from the pool from some moment on, if they are large.

        Args:
            largest: bytes of the largest result expected.

        Returns:
            the thread that builds the library, if it has to be built.
        """
        if self._asked or largest < WORTH or not sys.platform.startswith("linux"):
            return None
        self._asked = True
        options = _options()
        if options is None or find_compiler() is None:
            return None
        text = (template_root() / "cpu" / "pool.cpp").read_text(encoding="utf-8")
        found = find_apart(text, options)
        if found is not None:
            self._start(found)
            return None
        thread = threading.Thread(target=self._build, args=(text, options), daemon=True)
        thread.start()
        return thread

    def idle(self) -> int:
        """Bytes that the pool keeps for later results."""
        return int(self._call("held")) if self.started else 0

    def release(self) -> int:
        """Give idle memory back to the system; how many bytes it was."""
        return int(self._call("release")) if self.started else 0

    def _call(self, name: str) -> Any:
        assert self._library is not None
        return python_function(self._library, name)()

    def _build(self, text: str, options: tuple[str, ...]) -> None:
        try:
            self._start(build_apart(text, options))
        except (KernelBuildError, OSError) as error:  # say what and go on without
            _log.info("results are allocated by PyTorch alone: %s", error)

    def _start(self, library: ctypes.CDLL) -> None:
        given = _from_torch()
        start = ctypes.PyDLL("", handle=library._handle).start
        start.argtypes = [ctypes.py_object, ctypes.c_size_t, ctypes.c_size_t]
        start.restype = None
        start(given, SMALLEST, bound())
        output = python_function(library, "output")
        if not _works(output):
            _log.info("results are allocated by PyTorch alone: the pool does not work")
            return
        self._library, self.started = library, True
        replaceable: Any = empty_strided_cpu
        replaceable.__setstate__((output, (), {}, {}))


def _options() -> tuple[str, ...] | None:
    """What a compiler needs to know of this PyTorch; None where its headers are not installed."""
    root = Path(torch.__file__).parent
    if not (root / "include" / "c10" / "core" / "TensorImpl.h").is_file():
        return None
    build = f"{torch.__version__}-{getattr(torch.version, 'git_version', '')}"
    abi = int(_C._GLIBCXX_USE_CXX11_ABI)
    return (
        *("-std=c++20", "-O1", "-w", "-DNDEBUG", f"-D_GLIBCXX_USE_CXX11_ABI={abi}"),
        *(f"-DTORCH_BUILD={build}", f"-I{root / 'include'}", f"-L{root / 'lib'}", "-lc10"),
    )


def _works(output: Callable[..., torch.Tensor]) -> bool:
    """Whether a tensor from the pool is what it should be."""
    shape = (SMALLEST // 4 + 1,)
    made = output(shape, (1,), torch.float32).fill_(3)
    storage = made.untyped_storage()
    aligned = made.data_ptr() % _HUGE_PAGE == 0
    return aligned and storage.nbytes() == 4 * shape[0] and bool((made == 3).all())


POOL = Pool()
