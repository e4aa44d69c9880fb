"""Why a capture ends early: the call then runs eagerly, exactly as the user wrote it.

    Stop        something that cannot be captured; carries the reason and the line
    NeedsGrad   an input wants a gradient
    Failed      an operation was given operands that do not fit; eager raises its own exception

They derive from BaseException so that no `except Exception` of the user's code swallows them.
"""

import itertools
import linecache
import signal
import sys
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType

from astjit.location import Location


class _Raised(threading.local):
    first: "BaseException | None" = None


RAISED = _Raised()  # by this thread's capture, even where the user's code swallowed it
HOOKS = "__astjit__"  # the free variable through which rewritten code reaches the capture


@dataclass(frozen=True, slots=True)
class Facts:
    """What a capture had relied on when it stopped.

    Attributes:
        parameters: what its tests call the function's parameters, in order.
        tests: Python expressions over paths, all true then.
        constants: what else they name.
    """

    parameters: tuple[str, ...]
    tests: tuple[str, ...]
    constants: Mapping[str, object]


class Stop(BaseException):
    """Capture met something it cannot take; nothing has happened yet.

    Args:
        reason: in the user's words, such as "print() is an effect".
        syntax: True when it is a kind of statement, False when it is an operation.
        instead: what to write instead, where that can be said.
        whole: it is about the whole function, no statement of it.

    Attributes:
        own: the place in the function that was captured, where `location` is in one that it calls.
    """

    def __init__(
        self, reason: str, *, syntax: bool = False, instead: str = "", whole: bool = False
    ) -> None:
        super().__init__(reason)
        _remember(self)
        self.reason, self.syntax, self.whole = reason, syntax, whole
        self.instead = instead or "leave fullgraph=False: the statement then runs as written"
        self.facts: Facts | None = None
        self.location: Location | None = None
        self.own: Location | None = None
        self.source_line = ""
        self._frames = user_frames()
        if (frame := user_frame()) is not None:
            self.location = place(frame)
            self.source_line = linecache.getline(self.location.file, self.location.line)

    def inside(self, codes: Collection[CodeType]) -> None:
        """Find the place in the function whose capture copies have this code."""
        found = (where for own, where in reversed(self._frames) if any(own is c for c in codes))
        self.own = next(found, None)
        self._frames = []

    def at(self, location: Location) -> "Stop":
        """The same stop, at a place found another way."""
        self.location = location
        self.source_line = linecache.getline(location.file, location.line)
        return self


class NeedsGrad(BaseException):
    """A tensor that requires a gradient was read while gradients are recorded.

    Args:
        path: which one.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        _remember(self)
        self.path = path
        self.facts: Facts | None = None


class Failed(BaseException):
    """An operation whose operands do not fit.

    Args:
        error: what the type rule or PyTorch's meta function raised.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
        _remember(self)


def from_signal(error: BaseException) -> bool:
    """Whether a handler of a signal raised an exception, in whatever code ran just then."""
    if threading.current_thread() is not threading.main_thread():
        return False
    found = map(signal.getsignal, signal.valid_signals())
    codes = {code for handler in found if (code := _code_of(handler)) is not None}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def _code_of(handler: object) -> CodeType | None:
    function = getattr(handler, "__func__", handler)
    if callable(handler) and not hasattr(function, "__code__"):
        function = type(handler).__call__
    return getattr(function, "__code__", None)


def words(text: str) -> frozenset[str]:
    """A set of names, written as one string."""
    return frozenset(text.split())


def _remember(raised: BaseException) -> None:
    if RAISED.first is None:
        RAISED.first = raised


def forget(raised: BaseException) -> None:
    """What was raised does not end the capture after all."""
    if RAISED.first is raised:
        RAISED.first = None


def user_frame() -> FrameType | None:
    """The innermost frame that runs rewritten code, on this thread."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and HOOKS not in frame.f_code.co_freevars:
        frame = frame.f_back
    return frame


def user_frames() -> list[tuple[CodeType, Location]]:
    """What the frames that run rewritten code are executing, the innermost first."""
    found: list[tuple[CodeType, Location]] = []
    frame = user_frame()
    while frame is not None:
        if HOOKS in frame.f_code.co_freevars:
            found.append((frame.f_code, place(frame)))
        frame = frame.f_back
    return found


def here() -> Location | None:
    """The line of the innermost rewritten frame."""
    frame = user_frame()
    if frame is None:
        return None
    code = frame.f_code
    return Location(code.co_filename, frame.f_lineno, function=code.co_qualname)


def place_in(error: BaseException, codes: Collection[CodeType]) -> Location | None:
    """Where an exception left the frame that runs one of these."""
    trace = error.__traceback__
    while trace is not None:
        if any(trace.tb_frame.f_code is code for code in codes):
            return _place(trace.tb_frame.f_code, trace.tb_lasti, trace.tb_lineno)
        trace = trace.tb_next
    return None


def place(frame: FrameType) -> Location:
    """What a frame is executing, with columns."""
    return _place(frame.f_code, frame.f_lasti, frame.f_lineno)


def _place(code: CodeType, instruction: int, at_line: int) -> Location:
    positions = itertools.islice(code.co_positions(), instruction // 2, None)
    line, end_line, column, end_column = next(positions, (None,) * 4)
    if line is None:
        return Location(code.co_filename, at_line, function=code.co_qualname)
    end = end_column if end_line == line else None
    return Location(code.co_filename, line, column, end, code.co_qualname)
