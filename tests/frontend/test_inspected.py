import functools
import inspect

import pytest
import torch

from astjit.frontend.inspected import inspect_call
from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured


def helper(x, rate=2.0):
    return x * rate


@functools.wraps(helper)
def wrapper(*args):
    return helper(*args) + 1


def counts(x):
    return x * len(inspect.signature(helper).parameters)


def names(x):
    return x * 2 if "rate" in inspect.signature(wrapper).parameters else x


def asks(x):
    return x * 2 if inspect.isfunction(helper) and inspect.unwrap(wrapper) is helper else x


@pytest.mark.parametrize("function", [counts, names, asks])
def test_it_is_run(function):
    x = torch.ones(3)
    captured = Captured(function, x)
    assert captured.failing(x) == []
    assert torch.equal(captured.run(), function(x))


def test_what_it_looked_at_is_guarded(monkeypatch):
    x = torch.ones(3)
    captured = Captured(names, x)
    with monkeypatch.context() as patch:
        patch.setattr(wrapper, "__wrapped__", counts)
        assert captured.failing(x) != []
    with monkeypatch.context() as patch:
        patch.setattr(helper, "__defaults__", (1.0, 2.0))
        assert captured.failing(x) != []
    with monkeypatch.context() as patch:
        patch.setattr(wrapper, "__signature__", inspect.Signature(), raising=False)
        assert captured.failing(x) != []
    assert captured.failing(x) == []


def test_what_reads_more_stops():
    with pytest.raises(Stop, match=r"inspect\.getsource\(\) is not known"):
        Captured(lambda x: x * len(inspect.getsource(helper)), torch.ones(3))
    with pytest.raises(Stop, match="inspect looks at a"):
        inspect_call(None, inspect.signature, (object(),), {})
