import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from astjit.types import shape
from astjit.types.shape import Predicate, Sizes, Undecided
from tests.types.test_dim import TREES, VALUES, A, B, as_dim


@given(st.sampled_from(["==", "!=", "<", "<="]), TREES, TREES, VALUES)
def test_a_negated_fact_is_the_opposite(op, x, y, values):
    try:
        fact = Predicate(op, as_dim(x), as_dim(y))
        truth = fact.holds(values)
    except ZeroDivisionError:
        assume(False)
    assert fact.negated().holds(values) is not truth
    if fact.plain:
        assert truth


def test_a_question_is_answered_by_the_example_and_recorded_once():
    sizes = Sizes(hints=True)
    assert not sizes.equal(A, B)
    assert sizes.holds("<", B, A)
    assert not sizes.equal(A, B)
    assert not sizes.equal(B, A)
    assert [str(f) for f in sizes.assumed] == ["a != b", "b < a"]


def test_expressions_that_are_alike_are_equal_by_their_symbols():
    a, b, c, d = (shape.Sym(name, hint) for name, hint in (("a", 6), ("b", 4), ("c", 6), ("d", 4)))
    sizes = Sizes(hints=True)
    assert sizes.equal(shape.sub(shape.mul(a, b), a), shape.sub(shape.mul(c, d), c))
    assert {"a == c", "b == d"} < {str(f) for f in sizes.assumed}
    e, f = shape.Sym("e", 3), shape.Sym("f", 8)
    sizes = Sizes(hints=True)  # 6 by 4 and 3 by 8 are as many for another reason
    assert sizes.equal(shape.mul(a, b), shape.mul(e, f))
    assert len(sizes.assumed) == 1


@pytest.mark.parametrize("op", ["==", "!=", "<", "<="])
def test_answers_from_assumptions_agree_with_the_example(op):
    for x, y in itertools.product((A, B, 4, shape.add(A, 1)), repeat=2):
        asked = Sizes(hints=True)
        answer = asked.holds(op, x, y)
        assert answer == Predicate(op, x, y).holds({"a": 6, "b": 4})
        assert Sizes(asked.assumed).holds(op, x, y) is answer


def test_what_is_plain_needs_no_assumption():
    sizes = Sizes()
    assert not sizes.holds("==", A, 1)  # a size of 1 would be the literal
    assert not sizes.holds("<", A, 0)
    assert sizes.holds("<", A, shape.add(A, 1))
    assert sizes.holds("<=", 0, A)
    assert sizes.assumed == []


def test_without_hints_the_unknown_is_undecided_and_not_equal():
    with pytest.raises(Undecided, match="a < b"):
        Sizes().holds("<", A, B)
    assert not Sizes().equal(A, B)


@pytest.mark.parametrize(
    ("shapes", "result"),
    [
        (((A, B), (B,)), (A, B)),
        (((A, 1), (1, B)), (A, B)),
        (((), (A,)), (A,)),
        (((0, 4), (4,)), (0, 4)),
        (((A,), (1,), (A,)), (A,)),
    ],
)
def test_broadcast(shapes, result):
    assert shape.broadcast(Sizes(), *shapes) == result


def test_broadcast_prefers_the_number_among_equal_sizes():
    sizes = Sizes([Predicate("==", B, 4)])
    assert shape.broadcast(sizes, (B,), (4,)) == (4,)
    assert shape.broadcast(sizes, (4,), (B,)) == (4,)


def test_broadcast_names_the_sizes_and_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"sizes 4 and 5 do not fit \(shapes \[3, 4\] and \[5\]\)"):
        shape.broadcast(Sizes(), (3, 4), (5,))
