import pytest
import torch

import astjit
from astjit.frontend.elements.lowering import Element
from tests.frontend.elements.lowered import X, refused, text


def test_results_are_the_numbers_that_are_returned():
    made = text(lambda x: (x, (1, x > 0), 2.5))
    assert ": f32[x0], i64[x0], bool[x0], f32[x0]" in made
    assert "yield %x.1, 1, %1, 2.5" in made or "yield %x.1, 1, %" in made


def test_small_integers_are_widened_at_once():
    made = text(lambda x: x + 1, torch.ones(3, dtype=torch.uint8))
    assert "to %x.1 {dtype=i64} : i64[]" in made


def test_what_is_no_number_cannot_be_returned():
    assert refused(lambda x: "a")[0] == "AJ107"
    assert refused(lambda x: (x, None))[0] == "AJ107"


def test_limits_are_a_value():
    assert Element(3) == Element(3)
    assert Element() != Element(0)


def test_sizes_that_do_not_fit():
    with pytest.raises(astjit.ShapeMismatch):
        astjit.elementwise(lambda a, b: a + b)(X, torch.ones(3))
