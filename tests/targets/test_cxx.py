import ctypes
import stat
import sys

import pytest

from astjit.errors import KernelBuildError
from astjit.targets import cxx
from astjit.targets.cxx import Compiler, build_library, find_compiler, flags, probe


def script(path, text):
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_arithmetic_of_eager_is_kept():
    assert {"-ffp-contract=off", "-fwrapv", "-fno-math-errno"} <= set(flags())
    assert not [f for f in flags() if "fast" in f or "unsafe" in f]


def test_cxx_is_asked_first(tmp_path, monkeypatch):
    chosen = script(tmp_path / "mine", "print('mine 1.0\\nand more')")
    monkeypatch.setenv("CXX", f"{chosen} -v")
    assert find_compiler() == Compiler((chosen, "-v"), "mine 1.0")


def test_a_cxx_that_does_not_run_is_none(tmp_path):
    assert probe(str(tmp_path / "absent")) is None
    assert probe(script(tmp_path / "broken", "raise SystemExit(1)")) is None


def test_a_library_is_built(tmp_path):
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C++ compiler")
    build_library(compiler, 'extern "C" int three() { return 3; }', tmp_path / "unit.so")
    assert ctypes.CDLL(str(tmp_path / "unit.so")).three() == 3


def test_an_error_names_command_text_and_line(tmp_path):
    refuses = script(tmp_path / "refuses", "import sys; sys.exit('line 7: no')")
    with pytest.raises(KernelBuildError) as caught:
        build_library(Compiler((refuses,), ""), "int", tmp_path / "unit.so")
    assert "line 7: no" in caught.value.output
    assert caught.value.source_path == str(tmp_path / "unit.cpp")
    assert caught.value.command.startswith(refuses)


def test_a_compiler_that_takes_too_long_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(cxx, "LIMIT", 0.01)
    slow = script(tmp_path / "slow", "import time; time.sleep(60)")
    with pytest.raises(KernelBuildError, match="gave up"):
        build_library(Compiler((slow,), ""), "int", tmp_path / "unit.so")
