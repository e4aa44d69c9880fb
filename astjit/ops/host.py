"""The Python text of one use of an op: what a host function writes and the interpreter runs.

    add of `x`, `1.0`          =>  x + 1.0
    sum of `x` {dim=[1]}       =>  torch.sum(x, dim=(1,))
    permute of `x` {dims=...}  =>  torch.permute(x, (1, 0))
    library of `x` {target='torch.sort', template=(($0,), {'dim': 0})}  =>  torch.sort(x, dim=0)

The text follows from the row: its `host`; else Python's operator, where a torch name of the row is
an operator's method (operators take Python numbers on both sides, as `1.0 - x` needs); else a call
of the first torch name by the row's signature.
"""

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from astjit.ops.library import Slot
from astjit.ops.spec import FieldValue, Kind, Op
from astjit.types import shape
from astjit.types.dtype import DType
from astjit.types.shape import Dim, Expr, Sym

_OPERATORS = {
    "__add__": "{0} + {1}",
    "__sub__": "{0} - {1}",
    "__mul__": "{0} * {1}",
    "__truediv__": "{0} / {1}",
    "__floordiv__": "{0} // {1}",
    "__mod__": "{0} % {1}",
    "__pow__": "{0} ** {1}",
    "__matmul__": "{0} @ {1}",
    "__and__": "{0} & {1}",
    "__or__": "{0} | {1}",
    "__xor__": "{0} ^ {1}",
    "__lt__": "{0} < {1}",
    "__le__": "{0} <= {1}",
    "__gt__": "{0} > {1}",
    "__ge__": "{0} >= {1}",
    "__eq__": "{0} == {1}",
    "__ne__": "{0} != {1}",
    "__neg__": "-{0}",
    "__invert__": "~{0}",
    "__abs__": "abs({0})",
}
_ATOM = re.compile(r"[\w.]+(e[-+]?\d+)?|[\w.]+[(\[][^()\[\]]*[)\]]")
Size = Callable[[Dim], str]


def host_text(
    op: Op,
    operands: Sequence[str | None],
    fields: Mapping[str, FieldValue],
    *,
    scalar: bool = False,
    size: Size = shape.text,
) -> str:
    """The expression that computes an op; several results come as a tuple.

    Args:
        op: the row; not one of kind BODY or CONTROL.
        operands: Python text of each operand, None where an optional one is absent.
        fields: values of all fields.
        scalar: whether the result is a Python number, so that all operands are.
        size: spells a size; by default symbols by their names.

    Raises:
        ValueError: if the row gives no way to write it.
    """
    if op.kind in (Kind.BODY, Kind.CONTROL):
        raise ValueError(f"{op} has no host text: it is of kind {op.kind.value}")
    if "template" in fields:
        return _templated(operands, fields, size)
    if scalar and op.kind is not Kind.SIZE:
        return _number(op, operands)
    if op.host:
        return _host(op, operands, fields, size)
    if not op.fields and (operator := _operator(op)):
        return operator.format(*map(_atom, operands))
    return _call(op, operands, fields, size)


def constant_text(value: FieldValue, size: Size = shape.text) -> str:
    """Python text of a field's value or of a literal.

    Args:
        value: a number, text, dtype, size, None, or containers of them.
        size: spells a size.
    """
    match value:
        case float() if not math.isfinite(value):
            return f"float('{value}')"
        case DType():
            return f"torch.{value.torch}"
        case Sym() | Expr():
            return size(value)
        case tuple() | list():
            inner = ", ".join(constant_text(v, size) for v in value)
            if isinstance(value, list):
                return f"[{inner}]"
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        case dict():
            pairs = (
                f"{constant_text(k, size)}: {constant_text(v, size)}" for k, v in value.items()
            )
            return f"{{{', '.join(pairs)}}}"
        case slice():
            bounds = (value.start, value.stop, value.step)
            return f"slice({', '.join(constant_text(v, size) for v in bounds)})"
    return "..." if value is ... else repr(value)


def _atom(text: str | None) -> str:
    """Text that stands beside any operator."""
    shown = text or "None"
    return shown if _ATOM.fullmatch(shown) else f"({shown})"


def _number(op: Op, operands: Sequence[str | None]) -> str:
    if "py" not in op.spell:
        raise ValueError(f"{op} has no text for Python numbers")
    return op.spell["py"].format(*map(_atom, operands))


def _operator(op: Op) -> str:
    for name in op.torch:
        method = name.removeprefix("Tensor.")
        if method != name and method in _OPERATORS:
            return _OPERATORS[method]
    return ""


def _host(
    op: Op, operands: Sequence[str | None], fields: Mapping[str, FieldValue], size: Size
) -> str:
    texts = {name: constant_text(value, size) for name, value in fields.items()}
    given = [text or "None" for text in operands]
    if op.operands and op.operands[-1].variadic:
        fixed = len(op.operands) - 1
        given = [*given[:fixed], f"[{', '.join(given[fixed:])}]"]
    return op.host.format(*given, **texts)


# --- library calls -------------------------------------------------------------------------------


def _templated(operands: Sequence[str | None], fields: Mapping[str, FieldValue], size: Size) -> str:
    """A library call, one that is given copies to write to, or the update through a view."""
    if "written" in fields:
        return _mutation(operands, fields, size)
    if "pick" in fields:
        source, value, *others = operands
        new = _unlike("new", operands)
        view = f"{_library([new, *others], fields, size)}{_at(fields['pick'])}"
        return f"(lambda {new}: ({view}.copy_({value}), {new})[1])({_copied(source)})"
    call = _library(operands, fields, size)
    return _picked(call, fields.get("picks"), _unlike("made", operands))


def _mutation(operands: Sequence[str | None], fields: Mapping[str, FieldValue], size: Size) -> str:
    """`(lambda new0: (new0, torch.sort(x, out=new0)))(copy of y)`, without what is not new."""
    written, picks = fields["written"], fields["picks"]
    assert isinstance(written, tuple)
    names = {slot: _unlike(f"new{slot}", operands) for slot in written}
    inner = [names.get(slot, text) for slot, text in enumerate(operands)]
    call = _library(inner, fields, size)
    given, kept = ", ".join(names.values()), ", ".join(_copied(operands[slot]) for slot in written)
    if picks == ():
        made = f"({call}, {given})[{'1:' if len(names) > 1 else '1'}]"
    elif picks is None:
        made = f"({given}, {call})"
    else:
        star = "*" if len(picks) > 1 else ""  # type: ignore[arg-type]
        made = f"({given}, {star}{_picked(call, picks, _unlike('made', operands))})"
    return f"(lambda {given}: {made})({kept})"


def _unlike(name: str, operands: Sequence[str | None]) -> str:
    """The name, with underscores until no operand is written with it."""
    while any(name in text for text in operands if text):
        name += "_"
    return name


def mutation_lines(
    operands: Sequence[str | None],
    fields: Mapping[str, FieldValue],
    names: Sequence[str],
    size: Size = shape.text,
) -> list[str]:
    """A use of `mutate` as statements, once the copies exist.

    Args:
        operands: Python text of each operand; for a written one the name of its copy.
        fields: of the use.
        names: for the results that are not written operands.
        size: spells a size.
    """
    call = _library(operands, fields, size)
    if fields["picks"] == ():
        return [call]
    return [f"{', '.join(names)} = {_picked(call, fields['picks'], _unlike('made', operands))}"]


def _copied(text: str | None) -> str:
    """A copy with the strides of the original."""
    shown = _atom(text)
    like = f"dtype={shown}.dtype, device={shown}.device"
    return f"torch.empty_strided({shown}.shape, {shown}.stride(), {like}).copy_({shown})"


def _at(path: FieldValue) -> str:
    assert isinstance(path, tuple)
    return "".join(f"[{index}]" for index in path)


def _picked(call: str, picks: FieldValue, made: str) -> str:
    """The parts of a call's result that are wanted; None: the result as it is."""
    if picks is None:
        return call
    assert isinstance(picks, tuple)
    if len(picks) == 1:
        return f"{call}{_at(picks[0])}"
    parts = ", ".join(f"{made}{_at(path)}" for path in picks)
    return f"(lambda {made}: ({parts},))({call})"


def _library(operands: Sequence[str | None], fields: Mapping[str, FieldValue], size: Size) -> str:
    target, template = fields["target"], fields["template"]
    assert isinstance(target, str)
    assert isinstance(template, tuple)
    positional, named = template
    arguments = [_filled(value, operands, size) for value in positional]
    arguments += [f"{name}={_filled(value, operands, size)}" for name, value in named.items()]
    if target.startswith("Tensor.") and positional:
        receiver, *arguments = arguments
        target = f"{_atom(receiver)}.{target.removeprefix('Tensor.')}"
    return f"{target}({', '.join(arguments)})"


def _filled(value: FieldValue, operands: Sequence[str | None], size: Size) -> str:
    """A constant of a template, its slots replaced by operands."""
    match value:
        case Slot(index):
            return operands[index] or "None"
        case tuple() | list() | dict() | slice():
            return _filled_container(value, operands, size)
    return constant_text(value, size)


def _filled_container(
    value: tuple[FieldValue, ...] | list[FieldValue] | dict[FieldValue, FieldValue] | slice,
    operands: Sequence[str | None],
    size: Size,
) -> str:
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        return f"slice({', '.join(_filled(v, operands, size) for v in bounds)})"
    if isinstance(value, dict):
        pairs = (
            f"{_filled(k, operands, size)}: {_filled(v, operands, size)}" for k, v in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    inner = ", ".join(_filled(v, operands, size) for v in value)
    if isinstance(value, list):
        return f"[{inner}]"
    return f"({inner},)" if len(value) == 1 else f"({inner})"


# --- calls by signature --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """One of torch's parameters.

    Attributes:
        name: as torch calls it.
        default: text of its default, None when it must be given.
        variadic: `*size`.
        keyword: after the `*`.
    """

    name: str
    default: str | None = None
    variadic: bool = False
    keyword: bool = False


@lru_cache
def parameters(signature: str) -> tuple[Parameter, ...]:
    """The parameters of a row's signature, in order."""
    parsed = ast.parse(f"def f({signature}): ...").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    given = parsed.args
    defaults = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
    found = [Parameter(a.arg, _unparsed(d)) for a, d in zip(given.args, defaults, strict=True)]
    if given.vararg is not None:
        found.append(Parameter(given.vararg.arg, variadic=True))
    found += [
        Parameter(a.arg, _unparsed(d), keyword=True)
        for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    return tuple(found)


def _unparsed(node: ast.expr | None) -> str | None:
    return None if node is None else ast.unparse(node)


def _call(
    op: Op, operands: Sequence[str | None], fields: Mapping[str, FieldValue], size: Size
) -> str:
    if not op.torch:
        raise ValueError(f"{op} has neither a host text nor a torch name")
    texts = _bound(op, operands, fields, size)
    arguments: list[str] = []
    by_position = True
    for parameter in parameters(op.signature):
        text = texts.pop(parameter.name, None)
        if text is None or text == parameter.default:
            by_position = by_position and parameter.variadic
        elif by_position and not parameter.keyword:
            arguments.append(text)
        else:
            arguments.append(f"{parameter.name}={text}")
    if lost := [name for name, text in texts.items() if text != "None"]:
        raise ValueError(f"{op}: the signature ({op.signature}) has no {', '.join(lost)}")
    target = op.torch[0]
    if target.startswith("Tensor."):
        receiver, *arguments = arguments
        target = f"{_atom(receiver)}.{target.removeprefix('Tensor.')}"
    return f"{target}({', '.join(arguments)})"


def _bound(
    op: Op, operands: Sequence[str | None], fields: Mapping[str, FieldValue], size: Size
) -> dict[str, str]:
    """Text by the name of the operand or field; a variadic operand is a list."""
    texts: dict[str, str] = {}
    for index, declared in enumerate(op.operands):
        if declared.variadic:
            texts[declared.name] = f"[{', '.join(t or 'None' for t in operands[index:])}]"
        else:
            texts[declared.name] = operands[index] or "None"
    texts.update((name, constant_text(value, size)) for name, value in fields.items())
    return texts
