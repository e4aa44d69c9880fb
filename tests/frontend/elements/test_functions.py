import math

from tests.frontend.elements.lowered import N, refused, text


def test_math_works_in_the_width_of_its_argument():
    assert "sqrt %x.1 : f32[]" in text(lambda x: math.sqrt(x))
    assert "sqrt %1 : f64[]" in text(lambda n: math.sqrt(n), N)


def test_the_larger_of_two_as_python_chooses_it():
    made = text(lambda x: max(x, 0.5))
    assert "gt 0.5, %x.1" in made or "lt %x.1, 0.5" in made


def test_what_is_not_known_is_refused():
    assert refused(lambda x: math.gamma(x))[:2] == ("AJ102", "math.gamma(x)")
    assert refused(lambda x: sorted((x, 1.0)))[:2] == ("AJ102", "sorted((x, 1.0))")
