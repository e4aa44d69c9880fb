"""What astjit finds on this machine: versions, compilers, the cache, and kernels built and run.

    python -m astjit doctor

One line a check. A check that fails says what follows from it; nothing is changed.
"""

import importlib.metadata
import platform
import tempfile
import types
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch

from astjit.compiler import Segment, build_call, cuda_text, load_call, measure
from astjit.config import Config, Environment, read_environment
from astjit.runtime.cache import cache_folder
from astjit.targets.cuda import CUDA, device_arch
from astjit.targets.cxx import find_compiler
from astjit.targets.nvrtc import ARCHES, compile_cuda, nvrtc_version
from astjit.targets.table import TARGETS

_PACKAGES = ("torch", "libcst", "jinja2", "cuda-python", "cuda-core", "nvidia-cuda-nvrtc")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: a look gives what was found and what follows from it.

    Attributes:
        name: what.
        found: the answer, or what went wrong.
        follows: what a failure means for the user; "" where all is well.
    """

    name: str
    found: str
    follows: str = ""

    def __str__(self) -> str:
        shown = f"{'no' if self.follows else 'ok'}  {self.name:14} {self.found}"
        return f"{shown}\n    {'':14} {self.follows}" if self.follows else shown


def examine() -> list[Check]:
    """Every check, in order."""
    return [_guarded(name, look) for name, look in _CHECKS.items()]


def report(checks: list[Check]) -> str:
    """The checks as text."""
    return "\n".join(map(str, checks))


def _guarded(name: str, look: Callable[[], tuple[str, str]]) -> Check:
    """A check whose own failure is an answer, too: a doctor does not faint."""
    try:
        return Check(name, *look())
    except Exception as error:
        return Check(name, f"{type(error).__name__}: {error}", "please report this")


def _versions() -> tuple[str, str]:
    found = [f"python {platform.python_version()}"]
    missing = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(package)
    follows = f"install {', '.join(missing)}" if missing else ""
    return ", ".join(found), follows


def _settings() -> tuple[str, str]:
    here, usual = asdict(read_environment()), asdict(Environment())
    changed = [f"{name}={value}" for name, value in here.items() if value != usual[name]]
    follows = "ASTJIT_DISABLE is set: nothing is compiled" if here["disabled"] else ""
    return ", ".join(changed) or "nothing set", follows


def _cache() -> tuple[str, str]:
    folder = cache_folder()
    files = [path for path in folder.glob("??/*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 2**20
    shown = f"{folder}: {len(files)} texts built, {size:.1f} MiB"
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            return shown, ""
    except OSError as error:
        return f"{shown}; {error.strerror}", "each process builds its kernels again"


def _compiler() -> tuple[str, str]:
    compiler = find_compiler()
    if compiler is None:
        told = "set CXX or install one: until then CPU kernels run through PyTorch, slower"
        return TARGETS["cpu"].problem(), told
    return f"{' '.join(compiler.command)}: {compiler.version}", ""


def _cpu_kernel() -> tuple[str, str]:
    if find_compiler() is None:  # a call says it once in a process, which may have been before
        return TARGETS["cpu"].problem(), "calls are right, but not fused"
    x = torch.arange(8.0)
    loaded = load_call(_segment(x), Config(target="cpu"))
    if loaded.warning:
        return loaded.warning, "calls are right, but not fused"
    if not torch.equal(torch.as_tensor(loaded.run(x)), _sample(x)):
        return "a wrong result", "please report this"
    return f"built and right, {torch.get_num_threads()} threads", ""


def _nvrtc() -> tuple[str, str]:
    segment = _segment(torch.empty(8))
    made = build_call(segment, Config(target="cuda"))
    measured = measure(made, segment.arguments)
    for arch in ARCHES:
        compile_cuda(str(cuda_text(made, *measured, arch).source), arch)
    return f"{nvrtc_version()} builds for {', '.join(ARCHES)}", ""


def _cuda_device() -> tuple[str, str]:
    if problem := CUDA.problem():
        told = "CUDA text can be shown and built here, but not run"
        return problem, told
    devices = range(torch.cuda.device_count())
    names = [f"{torch.cuda.get_device_name(at)} ({device_arch(at)})" for at in devices]
    x = torch.arange(8.0, device="cuda")
    loaded = load_call(_segment(x), Config(target="cuda"))
    right = torch.equal(torch.as_tensor(loaded.run(x)), _sample(x))
    return ", ".join(names), "" if right else "a wrong result: report this"


_CHECKS: dict[str, Callable[[], tuple[str, str]]] = {
    "versions": _versions,
    "environment": _settings,
    "cache": _cache,
    "C++ compiler": _compiler,
    "CPU kernel": _cpu_kernel,
    "NVRTC": _nvrtc,
    "CUDA device": _cuda_device,
}


def _segment(x: torch.Tensor) -> Segment:
    assert isinstance(_sample, types.FunctionType)
    return Segment(_sample, {"x": x})


def _sample(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1
