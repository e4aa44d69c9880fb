"""What user code says about being compiled: `disable`, `is_compiling`.

@astjit.disable                     runs as written, and ends the capture of whoever calls it
def log(x): ...

with astjit.disable():              compiled functions run as written, on every thread
    y = fast(x)

if astjit.is_compiling(): ...       True in code that is captured whole
"""

import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ParamSpec, TypeVar, overload

from astjit.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")
MARK = "__astjit_disable__"
COMPILED = "__astjit__"  # what compiled functions carry

OFF = [0]  # how many `disable` blocks are entered; entry functions look at it
_LOCK = threading.Lock()


@dataclass(slots=True)
class Answer:
    """What `is_compiling()` answers in one capture (decision D29).

    Attributes:
        compiling: the answer.
        asked: whether anything asked.
    """

    compiling: bool = True
    asked: bool = False

    def give(self) -> bool:
        """The answer, once asked for."""
        self.asked = True
        return self.compiling


class Disable:
    """What `disable()` gives: a context manager and a decorator."""

    def __enter__(self) -> None:
        with _LOCK:
            OFF[0] += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _LOCK:
            OFF[0] -= 1

    def __call__(self, fn: Callable[P, R]) -> Callable[P, R]:
        """The function, which is never compiled and within which nothing else is.

        Raises:
            UsageError: if it is a class, or nothing that can be called.
        """
        if not callable(fn) or isinstance(fn, type):
            raise UsageError(f"disable({fn!r})", instead="disable a function or a method")

        @functools.wraps(fn)
        def disabled(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return fn(*args, **kwargs)

        vars(disabled).pop(COMPILED, None)
        setattr(disabled, MARK, True)
        return disabled


@overload
def disable(fn: Callable[P, R]) -> Callable[P, R]: ...


@overload
def disable(fn: None = None) -> Disable: ...


def disable(fn: Any = None) -> Any:
    """Leave a function as it is written; also a decorator, and a context manager for a block.

    A function that calls it runs eagerly, with one warning. While it runs, or within the block,
    compiled functions run as written.

    Args:
        fn: the function; None for a context manager that is a decorator as well.

    Raises:
        UsageError: if it is a class, or nothing that can be called.
    """
    return Disable() if fn is None else Disable()(fn)


def is_compiling() -> bool:
    """Whether this code is being captured: False in code that runs as written.

    True is answered where the whole call becomes one program. Where it does not, capture is run
    again with False, which is also what the code sees when it then runs eagerly.
    """
    return False


def disabled_by(function: object) -> str:
    """What says that a function must not be compiled, "" if nothing does."""
    if getattr(function, MARK, False):
        return "astjit.disable"
    return "torch.compiler.disable" if getattr(function, "_torchdynamo_disable", False) else ""
