"""All rows merged, indexed by name and by torch name; duplicate names are refused."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from astjit.ops import (
    activations,
    arithmetic,
    body,
    classes,
    composite,
    control,
    elementwise,
    factory,
    functions,
    gather,
    integers,
    joining,
    library,
    linear,
    losses,
    norms,
    places,
    reduce,
    scaled,
    shape,
    special,
    spellings,
    update,
    viewing,
)
from astjit.ops.spec import Op, Spelling

_FAMILIES = (
    elementwise,
    functions,
    integers,
    special,
    reduce,
    shape,
    gather,
    scaled,
    joining,
    composite,
    activations,
    norms,
    classes,
    places,
    factory,
    linear,
    library,
    update,
    control,
    body,
)
Row = Op | Spelling


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


def by_torch(rows: Iterable[Row]) -> dict[str, tuple[Row, ...]]:
    """What a torch name may mean: its overloads, in the order in which they are tried."""
    table: dict[str, tuple[Row, ...]] = {}
    for row in rows:
        for name in row.torch:
            table[name] = (*table.get(name, ()), row)
    return table


SPELLINGS: tuple[Spelling, ...] = (
    *arithmetic.SPELLINGS,
    *scaled.SPELLINGS,
    *integers.SPELLINGS,
    *special.SPELLINGS,
    *activations.SPELLINGS,
    *norms.SPELLINGS,
    *losses.SPELLINGS,
    *classes.SPELLINGS,
    *places.SPELLINGS,
    *spellings.SPELLINGS,
    *viewing.SPELLINGS,
    *factory.SPELLINGS,
    *linear.SPELLINGS,
    *gather.SPELLINGS,
    *joining.SPELLINGS,
)
OPS = index(row for family in _FAMILIES for row in family.ROWS)
BY_TORCH = by_torch((*SPELLINGS, *OPS.values()))


@contextmanager
def extended(*rows: Op) -> Iterator[None]:
    """The tables with more rows for a while: how tests add an op.

    Raises:
        ValueError: if a row's name is taken.
    """
    index((*OPS.values(), *rows))
    kept = dict(BY_TORCH)
    OPS.update({row.name: row for row in rows})
    BY_TORCH.update(by_torch((*SPELLINGS, *OPS.values())))
    try:
        yield
    finally:
        for row in rows:
            del OPS[row.name]
        BY_TORCH.clear()
        BY_TORCH.update(kept)
