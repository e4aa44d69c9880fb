import astjit
from tests.frontend.elements.lowered import refused, text


def square(v):
    return v * v


@astjit.elementwise
def cube(v):
    return v * square(v)


def test_functions_are_lowered_in_place():
    assert text(lambda x: square(x) + square(2.0)).count("mul") == 1
    assert text(lambda x: cube(x)).count("mul") == 2


def test_defaults_are_those_of_the_definition():
    def f(x):
        k = 1.0

        def inner(v, by=k):
            return v + by

        k = 5.0
        return inner(x) * k

    made = text(f)
    assert "add %x.1, 1.0" in made
    assert "5.0" in made


def test_arguments_that_do_not_fit_are_refused():
    assert refused(lambda x: square())[:2] == ("AJ109", "square()")
    assert refused(lambda x: square(x, w=1))[:2] == ("AJ109", "square(x, w=1)")
