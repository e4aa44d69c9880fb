"""Sizes of results as formulas of two sets of examples."""

import pytest
import torch

import astjit
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


def test_a_part_of_a_size_is_no_constant_less_of_another():
    """2 of 4 columns beside 4 rows, then 10 of 20 beside 12: half the columns, not 2 rows less."""
    assert str(named((2, 10), [((4, 12), N), ((4, 20), M)])) == "m // 2"
    assert str(named((2, 10), [((0, 0), N), ((4, 20), M)])) == "m // 2"


def halves(x):
    return torch.hsplit(x + 1, 2)[0] * 2


def wide(x):
    return (x * 2).view(torch.float64) + 1


def unshuffled(x):
    return torch.nn.functional.pixel_unshuffle(x[None] * 2, 2).sum(1)


def every(x):
    return halves(x), wide(x), unshuffled(x)


def test_sizes_of_square_operands():
    """Only sizes that divide are taken: no odd example told half of one from less of another."""
    compiled = astjit.compile(every, fullgraph=True)
    for shape in ((4, 4), (6, 4), (4, 8), (8, 4), (2, 6)):
        x = torch.rand(shape)
        for got, want in zip(compiled(x), every(x), strict=True):
            torch.testing.assert_close(got, want)


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
@pytest.mark.filterwarnings("ignore:.*which was to be")
def test_a_result_of_another_size_than_its_meta_tensor(monkeypatch):
    """Without elements PyTorch gives its operand back; its meta function says otherwise."""
    monkeypatch.setenv("CXX", "/nonexistent")
    compiled = astjit.compile(unshuffled)
    for shape in ((4, 6), (0, 6), (4, 4)):
        x = torch.rand(shape)
        torch.testing.assert_close(compiled(x), unshuffled(x))


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
def test_library_calls_are_captured_in_inference_mode(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    with torch.inference_mode():
        compiled = astjit.compile(lambda x: torch.cumsum(x, 0) * 2, fullgraph=True)
        assert compiled(torch.ones(3)).tolist() == [2.0, 4.0, 6.0]


def test_a_size_that_no_form_fits():
    with pytest.raises(NoForm):
        named((5, 17), KNOWN)
