import os
import sys

import pytest
import torch

from astjit.runtime import threads as module
from astjit.runtime.threads import SHARE, threads


@pytest.fixture(autouse=True)
def eight(monkeypatch):
    monkeypatch.setattr(module, "_num_threads", lambda: 8)


@pytest.mark.parametrize(
    ("moved", "wanted"),
    [(0, 1), (SHARE - 1, 1), (SHARE, 2), (3 * SHARE, 4), (7 * SHARE, 8), (100 * SHARE, 8)],
)
def test_one_more_for_each_share(moved, wanted):
    assert threads(moved) == wanted


def test_never_more_than_pytorch(monkeypatch):
    monkeypatch.setattr(module, "_num_threads", torch.get_num_threads)
    assert threads(1 << 40) == torch.get_num_threads()


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_uses_one():
    child = os.fork()
    if not child:
        os._exit(threads(1 << 40))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert threads(1 << 40) == 8
