"""Sizes of results as formulas of two sets of examples."""

import pytest

from astjit.frontend.forms import NoForm, named
from astjit.types.shape import Sym

N, M = Sym("n", 4), Sym("m", 6)
KNOWN = [((4, 12), N), ((6, 30), M)]


@pytest.mark.parametrize(
    ("pair", "text"),
    [
        ((7, 7), "7"),
        ((4, 12), "n"),
        ((3, 11), "n - 1"),
        ((8, 24), "2*n"),
        ((2, 6), "n // 2"),
        ((24, 360), "m*n"),
        ((10, 42), "m + n"),
    ],
)
def test_a_size_is_named_by_the_form_that_fits_both_examples(pair, text):
    assert str(named(pair, KNOWN)) == text


def test_a_size_that_no_form_fits():
    with pytest.raises(NoForm):
        named((5, 17), KNOWN)
