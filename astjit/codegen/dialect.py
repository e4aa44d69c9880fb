"""What differs between the two targets' texts: type names, casts, literals. One row a target."""

from collections.abc import Mapping
from dataclasses import dataclass

_C_TYPES = {
    "bool": "bool",
    "u8": "unsigned char",
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "f32": "float",
    "f64": "double",
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """Spellings of one target.

    Attributes:
        languages: the keys of an op's `spell` in the order they are tried.
        value_types: the type of a body value of each dtype.
        memory_types: the type of an element in memory.
        size: the type of sizes and row indices.
        restrict: the qualifier of pointers.
        cast: text of a conversion, {type} and {0}.
        infinity: the literal.
        nan: the literal.
    """

    languages: tuple[str, ...]
    value_types: Mapping[str, str]
    memory_types: Mapping[str, str]
    size: str
    restrict: str
    cast: str
    infinity: str
    nan: str


CPU = Dialect(
    languages=("cpu", "c"),
    value_types={**_C_TYPES, "i64": "long"},
    memory_types={**_C_TYPES, "i64": "long", "bf16": "bf16", "f16": "f16"},
    size="long",
    restrict="",
    cast="({type}){0}",
    infinity="__builtin_inff()",
    nan='__builtin_nanf("")',
)
CUDA = Dialect(
    languages=("cuda", "c"),
    value_types={**_C_TYPES, "i64": "long long"},
    memory_types={**_C_TYPES, "i64": "long long", "bf16": "bfloat16", "f16": "float16"},
    size="int",
    restrict="__restrict__ ",
    cast="static_cast<{type}>({0})",
    infinity="INFINITY",
    nan="NAN",
)
