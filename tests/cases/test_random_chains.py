"""Random chains of operations on the CPU target, fifty in one unit, each operation as PyTorch's.

`python -m tests.chains.run --seeds 0:50000` runs more of them.
"""

import pytest

from tests.chains.check import checked
from tests.chains.draw import draw
from tests.chains.run import EACH, Run

PARTS = 40


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # PyTorch's, of the chains' own operations
@pytest.mark.parametrize("part", range(PARTS))
def test_random_chains_are_as_eager(part):
    """One part in four as the product builds it; the others in half the time, values the same."""
    options = ("-O0",) if part % 4 else ()
    run = Run(range(part * EACH, (part + 1) * EACH), both=False, options=options)
    assert not run.faults, "\n".join(map(str, run.faults[:3]))
    assert run.counts["calls"] >= EACH


def test_a_wrong_value_is_found():
    chain = next(c for c in map(draw, range(100)) if c.exact and len(c.statements) > 3)
    world = chain.eager(chain.inputs[0])
    right = tuple(world[name] for name in chain.results)
    assert checked(chain, chain.inputs[0], None, right) is None
    wrong = (*right[:-1], right[-1].clone().fill_(77))
    assert checked(chain, chain.inputs[0], None, wrong) is not None


def test_an_inexact_value_may_be_off_by_roundings_only():
    chain = next(c for c in map(draw, range(100)) if not c.exact)
    world = chain.eager(chain.inputs[0])
    every = [world[each.target] for each in chain.statements]
    assert checked(chain, chain.inputs[0], every, None) is None
    at = next(i for i, v in enumerate(every) if v.is_floating_point() and v.isfinite().any())
    every[at] = every[at] * 1.01 + 0.01
    assert checked(chain, chain.inputs[0], every, None) is not None
