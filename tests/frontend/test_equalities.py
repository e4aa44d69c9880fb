"""Symbols that a capture found equal lead to the earliest, or to a number."""

from astjit.frontend.equalities import equalities, root
from astjit.types.shape import Predicate, Sym, add

A, B, C, D = (Sym(name) for name in "abcd")


def test_a_chain_leads_to_its_first_symbol():
    found = equalities([Predicate("==", A, B), Predicate("==", C, D), Predicate("==", B, D)])
    assert [root(found, s) for s in (A, B, C, D)] == [A, A, A, A]


def test_a_number_stands_for_all_that_equal_it():
    found = equalities([Predicate("==", A, B), Predicate("==", B, 4)])
    assert [root(found, s) for s in (A, B, C)] == [4, 4, C]


def test_other_facts_and_sums_unite_nothing():
    facts = [Predicate("<=", A, B), Predicate("!=", A, C), Predicate("==", add(A, 1), B)]
    assert equalities(facts) == {}
    assert root({}, 7) == 7
