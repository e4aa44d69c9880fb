"""From generated text to something that can be called: looked up, else built and kept.

    cpu_library(text)                      => Built(ctypes.CDLL, from disk or not)
    cuda_image(text, "sm_90")              => Built(cubin, from disk or not)

A process loads each library once; what was built before by any process comes from the disk.
"""

import ctypes
import logging
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

from astjit.errors import KernelBuildError
from astjit.runtime.cache import DiskCache, cache_folder
from astjit.runtime.key import unit_key
from astjit.runtime.locks import Lock
from astjit.targets.cpu import cpu_features
from astjit.targets.cxx import Compiler, build_library, find_compiler, flags
from astjit.targets.nvrtc import compile_cuda, nvrtc_options, nvrtc_version

Code = TypeVar("Code")
_log = logging.getLogger("astjit.build")


@dataclass(frozen=True, slots=True)
class Built(Generic[Code]):
    """Machine code and where it came from.

    Attributes:
        code: a loaded library, or the bytes of a cubin.
        origin: "memory" (this process had it), "disk" or "built".
    """

    code: Code
    origin: str


@dataclass(slots=True)
class _Loaded:
    """What this process has: libraries and images by key, behind one lock."""

    lock: Lock = field(default_factory=Lock)
    libraries: dict[str, ctypes.CDLL] = field(default_factory=dict)
    images: dict[str, bytes] = field(default_factory=dict)


_loaded = _Loaded()


@cache
def _disk(folder: Path) -> DiskCache:
    return DiskCache(folder)


def cpu_library(text: str) -> Built[ctypes.CDLL]:
    """The library of a C++ text.

    Raises:
        FileNotFoundError: there is no C++ compiler.
        KernelBuildError: the text does not compile, or what came out cannot be loaded.
    """
    compiler = find_compiler()
    if compiler is None:
        raise FileNotFoundError("no C++ compiler (CXX, c++, g++, clang++)")
    key = _key(compiler, text)
    with _loaded.lock:
        if key in _loaded.libraries:
            return Built(_loaded.libraries[key], "memory")
        disk = _disk(cache_folder())
        library = _load(disk.find(key, ".so"))
        origin = "disk" if library is not None else "built"
        if library is None:
            library = _timed(key, lambda: _build(compiler, text, key, disk))
        else:
            _log.info("found %s on disk", key[:12])
        _loaded.libraries[key] = library
    return Built(library, origin)


def find_apart(text: str, options: Sequence[str]) -> ctypes.CDLL | None:
    """The library of a text that is built with options of its own, if it lies on disk."""
    compiler = find_compiler()
    if compiler is None:
        return None
    return _load(_disk(cache_folder()).find(_key(compiler, text, options), ".so"))


def build_apart(text: str, options: Sequence[str]) -> ctypes.CDLL:
    """The same, built now. Nobody else waits meanwhile.

    Raises:
        FileNotFoundError: there is no C++ compiler.
        KernelBuildError: the text does not compile, or what came out cannot be loaded.
    """
    compiler = find_compiler()
    if compiler is None:
        raise FileNotFoundError("no C++ compiler (CXX, c++, g++, clang++)")
    key, disk = _key(compiler, text, options), _disk(cache_folder())
    return _timed(key, lambda: _build(compiler, text, key, disk, options))


def _key(compiler: Compiler, text: str, options: Sequence[str] = ()) -> str:
    command = " ".join((*compiler.command[1:], *flags(), *options))
    return unit_key(text, command, compiler.version, cpu_features())


def _timed(key: str, build: Callable[[], Code]) -> Code:
    start = time.perf_counter()
    made = build()
    _log.info("built %s in %.2f s", key[:12], time.perf_counter() - start)
    return made


def _load(path: Path | None) -> ctypes.CDLL | None:
    """The library at `path`; None where there is none, or the loader refuses it."""
    if path is None:
        return None
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        return None


def _build(
    compiler: Compiler, text: str, key: str, disk: DiskCache, options: Sequence[str] = ()
) -> ctypes.CDLL:
    """Build in a folder of its own, keep on disk if possible, load from wherever it can be."""
    with tempfile.TemporaryDirectory(prefix="astjit-") as folder:
        made = Path(folder, "unit.so")
        build_library(compiler, text, made, options)
        kept = disk.store(key, ".so", made.read_bytes())
        library = _load(kept) or _load(made)  # stays loaded when the folder is gone
        if library is None:
            raise KernelBuildError("dlopen", str(made), "the built library cannot be loaded")
    return library


def cuda_image(text: str, arch: str) -> Built[bytes]:
    """The cubin of a CUDA text for one architecture.

    Raises:
        KernelBuildError: the text does not compile.
    """
    key = unit_key(text, *nvrtc_options(arch), nvrtc_version())
    with _loaded.lock:
        if key in _loaded.images:
            return Built(_loaded.images[key], "memory")
    disk = _disk(cache_folder())
    image = disk.read(key, ".cubin")
    origin = "disk" if image is not None else "built"
    if image is None:
        # outside the lock: several build at once
        image = _timed(key, lambda: compile_cuda(text, arch).cubin)
        disk.store(key, ".cubin", image)
    else:
        _log.info("found %s on disk", key[:12])
    with _loaded.lock:
        _loaded.images[key] = image
    return Built(image, origin)
