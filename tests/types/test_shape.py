import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from astjit.ir.notation import parse_dim
from astjit.types import shape
from astjit.types.shape import Expr, Predicate, Sizes, Sym, Undecided

A, B, C = Sym("a", 6), Sym("b", 4), Sym("c", 3)
VALUES = st.fixed_dictionaries({name: st.integers(0, 9) for name in "abc"})
BINARY = {
    "add": (shape.add, lambda x, y: x + y),
    "sub": (shape.sub, lambda x, y: x - y),
    "mul": (shape.mul, lambda x, y: x * y),
    "floordiv": (shape.floordiv, lambda x, y: x // y),
    "mod": (shape.mod, lambda x, y: x % y),
    "min": (shape.minimum, min),
    "max": (shape.maximum, max),
}
# A tree: an int, a name, or (op, tree, tree).
TREES = st.recursive(
    st.one_of(st.integers(-4, 9), st.sampled_from("abc")),
    lambda inner: st.tuples(st.sampled_from(sorted(BINARY)), inner, inner),
    max_leaves=8,
)


def as_dim(tree):
    if isinstance(tree, tuple):
        return BINARY[tree[0]][0](as_dim(tree[1]), as_dim(tree[2]))
    return tree if isinstance(tree, int) else Sym(tree)


def as_number(tree, values):
    if isinstance(tree, tuple):
        return BINARY[tree[0]][1](as_number(tree[1], values), as_number(tree[2], values))
    return tree if isinstance(tree, int) else values[tree]


@given(TREES, VALUES)
def test_the_normal_form_is_worth_what_python_says(tree, values):
    try:
        dim = as_dim(tree)
        expected = as_number(tree, values)
    except ZeroDivisionError:
        assume(False)
    assert shape.evaluate(dim, values) == expected


@given(TREES, VALUES)
def test_text_is_python_and_reads_back_as_the_same_form(tree, values):
    try:
        dim = as_dim(tree)
        expected = as_number(tree, values)
    except ZeroDivisionError:
        assume(False)
    text = shape.text(dim)
    assert eval(text, dict(values)) == expected
    assert parse_dim(text) == dim


@given(TREES, TREES, TREES)
def test_sums_and_products_have_one_form(x, y, z):
    try:
        a, b, c = as_dim(x), as_dim(y), as_dim(z)
    except ZeroDivisionError:
        assume(False)
    assert shape.add(a, b, c) == shape.add(c, shape.add(b, a))
    assert shape.mul(a, shape.mul(b, c)) == shape.mul(shape.mul(c, a), b)
    assert shape.mul(a, shape.add(b, c)) == shape.add(shape.mul(c, a), shape.mul(b, a))
    assert shape.sub(a, a) == 0


@given(TREES, VALUES)
def test_substitution_commutes_with_evaluation(tree, values):
    try:
        dim = as_dim(tree)
        expected = as_number(tree, values)
        replaced = shape.substitute(dim, {"a": values["a"], "b": Sym("c")})
    except ZeroDivisionError:
        assume(False)
    try:
        expected = as_number(tree, {**values, "b": values["c"]})
    except ZeroDivisionError:
        assume(False)
    assert shape.evaluate(replaced, values) == expected
    assert not any(s.name in "ab" for s in shape.symbols(replaced))


def test_expressions_print_as_a_person_writes_them():
    assert shape.text(shape.add(shape.mul(A, B), 2)) == "a*b + 2"
    assert shape.text(shape.sub(shape.mul(2, A), shape.mul(3, B))) == "2*a - 3*b"
    assert shape.text(shape.floordiv(shape.add(A, 1), 2)) == "(a + 1) // 2"
    assert shape.text(shape.maximum(shape.sub(A, 4), 0)) == "max(a - 4, 0)"
    assert shape.text(A, lambda s: f"size_{s}") == "size_a"


def test_a_hint_is_no_part_of_identity():
    assert shape.add(Sym("a", 6), 1) == shape.add(Sym("a"), 1)
    assert shape.hint(shape.mul(A, shape.add(B, 1))) == 30
    with pytest.raises(KeyError):
        shape.hint(Sym("d"))


def test_division_by_a_symbol_stays_as_it_may_be_zero():
    assert shape.floordiv(shape.mul(A, B), B) == Expr("floordiv", (shape.mul(A, B), B))
    assert shape.floordiv(shape.mul(4, A), 2) == shape.mul(2, A)
    assert shape.mod(shape.mul(4, A), 2) == 0
    for function in (shape.floordiv, shape.mod):
        with pytest.raises(ZeroDivisionError):
            function(A, 0)


def test_multiple_needs_every_factor():
    assert shape.multiple(shape.mul(4, A, B), shape.mul(2, B))
    assert not shape.multiple(shape.mul(3, A), shape.mul(2, A))
    assert not shape.multiple(A, shape.mul(A, A))
    assert not shape.multiple(shape.add(A, B), A)


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
