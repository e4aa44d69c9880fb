import dataclasses

import pytest

from astjit.config import Config, Environment, read_environment


def test_nothing_set_gives_the_defaults(monkeypatch):
    for name in ("DISABLE", "TARGET", "CACHE_DIR", "LOG"):
        monkeypatch.delenv(f"ASTJIT_{name}", raising=False)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert read_environment() == Environment()


def test_everything_is_read(monkeypatch):
    values = {
        "ASTJIT_DISABLE": "1",
        "ASTJIT_TARGET": "cuda",
        "ASTJIT_CACHE_DIR": "/kept",
        "ASTJIT_LOG": "info",
        "CXX": "clang++",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    assert read_environment() == Environment(True, "cuda", "clang++", "/kept", "info")


@pytest.mark.parametrize(
    ("value", "disabled"), [("", False), ("0", False), ("1", True), ("yes", True)]
)
def test_disabling(monkeypatch, value, disabled):
    monkeypatch.setenv("ASTJIT_DISABLE", value)
    assert read_environment().disabled is disabled


def test_options_cannot_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().fullgraph = True
