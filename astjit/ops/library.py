"""The row for any torch function without a row of its own."""

from dataclasses import dataclass

from astjit.ops.spec import Call, Field, FieldKind, Kind, Op, Operand, Rule
from astjit.types.tensor import Type

REGISTERED = "torch.ops."
"""How the targets of operators begin that libraries register with torch.library."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of an operand in the template of a library call; prints as `$0`."""

    index: int


def _infer_library(call: Call) -> tuple[Type, ...]:
    types = call.fields["types"]
    assert isinstance(types, tuple)
    return types


ROWS = (
    Op(
        name="library",
        kind=Kind.LIBRARY,
        rule=Rule(_infer_library),
        operands=(Operand("inputs", variadic=True),),
        fields=(
            Field("target", FieldKind.TEXT),  # dotted name, such as "torch.sort"
            Field("template", FieldKind.ANY, ()),  # (args, kwargs) with Slot(i) for operand i
            Field("picks", FieldKind.ANY, None),  # where in its result the tensors are; None: it
            Field("types", FieldKind.TYPES, ()),  # result types, found on meta tensors (D13)
        ),
        results=None,
        doc="any torch function without a row",
    ),
)
