"""`f(...)` during capture: who is run as it is, who is rewritten, who ends the capture.

torch.exp, F.gelu, x.sum         run: the hook of the symbolic tensors sees them
len, isinstance, math.sqrt       run, with what they read guarded
a Python function                rewritten, and run in place: its code becomes part of the SSA
a class                          an object of this capture; `__init__` is rewritten
print, open, random.random       the end: an effect
"""

import collections
import copy
import dataclasses
import functools
import inspect
import operator
import os
import string
import sys
import textwrap
import types
import typing
import weakref
from collections.abc import Callable
from typing import Any

import torch

from astjit.frontend import torch_api
from astjit.frontend.attributes import attribute, part
from astjit.frontend.builtin_calls import (
    BUILTINS,
    Args,
    Kwargs,
    builtin_call,
    c_call,
    calling_back,
    exposed,
    exposed_names,
)
from astjit.frontend.carriers import Float, Int
from astjit.frontend.classes import FACTORIES, by_factory, is_own
from astjit.frontend.construct import construct, generated, is_generated, is_of_namedtuple
from astjit.frontend.copies import deep, shallow
from astjit.frontend.elements.lowering import Element, element_call
from astjit.frontend.environment import environment_call
from astjit.frontend.gathered import Gathered, stacked
from astjit.frontend.hooks import Hooks, twin
from astjit.frontend.inspected import inspect_call
from astjit.frontend.loop_calls import check_call
from astjit.frontend.marks import disabled_by, is_compiling
from astjit.frontend.modules import call_module, call_torch
from astjit.frontend.mutations import MUTATORS
from astjit.frontend.session import Session, is_static, item, key, plain
from astjit.frontend.source import is_rewritten
from astjit.frontend.stops import Stop, words
from astjit.frontend.stores import set_module_attribute
from astjit.frontend.symbolic import SymbolicTensor

_TORCH_LEAVES = ("torch.functional", "torch.nn.functional", "torch._tensor", "torch.special")
_TORCH_REWRITTEN = (
    "torch.utils._contextlib",
    "torch.nn.modules.",
    "torch.nn.utils.",
    "torch.backends.",
)
_TORCH_PURE = words(
    "is_tensor is_storage typename sym_max sym_min sym_int sym_float sym_not get_default_dtype "
    "promote_types can_cast broadcast_shapes is_autocast_enabled _is_any_autocast_enabled "
    "_has_torch_function _has_torch_function_unary _has_torch_function_variadic "
    "_get_tracing_state _is_tracing"
)
_CONTAINERS = (torch.nn.ModuleList, torch.nn.ModuleDict, torch.nn.Sequential)
_TORCH_CLASSES = (
    torch.Size,
    torch.device,
    torch.finfo,
    torch.iinfo,
    torch.no_grad,
    torch.set_grad_enabled,
    torch.enable_grad,
)
_OF_MODULES: dict[object, Callable[..., object]] = {
    torch.nn.Module.__getattr__: part,
    torch.nn.Module.__setattr__: set_module_attribute,
    torch.nn.Module._wrapped_call_impl: call_torch,
    torch.nn.Module._call_impl: call_torch,
}
_NEVER = (
    torch.compiler.is_dynamo_compiling,
    torch.compiler.is_exporting,
    torch.jit.is_scripting,  # type: ignore[attr-defined]
    torch.jit.is_tracing,  # type: ignore[attr-defined]
    torch.onnx.is_in_onnx_export,
)  # asked of other tools, within which the original runs
_COROUTINES = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_RUN = (
    *(dataclasses.dataclass, dataclasses.field, dataclasses.fields, dataclasses.is_dataclass),
    *(functools.wraps, functools.update_wrapper, functools.total_ordering, typing.cast),
    *(textwrap.dedent, textwrap.indent, string.capwords),
)  # of the standard library: they read nothing but what they are given
_RUN_METHODS_OF = (collections.Counter, collections.ChainMap, string.Template, string.Formatter)


def call(session: Session, function: object, args: Args, kwargs: Kwargs) -> object:
    """The result of a call during capture.

    Raises:
        Stop: if it has an effect, or cannot be looked into.
    """
    check_call(session, function, args)
    if any(type(value) is Gathered for value in (*args, *kwargs.values())):
        return stacked(session.capture, function, args, kwargs)
    if function is os.getenv:
        return environment_call(session, "get", args, kwargs)
    if isinstance(function, types.MethodType) and function.__self__ is os.environ:
        return environment_call(session, function.__name__, args, kwargs)
    if isinstance(function, types.MethodType):
        return call(session, function.__func__, (function.__self__, *args), kwargs)
    if isinstance(function, functools.partial):
        return _partial(session, function, args, kwargs)
    if _hashable(function) and function in BUILTINS:
        return builtin_call(session, function, args, kwargs)
    if isinstance(function, types.FunctionType) and function in _OF_MODULES:
        return _OF_MODULES[function](session, *args, **kwargs)
    if isinstance(function, torch.nn.Module) and not hasattr(type(function), "__astjit__"):
        return call_module(session, function, args, kwargs)
    if _is_torch(function):
        return _torch(session, function, args, kwargs)
    if isinstance(function, type):
        return construct(session, function, args, kwargs)
    if isinstance(function, types.FunctionType) and hasattr(function, "registry"):
        return _dispatched(session, function, args, kwargs)
    original = getattr(function, "__astjit__", None)
    if original is not None and not _only_shows(function, original):
        return _compiled(session, function, original, args, kwargs)
    if isinstance(function, types.FunctionType):
        return _inline(session, function, args, kwargs)
    if isinstance(function, operator.itemgetter | operator.attrgetter | operator.methodcaller):
        return _getter(session, function, *args)
    if isinstance(function, functools._lru_cache_wrapper):
        return _cached(session, function, args, kwargs)
    if isinstance(function, weakref.ReferenceType):
        return _referred(session, function, *args)
    if function is sys.exc_info:
        return sys.exc_info()
    if _in_c(function):
        return c_call(session, function, args, kwargs)
    method = next(
        (vars(c)["__call__"] for c in type(function).__mro__ if "__call__" in vars(c)), None
    )
    if isinstance(method, types.FunctionType):
        bound = attribute(session, function, "__call__")
        return session.call(bound, *args, **kwargs)
    raise Stop(f"a call of a {type(function).__name__}")


def _cached(session: Session, function: Any, args: Args, kwargs: Kwargs) -> object:
    """What a cache gives: as eager does, the cache is asked at each call, by path.

    Raises:
        Stop: for arguments that no path can name.
    """
    if (path := session.outside.path(function)) is None:
        for value in (*args, *kwargs.values()):
            key(session, value)
        return function(*args, **kwargs)
    if function.__module__ in _PURE_CACHES and not all(map(_constant, (*args, *kwargs.values()))):
        return session.call(attribute(session, function, "__wrapped__"), *args, **kwargs)
    given = [plain(value) for value in args]
    named = {name: plain(value) for name, value in kwargs.items()}
    if not all(map(_constant, (*given, *named.values()))):
        raise Stop(f"{path}(...), a cache, is given an object")
    shown = [session.outside.key(v) for v in given]
    shown += [f"{name}={session.outside.key(v)}" for name, v in named.items()]
    with torch_api.plain_calls():
        found = function(*given, **named)
    return session.outside.read(found, f"{path}({', '.join(shown)})")


def _constant(value: object) -> bool:
    """Whether a path can name it as an argument: a plain value, or a tuple of such."""
    if type(value) is tuple:
        return all(map(_constant, value))
    return is_static(value) and not isinstance(value, torch.Tensor | Int | Float)


def _dispatched(session: Session, function: Any, args: Args, kwargs: Kwargs) -> object:
    """What functools.singledispatch chooses by the type of the first argument."""
    path = session.outside.path(function)
    if not hasattr(function, "dispatch") or path is None or not args:
        return _inline(session, function, args, kwargs)
    cls: Any = session.call(type, args[0])
    found = function.dispatch(cls)
    chosen = f"{path}.dispatch({session.outside.type_name(cls)})"
    return session.call(session.outside.read(found, chosen), *args, **kwargs)


def _getter(session: Session, function: Any, owner: object) -> object:
    """What operator.itemgetter, attrgetter and methodcaller do."""
    parts: Any = function.__reduce__()
    given: Any = parts[1]
    if isinstance(function, operator.methodcaller):
        made = parts[0]
        named = made.keywords if isinstance(made, functools.partial) else {}
        name, *rest = given if not named else (*made.args, *given)
        return session.call(attribute(session, owner, name), *rest, **named)
    if isinstance(function, operator.itemgetter):
        found = tuple(item(session, owner, key) for key in given)
    else:
        found = tuple(
            functools.reduce(functools.partial(attribute, session), path.split("."), owner)
            for path in given
        )
    return found[0] if len(given) == 1 else found


def _hashable(value: object) -> bool:
    return isinstance(value, type | types.BuiltinFunctionType)


def _in_c(function: object) -> bool:
    kinds = (
        types.BuiltinFunctionType,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        types.MethodWrapperType,
        types.ClassMethodDescriptorType,
        operator_getter,
    )
    return isinstance(function, kinds)


operator_getter = type(functools.cmp_to_key(lambda a, b: 0))


def _partial(
    session: Session, function: "functools.partial[object]", args: Args, kwargs: Kwargs
) -> object:
    path = session.outside.path(function)
    inner, given, named = function.func, function.args, function.keywords
    if path is not None:
        read = session.outside.read
        inner = read(inner, f"{path}.func")  # type: ignore[assignment]
        given = read(given, f"{path}.args")  # type: ignore[assignment]
        given = tuple(session.outside.items(given))
        named = session.outside.items(read(named, f"{path}.keywords"))
    return session.call(inner, *given, *args, **{**named, **kwargs})


def _only_shows(function: object, original: object) -> bool:
    """Whether functools.wraps gave a function or object of its own what a compiled one carries."""
    return getattr(original, "call", function) is not function


def _compiled(
    session: Session, function: object, original: object, args: Args, kwargs: Kwargs
) -> object:
    """Something else compiled by astjit: what it was made of is looked into."""
    inner = getattr(original, "function", None)
    path = session.outside.path(function)
    if not callable(inner) or path is None:
        raise Stop("a call of a transformed function")
    inside = f"{path}.__astjit__.function"
    function = session.outside.read(inner, inside)
    element = getattr(original, "element", None)
    tensors = any(isinstance(v, SymbolicTensor) for v in (*args, *kwargs.values()))
    if isinstance(element, Element) and isinstance(function, types.FunctionType) and tensors:
        own = session.outside.constant(f"{function.__name__}_element", element)
        session.capture.guard(f"{path}.__astjit__.element == {own}", f"the limits of {path}")
        return element_call(session, function, inside, element, args, kwargs)
    return session.call(function, *args, **kwargs)


def _referred(session: Session, reference: "weakref.ReferenceType[object]") -> object:
    """What a weak reference refers to."""
    path = session.outside.path(reference)
    value = reference()
    return value if path is None else session.outside.read(value, f"{path}()")


# --- torch ---


def _is_torch(function: object) -> bool:
    owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    if isinstance(owner, torch.Tensor) or owner is torch._C.TensorBase:
        return True
    if isinstance(function, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return True
    module = getattr(function, "__module__", None) or ""
    if isinstance(owner, types.ModuleType):
        module = owner.__name__
    if module == "torch" or module.startswith("torch."):
        return not isinstance(function, torch.nn.Module)
    return torch_api.dotted_name(function) is not None and not isinstance(function, type)


def _torch(session: Session, function: Any, args: Args, kwargs: Kwargs) -> object:
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, type):
        if function in _CONTAINERS:  # `self.layers[:n]` is one, of modules with their own paths
            return function(*(session.outside.exposed(a) for a in args))
        if all(function is not known for known in _TORCH_CLASSES):
            if issubclass(function, torch.nn.Module):
                raise Stop(f"a module is made: {function.__name__}")
            raise Stop(f"a call of {function.__module__}.{function.__qualname__}")
        made: Any = function
        if args and issubclass(made, torch.no_grad | torch.enable_grad):
            return session.call(made(), *args)  # as a decorator without parentheses
        return made(*exposed(session, args), **exposed_names(session, kwargs))
    if isinstance(function, torch.no_grad | torch.enable_grad):  # as a decorator
        return session.call(attribute(session, function, "__call__"), *args)
    if function is torch.compiler.is_compiling:
        return session.answer.give()
    if function in _NEVER:
        return False
    if function is torch.is_grad_enabled:
        answer, entry = torch.is_grad_enabled(), session.capture.grad_at_entry
        shown = session.outside.constant("is_grad_enabled", torch.is_grad_enabled)
        session.capture.guard(f"{shown}() is {entry}", f"gradients are {'on' if entry else 'off'}")
        return answer
    if function is torch.cuda.is_current_stream_capturing:
        asked, now = session.outside.constant(name, function), bool(function())
        session.capture.guard(f"{asked}() is {now}", f"{name}() is {now}")
        return now
    if torch_api.registered(function) is not None:  # the mode is asked
        return function(*exposed(session, args), **exposed_names(session, kwargs))
    leaf = module in _TORCH_LEAVES or torch_api.dotted_name(function) is not None
    leaf = leaf or isinstance(getattr(function, "__self__", None), torch.Tensor)
    if module == "torch.utils._contextlib" and name == "clone":
        return function(*args)  # what @torch.no_grad() enters
    if isinstance(function, types.FunctionType):
        leaf = module in _TORCH_LEAVES
        if not leaf and module.startswith(_TORCH_REWRITTEN):
            return _inline(session, function, args, kwargs)
    if name in _TORCH_PURE:
        session.capture.needs_default = True
    elif not leaf or (module in ("torch", "torch._C") and not _intercepted(function)):
        raise Stop(f"{module or 'torch'}.{name}() is not known to be without effect")
    return function(*exposed(session, args), **exposed_names(session, kwargs))


def _intercepted(function: object) -> bool:
    """Whether torch asks the mode before it runs a function of the torch module itself."""
    owner = getattr(function, "__self__", None)  # None for the functions of torch's own table
    return not isinstance(owner, types.ModuleType)


# --- classes and Python functions ---


def _inline(session: Session, function: types.FunctionType, args: Args, kwargs: Kwargs) -> object:
    code = function.__code__
    if is_rewritten(code):
        return function(*args, **kwargs)
    if code.co_flags & _COROUTINES:
        raise Stop(f"{function.__qualname__} is a coroutine", syntax=True)
    if is_generated(function) and dataclasses.is_dataclass(args[0] if args else None):
        return generated(session, function, args, kwargs)
    if function in FACTORIES:
        return by_factory(session, function, *args, **kwargs)
    if function in _RUN:
        return function(*args, **kwargs)
    if args and type(args[0]) in _RUN_METHODS_OF:
        if function.__name__ in (*MUTATORS, "subtract", "_keep_positive"):
            what = f"{type(args[0]).__name__}.{function.__name__}()"
            session.unchanged(f"{what} in a loop")
            if session.outside.path(args[0]) is not None:
                raise Stop(f"{what} changes an object that was there before the call")
        return calling_back(session, function, args, kwargs)
    if function in (copy.copy, copy.deepcopy):
        return (shallow if function is copy.copy else deep)(session, *args, **kwargs)
    if mark := disabled_by(function):
        raise Stop(f"{function.__qualname__} is marked {mark}")
    if function is is_compiling:
        return session.answer.give()
    if is_of_namedtuple(function):
        return function(*args, **kwargs)  # its generated `__new__`, which only makes a tuple
    if function.__globals__ is vars(collections) and args and is_own(session, args[0]):
        return function(*args, **kwargs)  # such as _replace of one made during capture
    if function.__module__ in _RUN_MODULES:
        return function(*args, **kwargs)
    if function.__module__ == "inspect":
        return inspect_call(session, function, args, kwargs)
    if (function.__module__ or "").split(".")[0] in _EFFECTFUL:
        raise Stop(f"{function.__module__}.{function.__qualname__}() is an effect")
    path = session.outside.path(function)
    if path is None:
        raise Stop(f"the function {function.__qualname__} was reached without a path")
    hooks = Hooks(session, function, path)
    return twin(hooks, function, hooks.defaults(len(args), kwargs))(*args, **kwargs)


# Their caches hold what follows from the arguments, which nothing changes: sizes may vary.
_PURE_CACHES = ("einops.einops",)
_RUN_MODULES = ("einops._backends",)  # it notes types it has seen, and reads nothing else
_EFFECTFUL = words("random logging warnings time os io pathlib threading subprocess")
