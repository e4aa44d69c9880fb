"""`with` during capture: whose `__enter__` and `__exit__` run, and how."""

from types import TracebackType

import torch

from astjit.frontend.attributes import attribute
from astjit.frontend.interrupts import ends
from astjit.frontend.session import Session
from astjit.frontend.stops import Stop

_GRAD_MODES = (torch.no_grad, torch.enable_grad, torch.set_grad_enabled)


class Entered:
    """A context manager written in Python, entered and left through the capture.

    Args:
        session: the capture.
        manager: the object.
    """

    def __init__(self, session: Session, manager: object) -> None:
        self._session, self._manager = session, manager
        cls = type(manager)
        for name in ("__enter__", "__exit__"):
            if not hasattr(cls, name):
                raise TypeError(
                    f"'{cls.__qualname__}' object does not support the context manager protocol"
                )
        self._exit = attribute(session, manager, "__exit__")
        self._enter = attribute(session, manager, "__enter__")

    def __enter__(self) -> object:
        return self._session.call(self._enter)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is not None and ends(self._session, error):
            return False
        return bool(self._session.call(self._exit, kind, error, trace))


def context(session: Session, manager: object) -> object:
    """A context manager that a `with` may enter during capture.

    Raises:
        Stop: for one of torch that changes what operations do, and for those written in C.
    """
    if type(manager) in _GRAD_MODES:
        return manager
    cls = type(manager)
    if cls.__module__.split(".")[0] == "torch" or isinstance(manager, torch.device):
        raise Stop(f"with {cls.__module__}.{cls.__qualname__}", syntax=True)
    for name in ("__enter__", "__exit__"):
        if hasattr(cls, name) and not hasattr(getattr(cls, name), "__code__"):
            raise Stop(f"with {cls.__qualname__}", syntax=True)
    return Entered(session, manager)
