import pytest
import torch

import astjit
from tests.frontend.elements.lowered import N, refused, text


def test_integer_division_by_a_number_cannot_fail():
    assert "integer_floor_divide %n.1, 3" in text(lambda n: n // 3, N)
    assert "modulo %n.1, -1" in text(lambda n: n % -1, N)
    assert "floordiv %n.1, %n.1" in text(lambda n: n // n, N)
    assert refused(lambda n: n // 0, N)[:2] == ("AJ111", "n // 0")


def test_true_division_of_ints_is_done_in_float64():
    made = text(lambda n: n / 3, N)
    assert "to %n.1 {dtype=f64}" in made
    assert "f32[n0]" in made


def test_powers_are_multiplications_where_they_are_exact():
    assert text(lambda x: x**2).count("mul") == 1
    assert text(lambda n: n**5, N).count("mul") == 3
    assert "pow %x.1, 0.5" in text(lambda x: x**0.5)


def test_a_python_float_does_not_widen():
    half = torch.ones(3, dtype=torch.float16)
    assert "f16[x0]" in text(lambda x: x * 0.1 + 1, half)
    assert "f64[x0]" in text(lambda x, y: x * y, half, half.double())


@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
def test_zero_has_the_sign_of_the_divisor(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    x = torch.tensor([4.0, -4.0, 4.0, -4.0])
    y = torch.tensor([2.0, 2.0, -2.0, -2.0])
    made = astjit.elementwise(lambda a, b: a % b)(x, y)
    assert torch.signbit(made).tolist() == [False, False, True, True]
