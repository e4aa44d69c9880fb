import torch

from astjit.targets.cuda import CUDA, default_arch, device_arch


def test_without_a_device(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert CUDA.problem() == "PyTorch finds no CUDA device"
    assert default_arch() == "sm_90"


def test_with_a_device(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8 + device, 0))
    device_arch.cache_clear()
    assert CUDA.problem() == ""
    assert (default_arch(), device_arch(1)) == ("sm_80", "sm_90")
    device_arch.cache_clear()
