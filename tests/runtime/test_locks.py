import gc
import threading
import weakref

import pytest

from astjit.runtime import locks
from astjit.runtime.locks import Lock


def test_one_thread_at_a_time():
    lock, entered = Lock(), []

    def enter():
        with lock:
            entered.append("thread")

    thread = threading.Thread(target=enter)
    with lock, lock:
        thread.start()
        thread.join(0.05)
        entered.append("first")
    thread.join()
    assert entered == ["first", "thread"]


def test_an_exception_frees_it():
    lock = Lock()
    with pytest.raises(KeyError), lock:
        raise KeyError
    taken = []
    thread = threading.Thread(target=lambda: taken.append(lock._lock.acquire(blocking=False)))
    thread.start()
    thread.join()
    assert taken == [True]


def test_a_child_finds_every_lock_free():
    lock, held, done = Lock(), threading.Event(), threading.Event()

    def hold():
        lock._lock.acquire()  # by a thread that a child does not have
        held.set()
        done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    assert not lock._lock.acquire(blocking=False)
    locks._after_fork()
    assert lock._lock.acquire(blocking=False)
    done.set()
    thread.join()


def test_locks_are_forgotten():
    gone = weakref.ref(Lock())
    gc.collect()
    assert gone() is None
