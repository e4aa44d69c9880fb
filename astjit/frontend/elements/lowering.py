"""A call of an element function during capture: its body becomes the region of one `map`."""

import ast
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from astjit.frontend.carriers import Float, Int
from astjit.frontend.elements import loops, statements
from astjit.frontend.elements.calls import run, tree_of
from astjit.frontend.elements.environment import Record, parts, rebuilt
from astjit.frontend.elements.frames import Frame, Lowering, shown
from astjit.frontend.elements.kinds import (
    Dynamic,
    Kind,
    is_number,
    kind_of,
    kind_of_element,
    result_dtype,
)
from astjit.frontend.elements.refusals import NeedsStatic
from astjit.frontend.elements.region import Region
from astjit.frontend.hooks import Hooks
from astjit.frontend.session import Session
from astjit.frontend.stops import NeedsGrad, here
from astjit.frontend.symbolic import SymbolicTensor
from astjit.ir.value import Value
from astjit.ops.table import OPS
from astjit.types.dtype import DType, promote

__all__ = ["Element", "element_call", "loops"]
_MOST = 20_000  # nodes of one region


@dataclass(frozen=True, slots=True)
class Element:
    """What an element function is told besides its code.

    Attributes:
        limit: how often a `while` may run, None for as long as it likes.
    """

    limit: int | None = None


def element_call(
    session: Session,
    function: types.FunctionType,
    path: str,
    element: Element,
    args: Sequence[object],
    named: Mapping[str, object],
) -> object:
    """The tensors of a call: as many as the function returns numbers.

    Args:
        session: the capture.
        function: the scalar function.
        path: how the caller reaches it, "" for the one that is compiled.
        element: its limits.
        args: tensors, numbers, and what Python knows now.
        named: the same by name.

    Raises:
        ElementError: if the element language does not have something in it.
        NeedsGrad: if a tensor requires a gradient while gradients are recorded.
    """
    capture = session.capture
    values = [*args, *named.values()]
    for value in values:
        if isinstance(value, SymbolicTensor) and value.wants_grad and torch.is_grad_enabled():
            raise NeedsGrad(value.origin.path if value.origin else "a tensor")
    tree, text = tree_of(None, None, function)
    region = Region(capture.sizes, capture.function.default)
    region.location = text.location(tree)
    lowering = Lowering(session, region, statements.body, element.limit)
    lowering.calls.append((function.__code__, function.__qualname__, text.location(tree)))
    hooks = Hooks(session, function, path)
    frame = Frame(lowering, text, tree, None, hooks)
    given = [_argument(frame, a, f"argument {i + 1}") for i, a in enumerate(args)]
    keywords = {name: _argument(frame, a, f"`{name}`") for name, a in named.items()}
    positional, keyword = hooks.defaults(len(args), named) if path else (None, None)
    defaults = _defaults(tree, positional or (), keyword or {})
    written = len(session.outside.overlay.writes())
    try:
        value = run(frame, frame, tree, tree, given, keywords, defaults)
        results: list[tuple[object, Kind]] = []
        form = _results(frame, value, results)
        wide = _wide(values, region.default)
        yields = [_yielded(region, wide, *result) for result in results]
    except NeedsStatic as needs:
        raise needs.error from None
    except RecursionError:
        raise frame.error("AJ101", tree, "a function that is nested too deeply") from None
    if len(session.outside.overlay.writes()) != written:
        raise frame.error("AJ101", tree, "a change of something outside of the function")
    region.whole.results[:] = yields
    if sum(1 for _ in region.whole.walk()) > _MOST:
        seen = f"more than {_MOST} operations for each element"
        raise frame.error("AJ101", tree, seen, "a loop over range()")
    capture.builder.location = here() or text.location(tree)
    node = capture.builder.node(OPS["map"], tuple(region.inputs), {}, (region.whole,))
    made = [capture.wrap(result) for result in node.results]
    return _built(form, made)


def _defaults(
    tree: ast.FunctionDef | ast.Lambda, positional: Sequence[object], named: Mapping[str, object]
) -> dict[str, object]:
    names = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args)]
    last = names[len(names) - len(positional) :] if positional else []
    return {**dict(zip(last, positional, strict=True)), **named}


def _argument(frame: Frame, value: object, what: str) -> object:
    """What the function is given: an element, a number, or what Python knows now."""
    region = frame.region
    if isinstance(value, SymbolicTensor):
        param = region.input(value.value)
        kind = kind_of_element(value.kind.dtype)
        found: Value = param
        if param.type.dtype is not kind.dtype:  # type: ignore[union-attr]
            found = region.emit("to", param, dtype=kind.dtype)
        return Dynamic(found, kind)
    if isinstance(value, Int | Float):
        return region.carried(value)
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    if isinstance(value, tuple | list):
        return tuple(_argument(frame, v, what) for v in value)
    if isinstance(value, torch.Tensor):
        raise frame.error("AJ109", frame.tree, f"{what} is a tensor without a path")
    return value


def _results(frame: Frame, value: object, found: list[tuple[object, Kind]]) -> object:
    """The numbers that are returned; the containers they stand in, with places for them."""
    if is_number(value):
        kind = kind_of(value)
        found.append((value, kind))
        return _Place(len(found) - 1)
    own = parts(value)
    if own is None or isinstance(value, Record) or not own:
        seen = f"the function returns {shown(value)}"
        raise frame.error("AJ107", frame.tree, seen, "a number, or a tuple of numbers")
    return rebuilt(value, [_results(frame, p, found) for p in own])


@dataclass(frozen=True, slots=True)
class _Place:
    index: int


def _built(form: object, made: Sequence[object]) -> object:
    if isinstance(form, _Place):
        return made[form.index]
    own = parts(form)
    assert own is not None
    return rebuilt(form, [_built(p, made) for p in own])


def _wide(values: Sequence[object], default: DType) -> DType:
    """What a Python float that is returned becomes: the dtype of the float inputs."""
    tensors = [v.kind.dtype for v in values if isinstance(v, SymbolicTensor)]
    floats = tuple(dtype for dtype in tensors if dtype.is_float)
    return promote(floats) if floats else default


def _yielded(region: Region, wide: DType, number: object, kind: Kind) -> Value:
    if isinstance(number, Int | Float):
        number = region.carried(number)
    if not isinstance(number, Dynamic):
        if kind.weak and wide is not region.default:
            return region.real(number, Kind(wide))
        return region.value(number, kind)
    return region.value(number, Kind(result_dtype(kind, wide)))
