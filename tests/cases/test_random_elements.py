"""Random element functions are refused, or are what Python makes of them, bit by bit."""

import pytest

from tests.element_programs import check


@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
@pytest.mark.parametrize("first", [1000, 1025])
def test_as_python(first, monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    done = [check(seed) for seed in range(first, first + 25)]
    assert sum(done) >= 15


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
@pytest.mark.parametrize("first", range(2000, 2300, 50))
def test_more_as_python(first, monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    assert sum(check(seed) for seed in range(first, first + 50)) >= 30
