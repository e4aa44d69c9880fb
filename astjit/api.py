"""What users call: `compile`, `explain`, and the compiled functions.

rms_norm = astjit.compile(rms_norm)
rms_norm(x, w)                     # as before, fused
rms_norm.cuda_source(x, w)         # the CUDA text of this call, on any machine
"""

import functools
import types
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ParamSpec, Protocol, Self, TypeVar, overload

import torch

from astjit.config import Config, Numerics, read_environment
from astjit.errors import UnsupportedOp, UnsupportedSyntax, UsageError
from astjit.frontend.stops import NeedsGrad, Stop
from astjit.ir.printer import function_text
from astjit.report import log
from astjit.report.explain import Report, report_cut, report_eager, report_program
from astjit.runtime.bound import DECORATED, Bound, parts
from astjit.runtime.dispatch import CacheInfo, Dispatcher, unsupported
from astjit.runtime.module import CompiledModule
from astjit.runtime.program import Program
from astjit.runtime.splits import Cut, Family, Show, Split, cut_shown
from astjit.targets.cuda import default_arch
from astjit.targets.nvrtc import expand_arch
from astjit.targets.options import config_of

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
TEXTS = ("ssa", "cuda_source", "cpp_source", "program_source", "guards", "rewritten_source")


class Compiled(Protocol[P, R_co]):
    """A function that `compile` returned: called as the original, with these methods besides.

    The methods take the arguments of a call. They capture it again and run nothing; what the
    function has compiled so far is neither used nor changed. Of a function that is cut, `ssa`,
    `cpp_source`, `program_source` and `guards` give the texts of the segments that calls have
    reached. As a method of a class the function binds as the original does; the methods below then
    take `self` first.
    """

    @property
    def __wrapped__(self) -> Callable[P, R_co]:
        """The original."""
        ...

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """The result of the original."""
        ...

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., R_co]: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> object:
        """The function as a method."""
        ...

    def ssa(self, *args: object, **kwargs: object) -> str:
        """The SSA of a call, after all passes."""
        ...

    def cuda_source(self, *args: object, arch: str = ..., **kwargs: object) -> str:
        """The CUDA text of the kernels that a call takes; it compiles alone with NVRTC."""
        ...

    def cpp_source(self, *args: object, **kwargs: object) -> str:
        """The C++ text of the kernels of a call."""
        ...

    def program_source(self, *args: object, **kwargs: object) -> str:
        """The host function of a call: guards, allocations, launches."""
        ...

    def guards(self, *args: object, **kwargs: object) -> str:
        """What must hold for the program of a call to serve another one, as a function."""
        ...

    def rewritten_source(self, *args: object, **kwargs: object) -> str:
        """The function with what is compiled as a call."""
        ...

    def cache_info(self) -> CacheInfo:
        """What has been compiled so far, and why."""
        ...

    def cache_clear(self) -> None:
        """Forget all programs. Machine code on disk stays."""
        ...


class Record:
    """What a compiled function carries as `__astjit__`.

    Attributes:
        function: the original.
        config: how it is compiled.
        dispatcher: its programs.
    """

    def __init__(
        self, function: types.FunctionType, config: Config, split: Split | None = None
    ) -> None:
        self.function, self.config = function, config
        self._sized: dict[str, int | None] = {}
        self._is_part = split is not None
        self.split: Any = split
        _RECORDS.add(self)
        self.dispatcher = self._dispatch()

    @property
    def call(self) -> object:
        """What the user calls."""
        return self.dispatcher.entry.call

    def _dispatch(self) -> Dispatcher:
        split = self.split or Family(partial(Record, config=self.config)).split_of(self.function)
        self.split = split
        return Dispatcher(self.function, self.config, self._load, split=split, part=self._is_part)

    def again(self, config: Config) -> Any:
        """The original, compiled with other options."""
        return _compiled(self.function, config)

    def _load(self, values: tuple[object, ...]) -> Any:
        compiler = compiler_now()
        return compiler.load_call(self._segment(values), self.config)

    def _segment(self, values: tuple[object, ...]) -> Any:
        named = dict(zip(self.dispatcher.entry.parameters, values, strict=True))
        compiling = not self._is_part
        return compiler_now().Segment(self.function, named, self._sized, compiling=compiling)

    def segment(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
        """The segment for the arguments of a call."""
        return self._segment(self.dispatcher.entry.bind(*args, **kwargs))

    def built(
        self, args: tuple[object, ...], kwargs: Mapping[str, object], target: str | None = None
    ) -> Any:
        """A program for a call, for a target instead of that of the options.

        Raises:
            UnsupportedSyntax: something cannot be captured.
            UnsupportedOp: likewise.
            UsageError: an input requires a gradient.
        """
        config = replace(self.config, target=target or self.config.target)
        return self._captured(lambda c: c.build_call(self.segment(args, kwargs), config))

    def _captured(self, make: Callable[[Any], Any]) -> Any:
        """What `make` gives for the compiler, with the user's exceptions where capture stops."""
        try:
            return make(compiler_now())
        except Stop as stop:
            raise unsupported(stop) from None
        except NeedsGrad as needs:
            raise UsageError(
                f"{needs} requires a gradient, and calls that record gradients run eagerly",
                instead="call it under torch.no_grad()",
            ) from None

    def ssa(self, *args: object, **kwargs: object) -> str:
        """The SSA of a call, after all passes."""
        return self._text(args, kwargs, lambda made: function_text(made.function), ";")

    def _built_or_cut(self, args: Any, kwargs: Any, target: str | None = None) -> Any:
        """The same, or how the function is cut where a call is no single program."""
        try:
            return self.built(args, kwargs, target)
        except (UnsupportedOp, UnsupportedSyntax) as error:
            if self.config.fullgraph or (cut := cut_shown(self.split, error.__context__)) is None:
                raise
            return cut

    def _text(self, args: Any, kwargs: Any, show: Show, of: str, target: str | None = None) -> str:
        made = self._built_or_cut(args, kwargs, target)
        return made.texts(show, of) if isinstance(made, Cut) else show(made)

    def ssa_after(self, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]) -> str:
        """The SSA of a call as the pass called `name` first leaves it.

        Raises:
            UsageError: no pass is called so.
        """
        segment = self.segment(args, kwargs)
        return function_text(self._captured(lambda c: c.lowered(segment, self.config, name)))

    def cuda_source(self, *args: object, arch: str | None = None, **kwargs: object) -> str:
        """The CUDA text of a call's kernels."""
        made, compiler = self._built_or_cut(args, kwargs, "cuda"), compiler_now()
        if isinstance(made, Cut):
            instead = "ssa(...), or cuda_source of a function of one segment's statements"
            raise UnsupportedOp(f"{self.dispatcher.name} is no single program", instead=instead)
        measured = compiler.measure(made, self.segment(args, kwargs).arguments)
        return str(compiler.cuda_text(made, *measured, expand_arch(arch or default_arch())).source)

    def cpp_source(self, *args: object, **kwargs: object) -> str:
        """The C++ text of a call's kernels, "" when it has none."""
        return self._text(args, kwargs, Program.cpp, "//", "cpu")

    def program_source(self, *args: object, **kwargs: object) -> str:
        """The host function of a call."""
        return self._text(args, kwargs, lambda made: made.host.text, "#")

    def guards(self, *args: object, **kwargs: object) -> str:
        """What the program of a call asks before it runs."""
        return self._text(args, kwargs, lambda made: made.host.guards, "#")

    def rewritten_source(self, *args: object, **kwargs: object) -> str:
        """The function with what is compiled as a call."""
        made = self._built_or_cut(args, kwargs)
        if isinstance(made, Cut):
            return str(compiler_now().cut_source(made.function, made.runs))
        return str(compiler_now().rewritten_source(self.function))

    def explain(
        self, args: tuple[object, ...], kwargs: Mapping[str, object], arch: str | None = None
    ) -> Report:
        """What becomes of a call; the CUDA texts are for `arch`."""
        name, gradients = self.dispatcher.name, self.dispatcher.gradients
        try:
            made = compiler_now().build_call(self.segment(args, kwargs), self.config)
        except Stop as stop:
            return report_cut(name, unsupported(stop), cut_shown(self.split, stop), gradients)
        except NeedsGrad as needs:
            reason = UsageError(f"{needs} requires a gradient")
            return report_eager(name, reason, gradients + 1)
        compiler = compiler_now()
        measured = compiler.measure(made, self.segment(args, kwargs).arguments)
        texts = compiler.kernel_texts(made, *measured, expand_arch(arch or default_arch()))
        return report_program(name, made, measured[0], texts, gradients)


_RECORDS: "weakref.WeakSet[Record]" = weakref.WeakSet()


def reset() -> None:
    """Forget what every compiled function has compiled so far, as `cache_clear` does for one."""
    for record in list(_RECORDS):
        record.dispatcher.clear()


@functools.cache
def _follow_log(asked: str) -> None:
    log.follow(asked)


def compiler_now() -> Any:
    """The compiler, loaded by the first call that needs it: `import astjit` stays quick."""
    from astjit import compiler  # noqa: PLC0415

    _follow_log(read_environment().log)
    return compiler


@overload
def compile(
    fn: torch.nn.Module,
    *,
    fullgraph: bool = ...,
    dynamic: bool | None = ...,
    target: str | None = ...,
    numerics: Numerics = ...,
    options: Mapping[str, object] | None = ...,
) -> CompiledModule: ...


@overload
def compile(
    fn: Callable[P, R],
    *,
    fullgraph: bool = ...,
    dynamic: bool | None = ...,
    target: str | None = ...,
    numerics: Numerics = ...,
    options: Mapping[str, object] | None = ...,
) -> Compiled[P, R]: ...


@overload
def compile(
    fn: None = None,
    *,
    fullgraph: bool = ...,
    dynamic: bool | None = ...,
    target: str | None = ...,
    numerics: Numerics = ...,
    options: Mapping[str, object] | None = ...,
) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...


def compile(
    fn: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    target: str | None = None,
    numerics: Numerics = "eager",
    options: Mapping[str, object] | None = None,
) -> Any:
    """Compile a function of tensors; also a decorator, with or without arguments.

    Each kind of call is captured once and becomes a program of fused kernels. What cannot be
    captured runs as written, after one AstjitWarning that says where and why. Where kernels cannot
    be built (no C++ compiler, or a bug) the program runs through PyTorch, after a warning as well,
    with fullgraph too.

    Args:
        fn: a Python function, method, partial or object whose class defines `__call__`; for an
            nn.Module see CompiledModule, which stands for the module in everything else.
        fullgraph: raise UnsupportedSyntax or UnsupportedOp instead of running eagerly.
        dynamic: None: sizes are symbolic; False: every size is pinned; True: none ever is.
        target: "cuda" or "cpu"; None: by the device of the tensors.
        numerics: "eager": each operation rounds to its own dtype; "fp32": only stores do.
        options: none so far.

    Raises:
        UsageError: an unknown target, numerics or option, or something that is no function.
    """
    if options:
        raise UsageError(f"there is no option {next(iter(options))!r}", instead="options=None")
    config = config_of(fullgraph, dynamic, target, numerics)
    if fn is None:
        return lambda function: _compiled(function, config)
    return _compiled(fn, config)


def _record_of(fn: object) -> Record | None:
    """The record of what `compile` returned; a wrapper made with functools.wraps only shows it."""
    found = getattr(fn, "__astjit__", None) if isinstance(fn, types.FunctionType) else None
    return found if isinstance(found, Record) and found.call is fn else None


def _compiled(fn: Callable[..., Any], config: Config) -> Any:
    if isinstance(fn, CompiledModule):
        return _compiled(fn.__wrapped__, config)
    if isinstance(fn, torch.nn.Module):
        again = functools.partial(_compiled, config=config)
        return CompiledModule(fn, again, again, explain)
    if isinstance(fn, type) and issubclass(fn, torch.nn.Module):
        instead = f"compile(module) of an instance, or @compile on {fn.__name__}.forward"
        raise UsageError(f"{fn.__name__} is a class of modules", instead=instead)
    if isinstance(fn, Bound):
        return _compiled(fn.__wrapped__, config)
    if isinstance(fn, DECORATED):
        kind = type(fn).__name__.removeprefix("_").removesuffix("_wrapper")
        raise UsageError(f"a {kind} object", instead=f"put @astjit.compile below @{kind}")
    if (known := _record_of(fn)) is not None:
        return known.again(config)
    if not isinstance(fn, types.FunctionType):
        if parts(fn) is None:
            raise UsageError(f"{fn!r} is not a Python function", instead="wrap it in a function")
        return Bound(fn, functools.partial(_compiled, config=config))
    record = Record(fn, config)
    call: Any = functools.update_wrapper(record.dispatcher.entry.call, fn)
    call.__astjit__ = record
    for name in TEXTS:
        setattr(call, name, getattr(record, name))
    call.cache_info, call.cache_clear = record.dispatcher.info, record.dispatcher.clear
    return call


def explain(fn: Callable[..., object], *args: object, **kwargs: object) -> Report:
    """What becomes of the call `fn(*args, **kwargs)`: kernels, what is not fused and why.

    Nothing is run, and nothing is kept.

    Args:
        fn: a function, compiled or not.
        args: of the call.
        kwargs: of the call.

    Raises:
        UsageError: it is no Python function.
    """
    own = isinstance(fn, types.FunctionType) and _record_of(fn) is None  # not compiled, or wrapped
    known = isinstance(getattr(fn, "__astjit__", None), Record) and not own
    function = fn if known else compile(fn)
    given: tuple[Any, tuple[object, ...], Mapping[str, object]] | None = (function, args, kwargs)
    if isinstance(function, types.MethodType):
        given = (function.__func__, (function.__self__, *args), kwargs)
    elif isinstance(function, Bound | CompiledModule):
        given = function.resolved(args, kwargs)
    record = getattr(given[0], "__astjit__", None) if given else None
    if not given or not isinstance(record, Record):
        raise UsageError(f"{fn!r} is not a Python function", instead="explain(function, *args)")
    return record.explain(given[1], given[2])
