"""Which row a torch call is: its arguments bound to the row's operands and fields.

    bind("torch.sum", (x, 1), {"keepdim": True}, is_operand)  =>  sum, (x,), dim=(1,), keepdim=True
    bind("torch.sort", (x,), {}, is_operand)                  =>  None: a library call

The front end says which values are operands and converts what only it knows (dtypes, symbolic
sizes). No torch here: the functions go by name.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from astjit.ops.held import held
from astjit.ops.host import parameters
from astjit.ops.scaled import common_dtype
from astjit.ops.spec import Emitter, Field, FieldKind, FieldValue, Op, Operand, Ref, Spelling
from astjit.ops.table import BY_TORCH
from astjit.types.dtype import DType
from astjit.types.shape import Expr, Sym

Convert = Callable[[FieldKind, object], object]
# Names that torch takes for NumPy's sake.
_ALIASES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x2": "other"}
_UNFIT = object()


@dataclass(frozen=True, slots=True)
class Binding:
    """A torch call as a use of a row.

    Attributes:
        row: the op, or an arrangement of ops.
        operands: the caller's values, one for each operand; None where an optional one is absent.
        fields: the values of the fields that were given, or have a default in torch's signature.
    """

    row: Op | Spelling
    operands: tuple[object, ...]
    fields: Mapping[str, FieldValue]

    def build(
        self, emit: Emitter, value: Callable[[object], Ref | float | None]
    ) -> Ref | Sequence[Ref]:
        """Append the ops; `value` turns an operand as the caller gave it into a value.

        Returns:
            One value, a sequence of them for several results, or NotImplemented where this call
            must be a library call after all. Nothing was appended then.
        """
        operands = [value(operand) for operand in self.operands]
        if isinstance(self.row, Op):
            if not _checked(self.row, operands):
                return NotImplemented  # type: ignore[no-any-return]
            results = emit.emit_all(self.row.name, *operands, **self.fields)
            return results[0] if self.row.results == 1 else results
        return self.row.build(emit, *operands, **self.fields)  # type: ignore[return-value]


def _checked(op: Op, operands: Sequence[Ref | float | None]) -> bool:
    """Whether the dtype of the operands holds the numbers that eager converts with a check."""
    if not op.checked:
        return True
    named = list(zip(op.operands, operands, strict=True))
    given = [v for operand, v in named if v is not None and operand.name != "condition"]
    dtype = common_dtype(*given)
    dtype = dtype.compute if op.wide_numbers else dtype
    return all(held(v, dtype) for operand, v in named if operand.name in op.checked)


@cache
def defaults(signature: str) -> dict[str, object]:
    """The default of every parameter that has one."""
    return {
        p.name: ast.literal_eval(p.default) for p in parameters(signature) if p.default is not None
    }


def bind(
    torch_name: str,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    is_operand: Callable[[object], bool],
    convert: Convert = lambda kind, value: value,
) -> Binding | None:
    """The row that a call of a torch function is, or None: a library call.

    Args:
        torch_name: such as "torch.add", "Tensor.__add__", "torch.nn.functional.gelu".
        args: positional arguments, `self` first for methods.
        kwargs: arguments by name.
        is_operand: whether a value can be an operand: a tensor or a number.
        convert: turns one value of a field of some kind into what the row takes: a torch dtype
            into a DType, a symbolic size into a Dim. Containers are taken apart before.
    """
    for row in BY_TORCH.get(torch_name, ()):
        given = _arguments(row.signature, args, kwargs)
        bound = None if given is None else _bind_row(row, given, is_operand, convert)
        if bound is not None:
            return bound
    return None


def _arguments(
    signature: str, args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, object] | None:
    """The value of every parameter by name, defaults filled in; None if the call does not fit."""
    declared = parameters(signature)
    names = {p.name for p in declared}
    given: dict[str, object] = {}
    for key, value in kwargs.items():
        name = key if key in names else _ALIASES.get(key, key)
        if name not in names or name in given:
            return None
        given[name] = value
    left = list(args)
    for parameter in declared:
        if parameter.variadic and parameter.name not in given:
            alone = len(left) == 1 and isinstance(left[0], list | tuple)
            given[parameter.name] = left[0] if alone else tuple(left)
            left = []
        elif left and not parameter.keyword:
            if parameter.name in given:
                return None
            given[parameter.name] = left.pop(0)
        elif parameter.name not in given:
            if parameter.default is None:
                return None
            given[parameter.name] = defaults(signature)[parameter.name]
    return None if left else given


def _bind_row(
    row: Op | Spelling,
    given: dict[str, object],
    is_operand: Callable[[object], bool],
    convert: Convert,
) -> Binding | None:
    operands: list[object] = []
    for operand in row.operands:
        values = _operand(operand, given.pop(operand.name, None), is_operand)
        if values is None:
            return None
        operands += values
    fields: dict[str, FieldValue] = {}
    for field in row.fields:
        if field.name not in given:
            continue
        value = given.pop(field.name)
        accepted = _field(field, value, convert)
        if accepted is _UNFIT:
            return None
        fields[field.name] = accepted
    for name, value in given.items():  # parameters the row knows nothing of
        default = defaults(row.signature).get(name, _UNFIT)
        if value is not default and (type(value) is not type(default) or value != default):
            return None
    return Binding(row, tuple(operands), fields)


def _operand(
    operand: Operand, value: object, is_operand: Callable[[object], bool]
) -> list[object] | None:
    if operand.variadic:
        many = isinstance(value, list | tuple) and all(is_operand(v) for v in value)
        return list(value) if many else None  # type: ignore[call-overload]
    if value is None:
        return [None] if operand.optional else None
    return [value] if is_operand(value) else None


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_size(value: object) -> bool:
    return _is_int(value) or isinstance(value, Sym | Expr)


_ACCEPTS: dict[FieldKind, Callable[[object], bool]] = {
    FieldKind.INT: _is_int,
    FieldKind.BOOL: lambda value: isinstance(value, bool),
    FieldKind.FLOAT: lambda value: isinstance(value, float) or _is_int(value),
    FieldKind.NUMBER: lambda value: isinstance(value, int | float),
    FieldKind.TEXT: lambda value: isinstance(value, str),
    FieldKind.DTYPE: lambda value: isinstance(value, DType),
    FieldKind.AXES: _is_int,
    FieldKind.SIZE: _is_size,
    FieldKind.SIZES: _is_size,
    FieldKind.ANY: lambda value: True,
}
_MANY = {FieldKind.AXES: FieldKind.INT, FieldKind.SIZES: FieldKind.SIZE}


def _field(field: Field, value: object, convert: Convert) -> FieldValue:
    """The value as the row has it, or _UNFIT if it does not fit the field's kind."""
    if value is None and field.kind is not FieldKind.ANY:
        return None if field.default is None else _UNFIT
    if field.kind is FieldKind.ANY:
        return _converted(value, convert)
    if field.kind in _MANY:
        items = tuple(value) if isinstance(value, list | tuple) else (value,)
        found = tuple(convert(_MANY[field.kind], item) for item in items)
        return found if all(_ACCEPTS[field.kind](item) for item in found) else _UNFIT
    made = convert(field.kind, value)
    return made if _ACCEPTS[field.kind](made) else _UNFIT


def _converted(value: object, convert: Convert) -> object:
    """A Python constant with every leaf converted."""
    match value:
        case tuple() | list():
            return type(value)(_converted(item, convert) for item in value)
        case slice():
            parts = (value.start, value.stop, value.step)
            return slice(*(_converted(part, convert) for part in parts))
        case None | str() | bool():
            return value
    return convert(FieldKind.ANY, value)
