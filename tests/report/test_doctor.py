"""The checks of `python -m astjit doctor`, on this machine and on worse ones."""

from dataclasses import replace

import pytest

from astjit.report import doctor
from astjit.report.doctor import Check, examine, report
from astjit.runtime import cache
from astjit.targets import cxx


def by_name():
    return {check.name: check for check in examine()}


def test_here():
    found = by_name()
    assert list(found) == [
        "versions",
        "environment",
        "cache",
        "C++ compiler",
        "CPU kernel",
        "NVRTC",
        "CUDA device",
    ]
    assert "torch 2." in found["versions"].found
    assert found["CPU kernel"].found.startswith("built and right")
    assert found["NVRTC"].found.endswith("builds for sm_80, sm_90, sm_100, sm_120")


def test_a_machine_without_a_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    found = by_name()
    assert found["environment"].found.startswith("cxx=/nonexistent")
    assert "no C++ compiler" in found["C++ compiler"].found
    assert "set CXX" in found["C++ compiler"].follows
    assert found["CPU kernel"].follows == "calls are right, but not fused"
    assert cxx.find_compiler() is None


def test_a_cache_that_cannot_be_written(monkeypatch):
    monkeypatch.setenv("ASTJIT_CACHE_DIR", "/proc/none")
    found = by_name()["cache"]
    assert found.found.startswith(f"{cache.cache_folder()}: 0 texts built, 0.0 MiB; ")
    assert "again" in found.follows


def test_nothing_is_compiled(monkeypatch):
    monkeypatch.setenv("ASTJIT_DISABLE", "1")
    assert "nothing is compiled" in by_name()["environment"].follows


def test_a_missing_package(monkeypatch):
    monkeypatch.setattr(doctor, "_PACKAGES", ("torch", "no-such-package"))
    assert by_name()["versions"].follows == "install no-such-package"


def test_a_check_that_fails_is_an_answer(monkeypatch):
    def broken(*_):
        raise RuntimeError("no such thing")

    monkeypatch.setattr(doctor, "load_call", broken)
    assert by_name()["CPU kernel"] == replace(
        Check("CPU kernel", "RuntimeError: no such thing"), follows="please report this"
    )


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (Check("cache", "empty"), "ok  cache          empty"),
        (Check("cache", "gone", "sad"), "no  cache          gone\n                   sad"),
    ],
)
def test_lines(check, text):
    assert report([check]) == text
