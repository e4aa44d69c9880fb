"""Text of the small parts of SSA and back: numbers, sizes, facts, types, fields.

    Dim 2*rows + 1  <=>  "2*rows + 1";  (1, 2) of kind AXES  <=>  "[1, 2]";  -inf  <=>  "-inf"

What is printed is read back as the same value; anything else raises ValueError, to which the
parser adds the place.
"""

import ast
import re

from astjit.ops.library import Slot
from astjit.ops.spec import FieldKind, FieldValue
from astjit.types import shape
from astjit.types.dtype import BY_NAME, DType
from astjit.types.shape import Dim, Expr, Predicate, Sym
from astjit.types.tensor import PY_BOOL, PY_FLOAT, PY_INT, ScalarType, TensorType, Type

_WORDS = {"none": None, "true": True, "false": False, "inf": float("inf"), "nan": float("nan")}
_SCALARS = {str(kind): kind for kind in (PY_BOOL, PY_INT, PY_FLOAT)}
_QUOTED_OR_SLOT = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\$(\d+)""")
_SLOT = "__slot_"


def number_text(value: float) -> str:
    """A Python number as it is written: `true`, `3`, `1e-06`, `-inf`, `nan`."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def parse_number(text: str) -> float:
    """The number that `number_text` wrote.

    Raises:
        ValueError: if it is none.
    """
    value = parse_constant(text)
    if not isinstance(value, bool | int | float):
        raise ValueError(f"not a number: {text}")
    return value


# --- sizes and facts -----------------------------------------------------------------------------


def parse_dim(text: str) -> Dim:
    """A size in normal form.

    Raises:
        ValueError: if the text is no expression of integers and names.
    """
    return _dim(_expression(text))


def parse_predicate(text: str) -> Predicate:
    """A fact such as `3 < rows`.

    Raises:
        ValueError: if the text is not one comparison of two sizes.
    """
    match _expression(text):
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            a, b = _dim(left), _dim(right)
            match op:
                case ast.Eq():
                    return Predicate("==", a, b)
                case ast.NotEq():
                    return Predicate("!=", a, b)
                case ast.Lt():
                    return Predicate("<", a, b)
                case ast.LtE():
                    return Predicate("<=", a, b)
    raise ValueError(f"not a comparison with ==, !=, < or <=: {text}")


def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"not an expression: {text.strip() or 'nothing'}") from error


def _dim(node: ast.expr) -> Dim:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            return Sym(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return shape.mul(-1, _dim(operand))
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _dim(left), _dim(right)
            match op:
                case ast.Add():
                    return shape.add(a, b)
                case ast.Sub():
                    return shape.sub(a, b)
                case ast.Mult():
                    return shape.mul(a, b)
                case ast.FloorDiv():
                    return shape.floordiv(a, b)
                case ast.Mod():
                    return shape.mod(a, b)
        case ast.Call(func=ast.Name(id="min"), args=[left, right]):
            return shape.minimum(_dim(left), _dim(right))
        case ast.Call(func=ast.Name(id="max"), args=[left, right]):
            return shape.maximum(_dim(left), _dim(right))
    raise ValueError(f"not a size: {ast.unparse(node)}")


# --- types ---------------------------------------------------------------------------------------

_TENSOR = re.compile(
    r"(?P<dtype>\w+)\[(?P<dims>.*?)\]"
    r"(?:\s+(?P<layout>order|strides)\((?P<axes>.*)\))?(?:\s+@(?P<device>\S+))?\s*"
)


def parse_type(text: str) -> Type:
    """A type such as `f32[rows, 4] order(1,0) @cuda:0` or `float`.

    Raises:
        ValueError: if the text is none.
    """
    if (scalar := _SCALARS.get(text.strip())) is not None:
        return scalar
    found = _TENSOR.fullmatch(text.strip())
    if found is None or found["dtype"] not in BY_NAME:
        raise ValueError(f"not a type: {text.strip() or 'nothing'}")
    dims = tuple(parse_dim(part) for part in split(found["dims"]))
    order = strides = None
    if found["layout"] == "order":
        order = tuple(int(part) for part in split(found["axes"]))
        if sorted(order) != list(range(len(dims))):
            raise ValueError(f"order({found['axes']}) does not order {len(dims)} axes")
    elif found["layout"] == "strides":
        strides = tuple(parse_dim(part) for part in split(found["axes"]))
        if len(strides) != len(dims):
            raise ValueError(f"{len(strides)} strides for {len(dims)} dims")
    return TensorType(BY_NAME[found["dtype"]], dims, order, strides, found["device"] or "cpu")


def split(text: str) -> list[str]:
    """The parts between the commas that are in no bracket; of blank text, none."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    rest = text[start:].strip()
    return [*parts, rest] if rest or parts else []


# --- fields --------------------------------------------------------------------------------------


def fits(kind: FieldKind, value: FieldValue) -> bool:
    """Whether a value is of a field's kind; None is never, it is for the row's default to allow."""
    match kind:
        case FieldKind.INT:
            return isinstance(value, int) and not isinstance(value, bool)
        case FieldKind.BOOL:
            return isinstance(value, bool)
        case FieldKind.FLOAT:
            return isinstance(value, float)
        case FieldKind.NUMBER:
            return isinstance(value, bool | int | float)
        case FieldKind.TEXT:
            return isinstance(value, str)
        case FieldKind.DTYPE:
            return isinstance(value, DType)
        case FieldKind.AXES:
            return isinstance(value, tuple) and all(fits(FieldKind.INT, v) for v in value)
        case FieldKind.SIZE:
            return isinstance(value, Sym | Expr) or fits(FieldKind.INT, value)
        case FieldKind.SIZES:
            return isinstance(value, tuple) and all(fits(FieldKind.SIZE, v) for v in value)
        case FieldKind.TYPES:
            return isinstance(value, tuple) and all(
                isinstance(v, TensorType | ScalarType) for v in value
            )
    return _is_constant(value)


def _is_constant(value: FieldValue) -> bool:
    match value:
        case None | bool() | int() | float() | str() | DType() | Sym() | Expr() | Slot():
            return True
        case tuple() | list():
            return all(_is_constant(v) for v in value)
        case dict():
            return all(_is_constant(part) for pair in value.items() for part in pair)
        case slice():
            return all(_is_constant(v) for v in (value.start, value.stop, value.step))
    return value is ...


def field_text(kind: FieldKind, value: FieldValue) -> str:
    """A field's value as printed; a value of another kind by its repr, for messages."""
    if value is None:
        return "none"
    if not fits(kind, value):
        return repr(value)
    if kind in (FieldKind.AXES, FieldKind.SIZES, FieldKind.TYPES) and isinstance(value, tuple):
        return f"[{', '.join(constant_text(v) for v in value)}]"
    return constant_text(value)


def constant_text(value: FieldValue) -> str:
    """A constant: Python's repr, but `none`, `true`, a dtype's name, a size, `$0` for a slot."""
    match value:
        case None:
            return "none"
        case bool() | int() | float():
            return number_text(value)
        case DType() | TensorType() | ScalarType():
            return str(value)
        case Sym() | Expr():
            return shape.text(value)
        case Slot():
            return f"${value.index}"
        case tuple() | list():
            inner = ", ".join(constant_text(v) for v in value)
            if isinstance(value, list):
                return f"[{inner}]"
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        case dict():
            pairs = (f"{constant_text(k)}: {constant_text(v)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        case slice():
            bounds = (value.start, value.stop, value.step)
            return f"slice({', '.join(constant_text(v) for v in bounds)})"
    return "..." if value is ... else repr(value)


def parse_field(kind: FieldKind, text: str) -> FieldValue:
    """The value that `field_text` wrote.

    Raises:
        ValueError: if the text is not of that kind.
    """
    text = text.strip()
    if text == "none":
        return None
    value: FieldValue
    match kind:
        case FieldKind.SIZE:
            value = parse_dim(text)
        case FieldKind.SIZES if text[:1] == "[" and text[-1:] == "]":
            value = tuple(parse_dim(part) for part in split(text[1:-1]))
        case FieldKind.TYPES if text[:1] == "[" and text[-1:] == "]":
            value = tuple(parse_type(part) for part in split(text[1:-1]))
        case _:
            value = parse_constant(text)
            if kind is FieldKind.AXES and isinstance(value, list):
                value = tuple(value)
    if not fits(kind, value):
        raise ValueError(f"not of kind {kind.value}: {text}")
    return value


def parse_constant(text: str) -> FieldValue:
    """The constant that `constant_text` wrote.

    Raises:
        ValueError: if it is none.
    """
    plain = _QUOTED_OR_SLOT.sub(lambda m: f"{_SLOT}{m[1]}" if m[1] else m[0], text)
    return _constant(_expression(plain))


def _constant(node: ast.expr) -> FieldValue:
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.Constant(value=value) if value is ...:
            return ...
        case ast.Name(id=name) if name.startswith(_SLOT):
            return Slot(int(name.removeprefix(_SLOT)))
        case ast.Name(id=name) if name in _WORDS:
            return _WORDS[name]
        case ast.Name(id=name) if name in BY_NAME:
            return BY_NAME[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _constant(operand)
            if isinstance(number, int | float):
                return -number
        case ast.Tuple(elts=parts):
            return tuple(_constant(part) for part in parts)
        case ast.List(elts=parts):
            return [_constant(part) for part in parts]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {_constant(k): _constant(v) for k, v in pairs if k is not None}
        case ast.Call(func=ast.Name(id="slice"), args=[start, stop, step]):
            return slice(_constant(start), _constant(stop), _constant(step))
    return _dim(node)
