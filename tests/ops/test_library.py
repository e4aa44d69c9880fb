"""The row for torch functions without a row: its types are given with it."""

from astjit.ops.library import Slot
from astjit.ops.spec import Call, FieldKind, Kind
from astjit.ops.table import BY_TORCH, OPS
from astjit.types.dtype import F32, I64
from astjit.types.shape import Sizes
from astjit.types.tensor import TensorType

LIBRARY = OPS["library"]


def test_its_results_are_those_it_was_given():
    types = (TensorType(F32, (3,)), TensorType(I64, (3,)))
    fields = {"target": "torch.sort", "template": ((Slot(0),), {}), "types": types}
    assert LIBRARY.rule.infer(Call((types[0],), fields, Sizes())) == types
    assert LIBRARY.results is None
    assert LIBRARY.field("types").kind is FieldKind.TYPES


def test_it_stands_for_no_name():
    assert LIBRARY.kind is Kind.LIBRARY
    assert all(LIBRARY not in rows for rows in BY_TORCH.values())
