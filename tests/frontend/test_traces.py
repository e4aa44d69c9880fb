"""Numbers that differ between iterations have no value."""

import pytest

from astjit.frontend.carriers import Number
from astjit.frontend.loop_sizes import LoopSizes, Unlooped, symbol_of
from astjit.frontend.traces import same_throughout


def test_a_number_made_of_the_iteration_is_refused():
    sizes = LoopSizes()
    count = Number(2, "t", symbol_of("t"))
    scaled = Number(1.0, "(t * 0.5)", None, "mul", (count, 0.5))
    same_throughout(sizes, count, scaled)
    sizes.trips["t"] = 9
    same_throughout(sizes, Number(3, "n", 3))
    for number in (count, scaled):
        with pytest.raises(Unlooped, match="needed as a number"):
            same_throughout(sizes, number)
