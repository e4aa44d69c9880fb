"""Torch's functions on elements: those that are rows or made of rows."""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from astjit.frontend import torch_api
from astjit.frontend.elements import advice
from astjit.frontend.elements.frames import Frame
from astjit.frontend.elements.kinds import (
    BOOL,
    FLOAT,
    INT,
    Dynamic,
    Kind,
    is_number,
    kind_of,
    promoted,
)
from astjit.frontend.elements.operators import guarded
from astjit.frontend.symbolic import SymbolicTensor
from astjit.ir.value import Literal, Param, Result
from astjit.ops.binding import bind
from astjit.ops.spec import Kind as OpKind
from astjit.types.dtype import BY_TORCH
from astjit.types.tensor import TensorType

Args = Sequence[object]
Named = Mapping[str, object]


def is_torch(function: object) -> bool:
    """Whether it is a function of torch."""
    return torch_api.dotted_name(function) is not None and not isinstance(function, type)


def of_torch(frame: Frame, node: ast.AST, function: Any, args: Args, named: Named) -> object:
    """A torch function that has a row on single elements.

    Raises:
        ElementError: for any other.
    """
    name = torch_api.dotted_name(function)
    assert name is not None
    values = [*args, *named.values()]
    for value in values:
        if isinstance(value, SymbolicTensor):
            raise frame.error("AJ103", node, "a whole tensor is no element", "table[i]")
    kinds = [v.kind for v in values if isinstance(v, Dynamic)]
    strong = [k for k in kinds if k.is_float and not k.weak]
    region = frame.region

    def operand(value: object) -> object:
        """A float without a width of its own takes that of the others."""
        if isinstance(value, Dynamic) and value.kind.weak and strong:
            return region.converted(value, promoted(*strong)).value
        if isinstance(value, Dynamic):
            return value.value
        return region.value(value, kind_of(value)) if is_number(value) else value

    def made() -> Dynamic:
        given = [operand(a) for a in args]
        keywords = {n: operand(v) for n, v in named.items()}
        before = len(region.block.nodes)
        bound = bind(name, given, keywords, _is_operand, _field)
        found = NotImplemented if bound is None else bound.build(region, _plain)
        fresh = region.block.nodes[before:]
        kinds_of = (OpKind.ELEMENTWISE, OpKind.COMPOSITE)
        if bound is None or found is NotImplemented:
            raise NotImplementedError(f"{name} with these operands is no row of docs/ops.md")
        fits = isinstance(found, Result) and all(n.op.kind in kinds_of for n in fresh)
        if not fits or not isinstance(found, Result) or not isinstance(found.type, TensorType):
            raise NotImplementedError(f"{name} does not work element by element")
        kind = Kind(found.type.dtype)
        if kind.dtype is FLOAT.dtype and not strong and any(k.weak for k in kinds):
            kind = FLOAT
        whole = not kind.is_float and kind != BOOL
        return region.converted(Dynamic(found, kind), INT) if whole else Dynamic(found, kind)

    return guarded(frame, node, made, advice.of_torch(name))


def _is_operand(value: object) -> bool:
    return isinstance(value, Param | Result | Literal | bool | int | float)


def _plain(value: object) -> Any:
    return value


def _field(kind: object, value: object) -> object:
    if isinstance(value, Literal):
        return value.value
    if isinstance(value, torch.dtype):
        return BY_TORCH.get(str(value).removeprefix("torch."), value)
    return value
