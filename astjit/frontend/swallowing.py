"""Whether the managers of a `with` may swallow an exception, so that its body ends half way."""

import ast
import contextlib
import types
from collections.abc import Container

import torch

_NEVER = (
    torch.no_grad,
    torch.enable_grad,
    torch.set_grad_enabled,
    torch.inference_mode,
    torch.autocast,
    torch.device,
    contextlib.nullcontext,
)


def swallows(node: ast.With, function: types.FunctionType, local: Container[str]) -> bool:
    """Whether a manager is none of those that are known to let exceptions through.

    Args:
        node: the statement.
        function: in which it stands; its globals are looked at.
        local: its local variables, which may be anything.
    """
    return not all(_is_known(item.context_expr, function, local) for item in node.items)


def _is_known(manager: ast.expr, function: types.FunctionType, local: Container[str]) -> bool:
    match manager:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)):
            found = None if owner in local else function.__globals__.get(owner)
            held = getattr(found, name, None) if isinstance(found, types.ModuleType) else None
        case ast.Call(func=ast.Name(id=name)):
            held = None if name in local else function.__globals__.get(name)
        case _:
            return False
    return any(held is known for known in _NEVER)
