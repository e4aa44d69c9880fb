"""Compiles kernel text with g++, and keeps the libraries in a folder of the system's temp dir.

Most of a small compilation is the start of g++, so `build` takes many units at once.
"""

import ctypes
import functools
import getpass
import hashlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

from tests.emulator.replacements import without_inline_ptx
from tests.emulator.text import defined_macros, parse_kernels, place_shared_variables

_HERE = Path(__file__).resolve().parent
_INCLUDE = _HERE / "include"
_RUNTIME = _HERE / "runtime"

_COMPILER = "g++"
_RUNTIME_FLAGS = ("-std=c++17", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror")
# No contraction into FMA (as with NVRTC's --fmad=false); integers wrap around, as they do there.
_KERNEL_FLAGS = (
    *("-std=c++17", "-O1", "-g1", "-gdwarf-4", "-fPIC", "-nostdinc++", "-fno-exceptions"),
    *("-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-fno-strict-aliasing"),
)
# The sanitizers' calls go to runtime/hooks.cpp; their own libraries are not linked.
_CHECKING_FLAGS = (
    "-fsanitize=thread",
    "-fsanitize=alignment,bounds,integer-divide-by-zero",
    *("--param", "tsan-distinguish-volatile=1"),
)
_UNITS_PER_LIBRARY = 50


class BuildError(RuntimeError):
    """g++ refused the text; the message holds its output."""


class Library:
    """A compiled unit: the file, and the functions in it."""

    def __init__(self, path, key):
        self.path = path
        self.key = key
        self.functions = ctypes.CDLL(str(path))
        self.functions.emulator_error.restype = ctypes.c_char_p
        self.functions.emulator_add_buffer.restype = ctypes.c_void_p
        self.functions.emulator_unwritten.restype = ctypes.c_size_t

    def launcher(self, kernel_name):
        """Returns the C function that launches a kernel of this unit."""
        return getattr(self.functions, f"emulator_launch_{self.key}_{kernel_name}")


def build(units, checked=True):
    """Compiles every (helpers, kernels) pair that has no library yet, many per start of g++."""
    missing = {}
    for helpers, kernels in units:
        key = _key(helpers, kernels, checked)
        if not _library_path(key).exists():
            missing[key] = (helpers, kernels)
    keys = list(missing)
    for first in range(0, len(keys), _UNITS_PER_LIBRARY):
        chosen = {key: missing[key] for key in keys[first : first + _UNITS_PER_LIBRARY]}
        try:
            _compile(chosen, checked)
        except BuildError:
            if len(chosen) == 1:
                raise
            for key, unit in chosen.items():  # one by one, to see which it is
                _compile({key: unit}, checked)


def load(helpers, kernels, checked=True):
    """Returns the Library of one unit, which is compiled unless it is in the cache."""
    build([(helpers, kernels)], checked)
    return _load(_key(helpers, kernels, checked))


@functools.cache
def _load(key):
    return Library(_library_path(key), key)


@functools.cache
def cache_folder():
    """Returns the folder of compiled libraries; it can be deleted at any time."""
    folder = Path(tempfile.gettempdir()) / f"astjit_emulator_{getpass.getuser()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _library_path(key):
    return cache_folder() / f"{key}.so"


@functools.cache
def _emulator_digest():
    digest = hashlib.sha256(" ".join((*_RUNTIME_FLAGS, *_KERNEL_FLAGS, *_CHECKING_FLAGS)).encode())
    version = subprocess.run([_COMPILER, "--version"], capture_output=True, check=True)
    digest.update(version.stdout)
    python = (_HERE / name for name in ("library.py", "replacements.py", "text.py"))
    sources = [*_INCLUDE.iterdir(), *_RUNTIME.iterdir(), *python]
    for path in sorted(sources):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _key(helpers, kernels, checked):
    parts = (_emulator_digest(), str(checked), helpers, kernels)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _compile(units, checked):
    """Compiles {key: (helpers, kernels)} into one library, and links it under every key."""
    runtime = _runtime_object()
    source = '#include "cuda.h"\n' + "".join(
        _unit_source(key, helpers, kernels) for key, (helpers, kernels) in units.items()
    )
    flags = [*_KERNEL_FLAGS, *(_CHECKING_FLAGS if checked else ())]
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        text, compiled, library = (
            Path(folder) / name for name in ("unit.cpp", "unit.o", "unit.so")
        )
        text.write_text(source)
        _run([*flags, "-I", str(_INCLUDE), "-c", str(text), "-o", str(compiled)])
        _run(["-shared", "-Wl,-Bsymbolic", str(compiled), str(runtime), "-o", str(library)])
        for key in units:
            link = Path(folder) / key
            os.link(library, link)
            link.replace(_library_path(key))  # another process may have been faster: no matter


def _unit_source(key, helpers, kernels):
    # Units share a translation unit, so each has a namespace; extern "C" would pierce it.
    body = re.sub(r'extern\s+"C"\s+(?=__global__)', "", kernels)
    launchers = "".join(
        f'extern "C" int emulator_launch_{key}_{name}(const EmulatorLaunch* launch,\n'
        "    const EmulatorArgument* arguments) {\n"
        f"  return emulator::launch(unit_{key}::{name}, launch, arguments);\n}}\n"
        for name in parse_kernels(kernels)
    )
    undefine = "".join(f"#undef {name}\n" for name in defined_macros(helpers + "\n" + kernels))
    return (
        f"namespace unit_{key} {{\n{place_shared_variables(without_inline_ptx(helpers))}\n"
        f'#line 1 "kernels"\n{place_shared_variables(body)}\n'
        f'}}\n#line 1 "launchers"\n{launchers}{undefine}'
    )


def compile_runtime(target, *flags):
    """Compiles the runtime, which every library holds a copy of, into an object file."""
    _run([*_RUNTIME_FLAGS, *flags, "-c", str(_RUNTIME / "all.cpp"), "-o", str(target)])


def _runtime_object():
    path = cache_folder() / f"runtime_{_emulator_digest()[:24]}.o"
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
            compiled = Path(folder) / "runtime.o"
            compile_runtime(compiled)
            compiled.replace(path)
    return path


def _run(arguments):
    done = subprocess.run([_COMPILER, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{_COMPILER} {' '.join(arguments)}\n{done.stderr}")
