"""`elementwise`: a function of single numbers that is called with tensors.

For example:

    @astjit.elementwise
    def escape_time(re, im):
        x = y = 0.0
        for n in range(50):
            x, y = x * x - y * y + re, 2.0 * x * y + im
            if x * x + y * y > 4.0:
                return n
        return 50

    escape_time(re, im)                one kernel, with a real loop and a real branch
    escape_time.reference(re, im)      the function itself, once for each element
"""

import functools
import linecache
import types
from collections.abc import Callable
from typing import Any, Protocol, cast, overload

import torch

from astjit.api import TEXTS, Record, compiler_now, explain
from astjit.config import Config, Numerics
from astjit.errors import InternalError, TripLimit, UsageError
from astjit.frontend.elements.lowering import Element
from astjit.frontend.stops import NeedsGrad, Stop, from_signal
from astjit.frontend.torch_api import state_is_plain
from astjit.ir.function import Function, Node
from astjit.ir.value import Literal
from astjit.ops.spec import Kind
from astjit.ops.table import OPS
from astjit.report.explain import Report
from astjit.runtime.dispatch import MOST_PROGRAMS, CacheInfo, Dispatcher, unsupported
from astjit.runtime.entry import Loaded
from astjit.runtime.reference import reference
from astjit.runtime.words import MISS
from astjit.targets.options import config_of


class Elementwise(Protocol):
    """A function that `elementwise` returned: called with tensors, gives tensors."""

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function of single numbers."""
        ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A tensor, or a tuple of as many as the function returns numbers."""
        ...

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """The same, computed by Python once for each element."""
        ...

    def ssa(self, *args: object, **kwargs: object) -> str:
        """The SSA of a call."""
        ...

    def cuda_source(self, *args: object, arch: str = ..., **kwargs: object) -> str:
        """The CUDA text of a call."""
        ...

    def cpp_source(self, *args: object, **kwargs: object) -> str:
        """The C++ text of a call."""
        ...

    def explain(self, *args: object, **kwargs: object) -> Report:
        """What becomes of a call."""
        ...

    def cache_info(self) -> CacheInfo:
        """What has been compiled so far, and why."""
        ...

    def cache_clear(self) -> None:
        """Forget all programs."""
        ...


class ElementRecord(Record):
    """What an element function carries as `__astjit__`.

    Attributes:
        element: its limits.
    """

    def __init__(self, function: types.FunctionType, config: Config, element: Element) -> None:
        self.element = element
        super().__init__(function, config)

    def _dispatch(self) -> Dispatcher:
        return ElementDispatcher(self.function, self.config, self._load, self._explain_failure)

    def _explain_failure(self, values: tuple[object, ...]) -> None:
        """Raise what Python would where a kernel failed, for the element for which it failed."""
        compiler, segment = compiler_now(), self._segment(values)
        made = compiler.build_call(segment, self.config)
        raise_only_limit(made.function)
        compiler.interpret_call(made, segment.arguments)

    def again(self, config: Config) -> Any:
        """The function compiled with other options, for elements still."""
        return _made(self.function, config, self.element)

    def _segment(self, values: tuple[object, ...]) -> Any:
        segment = super()._segment(values)
        return type(segment)(segment.function, segment.arguments, segment.sized, self.element)


class ElementDispatcher(Dispatcher):
    """The programs of one element function: no call ever runs another way.

    Without tensors among the arguments the function is called as it is. A call that is refused
    raises; where more programs are needed than are kept the oldest is forgotten.
    """

    def __init__(
        self,
        original: types.FunctionType,
        config: Config,
        build: Callable[[tuple[object, ...]], Loaded],
        explain_failure: Callable[[tuple[object, ...]], None],
    ) -> None:
        self._original, self._explain_failure = original, explain_failure
        super().__init__(original, config, build, self._eager)

    def missed(self, *values: object) -> object:
        """The result of a call that no program fits."""
        self._misses += 1
        return self._run(values)

    def _eager(self, *args: object, **kwargs: object) -> object:
        """A call under a mode, or one whose program raised: it raises that again."""
        values = self.entry.bind(*args, **kwargs)
        if not _has_tensor(values):
            return self._original(*args, **kwargs)
        if not state_is_plain():
            raise UsageError(
                f"{self.name} is called under a mode, a transform, autocast or another compiler",
                instead="call it outside of that, or under torch.autocast(..., enabled=False)",
            )
        return self._run(values)

    def _run(self, values: tuple[object, ...]) -> object:
        if not _has_tensor(values):
            return self.entry.run(*values)
        with self._lock:
            for program in tuple(self._programs):
                if (result := self._attempt(program, values)) is not MISS:
                    return result
            loaded = self._loaded_for(values)
        result = self._attempt(loaded.run, values)
        if result is MISS:
            raise InternalError(f"its own guards do not hold: {loaded.why_not(*values)}")
        if loaded.warning:
            self._warn(loaded.warning)
        return result

    def _attempt(self, program: Callable[..., object], values: tuple[object, ...]) -> object:
        """A program's results; where a kernel failed, what Python raises."""
        try:
            return program(*values)
        except Exception as error:
            if from_signal(error):
                raise
            self._explain_failure(values)
            raise

    def _loaded_for(self, values: tuple[object, ...]) -> Loaded:
        """One program more.

        Raises:
            ElementError: the function has something that the element language does not.
            UsageError: an input requires a gradient.
        """
        reasons = [known.why_not(*values) for known in self._loaded]
        try:
            loaded = self._build(values)
        except NeedsGrad as needs:
            raise _needs_gradient(needs) from None
        except Stop as stop:
            raise unsupported(stop) from None
        if len(self._loaded) >= MOST_PROGRAMS:
            del self._loaded[0], self._programs[0]
        self._loaded.append(loaded)
        self._reasons += [reason for reason in reasons[-1:] if reason]
        self._programs.append(loaded.run)
        return loaded


def raise_only_limit(function: Function) -> None:
    """Raise TripLimit if a loop with a limit is the only thing in a function that can fail.

    Then nothing need be run again, which may take long.
    """
    nodes = [n for n in function.body.walk() if n.op.kind in (Kind.BODY, Kind.CONTROL)]
    limited = [n for n in nodes if n.fields.get("limit") is not None]
    others = [n for n in nodes if n.op.kind is Kind.BODY or _steps(n)]
    if len(limited) != 1 or others:
        return
    (node,), place = limited, limited[0].location
    line = "" if place is None else linecache.getline(place.file, place.line)
    raise TripLimit(cast("int", node.fields["limit"]), place, line)


def _steps(node: Node) -> bool:
    """Whether it is a range whose step may be 0."""
    return node.op is OPS["range"] and not isinstance(node.operands[2], Literal)


def _needs_gradient(needs: NeedsGrad) -> UsageError:
    return UsageError(
        f"{needs.path} requires a gradient, and element functions have none",
        instead="call it under torch.no_grad(), or with detached tensors",
    )


def _has_tensor(values: object) -> bool:
    if isinstance(values, tuple | list):
        return any(map(_has_tensor, values))
    return isinstance(values, torch.Tensor)


def _reference(record: ElementRecord, *args: object, **kwargs: object) -> Any:
    """What Python computes, element by element."""
    values = record.dispatcher.entry.bind(*args, **kwargs)
    return reference(record.dispatcher.entry.run, values)


def _made(function: types.FunctionType, config: Config, element: Element) -> Any:
    record = ElementRecord(function, config, element)
    call: Any = functools.update_wrapper(record.dispatcher.entry.call, function)
    call.__astjit__ = record
    for name in TEXTS:
        setattr(call, name, getattr(record, name))
    call.cache_info, call.cache_clear = record.dispatcher.info, record.dispatcher.clear
    call.explain = functools.partial(explain, call)
    call.reference = functools.partial(_reference, record)
    return call


@overload
def elementwise(
    fn: Callable[..., Any],
    *,
    max_trips: int | None = ...,
    target: str | None = ...,
    numerics: Numerics = ...,
) -> Elementwise: ...


@overload
def elementwise(
    fn: None = None,
    *,
    max_trips: int | None = ...,
    target: str | None = ...,
    numerics: Numerics = ...,
) -> Callable[[Callable[..., Any]], Elementwise]: ...


def elementwise(
    fn: Callable[..., Any] | None = None,
    *,
    max_trips: int | None = None,
    target: str | None = None,
    numerics: Numerics = "eager",
) -> Any:
    """Compile a function of single numbers to be called with tensors; also a decorator.

    The function is written in a part of Python (docs/elements.md): branches, loops, early returns,
    inner functions, tuples. It is compiled whole, or an ElementError says what it has that elements
    do not. Tensors are broadcast by PyTorch's rules; Python numbers are weakly typed; integers of
    all widths are Python's ints, in 64 bits. Without a tensor among its arguments the call is one
    of the function itself.

    Args:
        fn: a Python function.
        max_trips: how often a `while` may run for one element; TripLimit is raised beyond that.
        target: "cuda" or "cpu"; None: by the device of the tensors.
        numerics: "eager": each operation rounds to its own dtype; "fp32": only stores do.

    Raises:
        UsageError: an unknown option, or something that is no Python function.
    """
    if fn is None:
        again = functools.partial(elementwise, max_trips=max_trips, target=target)
        return functools.partial(again, numerics=numerics)
    if not isinstance(fn, types.FunctionType):
        raise UsageError(f"{fn!r} is not a Python function", instead="wrap it in a function")
    if isinstance(max_trips, bool) or not isinstance(max_trips, int | None):
        raise UsageError(f"max_trips={max_trips!r}", instead="an int, or None")
    if max_trips is not None and max_trips < 0:
        raise UsageError(f"max_trips={max_trips}", instead="an int of at least 0")
    known = getattr(fn, "__astjit__", None)
    function = known.function if isinstance(known, Record) and known.call is fn else fn
    config = config_of(True, None, target, numerics)
    return _made(function, config, Element(max_trips))
