import pickle

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from astjit.ir.notation import parse_dim
from astjit.types import dim as algebra
from astjit.types.dim import Expr, Sym

A, B, C = Sym("a", 6), Sym("b", 4), Sym("c", 3)
VALUES = st.fixed_dictionaries({name: st.integers(0, 9) for name in "abc"})
BINARY = {
    "add": (algebra.add, lambda x, y: x + y),
    "sub": (algebra.sub, lambda x, y: x - y),
    "mul": (algebra.mul, lambda x, y: x * y),
    "floordiv": (algebra.floordiv, lambda x, y: x // y),
    "mod": (algebra.mod, lambda x, y: x % y),
    "min": (algebra.minimum, min),
    "max": (algebra.maximum, max),
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
    assert algebra.evaluate(dim, values) == expected


@given(TREES, VALUES)
def test_text_is_python_and_reads_back_as_the_same_form(tree, values):
    try:
        dim = as_dim(tree)
        expected = as_number(tree, values)
    except ZeroDivisionError:
        assume(False)
    text = algebra.text(dim)
    assert eval(text, dict(values)) == expected
    assert parse_dim(text) == dim


@given(TREES, TREES, TREES)
def test_sums_and_products_have_one_form(x, y, z):
    try:
        a, b, c = as_dim(x), as_dim(y), as_dim(z)
    except ZeroDivisionError:
        assume(False)
    assert algebra.add(a, b, c) == algebra.add(c, algebra.add(b, a))
    assert algebra.mul(a, algebra.mul(b, c)) == algebra.mul(algebra.mul(c, a), b)
    assert algebra.mul(a, algebra.add(b, c)) == algebra.add(algebra.mul(c, a), algebra.mul(b, a))
    assert algebra.sub(a, a) == 0


@given(TREES, VALUES)
def test_substitution_commutes_with_evaluation(tree, values):
    try:
        dim = as_dim(tree)
        expected = as_number(tree, values)
        replaced = algebra.substitute(dim, {"a": values["a"], "b": Sym("c")})
    except ZeroDivisionError:
        assume(False)
    try:
        expected = as_number(tree, {**values, "b": values["c"]})
    except ZeroDivisionError:
        assume(False)
    assert algebra.evaluate(replaced, values) == expected
    assert not any(s.name in "ab" for s in algebra.symbols(replaced))


def test_expressions_print_as_a_person_writes_them():
    assert algebra.text(algebra.add(algebra.mul(A, B), 2)) == "a*b + 2"
    assert algebra.text(algebra.sub(algebra.mul(2, A), algebra.mul(3, B))) == "2*a - 3*b"
    assert algebra.text(algebra.floordiv(algebra.add(A, 1), 2)) == "(a + 1) // 2"
    assert algebra.text(algebra.maximum(algebra.sub(A, 4), 0)) == "max(a - 4, 0)"
    assert algebra.text(A, lambda s: f"size_{s}") == "size_a"


def test_a_hint_is_no_part_of_identity():
    assert algebra.add(Sym("a", 6), 1) == algebra.add(Sym("a"), 1)
    assert algebra.hint(algebra.mul(A, algebra.add(B, 1))) == 30
    with pytest.raises(KeyError):
        algebra.hint(Sym("d"))


def test_division_by_a_symbol_stays_as_it_may_be_zero():
    assert algebra.floordiv(algebra.mul(A, B), B) == Expr("floordiv", (algebra.mul(A, B), B))
    assert algebra.floordiv(algebra.mul(4, A), 2) == algebra.mul(2, A)
    assert algebra.mod(algebra.mul(4, A), 2) == 0
    for function in (algebra.floordiv, algebra.mod):
        with pytest.raises(ZeroDivisionError):
            function(A, 0)


def test_multiple_needs_every_factor():
    assert algebra.multiple(algebra.mul(4, A, B), algebra.mul(2, B))
    assert not algebra.multiple(algebra.mul(3, A), algebra.mul(2, A))
    assert not algebra.multiple(A, algebra.mul(A, A))
    assert not algebra.multiple(algebra.add(A, B), A)


def test_hints_play_no_part_in_the_order_of_terms():
    def written(hint):
        x, y = Sym("x", hint), Sym("y")
        return algebra.add(algebra.mul(x, B), algebra.mul(x, C), algebra.mod(y, 3), x, y, 2)

    assert written(None) == written(7)
    assert str(written(7)) == str(written(None)) == "b*x + c*x + y % 3 + x + y + 2"


def test_a_size_that_was_pickled_is_found_as_before():
    dim = algebra.add(algebra.floordiv(algebra.mul(A, B), 3), 1)
    assert {dim: 1}[pickle.loads(pickle.dumps(dim))] == 1


def test_a_product_keeps_its_order_whoever_comes_first():
    half = algebra.floordiv(A, 2)
    assert algebra.mul(C, half, 3, A) == algebra.mul(A, algebra.mul(3, half), C)
    assert str(algebra.mul(C, half, 3, A)) == "3*a*(a // 2)*c"


AB, MORE = algebra.mul(A, B), algebra.mul(A, algebra.add(B, 1))


@pytest.mark.parametrize(
    ("one", "other", "left"),
    [
        (algebra.mul(4, AB), algebra.mul(6, A), (algebra.mul(2, B), 3)),
        (algebra.mul(A, AB), AB, (A, 1)),
        (MORE, A, (MORE, A)),  # a sum shares nothing
        (0, A, (0, A)),
        (12, 8, (3, 2)),
    ],
)
def test_products_without_what_they_share(one, other, left):
    assert algebra.cancelled(one, other) == left
