"""What happens to a call that no program fits: compile one more, or run the original, and why.

A call is compiled once for each way in which it differs. Where capture stops, the reason and the
line are told once, and calls of that kind run eagerly, without being captured again, as long as
what the capture had read is as it was.
"""

import logging
import os
import re
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from astjit.config import Config
from astjit.errors import AstjitWarning, InternalError, UnsupportedOp, UnsupportedSyntax
from astjit.frontend.stops import Facts, Failed, NeedsGrad, Stop, from_signal
from astjit.frontend.torch_api import state_is_plain, why_not_plain
from astjit.runtime.entry import Entry, Loaded
from astjit.runtime.locks import Lock
from astjit.runtime.refusals import Refusals
from astjit.runtime.splits import Split
from astjit.runtime.words import MISS

_log, _log_guards = logging.getLogger("astjit.segments"), logging.getLogger("astjit.guards")
_OURS = (os.path.dirname(os.path.dirname(__file__)) + os.sep, "<astjit ")
MOST_PROGRAMS = 8
MOST_RAISED = 3  # calls of a part whose capture raised what eager raises as well
_GRADIENT = "an input requires a gradient"


class CacheInfo(NamedTuple):
    """What one compiled function has done so far.

    Where it is cut, its segments and what they call count, and its own calls do not.

    Attributes:
        programs: specialisations made.
        hits: calls that a program fitted at once.
        misses: calls that no program fitted.
        respecialised: programs made because the guards of another failed.
        disk_hits: texts whose machine code was found on disk.
        disk_misses: texts that were built.
        kernels_built: kernels in those.
        reasons: why each program but the first was made.
    """

    programs: int
    hits: int
    misses: int
    respecialised: int
    disk_hits: int
    disk_misses: int
    kernels_built: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call that no program fits.

    Attributes:
        loaded: a new program.
        warning: what to tell the user.
        parts: the function was cut; the warning is for where nothing of it is compiled.
        error: what capture or compilation raised; the user's if eager raises as well, else ours.
    """

    loaded: Loaded | None = None
    warning: str = ""
    parts: bool = False
    error: Exception | None = None


class Dispatcher:
    """The programs of one function.

    Args:
        original: the user's function.
        config: how it is compiled.
        build: makes a program for the values of all parameters, in order.
        eager: runs instead of the original, see Entry.
        split: how it is cut where it cannot be captured whole; None: it never is.
        part: it is a segment or a callee of a function that was cut.

    Attributes:
        entry: what the user calls.
        name: of the original.
        gradients: calls that ran eagerly because an input wanted a gradient.
    """

    def __init__(
        self,
        original: Callable[..., object],
        config: Config,
        build: Callable[[tuple[object, ...]], Loaded],
        eager: Callable[..., object] | None = None,
        *,
        split: Split | None = None,
        part: bool = False,
    ) -> None:
        self.config, self.gradients = config, 0
        self.split, self._part = split, part
        self.name = getattr(original, "__qualname__", repr(original))
        self._build = build
        self._loaded: list[Loaded] = []
        self._programs: list[Callable[..., object]] = []
        self._calls, self._misses, self._cut, self._raised = [0], 0, 0, 0
        self._pending = ""  # a warning for where nothing of the function turns out compiled
        self._reasons: list[str] = []
        self._refusals = Refusals()
        self._told: set[str] = set()
        self._given_up = config.disabled
        self._lock = Lock()
        self.entry = Entry(original, self._programs, self.missed, self._calls, eager)

    def missed(self, *values: object) -> object:
        """The result of a call that no program fits, given the values of all parameters."""
        self._misses += 1
        if self._given_up or _is_traced(values):
            return self.entry.run(*values)
        if self.split is not None and self.split.only:
            return self._run_parts(values)
        kind = call_kind(values)
        if reason := self._is_eager(kind, values):
            return self._run_eagerly(values, reason)
        with self._lock:
            result = self._try(values)  # another thread may have been here first
            reason = "" if result is not MISS else self._is_eager(kind, values)
            known = result is not MISS or reason
            outcome = Outcome() if known else self._compile(values, kind)
        if outcome.warning and not outcome.parts and (outcome.loaded or not self._part):
            self._warn(outcome.warning)
        if outcome.loaded is not None:
            result = _attempt(outcome.loaded.run, values)
        if result is not MISS:
            return result
        if outcome.parts:
            self._pending = outcome.warning
            return self._run_parts(values)
        try:
            result = self._run_eagerly(values, reason)
        except Exception:
            self._raises_too(outcome.error)
            raise
        if outcome.error is not None and (told := self._bug(kind, outcome.error)):
            self._warn(told)
        return result

    def _raises_too(self, error: Exception | None) -> None:
        """A capture raised, and so did eager: a part that does so often is not tried again."""
        if error is not None and self._part and self.split is not None:
            self._raised += 1
            if self._raised >= MOST_RAISED:
                self.split.failed(error, f"it raises {type(error).__name__}")

    def _run_eagerly(self, values: tuple[object, ...], reason: str) -> object:
        """The original, or what is compiled of it."""
        if reason and reason != _GRADIENT:
            return self._run_parts(values)
        return self.entry.run(*values)

    def _run_parts(self, values: tuple[object, ...]) -> object:
        """What runs where the function was cut, or the original."""
        run = self.split.runner() if self.split is not None else None
        if run is None:
            told, self._pending = self._pending, ""
            if told and not self._part:
                self._warn(told)
            return self.entry.run(*values)
        self._cut += 1
        result = self.entry.run_as(run, *values)
        if self._pending and not self._part:
            told, self._pending = self._pending, ""
            if self.split is not None and not self.split.is_useful():
                self._warn(told)
        return result

    def info(self) -> CacheInfo:
        """The counters, its segments' and callees' included.

        While several threads call, `hits` may be a little low.
        """
        parts = self.split.family.dispatchers() if self.split is not None else []
        counts = [each.own_info() for each in (self, *parts)]
        reasons = tuple(reason for count in counts for reason in count.reasons)
        sums: list[Any] = [sum(count[index] for count in counts) for index in range(7)]
        return CacheInfo._make([*sums, reasons])

    def own_info(self) -> CacheInfo:
        """The counters of this function or segment alone; calls of a cut function count in it."""
        loaded = [each for each in self._loaded if not (self._part and each.worthless)]
        origins = [origin for each in loaded for origin in each.origins()]
        return CacheInfo(
            programs=len(loaded),
            hits=max(0, self._calls[0] - self._misses),
            misses=self._misses - self._cut,
            respecialised=max(0, len(loaded) - 1),
            disk_hits=sum(where == "disk" for where, _ in origins),
            disk_misses=sum(where == "built" for where, _ in origins),
            kernels_built=sum(count for where, count in origins if where == "built"),
            reasons=tuple(self._reasons),
        )

    def clear(self) -> None:
        """Forget all programs, what runs eagerly, and the counters."""
        with self._lock:
            self._loaded.clear()
            self._programs.clear()
            self._reasons.clear()
            self._refusals.clear()
            self._told.clear()
            self._calls[0] = self._misses = self._cut = self.gradients = 0
            if self.split is not None:
                self.split.clear()
            self._given_up = self.config.disabled

    @property
    def made(self) -> list[object]:
        """What its programs were made from."""
        return [loaded.made for loaded in self._loaded if loaded.made is not None]

    @property
    def is_useful(self) -> bool:
        """Whether there is a program that works on tensors, or there was no call yet."""
        return not self._calls[0] or any(not loaded.worthless for loaded in self._loaded)

    # -- deciding -------------------------------------------------------------------------------
    def _is_eager(self, kind: object, values: tuple[object, ...]) -> str:
        """Why calls like this are not captured, "" where they may be."""
        reason = self._refusals.why(kind, values)
        if reason == _GRADIENT:
            self.gradients += 1
        return reason

    def _try(self, values: tuple[object, ...]) -> object:
        for program in self._programs:
            if (result := _attempt(program, values)) is not MISS:
                return result
        return MISS

    def _compile(self, values: tuple[object, ...], kind: object) -> Outcome:
        """A new program, or the reason why there is none."""
        reason, alike = _commonest([loaded.why_not(*values) for loaded in self._loaded])
        if reason:
            _log_guards.info("%s: none of %d fits: %s", self.name, len(self._loaded), reason)
        if len(self._loaded) >= MOST_PROGRAMS:
            if self._part and self.split is not None and self.split.worn(reason):
                _log.info("%s: cut, because %s", self.name, reason)
                return Outcome(parts=True)
            self._given_up = True
            told = f"{self.name} has {MOST_PROGRAMS} programs; other calls run eagerly"
            return Outcome(warning=f"{told}. {alike} of them do not fit because: {reason}")
        try:
            loaded = self._build(values)
        except NeedsGrad as needs:
            self._remember(kind, _GRADIENT, needs.facts)
            self.gradients += 1
        except Stop as stop:
            told, cut = self._stopped(stop, kind)
            return Outcome(warning=told, parts=cut)
        except Exception as error:
            if from_signal(error):
                raise
            return Outcome(error=error)
        else:
            if why := loaded.why_not(*values):
                return Outcome(error=InternalError(f"its own guards do not hold: {why}"))
            _log.info("%s: program %d, because %s", self.name, len(self._loaded), reason or "new")
            self._loaded.append(loaded)
            self._reasons += [reason] if reason else []
            self._programs.append(loaded.run)
            self._leave(loaded)
            return Outcome(loaded, loaded.warning)
        return Outcome()

    def _remember(self, kind: object, reason: str, facts: Facts | None = None) -> None:
        self._refusals.add(kind, reason, facts)
        self._given_up |= self._refusals.many

    def _leave(self, loaded: Loaded) -> None:
        """Leave a part that touches no tensor to Python from now on."""
        if self.split is not None and loaded.worthless and self._part:
            self.split.worthless()

    def _stopped(self, stop: Stop, kind: object) -> tuple[str, bool]:
        """What to tell the user, and whether parts of the function may be compiled."""
        if self.config.fullgraph:
            raise unsupported(stop) from None
        cut = self.split is not None and self.split.stopped(stop)
        self._remember(kind, stop.reason, stop.facts)
        how = "cut" if cut else "eager"
        _log.info("%s: %s, because %s", self.name, how, stop.reason)
        where = f"{stop.location}: " if stop.location else ""
        return f"{where}{self.name} runs eagerly: {stop.reason}", cut

    def _bug(self, kind: object, error: Exception) -> str:
        """Eager ran where capture or compilation failed; what to tell the user."""
        what = f"{type(error).__name__}: {error}"
        self._remember(kind, what)
        cut = self.split is not None and self.split.failed(error, what)
        if isinstance(error.__context__, Failed):
            shown = str(error).partition("\n")[0]
            told = f"an operation fails, which its code may catch: {shown}"
            self._pending = f"{self.name} runs eagerly: {told}" if cut else ""
            return "" if cut or self._part else f"{self.name} runs eagerly: {told}"
        _log.error("%s cannot be compiled (a bug in astjit)", self.name, exc_info=error)
        shown = what.partition("\n")[0]
        return f"{self.name} runs eagerly, because of a bug in astjit: {shown}"

    def _warn(self, message: str) -> None:
        """Warn once, at the line of the call."""
        if message not in self._told:
            self._told.add(message)
            warnings.warn(AstjitWarning(message), stacklevel=_frames_of_ours())


def _frames_of_ours() -> int:
    """How many frames a warning goes up to reach the user's line."""
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, count = frame.f_back, count + 1
    return count


def _commonest(reasons: list[str]) -> tuple[str, int]:
    """The latest of the reasons that differ in numbers and quoted texts only, and how many do."""
    kinds = [re.sub(r"'[^']*'|\d+", "", reason) for reason in reasons]
    if not kinds:
        return "", 0
    kind, count = Counter(reversed(kinds)).most_common(1)[0]
    latest = max(at for at, other in enumerate(kinds) if other == kind)
    return reasons[latest], count


def unsupported(stop: Stop) -> UnsupportedSyntax | UnsupportedOp:
    """The exception that says why capture stopped, and what to write instead."""
    kind = UnsupportedSyntax if stop.syntax else UnsupportedOp
    return kind(
        stop.reason,
        location=stop.location,
        source_line=stop.source_line,
        instead=stop.instead,
    )


def _is_traced(values: tuple[object, ...]) -> bool:
    """Whether something else looks at what the call does: a mode, a transform, a tracer."""
    return not state_is_plain() or any(isinstance(value, torch.fx.Proxy) for value in values)


def _attempt(program: Callable[..., object], values: tuple[object, ...]) -> object:
    """A program's results; MISS also where it raises, since eager then raises its own exception."""
    try:
        return program(*values)
    except Exception as error:
        if from_signal(error):
            raise
        return MISS


def call_kind(values: tuple[object, ...]) -> tuple[object, ...]:
    """What decides whether a call can be captured, as far as it can be told without capturing it.

    Values of the same kind may still differ; then a call runs eagerly that could be compiled.
    """
    return (torch.is_grad_enabled(), *(_kind(value, 3) for value in values))


def _kind(value: object, depth: int) -> object:
    if isinstance(value, torch.Tensor):
        kind = type(value), value.dtype, value.dim(), value.device.type, value.requires_grad
        return *kind, why_not_plain(value)
    if value is None or isinstance(value, bool | str):
        return type(value), value
    if depth and isinstance(value, tuple | list):
        return type(value), *(_kind(item, depth - 1) for item in value[:16])
    if depth and isinstance(value, Mapping):
        pairs = list(value.items())[:16]
        return type(value), *((_kind(k, 0), _kind(v, depth - 1)) for k, v in pairs)
    if isinstance(value, types.MethodType):
        return types.MethodType, value.__func__.__code__
    if isinstance(value, types.FunctionType):
        return types.FunctionType, value.__code__
    return type(value)
