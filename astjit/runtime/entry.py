"""The function that a user calls instead of their own: their signature, programs tried in turn.

    def rms_norm(x, residual, w, eps=unset):
        if eps is unset:
            eps = original.__defaults__[-1]
        if in_torch_compile() or function_modes() or dispatch_modes() or autocast() or ...:
            return original(x, residual, w, eps)
        calls[0] += 1
        try:
            for program in programs:
                result = program(x, residual, w, eps)
                if result is not MISS:
                    return result
        except Exception as error:
            if from_signal(error):
                raise
        else:
            return missed(x, residual, w, eps)
        return original(x, residual, w, eps)

Python itself binds arguments; defaults are asked for at each call, as Python does. A mode, a
transform, a tracer or autocast changes what operations mean or looks at them, so there the original
runs. A program has no effects before its results are complete, so after an exception the original
runs too, and raises its own.
"""

import builtins
import inspect
import keyword
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import indent
from typing import Any

import torch
from torch.autograd import forward_ad

from astjit.frontend.marks import OFF
from astjit.frontend.stops import from_signal
from astjit.fusion.names import Names
from astjit.runtime.words import MISS

_C: Any = torch._C
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.KEYWORD_ONLY)
_BODY = """\
def {name}({declared}):
{filled}    if (
        {dynamo}()
        or {function_modes}()
        or {dispatch_modes}()
        or {tracing}()
        or {transforms}()
        or {ad}._current_level >= 0
        or {autocast}()
        or {off}[0]
    ):
        return {eager}({passed})
    {calls}[0] += 1
    try:
        for {program} in {programs}:
            {result} = {program}({given})
            if {result} is not {MISS}:
                return {result}
    except {Exception} as {error}:
        if {from_signal}({error}):
            raise
    else:
        return {missed}({given})
    return {eager}({passed})


def {bind}({declared}):
{defaults}    return ({given}{comma})

def {run_as}({function}, {given}):
    return {function}({passed})
"""
_FILLED = """\
    try:
{indented}    except {wrong}:
        return {without}({given})
"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A program that can be called.

    Attributes:
        run: the host function: the results, or MISS.
        why_not: the reason why a call does not fit, "" when it does.
        origins: for each text built so far, where its machine code came from: "memory", "disk" or
            "built", and how many kernels it has.
        warning: what the user should know, once.
        worthless: it touches no tensor.
        made: what it was made from.
    """

    run: Callable[..., object]
    why_not: Callable[..., str]
    origins: Callable[[], Sequence[tuple[str, int]]]
    warning: str = ""
    worthless: bool = False
    made: object = None


class _Unset:
    """Stands in the entry's signature for a default, which is asked for when it is needed."""

    def __repr__(self) -> str:
        return "<the default>"


_UNSET: Any = _Unset()


class Entry:
    """The functions that one text defines.

    Args:
        original: the user's function.
        programs: tried in turn; the list grows.
        missed: called with the values of all parameters where no program fits.
        calls: counts in its only item.
        eager: called as the original where that is to run instead of programs; None: the original.

    Attributes:
        parameters: names in the order in which programs take them.
        text: of the functions.
        original: the user's function.
        call: what the user calls.
        bind: gives the values of all parameters, in order, for the user's arguments.
        run_as: calls a function of this signature with the values of all parameters, in order.
    """

    def __init__(
        self,
        original: Callable[..., object],
        programs: Sequence[Callable[..., object]],
        missed: Callable[..., object],
        calls: list[int],
        eager: Callable[..., object] | None = None,
    ) -> None:
        self.original = original
        parameters = tuple(inspect.signature(original, follow_wrapped=False).parameters.values())
        self.parameters = tuple(p.name for p in parameters)
        names = Names((*self.parameters, *dir(builtins), *keyword.kwlist))
        own = names.take(getattr(original, "__name__", "function"), "function")
        namespace: dict[str, Any] = {}

        def known(wish: str, value: object) -> str:
            name = names.take(wish)
            namespace[name] = value
            return name

        unset = known("unset", _UNSET)
        words = {
            "dynamo": known("in_torch_compile", torch.compiler.is_dynamo_compiling),
            "function_modes": known("function_modes", _C._len_torch_function_stack),
            "dispatch_modes": known("dispatch_modes", _C._len_torch_dispatch_stack),
            "tracing": known("is_tracing", _C._is_tracing),
            "autocast": known("any_autocast", _C._is_any_autocast_enabled),
            "transforms": known("transforms", _C._are_functorch_transforms_active),
            "ad": known("forward_ad", forward_ad),
            "off": known("disabled", OFF),
            "original": known("original", original),
            "calls": known("calls", calls),
            "programs": known("programs", programs),
            "MISS": known("MISS", MISS),
            "missed": known("missed", missed),
            "Exception": known("Exception_", Exception),
            "from_signal": known("from_signal", from_signal),
            "error": names.take("error"),
            "program": names.take("program"),
            "result": names.take("result"),
            "name": own,
            "bind": names.take("bind"),
            **{word: names.take(word) for word in ("run_as", "function")},
            "given": ", ".join(self.parameters),
            "comma": "," if len(parameters) == 1 else "",
            "passed": ", ".join(_passed(p) for p in parameters),
            "declared": _declared(parameters, unset),
        }
        words["eager"] = known("eager", eager) if eager else words["original"]
        words["filled"] = words["defaults"] = _defaults(parameters, words["original"], unset)
        if words["defaults"]:
            words["wrong"] = known("wrong_defaults", (TypeError, LookupError))
            words["without"] = known("without_defaults", partial(_without_defaults, original))
            words["filled"] = _FILLED.format(**words, indented=indent(words["defaults"], "    "))
        self.text = _BODY.format(**words)
        exec(compile(self.text, f"<astjit entry of {own}>", "exec"), namespace)
        self.call: types.FunctionType = namespace[words["name"]]
        self.bind: Callable[..., tuple[object, ...]] = namespace[words["bind"]]
        self.bind.__qualname__ = getattr(original, "__qualname__", own)  # named in TypeErrors
        self.run_as: Callable[..., object] = namespace[words["run_as"]]

    def run(self, *values: object) -> object:
        """Call the original with the values of all parameters, in order."""
        return self.run_as(self.original, *values)


def _defaults(parameters: Sequence[inspect.Parameter], original: str, unset: str) -> str:
    """Statements that take defaults for what is not given: as many as there were, from the end."""
    lines: list[str] = []
    plain = [p for p in parameters if p.kind not in (*_VARIADIC, inspect.Parameter.KEYWORD_ONLY)]
    for parameter in parameters:
        if parameter.default is inspect.Parameter.empty:
            continue
        name = parameter.name
        if parameter in plain:
            place = f"{original}.__defaults__[{plain.index(parameter) - len(plain)}]"
        else:
            place = f"{original}.__kwdefaults__[{name!r}]"
        lines += [f"    if {name} is {unset}:", f"        {name} = {place}"]
    return "".join(f"{line}\n" for line in lines)


def _without_defaults(original: Callable[..., object], *values: object) -> object:
    """The original with what was given, which is too little for the defaults it has now."""
    positional: list[object] = []
    named: dict[str, object] = {}
    parameters = inspect.signature(original, follow_wrapped=False).parameters.values()
    for parameter, value in zip(parameters, values, strict=True):
        if value is _UNSET:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += value  # type: ignore[arg-type]
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(value)  # type: ignore[call-overload]
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = value
        else:
            positional.append(value)
    return original(*positional, **named)


def _passed(parameter: inspect.Parameter) -> str:
    match parameter.kind:
        case inspect.Parameter.VAR_POSITIONAL:
            return f"*{parameter.name}"
        case inspect.Parameter.VAR_KEYWORD:
            return f"**{parameter.name}"
        case inspect.Parameter.KEYWORD_ONLY:
            return f"{parameter.name}={parameter.name}"
    return parameter.name


def _declared(parameters: Sequence[inspect.Parameter], unset: str) -> str:
    """The parameter list; an argument that is not given is `unset`."""
    parts: list[str] = []
    previous = None
    for parameter in parameters:
        kind = parameter.kind
        if previous is inspect.Parameter.POSITIONAL_ONLY and kind is not previous:
            parts.append("/")
        if kind is inspect.Parameter.KEYWORD_ONLY and previous not in _STARRED:
            parts.append("*")
        text = _passed(parameter) if kind in _VARIADIC else parameter.name
        if parameter.default is not inspect.Parameter.empty:
            text += f"={unset}"
        parts.append(text)
        previous = kind
    if previous is inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    return ", ".join(parts)
