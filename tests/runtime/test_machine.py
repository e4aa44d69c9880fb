import pytest
import torch

from astjit.runtime.machine import Machine, current_stream
from astjit.runtime.units import cuda_image
from astjit.targets.cuda import device_arch
from astjit.targets.driver import Launcher


class NoDriver:
    config = stream = staticmethod(print)


def test_the_raw_handle_is_asked_first(monkeypatch):
    monkeypatch.setattr(
        torch._C, "_cuda_getCurrentRawStream", lambda device: 0x70 + device, raising=False
    )
    assert current_stream(3) == 0x73


def test_without_the_private_name_the_public_one_is_asked(monkeypatch):
    class Stream:
        def __init__(self, device):
            self.cuda_stream = 0x90 + device

    monkeypatch.delattr(torch._C, "_cuda_getCurrentRawStream", raising=False)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    assert current_stream(2) == 0x92


def test_by_default_torch_and_nvrtc_are_asked():
    machine = Machine(Launcher(NoDriver()))
    assert machine.image is cuda_image
    assert machine.arch is device_arch
    assert machine.current_stream is current_stream
    assert machine.current_device is torch.cuda.current_device
    assert machine.on_device is torch.cuda.device


@pytest.mark.gpu
def test_the_current_stream_of_a_device():
    assert current_stream(0) == torch.cuda.current_stream(0).cuda_stream
