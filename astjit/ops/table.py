"""All rows merged, indexed by name and by torch name; duplicate names are refused."""

from collections.abc import Iterable

from astjit.ops import body, composite, control, elementwise, gather, library, reduce, shape
from astjit.ops.spec import Op

_FAMILIES = (elementwise, reduce, shape, gather, composite, library, control, body)


def index(rows: Iterable[Op]) -> dict[str, Op]:
    """Rows by name.

    Raises:
        ValueError: if two rows have one name.
    """
    table: dict[str, Op] = {}
    for row in rows:
        if row.name in table:
            raise ValueError(f"two rows are called {row.name!r}")
        table[row.name] = row
    return table


OPS = index(row for family in _FAMILIES for row in family.ROWS)
BY_TORCH = {name: row for row in OPS.values() for name in row.torch}
