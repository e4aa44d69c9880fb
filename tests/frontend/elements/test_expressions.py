from tests.frontend.elements.lowered import N, refused, text


def test_only_the_arm_that_is_taken_is_computed():
    made = text(lambda n: n % n if n != 0 else 7, N)
    assert made.index("if %") < made.index("modulo")


def test_what_is_known_now_is_decided_now():
    made = text(lambda x: x if 1 < 2 and "a" == "a" else undefined)  # noqa: F821
    assert "if" not in made.replace("fn ", "")


def test_an_attribute_of_an_element_is_refused():
    assert refused(lambda x: x.real)[:2] == ("AJ103", "x.real")
