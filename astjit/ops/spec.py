"""What an op is: one row, from which everything else about it follows.

A row names its operands and fields, infers result types, says how torch spells it, how each target
spells it, how it is evaluated, and (for composites) how it expands. Consumers ask the row; nothing
outside this room compares op names.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from typing import Literal, Protocol

from astjit.types.dtype import F32, Category, DType
from astjit.types.shape import Dim, Sizes
from astjit.types.tensor import ScalarType, TensorType, Type


class Kind(Enum):
    """What fusion may do with an op."""

    ELEMENTWISE = "elementwise"  # one result element from the elements at one index
    REDUCE = "reduce"  # combines along dims
    VIEW = "view"  # another index map of the same memory
    GATHER = "gather"  # reads at an index that is a value
    COMPOSITE = "composite"  # expands into other rows where the pieces share a kernel (D7)
    FACTORY = "factory"  # makes a tensor from sizes and numbers
    LIBRARY = "library"  # PyTorch's own kernel
    SIZE = "size"  # a size as a number
    CONTROL = "control"  # has regions
    BODY = "body"  # exists in kernel bodies only: load, store, reduce, index, round


class Trait(Flag):
    """Facts about an op that passes and tests rely on."""

    NONE = 0
    COMMUTATIVE = auto()  # f(a, b) is f(b, a), bit for bit
    EXACT = auto()  # bit-equal with eager on any hardware: may be folded
    IDEMPOTENT = auto()  # f(f(x)) is f(x)
    INVOLUTION = auto()  # f(f(x)) is x, bit for bit, where both have one type
    EFFECT = auto()  # never removed or merged: store, random
    RAISES = auto()  # refuses some values, an index out of range: made even if nothing needs it


class FieldKind(Enum):
    """The type of an attribute and with it its text."""

    INT = "int"
    BOOL = "bool"
    FLOAT = "float"
    NUMBER = "number"  # int, float or bool, kept as written
    TEXT = "text"
    DTYPE = "dtype"
    AXES = "axes"  # tuple of ints
    SIZE = "size"  # Dim: stays symbolic (D2)
    SIZES = "sizes"  # tuple of Dims
    ANY = "any"  # a Python constant given to a library call
    TYPES = "types"  # the result types themselves: printed as such, not as a field


FieldValue = object


@dataclass(frozen=True, slots=True)
class Field:
    """A typed attribute. A field without a default must be given."""

    name: str
    kind: FieldKind
    default: FieldValue = ...

    @property
    def required(self) -> bool:
        """True when there is no default."""
        return self.default is ...


@dataclass(frozen=True, slots=True)
class Operand:
    """A named operand: a tensor or a Python number.

    Attributes:
        optional: may be absent (None).
        variadic: the last operand, standing for any number.
    """

    name: str
    optional: bool = False
    variadic: bool = False


class Ref(Protocol):
    """What an emitter hands out for a value; ir's values satisfy it."""

    @property
    def type(self) -> Type:
        """The type of the value."""
        ...


class Emitter(Protocol):
    """Appends an op and returns its result, or a tuple when the op has several."""

    @property
    def sizes(self) -> Sizes:
        """Decides and records questions about sizes."""
        ...

    def emit(self, name: str, *operands: "Ref | float | None", **fields: FieldValue) -> "Ref":
        """Append the op called `name`; its first result."""
        ...

    def emit_all(
        self, name: str, *operands: "Ref | float | None", **fields: FieldValue
    ) -> tuple["Ref", ...]:
        """Append the op called `name`; all its results."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One use of an op, as its type rule sees it.

    Attributes:
        types: operand types, None where an optional operand is absent.
        fields: every field by name, defaults filled in.
        sizes: decides and records questions about sizes.
        default: torch's default float dtype.
        regions: (argument types, result types) of each region of a control op.
    """

    types: tuple[Type | None, ...]
    fields: Mapping[str, FieldValue]
    sizes: Sizes
    default: DType = F32
    regions: tuple[tuple[tuple[Type, ...], tuple[Type, ...]], ...] = ()

    def tensor(self, index: int) -> TensorType:
        """The type of a tensor operand.

        Raises:
            TypeError: if that operand is absent or a Python number.
        """
        found = self.types[index]
        if not isinstance(found, TensorType):
            raise TypeError(f"operand {index} must be a tensor, not {found}")
        return found

    def integer(self, name: str) -> int:
        """An int field."""
        value = self.fields[name]
        assert isinstance(value, int)
        return value

    def flag(self, name: str) -> bool:
        """A bool field."""
        return bool(self.fields[name])

    def axes(self, name: str) -> tuple[int, ...] | None:
        """An axes field, None when it is None."""
        value = self.fields[name]
        if value is None:
            return None
        assert isinstance(value, tuple)
        return tuple(int(v) for v in value)

    def dims(self, name: str) -> tuple[Dim, ...]:
        """A sizes field."""
        value = self.fields[name]
        assert isinstance(value, tuple)
        return value

    def dtype(self, name: str) -> DType | None:
        """A dtype field."""
        value = self.fields[name]
        assert value is None or isinstance(value, DType)
        return value


Infer = Callable[[Call], tuple[Type, ...]]
Rounds = Literal["once", "pieces"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A type rule, and the shapes that try it.

    Attributes:
        infer: result types of a call; raises TypeError or ValueError on operands that do not fit.
        computes: for elementwise ops, the dtype that each operand is converted to before the op
            is done (16-bit floats are computed in f32 and rounded after, decision D8).
        samples: lists of operand types as text for tests, such as ("f32[3, 4]", "f32[4]").
    """

    infer: Infer
    computes: Callable[[Call], tuple[DType, ...]] | None = None
    samples: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """Where one axis of a view's source stands, given where the view's axes stand.

    It is `start + step * (i // below % size)`, where i counts over `axes` as over one axis.

    Attributes:
        axes: axes of the view, outermost first; none where the source's axis stands still.
        start: added.
        step: between neighbours.
        below: a count that i is divided by.
        size: the remainder is taken by it; None: it is not.
        part: the view's axis is a part of the source's.
    """

    axes: tuple[int, ...]
    start: Dim = 0
    step: int = 1
    below: Dim = 1
    size: Dim | None = None
    part: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is the index of one axis, or of none."""
        whole = self.below == 1 and self.size is None and not self.part
        return len(self.axes) < 2 and (self.start, self.step) == (0, 1) and whole

    @property
    def cheap(self) -> bool:
        """Whether it divides by no run-time size, which at each element costs more than memory."""
        return isinstance(self.below, int) and isinstance(self.size, int | None)


@dataclass(frozen=True, slots=True)
class View:
    """How a view's elements lie in its source; the result type's strides say the rest.

    Attributes:
        offset: elements from the source's first element to the result's.
        axes: for each result axis the source axis it walks, or None for a new or broadcast one;
            None instead of a tuple when the view is more than a choice of axes (slice, select,
            reshape).
        walks: for each source axis where it stands; None where that is not known.
        whole: every element of the source in its order, as in a reshape.
        update: emits the source as it is once the view's elements are others, given the source,
            the new elements in the view's type, and the view's fields.
    """

    offset: Callable[[Call], Dim]
    axes: Callable[[Call], tuple[int | None, ...] | None]
    update: "Callable[[Emitter, Ref, Ref, Mapping[str, FieldValue]], Ref]"
    walks: Callable[[Call], tuple[Walk, ...] | None] | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """Everything astjit knows of an op.

    Attributes:
        name: as printed in SSA text.
        kind: what fusion may do with it.
        rule: its types.
        operands: their names; every operand is a tensor or a Python number.
        fields: typed attributes.
        regions: names of the regions of a control op.
        results: number of results; None when the rule decides (split, library calls).
        torch: functions, methods and operators that are this op, such as "torch.add",
            "Tensor.add", "Tensor.__add__", "torch.nn.functional.gelu".
        signature: torch's parameters, such as "input, other, *, alpha=1"; names of operands and
            fields bind to them, any other parameter must have its default, else the call is not
            this op. `*size` takes many arguments or one sequence.
        doc: one line.
        view: for views, where the elements lie.
        combine: for reductions that are one primitive: a name in the table COMBINES.
        host: Python text of the whole op for library calls and the interpreter, with {0}, {1}, ...
            for operands and {name} for fields; "" derives it from `torch` and `signature`.
        spell: target language -> text with {0}, {1}, ... ; languages "py" (host scalars), "c"
            (shared by both targets), "cpu", "cuda"; "cuda.f64" and so on where one dtype differs,
            the dtype being the one that `rule.computes` gives the last operand. Functions are
            those of C or of templates/TARGET/helpers, which are found by name.
        wide_numbers: Python numbers and 0-d tensors enter in the type of the arithmetic; without
            it they are first rounded to a 16-bit operand type, as eager does on the CPU.
        checked: operands whose Python numbers eager refuses where the dtype cannot hold them.
        evaluate: the op on Python numbers.
        domain: the interval from which tests draw operands.
        rounds: composites: the result is rounded once from f32, or piece by piece (D8).
        expand: composites: the op in terms of other rows, copying eager's association.
        vjp: cotangents of the operands, given the emitter, cotangent, results and operands.
        traits: facts that passes and tests use.
        max_ulp: published worst error of the spelling in float32; 0 means bit-equal with eager.
    """

    name: str
    kind: Kind
    rule: Rule
    operands: tuple[Operand, ...] = ()
    fields: tuple[Field, ...] = ()
    regions: tuple[str, ...] = ()
    results: int | None = 1
    torch: tuple[str, ...] = ()
    signature: str = ""
    doc: str = ""
    view: View | None = None
    combine: str = ""
    host: str = ""
    spell: Mapping[str, str] = field(default_factory=dict)
    wide_numbers: bool = False
    checked: tuple[str, ...] = ()
    evaluate: Callable[..., object] | None = None
    domain: tuple[float, float] = (-4.0, 4.0)
    rounds: Rounds = "pieces"
    expand: Callable[..., Sequence[Ref]] | None = None
    vjp: Callable[..., Sequence[Ref | None]] | None = None
    traits: Trait = Trait.NONE
    max_ulp: float = 0.0

    def __str__(self) -> str:
        return self.name

    def field(self, name: str) -> Field:
        """The field called `name`.

        Raises:
            KeyError: if the op has none.
        """
        for candidate in self.fields:
            if candidate.name == name:
                return candidate
        raise KeyError(f"op {self.name} has no field {name!r}")

    def spelling(self, languages: Sequence[str], dtype: str) -> str | None:
        """The text for the first of `languages` that has one, a dtype's own text first."""
        for language in languages:
            for key in (f"{language}.{dtype}", language):
                if key in self.spell:
                    return self.spell[key]
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """A torch function that is an arrangement of rows, exactly: `torch.rsub(a, b)` is `sub(b, a)`.

    Attributes:
        torch: the names.
        signature: torch's parameters with defaults; `*size` takes varargs or one sequence.
        build: emits the rows: `build(emitter, *operands, **fields)`; returns a Ref, a tuple or
            list of them, or NotImplemented when this call is not covered (a library call then).
        operands: as in Op.
        fields: as in Op.
    """

    torch: tuple[str, ...]
    signature: str
    build: Callable[..., object]
    operands: tuple[Operand, ...] = (Operand("input"),)
    fields: tuple[Field, ...] = ()


def both(name: str) -> tuple[str, ...]:
    """The names of what is a function and a method of torch."""
    return (f"torch.{name}", f"Tensor.{name}")


def type_of(value: Ref | float | None) -> Type | None:
    """The type of an operand: a value's own, the scalar type of a Python number, None if absent."""
    if isinstance(value, bool):
        return ScalarType(Category.BOOL)
    if isinstance(value, int | float):
        return ScalarType(Category.INTEGER if isinstance(value, int) else Category.FLOAT)
    return None if value is None else value.type


def tensor_of(value: Ref | float | None) -> TensorType:
    """The type of a tensor operand.

    Raises:
        TypeError: if it is a Python number or absent.
    """
    kind = type_of(value)
    if not isinstance(kind, TensorType):
        raise TypeError(f"expected a tensor, not {kind}")
    return kind


def is_tensor(kind: Type | None) -> bool:
    """True for tensor types."""
    return isinstance(kind, TensorType)


def is_scalar(kind: Type | None) -> bool:
    """True for the types of Python numbers."""
    return isinstance(kind, ScalarType)
