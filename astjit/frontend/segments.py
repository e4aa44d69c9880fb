"""From a call of a user's function to SSA: `lower` (decision D10).

In this version a function is one segment: it is captured whole, or the call runs eagerly.
"""

import inspect
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from astjit.config import Config
from astjit.frontend import torch_api
from astjit.frontend.calls import call
from astjit.frontend.capture import Capture
from astjit.frontend.hooks import GLOBALS, Hooks, twin
from astjit.frontend.operations import Operations
from astjit.frontend.outside import Outside
from astjit.frontend.reads import Reads
from astjit.frontend.results import Results
from astjit.frontend.session import Session
from astjit.frontend.stops import HOOKS, RAISED, Failed, NeedsGrad, Stop
from astjit.frontend.symbolic import CURRENT, Handler, Mode
from astjit.ir.function import Function
from astjit.location import Location
from astjit.ops.spec import Kind
from astjit.types.tensor import TensorType

__all__ = ["Failed", "NeedsGrad", "Segment", "Stop", "lower"]

_IN_GUARDS = (GLOBALS, HOOKS, "torch", "type", "len", "repr", "float", "int", "hasattr")


@dataclass(frozen=True, slots=True)
class Segment:
    """What is captured together.

    Attributes:
        function: the function as the user wrote it.
        arguments: the bound arguments by parameter name, defaults applied; `*args` as a tuple,
            `**kwargs` as a dict.
    """

    function: types.FunctionType
    arguments: dict[str, object]


def lower(segment: Segment, reads: Reads, config: Config) -> Function:
    """The SSA of one call, valid while the guards in `reads` hold. The call has no effect.

    Args:
        segment: the function and the arguments of this call.
        reads: empty; filled with guards, constants and the form of the results.
        config: options.

    Raises:
        Stop: if it cannot be captured.
        NeedsGrad: if gradients are recorded and an input requires one.
        Exception: what the user's code raised, or what eager would raise as well.
    """
    function = segment.function
    signature = _signature(segment)
    names = tuple(signature.parameters)
    reads.parameters = names
    code = function.__code__
    taken = {*names, *code.co_varnames, *code.co_names, *code.co_freevars, *code.co_cellvars}
    RAISED.first = None
    capture = Capture(function.__name__, reads, config, taken)
    outside = Outside(capture)
    session = Session(capture, outside, call)
    try:
        _refuse(names)
        outside.constant(GLOBALS, function.__globals__)
        with _capturing(Operations(capture)):
            hooks = Hooks(session, function)
            grad = torch.is_grad_enabled()
            value = _run(session, hooks, segment, signature)
            if torch.is_grad_enabled() is not grad:
                raise Stop("gradients are switched for good")
        if RAISED.first is not None:  # the user's code swallowed it
            raise RAISED.first
        results = Results(session)
        reads.output = results.template(value)
        capture.function.body.results = list(results.values)
        made = capture.finish()
        _state_guards(capture, outside, made)
    except Failed as failed:
        raise failed.error from None
    except Stop as stop:
        if stop.location is None:
            first = Location(code.co_filename, code.co_firstlineno, function=code.co_qualname)
            stop.at(first)
        raise
    finally:
        RAISED.first = None
        capture.close()
        outside.close()
    return made


def _refuse(names: tuple[str, ...]) -> None:
    if not torch_api.state_is_plain():
        raise Stop("a mode, a function transform or autocast is active")
    for name in names:
        if name in _IN_GUARDS:
            raise Stop(f"a parameter called {name!r}", syntax=True)


@contextmanager
def _capturing(handler: Handler) -> Iterator[None]:
    """Torch calls of this thread go to `handler`; everything is as before afterwards."""
    before = CURRENT.handler
    grad = torch.is_grad_enabled()
    try:
        with Mode():
            CURRENT.handler = handler
            yield
    finally:
        CURRENT.handler = before
        torch.set_grad_enabled(grad)


def _signature(segment: Segment) -> inspect.Signature:
    """The signature that the arguments were bound to: functools.wraps gives a function two."""
    own = inspect.signature(segment.function, follow_wrapped=False)
    if set(own.parameters) == set(segment.arguments):
        return own
    return inspect.signature(segment.function)


def _run(session: Session, hooks: Hooks, segment: Segment, signature: inspect.Signature) -> object:
    """Run the capture copy on the arguments as they are read by path."""
    positional: list[object] = []
    named: dict[str, object] = {}
    for name, parameter in signature.parameters.items():
        value = session.outside.read(segment.arguments[name], name)
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += session.outside.items(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(session.outside.items(value))
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            positional.append(value)
    if segment.function.__code__.co_flags & _NOT_PLAIN:
        raise Stop("a generator or coroutine", syntax=True)
    return twin(hooks, segment.function)(*positional, **named)


_NOT_PLAIN = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _state_guards(capture: Capture, outside: Outside, function: Function) -> None:
    """Guards on what operations depend on besides their operands."""
    plain = outside.constant("state_is_plain", torch_api.state_is_plain)
    capture.guard(f"{plain}()", "no mode, function transform or autocast is active")
    paths = [
        p.path for p in function.params if isinstance(p.type, TensorType) and p.type.dtype.is_float
    ]
    if paths:
        grad = outside.constant("is_grad_enabled", torch.is_grad_enabled)
        wanted = " or ".join(f"{path}.requires_grad" for path in paths)
        capture.guard(f"not ({grad}() and ({wanted}))", "no input requires a gradient")
    if capture.needs_default or _asks_default(function):
        default = outside.constant("get_default_dtype", torch.get_default_dtype)
        dtype = outside.constant("default_dtype", torch.get_default_dtype())
        capture.guard(
            f"{default}() is {dtype}", f"the default dtype is {torch.get_default_dtype()}"
        )


def _asks_default(function: Function) -> bool:
    """Whether a type may follow from the default dtype: factories, and floats made of integers."""
    for node in function.body.walk():
        kinds = [v.type for v in node.values if isinstance(v.type, TensorType)]
        if node.op.kind is Kind.FACTORY or not all(kind.dtype.is_float for kind in kinds):
            return True
    return False
