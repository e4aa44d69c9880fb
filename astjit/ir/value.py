"""SSA values: a parameter of a block, a result of a node, or a literal Python number."""

from dataclasses import dataclass, field

from astjit.location import Location
from astjit.types.dtype import Category
from astjit.types.tensor import ScalarType, TensorType, Type


@dataclass(eq=False, slots=True)
class Param:
    """A parameter of a block: an argument of a function, a loop-carried value, a buffer.

    Attributes:
        type: its type.
        name: the user's name for it.
        path: for inputs of a function, how the caller reaches it, such as "x" or "state['w']".
        location: where it was named.
    """

    type: Type
    name: str = ""
    path: str = ""
    location: Location | None = None


@dataclass(eq=False, slots=True)
class Result:
    """One result of a node.

    Attributes:
        node: the node that makes it.
        index: which of the node's results.
        type: its type.
        name: the user's variable, "" when there is none.
    """

    node: "NodeLike" = field(repr=False)
    index: int
    type: Type
    name: str = ""

    @property
    def location(self) -> Location | None:
        """Where the node comes from."""
        return self.node.location


@dataclass(frozen=True, slots=True)
class Literal:
    """A Python number written in the source; equal literals are equal values."""

    value: float

    @property
    def type(self) -> ScalarType:
        """bool, int or float."""
        match self.value:
            case bool():
                return ScalarType(Category.BOOL)
            case int():
                return ScalarType(Category.INTEGER)
        return ScalarType(Category.FLOAT)

    @property
    def name(self) -> str:
        """A literal has no name."""
        return ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, str]:
        # 1, 1.0 and True differ, and so do 0.0 and -0.0; nan equals itself
        return (type(self.value).__name__, repr(self.value))


@dataclass(eq=False, slots=True)
class NodeLike:
    """What a Result needs of its node; `function.Node` is the class that is made."""

    location: Location | None


Value = Param | Result | Literal


def tensor_type(value: Value) -> TensorType:
    """The type of a tensor value.

    Raises:
        TypeError: if the value is a Python number.
    """
    if not isinstance(value.type, TensorType):
        raise TypeError(f"expected a tensor, not a Python {value.type}")
    return value.type
