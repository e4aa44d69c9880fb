"""Objects that element functions make: their fields, methods and constants."""

import dataclasses
from typing import NamedTuple

import pytest
import torch

import astjit

X = torch.tensor([0.5, 2.0], dtype=torch.float64)


class Interval(NamedTuple):
    low: float
    high: float = 1.0

    def middle(self):
        return (self.low + self.high) / 2


@dataclasses.dataclass(frozen=True)
class Line:
    slope: float
    offset: float = 0.5
    unit = 10.0

    def at(self, v):
        return (self.slope * v + self.offset) * self.unit


@astjit.elementwise
def on_a_line(x):
    line = Line(x, offset=Interval(x).middle())
    match line:
        case Line(slope, offset=o):
            return line.at(2.0) + slope - o


@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
def test_fields_methods_and_constants(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    assert torch.equal(on_a_line(X), on_a_line.reference(X))
    assert on_a_line(X).tolist() == [17.25, 55.5]
    monkeypatch.setattr(Line, "unit", 1.0)
    assert on_a_line(X).tolist() == [1.5, 6.0]
    monkeypatch.setattr(Line, "at", lambda self, v: self.offset - v)
    assert on_a_line(X).tolist() == [-1.5, 0.0]
