"""Exceptions that end a capture although the user's code would catch them.

    try:                            try:
        y = helper(x)                   y = H.bind('y', H.call(H.name('helper', helper), x))
    except:                         except:
        y = x                           H.passing()
                                        y = H.bind('y', x)

A bare `except:`, a `finally:` that returns and a manager that suppresses catch more than what the
code raises: that the capture stops, Ctrl-C, too deep a recursion of the capture's own. What follows
such a handler is not what the function does, and must not become its program.
"""

import sys

from astjit.frontend.session import Session
from astjit.frontend.stops import Failed, NeedsGrad, Stop, from_signal


def passing(session: Session) -> None:
    """At the start of a handler or a `finally:`: go on with what ends the capture.

    Raises:
        BaseException: what is in flight, unless the user's code raised it or an operation did.
    """
    error = sys.exc_info()[1]
    if error is not None and ends(session, error):
        raise error


def ends(session: Session, error: BaseException) -> bool:
    """Whether an exception in flight ends the capture.

    Raises:
        Stop: for one that follows from the depth or size of the capture.
    """
    if error is session.handled:  # by the caller, since before the capture
        return False
    if isinstance(error, RecursionError | MemoryError):
        raise Stop(f"a handler of {type(error).__name__}, which the capture itself may have met")
    if isinstance(error, Stop | Failed | NeedsGrad):
        return True
    if isinstance(error, Exception):
        return from_signal(error)
    own = isinstance(error, GeneratorExit) or any(error is other for other in session.thrown)
    return not own
