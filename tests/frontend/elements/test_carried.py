import ast

from astjit.frontend.elements.carried import Carried, alike, form_of, walk
from astjit.frontend.elements.environment import Slot
from astjit.frontend.elements.kinds import FLOAT, INT


def test_the_numbers_in_a_value():
    numbers = []
    assert form_of((1, ("a", 2.0)), numbers) == (Slot(0), ("a", Slot(1)))
    assert numbers == [1, 2.0]
    one = Carried("t", (1, 2.0))
    one.shape(one.start)
    assert one.kinds == [INT, FLOAT]


def test_forms_hold_numbers_at_the_same_places():
    assert alike((Slot(0), "a"), (Slot(1), "a"))
    assert not alike((Slot(0), "a"), (Slot(0), "b"))
    assert not alike((Slot(0),), Slot(0))


def test_inner_functions_are_passed_over():
    found = walk(ast.parse("x = 1\ndef f():\n    return 2").body)
    assert not any(isinstance(n, ast.Return) for n in found)
