from astjit.frontend.elements.environment import (
    HOLE,
    RETURNED,
    Binding,
    Conflict,
    Environment,
    Exit,
    Record,
    Slot,
    Slots,
    contains_dynamic,
    filled,
    parts,
    rebuilt,
    same,
)
from astjit.frontend.elements.kinds import BOOL, FLOAT, INT
from tests.frontend.elements.lowered import text


def test_numbers_that_differ_need_a_slot_and_equal_ones_none():
    slots = Slots()
    assert slots.merged(1, 1) == 1
    assert slots.merged((1, "a"), (2, "a")) == (Slot(0), "a")
    assert slots.merged(1, 1.0) == Slot(1)
    assert slots.merged(False, True) == Slot(2)
    assert [kind for _, _, kind in slots.pairs] == [INT, FLOAT, BOOL]
    assert slots.merged((1,), (1, 2)) == Conflict((1,), (1, 2))
    assert slots.merged(None, 1) == Conflict(None, 1)
    assert slots.merged(0.0, -0.0) == Slot(3)


def test_what_the_other_path_lacks_is_zero_there():
    slots = Slots()
    assert slots.merged(HOLE, 2.0) == Slot(0)
    assert slots.pairs == [(0.0, 2.0, FLOAT)]
    assert slots.holes == {0: 2.0}
    assert slots.merged("a", HOLE) == "a"


def test_records_are_taken_apart_and_built_again():
    record = Record(int, ("a", "b"), (1, 2.0))
    assert parts(record) == (1, 2.0)
    assert rebuilt(record, [3, 4]) == Record(int, ("a", "b"), (3, 4))
    assert filled((Slot(0), [Slot(1)]), lambda i: "xy"[i]) == ("x", ["y"])
    assert same(float("nan"), float("nan"))
    assert not same(1, True)
    assert not contains_dynamic((1, [2]))


def test_ways_out():
    place = Environment({"y": Binding(1, frozenset({Exit.BREAK, Exit.FALL}))})
    place.possible = frozenset({Exit.FALL, Exit.BREAK})
    assert place.staying().names["y"].unbound == {Exit.FALL}
    assert place.left().exits == {Exit.BREAK: True}
    place.leave(Exit.RETURN)
    assert place.ended
    assert RETURNED == "return"


def test_a_choice_between_values_that_are_there_is_a_where():
    assert "where" in text(lambda x: x if x > 1 else 2.0)
    assert " if " in text(lambda x: x * 2 if x > 1 else x + 2)
