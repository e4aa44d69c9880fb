"""with: managers written in Python are entered and left through the capture."""

import contextlib

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured

BY = 2.0


class Scale:
    def __enter__(self):
        return BY

    def __exit__(self, kind, error, trace):
        return kind is KeyError


def test_what_enter_reads_is_followed(monkeypatch):
    def function(x):
        with Scale() as by:
            x = x * by
            raise KeyError
        return x

    captured = Captured(function, torch.ones(1, 2))
    monkeypatch.setitem(globals(), "BY", 3.0)
    assert captured.run(torch.ones(1, 2)).tolist() == [[3.0, 3.0]]


@pytest.mark.parametrize(
    ("manager", "reason"),
    [
        (lambda: torch.autocast("cpu"), "autocast"),
        (lambda: torch.inference_mode(), "inference_mode"),
        (lambda: torch.device("meta"), "device"),
    ],
)
def test_modes_of_torch_stop(manager, reason):
    def function(x, manager):
        with manager():
            return x * 2

    with pytest.raises(Stop, match=reason):
        Captured(function, torch.ones(2), manager)


def test_a_stop_inside_is_not_swallowed():
    def function(x):
        with contextlib.suppress(BaseException):
            print(x)
        return x

    with pytest.raises(Stop, match=r"print\(\) is an effect"):
        Captured(function, torch.ones(2))
