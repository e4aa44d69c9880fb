"""Random small programs, compiled and as written: equal in all that can be told after each call.

`python -m tests.programs.run --seeds 0:50000 --jobs 2` runs more of them and shows what fails.
"""

import pytest

from tests.programs.run import described, run_seeds

PARTS = 20
EACH = 100


@pytest.fixture
def _interpreted(monkeypatch):
    """Kernels run through PyTorch: the front end is what is tested, and it is quicker."""
    monkeypatch.setenv("CXX", "/nonexistent")


@pytest.mark.slow
@pytest.mark.usefixtures("_interpreted")
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_are_as_eager(part):
    found = run_seeds(range(part * EACH, (part + 1) * EACH))
    assert not found.faults, "".join(described(*item) for item in list(found.faults.items())[:2])
    assert (
        found.numbers["captured"] > found.numbers["calls"] * 0.4
    )  # what runs eagerly shows little
