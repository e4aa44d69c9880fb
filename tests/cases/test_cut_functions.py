"""Kinds of fault that compilers of source text have had, across the segments of a cut function.

Each function is called several times with ints, floats and bools that are equal, with arguments
that become one tensor or views of one memory, and compared with itself as written in what it
returns, raises, prints, writes and keeps.
"""

import importlib.util
import sys
from pathlib import Path

import pytest
import torch

import astjit
from tests.cases.cut_functions import FUNCTIONS
from tests.programs.compare import Observed, difference

CALLS = (("plain", 2), ("views", True), ("plain", 1.0), ("same", 1), ("plain", 2))
UNCUT = ("views_across", "generators", "conditional_expression_with_effects")  # all of it Python


@pytest.fixture
def modules(monkeypatch):
    """Two modules of the functions, which share nothing."""
    monkeypatch.setenv("CXX", "/nonexistent")
    made = []
    for _ in range(2):
        file = Path(__file__).with_name("cut_functions.py")
        spec = importlib.util.spec_from_file_location("cut_functions_again", file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "cut_functions_again", module)
        spec.loader.exec_module(module)
        made.append(module)
    return made


def arguments(kind, k, seed):
    made = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(2 + seed % 2, 3, generator=made) for _ in "xy")
    return [x, {"plain": y, "same": x, "views": x.view(x.shape)}[kind], k]


def observed(module, function, given):
    """What a call returns or raises, and all that it leaves."""
    seen = Observed()
    try:
        seen.look("result", function(*given))
    except Exception as error:
        seen.look("raised", (type(error).__name__, str(error)))
    for place, value in (("arguments", given), ("seen", module.SEEN), ("scale", module.SCALE)):
        seen.look(place, list(value) if isinstance(value, list) else value)
    return seen


@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
@pytest.mark.parametrize("index", range(len(FUNCTIONS)), ids=[f.__name__ for f in FUNCTIONS])
def test_as_written(modules, index):
    written, compiled = modules
    function = astjit.compile(compiled.FUNCTIONS[index])
    for seed, (kind, k) in enumerate(CALLS):
        eager = observed(written, written.FUNCTIONS[index], arguments(kind, k, seed))
        ours = observed(compiled, function, arguments(kind, k, seed))
        found = difference(eager, ours)
        assert found is None, str(found)
    assert bool(function.cache_info().programs) == (function.__name__ not in UNCUT)
