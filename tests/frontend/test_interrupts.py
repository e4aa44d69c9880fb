"""What ends a capture ends it, whatever the user's handlers catch."""

import contextlib
import signal
import sys
import warnings

import pytest
import torch

import astjit
from astjit.frontend.capture import Capture

X = torch.tensor([-1.0, 2.0])


def bare(x):
    try:
        return x.abs() * 3
    except:  # noqa: E722
        return x - 1


def every(x):
    try:
        y = x.abs()
    except BaseException as error:
        return str(error)
    else:
        return y * 3


def leaving(x):
    y = x
    try:
        y = x.abs()
        y = y * 3
    finally:
        return y  # noqa: B012


def suppressing(x):
    y = x
    with contextlib.suppress(BaseException):
        y = x.abs() * 3
    return y


def timed(x):
    try:
        return x.abs() * 3
    except TimeoutError:
        return x - 1


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "kernels run")
        yield


@pytest.fixture
def interrupted(monkeypatch):
    """A signal arrives while the first operation is captured."""
    node, arrived = Capture.node, []

    def during(sign):
        def interrupting(self, *args, **fields):
            if not arrived:
                arrived.append(sign)
                signal.raise_signal(sign)
            return node(self, *args, **fields)

        monkeypatch.setattr(Capture, "node", interrupting)

    return during


@pytest.mark.parametrize("function", [bare, every, leaving, suppressing])
def test_control_c_is_the_users(interrupted, function):
    compiled = astjit.compile(function)
    interrupted(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        compiled(X)
    assert torch.equal(compiled(X), X.abs() * 3)  # and the handler is not what it does
    assert compiled.cache_info().programs == 1


def out_of_time(signum, frame):
    raise TimeoutError("out of time")


class Timer:
    def __call__(self, signum, frame):
        raise TimeoutError("out of time")

    method = __call__


@pytest.mark.parametrize("handler", [out_of_time, Timer(), Timer().method])
@pytest.mark.parametrize("function", [timed, lambda x: x.abs() * 3])
def test_what_a_signal_raises_is_the_users(interrupted, function, handler):
    compiled = astjit.compile(function)
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        interrupted(signal.SIGUSR1)
        with pytest.raises(TimeoutError):
            compiled(X)
        assert torch.equal(compiled(X), X.abs() * 3)
        assert compiled.cache_info().programs == 1
    finally:
        signal.signal(signal.SIGUSR1, before)


def stopping(x):
    try:
        print(end="")
        y = x + 1
    except:  # noqa: E722
        y = x - 1
    finally:
        y = y * 2
    return y


def test_handlers_do_not_see_that_a_capture_stops():
    compiled = astjit.compile(stopping)
    for _ in range(2):
        assert torch.equal(compiled(X), (X + 1) * 2)
    assert compiled.cache_info().programs == 2  # the print between them stays Python


def leaves(x, kind):
    try:
        if kind == "exit":
            raise SystemExit(2)
        if kind == "key":
            raise KeyboardInterrupt
        if kind == "value":
            raise ValueError(kind)
        y = x
    except (SystemExit, KeyboardInterrupt) as error:
        y = x * len(error.args)
    except:  # noqa: E722
        y = x + 3
    finally:
        x = x + 1
    return y, x


def test_what_the_users_code_raises_is_caught_by_it():
    compiled = astjit.compile(leaves, fullgraph=True)
    for kind in ("exit", "key", "value", "none"):
        for found, wanted in zip(compiled(X, kind), leaves(X, kind), strict=True):
            assert torch.equal(found, wanted)
    assert compiled.cache_info().programs == 4


def test_a_call_inside_the_callers_handler():
    compiled = astjit.compile(leaves, fullgraph=True)
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert torch.equal(compiled(X, "none")[1], X + 1)
    assert compiled.cache_info().programs == 1


def deep(x, n):
    return x + 1 if n == 0 else deep(x, n - 1) * 1


def deep_and_caught(x, n):
    try:
        return deep(x, n)
    except RecursionError:
        return x


@pytest.mark.parametrize("function", [deep, deep_and_caught])
def test_a_recursion_too_deep_for_the_capture_runs_as_eager(function):
    depth = sys.getrecursionlimit() * 2 // 3 - len(_stack())
    compiled = astjit.compile(function)
    with pytest.warns(astjit.AstjitWarning) as told:
        assert torch.equal(compiled(X, depth), X + 1)
    (message,) = [str(w.message) for w in told]
    assert "runs eagerly: " in message
    assert "bug" not in message


def _stack():
    frame, found = sys._getframe(), []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found
