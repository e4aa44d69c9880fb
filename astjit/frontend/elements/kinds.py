"""What a value of the element language is, and what kind of number.

    Dynamic      a number that depends on elements: an SSA value of rank 0 and its kind
    a tuple      of values, plain, named or a frozen dataclass, scalar by scalar
    anything else    known to Python now: numbers, strings, functions, modules, tensors to index

Kinds of numbers are Python's, with widths: bool, int (64 bits), float (Python's own, weak: it takes
the width of what it meets, decision D14), f16, bf16, f32, f64.
"""

from dataclasses import dataclass

from astjit.frontend.carriers import Float, Int
from astjit.ir.value import Value
from astjit.types import dtype as dt
from astjit.types.dtype import Category, DType, promote


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of number.

    Attributes:
        dtype: in which it is held.
        weak: a Python float, which any float type it meets decides.
    """

    dtype: DType
    weak: bool = False

    @property
    def is_float(self) -> bool:
        """Whether it is a float of any width."""
        return self.dtype.is_float

    def __str__(self) -> str:
        if self.weak:
            return "a Python float"
        return {dt.BOOL: "a bool", dt.I64: "an int"}.get(self.dtype) or f"a {self.dtype.torch}"


BOOL, INT, FLOAT = Kind(dt.BOOL), Kind(dt.I64), Kind(dt.F64, weak=True)


@dataclass(eq=False, slots=True)
class Dynamic:
    """A number that depends on elements.

    Attributes:
        value: of rank 0.
        kind: what number it is.
    """

    value: Value
    kind: Kind


Number = bool | int | float


def is_number(value: object) -> bool:
    """Whether it is a number, known now, at run time (a carrier) or for each element."""
    return isinstance(value, Dynamic | bool | int | float | Int | Float)


def kind_of(value: object) -> Kind:
    """The kind of a number.

    Raises:
        TypeError: if it is none.
    """
    match value:
        case Dynamic():
            return value.kind
        case bool():
            return BOOL
        case int() | Int():
            return INT
        case float() | Float():
            return FLOAT
    raise TypeError(f"{type(value).__name__} is no number")


def kind_of_element(dtype: DType) -> Kind:
    """What an element of a tensor is: integers of all widths are Python's ints."""
    return Kind(dtype) if dtype.is_float or dtype is dt.BOOL else INT


def promoted(*kinds: Kind) -> Kind:
    """The kind that holds all: a float's width wins over a Python float, and that over an int."""
    floats = [k for k in kinds if k.is_float]
    if not floats:
        return INT if INT in kinds else BOOL
    wide = tuple(k.dtype for k in floats if not k.weak)
    return Kind(promote(wide)) if wide else FLOAT


def arithmetic(*kinds: Kind) -> Kind:
    """The same, as arithmetic has it: bools are ints."""
    found = promoted(*kinds)
    return INT if found is BOOL or found == BOOL else found


def result_dtype(kind: Kind, default: DType) -> DType:
    """The dtype of a tensor of such numbers: a Python float becomes torch's default."""
    return default if kind.weak else kind.dtype


def holds(dtype: DType, number: Number) -> bool:
    """Whether a number can be held: ints have 64 bits."""
    whole = dtype.category is Category.INTEGER
    return not whole or -(2**63) <= int(number) < 2**63
