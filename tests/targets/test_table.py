import pytest

from astjit.errors import UsageError
from astjit.targets.table import TARGETS, target_named, target_of


def test_names_devices_and_languages():
    assert [(t.name, t.device, t.language) for t in TARGETS.values()] == [
        ("cpu", "cpu", "C++"),
        ("cuda", "cuda", "CUDA C++"),
    ]


def test_every_target_is_called_after_its_device():
    # Program.misplaced compares one with the other
    assert all(target.name == target.device for target in TARGETS.values())


def test_target_of_a_device():
    assert target_of("cuda:1") is TARGETS["cuda"]
    assert target_of("cpu") is TARGETS["cpu"]
    assert target_of("xpu:0") is None


def test_an_unknown_name_lists_the_known():
    with pytest.raises(UsageError, match=r"(?s)'tpu' is not a target.*'cpu' or 'cuda'"):
        target_named("tpu")
