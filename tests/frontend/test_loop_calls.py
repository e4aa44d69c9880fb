"""What may be called in a loop that is captured once."""

import heapq
import math
import operator
from types import SimpleNamespace

import pytest
import torch

from astjit.frontend.loop_calls import check_call
from astjit.frontend.loop_sizes import Unlooped


def session(trace):
    def unchanged(what):
        raise Unlooped(what)

    return SimpleNamespace(capture=SimpleNamespace(trace=trace), unchanged=unchanged)


ALLOWED = [torch.exp, torch.Tensor.add, math.sqrt, operator.add, operator.invert, len, [].index]
REFUSED = [[].insert, {}.update, heapq.heappush, operator.iadd, operator.setitem, object, setattr]


def test_only_what_changes_nothing_is_called():
    for function in ALLOWED:
        check_call(session(object()), function, ())
    for function in REFUSED:
        check_call(session(None), function, ())
        with pytest.raises(Unlooped):
            check_call(session(object()), function, ())
    with pytest.raises(Unlooped, match="an iterator"):
        check_call(session(object()), sum, (iter([1]),))
