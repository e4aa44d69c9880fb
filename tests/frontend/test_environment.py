import os

import pytest
import torch

from astjit.frontend.environment import READS
from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured

KEY = "ASTJIT_TEST_VARIABLE"


def gets(x):
    return x * 2 if os.environ.get(KEY, "0") == "1" else x * 3


def getenv(x):
    return x * 2 if os.getenv(KEY) == "1" else x * 3


def contains(x):
    return x * 2 if KEY in os.environ else x * 3


def item(x):
    try:
        return x * 2 if os.environ[KEY] == "1" else x * 4
    except KeyError:
        return x * 3


def writes(x):
    os.environ.setdefault(KEY, "1")
    return x


@pytest.mark.parametrize("function", [gets, getenv, contains, item])
def test_a_variable_is_guarded_by_its_value(function, monkeypatch):
    monkeypatch.delenv(KEY, raising=False)
    x = torch.ones(3)
    captured = Captured(function, x)
    assert captured.failing(x) == []
    assert torch.equal(captured.run(), x * 3)
    monkeypatch.setenv(KEY, "1")
    assert captured.failing(x) == [f"environ.get({KEY!r}) == None"]
    assert torch.equal(Captured(function, x).run(), x * 2)
    monkeypatch.setenv(KEY, "2")
    assert torch.equal(Captured(function, x).run(), function(x))


def test_other_methods_stop():
    assert "setdefault" not in READS
    with pytest.raises(Stop, match="is an effect"):
        Captured(writes, torch.ones(3))
