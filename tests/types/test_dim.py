import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from astjit.ir.notation import parse_dim
from astjit.types import dim
from astjit.types.dim import Expr, Sym

A, B, C = Sym("a", 6), Sym("b", 4), Sym("c", 3)
VALUES = st.fixed_dictionaries({name: st.integers(0, 9) for name in "abc"})
BINARY = {
    "add": (dim.add, lambda x, y: x + y),
    "sub": (dim.sub, lambda x, y: x - y),
    "mul": (dim.mul, lambda x, y: x * y),
    "floordiv": (dim.floordiv, lambda x, y: x // y),
    "mod": (dim.mod, lambda x, y: x % y),
    "min": (dim.minimum, min),
    "max": (dim.maximum, max),
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
        made = as_dim(tree)
        expected = as_number(tree, values)
    except ZeroDivisionError:
        assume(False)
    assert dim.evaluate(dim, values) == expected


@given(TREES, VALUES)
def test_text_is_python_and_reads_back_as_the_same_form(tree, values):
    try:
        made = as_dim(tree)
        expected = as_number(tree, values)
    except ZeroDivisionError:
        assume(False)
    text = dim.text(dim)
    assert eval(text, dict(values)) == expected
    assert parse_dim(text) == dim


@given(TREES, TREES, TREES)
def test_sums_and_products_have_one_form(x, y, z):
    try:
        a, b, c = as_dim(x), as_dim(y), as_dim(z)
    except ZeroDivisionError:
        assume(False)
    assert dim.add(a, b, c) == dim.add(c, dim.add(b, a))
    assert dim.mul(a, dim.mul(b, c)) == dim.mul(dim.mul(c, a), b)
    assert dim.mul(a, dim.add(b, c)) == dim.add(dim.mul(c, a), dim.mul(b, a))
    assert dim.sub(a, a) == 0


@given(TREES, VALUES)
def test_substitution_commutes_with_evaluation(tree, values):
    try:
        made = as_dim(tree)
        expected = as_number(tree, values)
        replaced = dim.substitute(dim, {"a": values["a"], "b": Sym("c")})
    except ZeroDivisionError:
        assume(False)
    try:
        expected = as_number(tree, {**values, "b": values["c"]})
    except ZeroDivisionError:
        assume(False)
    assert dim.evaluate(replaced, values) == expected
    assert not any(s.name in "ab" for s in dim.symbols(replaced))


def test_expressions_print_as_a_person_writes_them():
    assert dim.text(dim.add(dim.mul(A, B), 2)) == "a*b + 2"
    assert dim.text(dim.sub(dim.mul(2, A), dim.mul(3, B))) == "2*a - 3*b"
    assert dim.text(dim.floordiv(dim.add(A, 1), 2)) == "(a + 1) // 2"
    assert dim.text(dim.maximum(dim.sub(A, 4), 0)) == "max(a - 4, 0)"
    assert dim.text(A, lambda s: f"size_{s}") == "size_a"


def test_a_hint_is_no_part_of_identity():
    assert dim.add(Sym("a", 6), 1) == dim.add(Sym("a"), 1)
    assert dim.hint(dim.mul(A, dim.add(B, 1))) == 30
    with pytest.raises(KeyError):
        dim.hint(Sym("d"))


def test_division_by_a_symbol_stays_as_it_may_be_zero():
    assert dim.floordiv(dim.mul(A, B), B) == Expr("floordiv", (dim.mul(A, B), B))
    assert dim.floordiv(dim.mul(4, A), 2) == dim.mul(2, A)
    assert dim.mod(dim.mul(4, A), 2) == 0
    for function in (dim.floordiv, dim.mod):
        with pytest.raises(ZeroDivisionError):
            function(A, 0)


def test_multiple_needs_every_factor():
    assert dim.multiple(dim.mul(4, A, B), dim.mul(2, B))
    assert not dim.multiple(dim.mul(3, A), dim.mul(2, A))
    assert not dim.multiple(A, dim.mul(A, A))
    assert not dim.multiple(dim.add(A, B), A)
