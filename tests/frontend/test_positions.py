"""Where a Python int becomes a size symbol, and what is asked of it then."""

import re

import pytest
import torch

from astjit.config import Config
from tests.frontend.replay import Captured, same


def x():
    return torch.arange(24.0).reshape(4, 6)


def about(captured, name):
    return sorted(test for test in captured.tests if re.match(rf"{re.escape(name)} \W?=", test))


@pytest.mark.parametrize(
    ("function", "given", "kind"),
    [
        (lambda x, p: x[:, p : p + 2], 3, "f32[x0, 2] strides(x1,1)"),
        (lambda x, p: x[:, :p], 3, "f32[x0, p] strides(x1,1)"),
        (lambda x, p: x[p], 3, "f32[x1]"),
        (lambda x, p: x.narrow(0, 0, p), 2, "f32[p, x1]"),
        (lambda x, p: x.view(p, -1), 2, "f32[p, (x0*x1) // p]"),
        (lambda x, p: x.view(p, 2, 6), 2, "f32[p, 2, 6]"),
        (lambda x, p: x[:1].expand(p, 6), 3, "f32[p, 6] strides(0,1)"),
        (lambda x, p: x[:, : 2 * p - 1], 2, "f32[x0, 2*p - 1] strides(x1,1)"),
        (lambda x, p: x[:, : p // 2], 4, "f32[x0, p // 2] strides(x1,1)"),
        (lambda x, p: x[:, x.shape[1] - p :], 2, "f32[x0, p] strides(x1,1)"),
        (lambda x, p: x.repeat(p, 1), 2, "f32[p*x0, x1]"),
        (lambda x, p: torch.arange(p, p + x.shape[0]), 2, "i64[x0]"),
        (lambda x, p: torch.zeros(p, 3), 2, "f32[p, 3]"),
        (lambda x, p: torch.nn.functional.pad(x, (p, 0)), 2, "f32[x0, p + x1]"),
    ],
)
def test_an_int_is_a_size_where_one_is_used(function, given, kind):
    captured = Captured(function, x(), given)
    assert str(captured.function.results[0].type) == kind
    assert about(captured, "p") == ["p != 1", "p >= 0"]
    assert same(captured.run(), function(x(), given))


@pytest.mark.parametrize("value", [1, -1])
def test_one_and_minus_one_are_their_values(value):
    captured = Captured(lambda x, p: x[p], x(), value)
    assert about(captured, "p") == [f"p == {value}"]
    assert [p.name for p in captured.function.params] == ["x"]


def test_a_negative_int_is_a_distance_from_the_end():
    captured = Captured(lambda x, p: x[p:] + x[p], x(), -3)
    assert "p < -1" in captured.tests
    assert [(p.name, p.path) for p in captured.function.params[1:]] == [("p_back", "(-p)")]
    assert str(captured.function.results[0].type) == "f32[p_back, x1]"
    assert same(captured.run(), x()[-3:] + x()[-3])


def test_an_int_in_arithmetic_alone_is_asked_nothing():
    captured = Captured(lambda x, p: x * p + (p - 1), x(), 1)
    assert about(captured, "p") == []


def test_an_int_that_is_an_axis_is_its_value():
    captured = Captured(lambda x, p: x.sum(p), x(), 1)
    assert about(captured, "p") == ["p == 1"]


def test_an_int_that_equals_a_size_is_written_as_that_size_and_stays_guarded():
    captured = Captured(lambda x, p: x[:, 0] + torch.ones(p), x(), 4)
    assert [str(r.type) for r in captured.function.results] == ["f32[x0]"]
    assert "p == x0" in [str(fact) for fact in captured.function.assumed]


def test_an_int_at_one_path_is_one_symbol():
    state = {"p": 3}
    sized = {"s['p']": None}
    captured = Captured(lambda x, s: x[: s["p"]] + x[: s["p"]], x(), state, sized=sized)
    assert len([p for p in captured.function.params if str(p.type) == "int"]) == 1


def test_what_is_no_argument_varies_once_it_was_seen_to():
    sized = {}
    texts = []
    for value in (2, 2, 3, 2):
        captured = Captured(lambda x, c: x[: c[0]], x(), [value], sized=sized)
        texts.append(about(captured, "c[0]"))
    assert texts == [["c[0] == 2"], ["c[0] == 2"], *[["c[0] != 1", "c[0] >= 0"]] * 2]
    assert sized == {"c[0]": None}


def test_dynamic_false_pins():
    captured = Captured(lambda x, p: x[:, :p], x(), 3, config=Config(dynamic=False))
    assert about(captured, "p") == ["p == 3"]


def test_a_select_of_what_may_be_minus_one_is_not_apart_from_what_follows():
    def function(x, a, b):
        x[a - b] += x[a - b + 1 : a - b + 2].sum(0)
        return x

    captured = Captured(function, x(), 2, 3)
    expected = x()
    function(expected, 2, 3)
    assert same(captured.run(), expected)
