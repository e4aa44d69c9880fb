"""Comprehensions and generators: when their items are computed, and what they see."""

import pytest
import torch

import astjit
from tests.frontend.elements.lowered import text

TABLE = {"a": 1.0, "b": 2.0}


@pytest.fixture(autouse=True)
def _no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


def any_of_quotients(n, m):
    return any(n // k > 1 for k in (1, m))


def all_of_quotients(n, m):
    return all(n // k < 2 for k in (1, m))


@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
@pytest.mark.parametrize("function", [any_of_quotients, all_of_quotients])
def test_any_and_all_compute_no_more_than_they_need(function):
    n, m = torch.tensor([2, 5, 3]), torch.tensor([0, 0, 0])
    made = astjit.elementwise(function)
    assert torch.equal(made(n, m), made.reference(n, m))
    with pytest.raises(ZeroDivisionError):
        made(torch.tensor([1]), torch.tensor([0]))


def test_a_generator_that_nothing_changes_may_be_looped_over():
    def f(x):
        total = 0.0
        for i, v in enumerate(x * k for k in (1.0, 2.0)):
            total += v * i
        return total

    assert "mul" in text(f)


@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
def test_the_items_of_a_dict_are_followed(monkeypatch):
    f = astjit.elementwise(lambda x: sum([len(k) * v * x for k, v in TABLE.items()]))
    x = torch.tensor([1.0, 2.0])
    assert f(x).tolist() == [3.0, 6.0]
    monkeypatch.setitem(TABLE, "a", 5.0)
    assert f(x).tolist() == [7.0, 14.0]
    monkeypatch.setitem(TABLE, "long", 1.0)
    assert f(x).tolist() == [11.0, 22.0]
    monkeypatch.setattr(astjit, "unused", TABLE.pop("b"), raising=False)
    assert f(x).tolist() == [9.0, 18.0]
    TABLE["b"] = 2.0
