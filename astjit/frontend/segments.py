"""From a call of a user's function to SSA: `lower` (decision D10).

In this version a function is one segment: it is captured whole, or the call runs eagerly.
"""

import builtins
import inspect
import keyword
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from astjit.config import Config
from astjit.frontend import torch_api
from astjit.frontend.branches import Branches
from astjit.frontend.calls import call
from astjit.frontend.capture import Capture
from astjit.frontend.elements.lowering import Element, element_call
from astjit.frontend.hooks import GLOBALS, Hooks, known_copies, twin
from astjit.frontend.layouts import separate
from astjit.frontend.loop_sizes import Unlooped
from astjit.frontend.marks import Answer, disabled_by
from astjit.frontend.operations import Operations
from astjit.frontend.outside import Outside
from astjit.frontend.reads import CopyBack, Reads
from astjit.frontend.results import Results
from astjit.frontend.session import Session
from astjit.frontend.stops import RAISED, Facts, Failed, NeedsGrad, Stop, from_signal
from astjit.frontend.stores import write_guards
from astjit.frontend.symbolic import CURRENT, Handler, Mode
from astjit.ir.function import Function
from astjit.location import Location
from astjit.ops.spec import Kind
from astjit.types.tensor import TensorType

__all__ = ["Failed", "NeedsGrad", "Segment", "Stop", "lower"]

_NOT_PLAIN = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# What guards call by these names, a parameter is not called in them.
_IN_GUARDS = {name for name, value in vars(builtins).items() if isinstance(value, type)} | {
    *(GLOBALS, "torch", "len", "repr", "hasattr", "getattr", "isinstance", "callable", "sorted"),
    *("vars", "id", "any", "all", "iter", "next"),
}


@dataclass(frozen=True, slots=True)
class Segment:
    """What is captured together.

    Attributes:
        function: the function as the user wrote it.
        arguments: the bound arguments by parameter name, defaults applied; `*args` as a tuple,
            `**kwargs` as a dict.
        sized: ints that captures of the function met as sizes, by path: the value, None where
            there were several; a capture adds to it.
        element: for a function of single elements, its limits.
        compiling: what `is_compiling()` may answer: False in parts of a function that is not
            captured whole.
    """

    function: types.FunctionType
    arguments: dict[str, object]
    sized: dict[str, int | None] = field(default_factory=dict)
    element: Element | None = None
    compiling: bool = True


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
    answer = Answer(segment.compiling)
    try:
        return _with_loops(segment, reads, config, answer)
    except (Stop, Exception) as error:
        if not (answer.asked and segment.compiling):
            raise
        made = _not_compiling(segment, reads, config, error)
        if made is None:
            raise
        return made


def _not_compiling(
    segment: Segment, reads: Reads, config: Config, error: BaseException
) -> Function | None:
    """What is captured where `is_compiling()` answers False, as it does in eager code.

    Args:
        segment: the function and the arguments of this call.
        reads: filled, where it succeeds.
        config: options.
        error: what ended the capture that answered True; if this one stops too, it is told where.
    """
    again = Reads()
    try:
        made = _with_loops(segment, again, config, Answer(compiling=False))
    except Stop as stop:
        if isinstance(error, Stop):
            error.own = stop.own
        return None
    except Exception:
        return None
    reads.take(again)
    return made


def _with_loops(segment: Segment, reads: Reads, config: Config, answer: Answer) -> Function:
    """The SSA of one call, loops kept whole where that is possible.

    A capture that fails after it took loops whole starts anew, their iterations apart: the last of
    them alone where it is to blame, else all.
    """
    apart: dict[object, int | None] = {}
    branches = Branches()
    while True:
        tried: list[object] = []
        again, RAISED.first = Reads(), None
        try:
            made = _lower(segment, again, config, answer, apart, tried, branches)
        except BaseException as error:
            ours = isinstance(error, Exception | Stop | Failed) and not from_signal(error)
            if ours and branches.settle(error, loops=bool(tried)):
                continue
            if not tried or not ours:
                reads.take(again)
                raise
            if isinstance(error, Unlooped) and error.again and not apart.get(tried[-1]):
                apart[tried[-1]] = 1
            elif isinstance(error, Unlooped):
                apart[tried[-1]] = None
            else:
                apart.update(dict.fromkeys(tried))
            continue
        reads.take(again)
        return made


def _lower(
    segment: Segment,
    reads: Reads,
    config: Config,
    answer: Answer,
    apart: dict[object, int | None],
    tried: list[object],
    branches: Branches,
) -> Function:
    function, signature = segment.function, _signature(segment)
    names, code = tuple(signature.parameters), function.__code__
    reads.parameters = _called(names)
    taken = {*names, *code.co_varnames, *code.co_names, *code.co_freevars, *code.co_cellvars}
    capture = Capture(function.__name__, reads, config, taken, segment.sized)
    outside = Outside(capture)
    session = Session(capture, outside, call, answer=answer, apart=apart, tried=tried)
    session.branches = branches
    try:
        if not torch_api.state_is_plain():
            raise Stop("a mode, a function transform or autocast is active", whole=True)
        if mark := disabled_by(function):
            raise Stop(f"it is marked {mark}", instead="leave it uncompiled", whole=True)
        outside.constant(GLOBALS, function.__globals__)
        own = outside.constant("original", function)
        outside.same(code, f"{own}.__code__", "original_code")
        with _capturing(Operations(capture)):
            hooks = Hooks(session, function)
            grad = torch.is_grad_enabled()
            value = _run(session, hooks, segment, signature)
            if torch.is_grad_enabled() is not grad:
                raise Stop("gradients are switched for good")
        _nothing_swallowed(capture)
        results = Results(session)
        results.finish(value)
        copied = [storage.value for storage in capture.written()]
        capture.function.body.results = list(dict.fromkeys((*results.values, *copied)))
        for storage in capture.written():
            index = capture.function.body.results.index(storage.value)
            assert storage.param is not None
            reads.copies.append(CopyBack(storage.param.path, index))
        _memory_guards(capture, outside)
        write_guards(session)
        made = capture.finish()
        _state_guards(capture, outside, made)
    except Failed as failed:
        raise failed.error from None
    except RecursionError:
        raise _at_start(Stop("its calls nest too deeply to be captured"), code) from None
    except Stop as stop:
        stop.inside(known_copies(function))
        _at_start(stop, code).facts = _facts(reads)
        raise
    except NeedsGrad as needs:
        needs.facts = _facts(reads, f"{needs.path}.requires_grad")
        raise
    finally:
        RAISED.first = None
        capture.close()
        outside.close()
    return made


def _nothing_swallowed(capture: Capture) -> None:
    """Raise what the user's code swallowed."""
    if capture.trace is not None:
        raise Unlooped("a loop that an exception leaves")
    if RAISED.first is not None:
        raise RAISED.first


def _facts(reads: Reads, *more: str) -> Facts:
    tests = (*(guard.test for guard in reads.guards), *more)
    return Facts(reads.parameters, tests, dict(reads.constants))


def _at_start(stop: Stop, code: types.CodeType) -> Stop:
    """The stop, at the function's first line if no better place is known."""
    if stop.location is None:
        stop.at(Location(code.co_filename, code.co_firstlineno, function=code.co_qualname))
    return stop


def _memory_guards(capture: Capture, outside: Outside) -> None:
    """Guard that no input which is written shares memory with another (decision D6).

    Raises:
        Stop: if one does, or cannot be written to in this mode.
    """
    paths = [storage.param.path for storage in capture.written() if storage.param is not None]
    if not paths:
        return
    real = {made.origin.path: t for t, made in capture.inputs() if made.origin is not None}
    others = [path for path in real if path not in paths]
    name = outside.constant("separate", separate)
    test = f"{name}(({', '.join(paths)},), ({''.join(f'{path}, ' for path in others)}))"
    with torch_api.plain_calls():
        if not separate([real[p] for p in paths], [real[p] for p in others]):
            told = f"{', '.join(paths)} is written and shares memory with another input"
            raise Stop(told, whole=True)
    capture.guard(test, f"{', '.join(paths)} shares no memory with another input")


def _called(names: tuple[str, ...]) -> tuple[str, ...]:
    """What paths and programs call parameters: as the user does, but for `type` and its kind."""
    made: list[str] = []
    for name in names:
        shown = f"{name}_" if name in _IN_GUARDS or keyword.iskeyword(name) else name
        while shown != name and shown in (*names, *made):
            shown += "_"
        made.append(shown)
    return tuple(made)


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
    try:
        positional, named = _arguments(session, segment, signature)
    except Stop as stop:
        stop.whole = True
        raise
    if segment.element is not None:
        return element_call(session, segment.function, "", segment.element, positional, named)
    if segment.function.__code__.co_flags & _NOT_PLAIN:
        raise Stop("a generator or coroutine", syntax=True, whole=True)
    return twin(hooks, segment.function)(*positional, **named)


def _arguments(
    session: Session, segment: Segment, signature: inspect.Signature
) -> tuple[list[object], dict[str, object]]:
    """The arguments as they are read by path, those by position and those by name."""
    positional: list[object] = []
    named: dict[str, object] = {}
    called = session.capture.reads.parameters
    for (name, parameter), path in zip(signature.parameters.items(), called, strict=True):
        value = session.outside.read(segment.arguments[name], path)
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += session.outside.items(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(session.outside.items(value))
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            positional.append(value)
    return positional, named


def _state_guards(capture: Capture, outside: Outside, function: Function) -> None:
    """Guards on what operations depend on besides their operands.

    Modes and gradients are not among them: the entry function and the guards of inputs ask those.
    """
    for name in sorted(capture.operators):
        outside.of_tensors(name)
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
