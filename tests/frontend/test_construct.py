"""Objects of classes: what Python code decides on the way is followed."""

import array
import dataclasses
from dataclasses import dataclass, field

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured

BY = 2.0


def scale():
    return BY


@dataclass
class Record:
    a: float
    by: float = field(default_factory=scale)
    c: dataclasses.InitVar[float] = 1.0

    def __post_init__(self, c):
        self.a = self.a * BY + c


class Made:
    def __new__(cls, k):
        made = super().__new__(cls)
        made.k = k * BY
        return made


@pytest.mark.parametrize(
    ("function", "before", "after"),
    [
        (lambda x: x * Record(1.0).by, 2.0, 5.0),
        (lambda x: x * Record(1.0).a, 3.0, 6.0),
        (lambda x: x * Record(1.0, c=2.0).a, 4.0, 7.0),
        (lambda x: x * Made(3.0).k, 6.0, 15.0),
    ],
)
def test_a_global_that_is_read_on_the_way_is_followed(function, before, after, monkeypatch):
    captured = Captured(function, torch.ones(1, 1))
    assert captured.run(torch.ones(1, 1)).item() == before
    monkeypatch.setitem(globals(), "BY", 5.0)
    assert captured.run(torch.ones(1, 1)).item() == after


def test_a_comparison_of_records_is_guarded():
    one = Record(1.0)
    captured = Captured(lambda x, r: x if r == Record(1.0) else -x, torch.ones(1, 1), one)
    assert captured.failing(torch.ones(1, 1), Record(1.0)) == []
    assert captured.failing(torch.ones(1, 1), Record(2.0)) != []


def test_what_c_code_makes_stops():
    with pytest.raises(Stop, match="array"):
        Captured(lambda x, cls: x * len(cls("i")), torch.ones(2), array.array)
