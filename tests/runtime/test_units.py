import uuid

import pytest

from astjit.errors import KernelBuildError
from astjit.runtime import units
from astjit.runtime.cache import DiskCache
from astjit.runtime.units import cpu_library, cuda_image
from astjit.targets.cxx import find_compiler

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C++ compiler")


@pytest.fixture
def fresh(monkeypatch):
    """Forgets what this process has loaded, each time it is called."""

    def forget():
        monkeypatch.setattr(units, "_loaded", units._Loaded())

    forget()
    return forget


@pytest.fixture
def text():
    """A text that nobody has built."""
    name = f"f_{uuid.uuid4().hex}"
    return f'extern "C" int {name}() {{ return 3; }}\nextern "C" int f() {{ return 4; }}'


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ASTJIT_CACHE_DIR", str(tmp_path))
    return tmp_path


@needs_compiler
def test_built_then_in_memory_then_on_disk(text, fresh, folder):
    first = cpu_library(text)
    assert (first.origin, first.code.f()) == ("built", 4)
    assert cpu_library("// moved\n" + text).origin == "memory"
    fresh()
    again = cpu_library(text)
    assert (again.origin, again.code.f()) == ("disk", 4)


@needs_compiler
def test_a_damaged_file_is_built_again(text, fresh, folder):
    cpu_library(text)
    (kept,) = folder.rglob("*.so")
    kept.unlink()  # the old one stays mapped
    kept.write_bytes(b"\x7fELF no more")
    fresh()
    assert cpu_library(text).origin == "built"
    fresh()
    assert cpu_library(text).origin == "disk"


@needs_compiler
def test_whole_bytes_that_are_no_library_are_built_again(text, fresh, folder, monkeypatch):
    cpu_library(text)
    (kept,) = folder.rglob("*.so")
    other = folder / "other"
    monkeypatch.setenv("ASTJIT_CACHE_DIR", str(other))
    DiskCache(other).store(kept.stem, ".so", b"whole, but no library")
    fresh()
    assert cpu_library(text).origin == "built"
    assert DiskCache(other).read(kept.stem, ".so")[:4] == b"\x7fELF"


@needs_compiler
def test_without_a_folder_to_write(text, fresh, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ASTJIT_CACHE_DIR", str(tmp_path / "file"))
    built = cpu_library(text)
    assert (built.origin, built.code.f()) == ("built", 4)


@needs_compiler
def test_a_text_that_does_not_compile(fresh, folder):
    with pytest.raises(KernelBuildError, match="a bug in astjit"):
        cpu_library("int f( {")
    assert list(folder.rglob("*.so")) == []


def test_without_a_compiler(text, monkeypatch):
    monkeypatch.setattr(units, "find_compiler", lambda: None)
    with pytest.raises(FileNotFoundError, match="no C\\+\\+ compiler"):
        cpu_library(text)


def test_cubins_are_kept_by_architecture(fresh, folder):
    text = 'extern "C" __global__ void f(float* x) { x[threadIdx.x] = 1.0f; }'
    assert [cuda_image(text, a).origin for a in ("sm_90", "sm_80", "sm_90")] == [
        "built",
        "built",
        "memory",
    ]
    fresh()
    again = cuda_image(text, "sm_90")
    assert again.origin == "disk"
    assert again.code[:4] == b"\x7fELF"
    assert len(list(folder.rglob("*.cubin"))) == 2
