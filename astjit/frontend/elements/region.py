"""Builds the region of a `map`: a builder that goes into arms and bodies, and converts numbers."""

from collections.abc import Iterator
from contextlib import contextmanager

from astjit.frontend.carriers import Float, Int
from astjit.frontend.elements.kinds import BOOL, Dynamic, Kind, holds, kind_of
from astjit.ir.builder import Builder
from astjit.ir.function import Block, Node
from astjit.ir.value import Literal, Param, Value
from astjit.ops.table import OPS
from astjit.types.dtype import BY_NAME, DType
from astjit.types.shape import Sizes
from astjit.types.tensor import PY_FLOAT, PY_INT, TensorType


class Region(Builder):
    """One region that grows.

    Args:
        sizes: decides questions about sizes.
        default: torch's default float dtype.

    Attributes:
        inputs: values of the function around it, with the parameter that stands for each.
    """

    def __init__(self, sizes: Sizes, default: DType) -> None:
        super().__init__(Block(), sizes, default)
        self.whole = self.block
        self.inputs: dict[Value, Param] = {}

    # --- blocks ---

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Nodes are appended to this block within."""
        before, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = before

    def structured(
        self, name: str, operands: tuple[Value | float, ...], *regions: Block, **fields: object
    ) -> Node:
        """Append a node with regions."""
        return self.node(OPS[name], operands, fields, regions)

    # --- numbers ---

    def input(self, value: Value, name: str = "") -> Param:
        """The parameter that stands for a value of the function around the map."""
        if value not in self.inputs:
            kind = value.type
            if not isinstance(kind, TensorType):
                dtype = {PY_INT: "i64", PY_FLOAT: "f64"}[kind]
                kind = TensorType(BY_NAME[dtype], ())
            made = Param(TensorType(kind.dtype, ()), name or value.name, "", self.location)
            self.whole.params.append(made)
            self.inputs[value] = made
        return self.inputs[value]

    def value(self, number: object, kind: Kind) -> Value:
        """A number as a value of a kind; a literal where it is known now.

        Raises:
            OverflowError: for an int beyond 64 bits.
        """
        if isinstance(number, Int | Float):
            number = self.carried(number)
        if isinstance(number, Dynamic):
            return self.converted(number, kind).value
        assert isinstance(number, bool | int | float)
        if not holds(kind.dtype, number):
            raise OverflowError(f"{number} is beyond 64 bits")
        python = float if kind.is_float else bool if kind == BOOL else int
        return Literal(python(number))

    def carried(self, number: "Int | Float") -> Dynamic:
        """A number that Python knows at run time, as an input of the map."""
        held = number.node.number
        keeper = number.node.keeper
        value = keeper.number_value(held)  # type: ignore[attr-defined]
        if isinstance(value, Literal):
            raise TypeError("a number known now")
        return Dynamic(self.input(value), kind_of(number))

    def converted(self, number: Dynamic, kind: Kind) -> Dynamic:
        """A number as one of another kind."""
        if number.kind.dtype is kind.dtype:
            return number if number.kind == kind else Dynamic(number.value, kind)
        return Dynamic(self.emit("to", number.value, dtype=kind.dtype), kind)

    def real(self, number: object, kind: Kind) -> Value:
        """A number as an SSA value that is no literal."""
        value = self.value(number, kind)
        return self.emit("to", value, dtype=kind.dtype) if isinstance(value, Literal) else value

    def op(self, name: str, kind: Kind, *numbers: object, result: Kind | None = None) -> Dynamic:
        """A row on numbers, all as of one kind; the result is of it, or of another."""
        values = [self.value(n, kind) for n in numbers]
        if all(isinstance(v, Literal) for v in values):
            values[0] = self.emit("to", values[0], dtype=kind.dtype)
        return Dynamic(self.emit(name, *values), result or kind)
