import threading
import warnings

import pytest
import torch

import astjit
from astjit.errors import AstjitWarning, UsageError
from astjit.frontend.marks import MARK, OFF, Disable, disable, disabled_by, is_compiling
from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured


def whole(x):
    return x + 1 if is_compiling() else x - 1


def of_torch(x):
    return x + 1 if torch.compiler.is_compiling() else x - 1


def not_whole(x):
    if is_compiling():
        print("not while it is compiled")
    return x * 2 if is_compiling() else x * 3


def never(x):
    print(end="")
    return x * 2 if is_compiling() else x * 3


def raises_when_compiled(x):
    if torch.compiler.is_compiling():
        raise NotImplementedError
    return x * 3


@disable
def left(x):
    return x.sum().item()


@torch.compiler.disable
def left_to_torch(x):
    return x + 1


@pytest.mark.parametrize("function", [whole, of_torch])
def test_a_function_captured_whole_is_told_so(function):
    assert not is_compiling()
    x = torch.ones(3)
    assert torch.equal(astjit.compile(function, fullgraph=True)(x), x + 1)


@pytest.mark.parametrize("function", [not_whole, raises_when_compiled])
def test_what_is_not_captured_whole_is_captured_with_the_other_answer(function):
    x = torch.ones(3)
    fast = astjit.compile(function, fullgraph=True)
    assert torch.equal(fast(x), x * 3)
    assert fast.cache_info().programs == 1


def test_parts_of_what_stops_either_way_are_told_that_it_is_not_captured():
    x = torch.ones(3)
    fast = astjit.compile(never)
    assert torch.equal(fast(x), x * 3)
    assert fast.cache_info().programs == 1


@pytest.mark.parametrize(
    ("function", "mark"),
    [(left, "astjit.disable"), (left_to_torch, "torch.compiler.disable")],
)
def test_a_function_that_is_marked_ends_the_capture(function, mark):
    assert disabled_by(function) == mark
    with pytest.raises(Stop, match=f"is marked {mark}"):
        Captured(lambda x: function(x) * 2, torch.ones(3))
    with pytest.warns(AstjitWarning, match=f"marked {mark}"):
        assert torch.equal(
            torch.as_tensor(astjit.compile(function)(torch.ones(3))),
            torch.as_tensor(function(torch.ones(3))),
        )


def test_in_a_block_compiled_functions_run_as_written():
    fast = astjit.compile(lambda x: x * 2)
    x = torch.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with disable():
            fast(x)
            assert fast.cache_info().programs == 0
            thread = threading.Thread(target=fast, args=(x,))
            thread.start()
            thread.join()
            assert fast.cache_info().programs == 0
        fast(x)
    assert fast.cache_info().programs == 1
    assert OFF == [0]


def test_nothing_is_compiled_within_a_disabled_function():
    fast = astjit.compile(lambda x: x * 2)
    slow = disable(fast)
    assert not hasattr(slow, "__astjit__")
    assert getattr(slow, MARK)
    assert torch.equal(slow(torch.ones(3)), torch.full((3,), 2.0))
    assert fast.cache_info().programs == 0


def test_an_exception_ends_the_block():
    with pytest.raises(ZeroDivisionError), Disable():
        raise ZeroDivisionError
    assert OFF == [0]


@pytest.mark.parametrize("given", [1, torch.nn.Linear])
def test_what_cannot_be_disabled(given):
    with pytest.raises(UsageError, match="disable"):
        disable(given)
