"""Random programs with effects, cut where they cannot be captured: equal in all that can be told.

`python -m tests.programs.run --effects --seeds 0:20000 --jobs 2` runs more of them.
"""

import pytest

from tests.programs.effects import generate
from tests.programs.run import described, run_seeds

PARTS = 10
EACH = 30


@pytest.fixture
def _interpreted(monkeypatch):
    """Kernels run through PyTorch: what is tested is what stays Python, and in which order."""
    monkeypatch.setenv("CXX", "/nonexistent")


@pytest.mark.slow
@pytest.mark.usefixtures("_interpreted")
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_with_effects_are_as_eager(part):
    found = run_seeds(range(part * EACH, (part + 1) * EACH), generate)
    shown = list(found.faults.items())[:2]
    assert not found.faults, "".join(described(*item, generate) for item in shown)
    assert found.numbers["captured"] > found.numbers["calls"] * 2  # several segments a call
