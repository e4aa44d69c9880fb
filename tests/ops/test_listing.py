"""docs/ops.md is the listing of the rows as they are."""

from pathlib import Path

from astjit.ops.listing import listing
from astjit.ops.spec import Kind
from astjit.ops.table import OPS, extended
from tests.ops.test_table import NDTR

DOCS = Path(__file__).resolve().parents[2] / "docs" / "ops.md"


def test_the_page_is_up_to_date():
    assert DOCS.read_text() == listing(), "write it anew: python -m astjit ops > docs/ops.md"


def test_every_row_has_a_line_but_those_of_kernel_bodies():
    lines = listing().splitlines()
    for op in OPS.values():
        found = [line for line in lines if line.startswith(f"| `{op.name}` |")]
        assert len(found) == (op.kind is not Kind.BODY), op.name


def test_a_line_says_what_the_row_says():
    lines = listing().splitlines()
    assert "| `sub` | elementwise | `sub`, `__sub__`, `subtract` | int, float | = |" in str(lines)
    assert any(line.startswith("| `tanh` |") and "| all | 2 |" in line for line in lines)
    assert any("`bitwise_or`" in line and "`input \\| other`" in line for line in lines)


def test_a_new_row_is_listed():
    with extended(NDTR):
        meaning = "the share of a normal distribution below `\\|x\\|` or `x`"
        assert f"| `ndtr` | elementwise |  | all | 1.5 | {meaning} |" in listing()
