"""Reductions of a CUDA kernel: accumulators, what they start from, and their shared memory."""

from dataclasses import dataclass

from astjit.codegen.expression import number
from astjit.types.dtype import DType


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction at the end of a sweep.

    Attributes:
        name: the accumulator, and after the block's combine the result.
        kind: its C type.
        init: what it starts from.
        struct: the helper that combines.
        slot: its row of shared memory.
        element: the C type of one value: in a column kernel `kind` is a vector of them.
    """

    name: str
    kind: str
    init: str
    struct: str
    slot: str
    element: str


@dataclass(frozen=True, slots=True)
class Total(Reduction):
    """A reduction over all blocks.

    Attributes:
        part: the array of what each block has found.
        add: the statement that combines one of these.
        array: which array of the workspace that is.
    """

    part: str
    add: str
    array: int


def combined(reduction: Reduction, value: str) -> str:
    """The statement that takes one more value into a reduction."""
    name, struct = reduction.name, reduction.struct
    if sign := {"Sum": "+=", "Prod": "*="}.get(struct):
        return f"{name} {sign} {value};"
    return f"{name} = {struct}::combine({name}, {value});"


def slots_of(kind: str) -> str:
    """The shared array for reductions of a C type."""
    return "slots" if kind == "float" else f"slots_{kind.replace(' ', '_')}"


def initial(combine: str, dtype: DType) -> str:
    """The value that a combine starts from."""
    lowest = {
        "max": float("-inf"),
        "min": float("inf"),
        "sum": 0.0,
        "prod": 1.0,
        "any": 0.0,
        "all": 1.0,
    }
    value = lowest[combine]
    if not dtype.is_float and value in (float("inf"), float("-inf")):
        signed = 2 ** (dtype.bits - 1)
        low, high = (-signed, signed - 1) if dtype.signed else (0, 2**dtype.bits - 1)
        if dtype.name == "bool":
            low, high = 0, 1
        value = low if combine == "max" else high
    return number(value, dtype, "INFINITY", "NAN").text
