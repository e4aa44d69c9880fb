"""Locks that a forked child can take.

A child has none of its parent's threads: what one of them held at the moment of the fork would stay
locked there for ever. All locks are therefore new in a child.
"""

import os
import threading
import weakref


class Lock:
    """A reentrant lock, free in a child whoever held it in the parent."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _ALL.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Be free."""
        self._lock = threading.RLock()


_ALL: "weakref.WeakSet[Lock]" = weakref.WeakSet()


def _after_fork() -> None:
    for lock in list(_ALL):
        lock.renew()


os.register_at_fork(after_in_child=_after_fork)
