"""Questions about the number of an iteration are asked of all iterations."""

import pytest

from astjit.frontend.loop_sizes import LoopSizes, Unlooped, linear, parts, symbol_of
from astjit.types.shape import Sym, add, mod, mul, sub

N, T = Sym("n", 9), symbol_of("t")


@pytest.fixture
def sizes():
    made = LoopSizes()
    made.trips["t"] = N
    return made


def test_what_holds_in_the_first_and_the_last_holds_in_all(sizes):
    assert sizes.holds("<", T, N)
    assert not sizes.holds("<", sub(sub(N, 1), T), 0)
    assert sizes.holds("!=", T, N)
    assert not sizes.holds("==", add(T, 1), 0)
    assert [str(f) for f in sizes.assumed] == ["0 < n", "0 <= n - 1"]


def test_iterations_may_differ(sizes):
    for op, left, right in (("<", T, 3), ("==", T, 0), ("==", T, 1), ("!=", T, sub(N, 1))):
        with pytest.raises(Unlooped) as caught:
            sizes.holds(op, left, right)
        assert caught.value.again


def test_only_linear_sizes_are_asked(sizes):
    with pytest.raises(Unlooped, match="not linear"):
        sizes.holds("<", mod(T, 2), 1)
    with pytest.raises(Unlooped, match="not linear"):
        parts(mul(T, T), "t")
    assert linear(add(mul(T, N), 3), "t")
    assert parts(add(mul(T, N), 3), "t") == (3, N)


def test_nothing_is_known_of_a_loop_that_is_over(sizes):
    sizes.trips["t"] = None
    with pytest.raises(Unlooped):
        sizes.holds("<", T, N)
