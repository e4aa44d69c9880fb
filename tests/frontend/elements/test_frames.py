from astjit.frontend.elements.frames import shown
from tests.frontend.elements.lowered import refused, text

LIST = [1.0, 2.0]


def test_values_are_named_after_the_users_variables():
    def f(x):
        doubled = x * 2
        return doubled + 1

    assert "%doubled = mul %x.1, 2.0 : f32[]" in text(f)


def test_a_name_of_the_function_hides_a_global():
    def f(x):
        y = LIST[0] + x
        LIST_ = y
        return LIST_

    assert "add" in text(f)


def test_reading_before_assigning_is_refused():
    def f(x):
        y = z + x  # noqa: F821
        z = y
        return z

    assert refused(f)[:2] == ("AJ104", "z")


def test_values_in_errors():
    assert [shown(v) for v in (1, None, (1, 2), "a", len)] == [
        "`1`",
        "`None`",
        "a tuple of 2",
        "`'a'`",
        "a builtin_function_or_method",
    ]
