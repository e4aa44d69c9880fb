"""Calls: functions of the user are lowered in place, each time with the arguments of that call."""

import ast
import inspect
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astjit.frontend.elements import functions, torch_functions
from astjit.frontend.elements.advice import instead_of
from astjit.frontend.elements.comprehensions import shortened
from astjit.frontend.elements.containers import iterated, static
from astjit.frontend.elements.environment import (
    RETURNED,
    Environment,
    Exit,
    Once,
    Record,
    contains_dynamic,
)
from astjit.frontend.elements.expressions import attribute_of, handles, lower, refuse_conflict
from astjit.frontend.elements.frames import Frame, Tree, shown
from astjit.frontend.elements.operators import known
from astjit.frontend.elements.records import constructed
from astjit.frontend.elements.refusals import Text
from astjit.frontend.hooks import Hooks
from astjit.frontend.source import source_of
from astjit.frontend.stops import Stop, forget

_MISSING = object()


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """A function that is defined inside one that is lowered.

    Attributes:
        tree: its tree.
        frame: where it was defined; its free names are looked up there when it is called.
        defaults: the values of its defaults, by parameter.
        name: for errors.
    """

    tree: Tree
    frame: Frame
    defaults: Mapping[str, object]
    name: str


def local(frame: Frame, tree: Tree, name: str) -> Local:
    """A function as it is defined: its defaults are computed now."""
    arguments = tree.args
    positional = [*arguments.posonlyargs, *arguments.args]
    given = positional[len(positional) - len(arguments.defaults) :]
    values = {
        a.arg: frame.kept(d, lower(frame, d))
        for a, d in zip(given, arguments.defaults, strict=True)
    }
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            values[argument.arg] = frame.kept(default, lower(frame, default))
    return Local(tree, frame, values, name)


@handles(ast.Lambda)
def _lambda(frame: Frame, node: ast.Lambda) -> object:
    return local(frame, node, "<lambda>")


@handles(ast.Call)
def _call(frame: Frame, node: ast.Call) -> object:
    function = lower(frame, node.func)
    if function in (any, all) and len(node.args) == 1 and not node.keywords:
        (only,) = node.args
        if isinstance(only, ast.GeneratorExp):
            return shortened(frame, node, only, stop=function is any)
    args: list[object] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            args += iterated(frame, argument, lower(frame, argument.value))
        else:
            args.append(lower(frame, argument))
    named: dict[str, object] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise frame.error("AJ101", keyword.value, "`**` in a call", "the arguments by name")
        if keyword.arg in named:
            raise frame.error("AJ109", node, f"`{keyword.arg}` is given twice")
        named[keyword.arg] = lower(frame, keyword.value)
    return call(frame, node, function, args, named)


def call(
    frame: Frame,
    node: ast.AST,
    function: object,
    args: Sequence[object],
    named: Mapping[str, object],
) -> object:
    """The value of a call.

    Raises:
        ElementError: for what cannot be called with elements.
    """
    if isinstance(function, Local):
        return _call_local(frame, node, function, args, named)
    if isinstance(function, types.MethodType):
        return call(frame, node, function.__func__, (function.__self__, *args), named)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, list | dict | set | bytearray) or contains_dynamic(owner):
        return _of_container(frame, node, function, owner, args, named)
    original = getattr(function, "__astjit__", None)
    if original is not None and isinstance(
        inner := getattr(original, "function", None), types.FunctionType
    ):
        path = frame.lowering.session.outside.path(function)
        read = frame.lowering.session.outside.read
        if path is None:
            raise frame.error("AJ102", node, f"a call of {shown(function)} without a path")
        function = read(inner, f"{path}.__astjit__.function")
    values = [*args, *named.values()]
    if functions.is_known(function) and (
        any(map(_is_made, values)) or not functions.can_be_called_now(function, values)
    ):
        return functions.of_python(frame, node, function, args, named)
    if torch_functions.is_torch(function):
        return torch_functions.of_torch(frame, node, function, args, named)
    if isinstance(function, type):
        made = constructed(frame, node, function, args, named)
        if made is not None:
            return made
    if any(isinstance(v, Local) for v in values) or any(map(contains_dynamic, values)):
        if isinstance(function, types.FunctionType):
            return _call_function(frame, node, function, args, named)
        seen = f"a call of {_called(function)} with elements"
        raise frame.error("AJ102", node, seen, instead_of(function))
    if isinstance(function, types.FunctionType):
        return _call_function(frame, node, function, args, named)
    method = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(method, types.FunctionType):
        bound = attribute_of(frame, node, function, "__call__")
        return call(frame, node, bound, args, named)
    return _call_now(frame, node, function, args, named)


def _of_container(
    frame: Frame,
    node: ast.AST,
    function: Any,
    owner: object,
    args: Sequence[object],
    named: Mapping[str, object],
) -> object:
    """A method of a dict that changes nothing; the views of a dict are taken at once."""
    name = getattr(function, "__name__", "")
    if type(owner) is dict and not named:
        if name in ("items", "keys", "values") and not args:
            return Once(tuple(function()))
        if name == "get" and len(args) in (1, 2):
            key = static(frame, node, args[0])
            held: Any = owner
            return known(frame, node, lambda: held.get(key, *args[1:]))
    seen = f"the method {name} of {shown(owner)}"
    raise frame.error("AJ101", node, seen, "a tuple, made anew where it changes")


def _is_made(value: object) -> bool:
    """Whether it is a container that this function made, or an element."""
    return isinstance(value, Record) or contains_dynamic(value)


def _called(function: object) -> str:
    return getattr(function, "__qualname__", None) or shown(function)


def _call_now(
    frame: Frame,
    node: ast.AST,
    function: object,
    args: Sequence[object],
    named: Mapping[str, object],
) -> object:
    """A call that nothing of an element goes into is made now, as the tensor language makes it."""
    session = frame.lowering.session

    def made() -> object:
        return session.call(function, *args, **named)

    if not callable(function):
        raise frame.error("AJ102", node, f"a call of {shown(function)}", "a function")
    value = known(frame, node, made, instead_of(function))
    if hasattr(value, "__next__"):
        raise frame.error("AJ103", node, "an iterator, which changes when it is asked", "a tuple")
    return frame.opened(node, lambda: value)


# --- functions of the user -----------------------------------------------------------------------


def _call_function(
    frame: Frame,
    node: ast.AST,
    function: types.FunctionType,
    args: Sequence[object],
    named: Mapping[str, object],
) -> object:
    session = frame.lowering.session
    path = session.outside.path(function)
    name = function.__qualname__
    if path is None:
        raise frame.error("AJ102", node, f"{name} was reached without a path")
    _enter(frame, node, function.__code__, name)
    try:
        tree, text = tree_of(frame, node, function)
        hooks = Hooks(session, function, path)
        positional, keywords = hooks.defaults(len(args), named)
        defaults = _own_defaults(tree, positional or (), keywords or {})
        inner = Frame(frame.lowering, text, tree, None, hooks)
        return run(inner, frame, node, tree, args, named, defaults)
    finally:
        frame.lowering.calls.pop()


def tree_of(
    frame: Frame | None, node: ast.AST | None, function: types.FunctionType
) -> tuple[Tree, Text]:
    """The tree of a function, checked to be what runs.

    Raises:
        ElementError: if there is none.
    """
    text = Text(function.__code__.co_filename, function.__qualname__)
    try:
        source = source_of(function)
    except Stop as stop:
        forget(stop)
        place = ast.Pass(lineno=function.__code__.co_firstlineno, col_offset=0)
        if frame is not None and node is not None:
            raise frame.error("AJ110", node, stop.reason) from None
        raise text.error("AJ110", place, stop.reason, "define it in a file") from None
    return source.fresh_tree(), text


def _own_defaults(
    tree: Tree, positional: Sequence[object], keywords: Mapping[str, object]
) -> dict[str, object]:
    names = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args)]
    last = names[len(names) - len(positional) :] if positional else []
    return {**dict(zip(last, positional, strict=True)), **keywords}


def _call_local(
    frame: Frame,
    node: ast.AST,
    function: Local,
    args: Sequence[object],
    named: Mapping[str, object],
) -> object:
    _enter(frame, node, function.tree, function.name)
    try:
        outer = function.frame
        inner = Frame(frame.lowering, outer.text, function.tree, outer, outer.hooks)
        return run(inner, frame, node, function.tree, args, named, function.defaults)
    finally:
        frame.lowering.calls.pop()


def _enter(frame: Frame, node: ast.AST, key: object, name: str) -> None:
    calls = frame.lowering.calls
    place = frame.text.location(node)
    if any(known_ is key for known_, _, _ in calls):
        chain = " -> ".join([*(n for _, n, _ in calls), name])
        raise frame.error("AJ106", node, f"recursion: {chain}", "a loop")
    calls.append((key, name, place))


def run(
    inner: Frame,
    caller: Frame,
    node: ast.AST,
    tree: Tree,
    args: Sequence[object],
    named: Mapping[str, object],
    defaults: Mapping[str, object],
) -> object:
    """Lower a function's body with its parameters bound; what it returns.

    Raises:
        ElementError: if the arguments do not fit.
    """
    bound = _bound(caller, node, tree, args, named, defaults)
    inner.parameters = tuple(bound)
    body: list[ast.stmt] = (
        [ast.copy_location(ast.Return(tree.body), tree.body)]
        if isinstance(tree, ast.Lambda)
        else tree.body
    )
    inner.scope = tuple(body)
    for name, value in bound.items():
        inner.hold(name, caller.kept(node, value))
    inner.lowering.body(inner, body)
    return returned(inner, node, caller)


def returned(inner: Frame, node: ast.AST, caller: Frame) -> object:
    """What a function returned: None where it reached its end."""
    environment: Environment = inner.environment
    found = environment.names.get(RETURNED)
    falls = Exit.FALL in environment.possible
    if found is None:
        return None
    if falls:
        one = found.value
        if one is None:
            return None
        seen = "a path of the function reaches its end and returns None"
        raise caller.error("AJ107", node, seen, "return a value on every path")
    refuse_conflict(caller, node, found.value)
    return found.value


def _bound(
    caller: Frame,
    node: ast.AST,
    tree: Tree,
    args: Sequence[object],
    named: Mapping[str, object],
    defaults: Mapping[str, object],
) -> dict[str, object]:
    """The arguments of a call by parameter."""
    declared = tree.args
    positional = [a.arg for a in (*declared.posonlyargs, *declared.args)]
    only = [a.arg for a in declared.posonlyargs]
    keywords = [a.arg for a in declared.kwonlyargs]
    if declared.kwarg is not None:
        raise caller.error("AJ101", node, "a function with `**` parameters", "its names")
    found: dict[str, object] = dict(zip(positional, args, strict=False))
    rest = tuple(args[len(positional) :])
    if rest and declared.vararg is None:
        seen = f"{len(args)} arguments for {len(positional)} parameters"
        raise caller.error("AJ109", node, seen)
    for name, value in named.items():
        if name in found or name in only or name not in (*positional, *keywords):
            raise caller.error("AJ109", node, f"an argument `{name}` that does not fit")
        found[name] = value
    for name in (*positional, *keywords):
        if name not in found:
            value = defaults.get(name, _MISSING)
            if value is _MISSING:
                raise caller.error("AJ109", node, f"no argument for `{name}`")
            found[name] = value
    if declared.vararg is not None:
        found[declared.vararg.arg] = rest
    return found
