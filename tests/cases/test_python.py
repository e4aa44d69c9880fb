"""Everything that Python can evaluate by itself is simply run while a function is captured.

Each row is one function, run with and without compilation on two sizes: one program, no warning.
"""

import inspect
import types
import warnings

import pytest
import torch

import astjit
from tests.cases import python_builtins, python_flow, python_modes, python_objects
from tests.programs.compare import Observed, difference

MAKERS = {
    "x": lambda rows: torch.arange(rows * 3.0).view(rows, 3) - 2,
    "y": lambda rows: torch.arange(rows * 3.0).view(rows, 3) / 4,
    "n": lambda rows: 3,
    "scale": lambda rows: 0.5,
    "flag": lambda rows: True,
    "word": lambda rows: "relu",
    "nothing": lambda rows: None,
    "sizes": lambda rows: (4, 2, 7),
    "config": lambda rows: {"act": "relu", "scale": 2.0},
}


def rows_of(module):
    """The functions of a module all of whose parameters can be made."""
    return [
        f
        for f in vars(module).values()
        if isinstance(f, types.FunctionType)
        and not inspect.isgeneratorfunction(f)
        and f.__module__ == module.__name__
        and {"x"} <= set(inspect.signature(f).parameters) <= set(MAKERS)
    ]


MODULES = (python_flow, python_objects, python_builtins, python_modes)
ROWS = [f for module in MODULES for f in rows_of(module)]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Programs run through PyTorch: what is tested is their meaning."""
    monkeypatch.setenv("CXX", "/nonexistent")


def observed(function, arguments):
    """What a call returns and leaves."""
    seen = Observed()
    seen.look("result", function(*arguments))
    seen.look("arguments", list(arguments))
    return seen


def warned(function, calls):
    """Run a function for each call; what differed and what astjit said."""
    compiled = astjit.compile(function)
    names = list(inspect.signature(function).parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for rows in calls:
            eager = observed(function, [MAKERS[name](rows) for name in names])
            ours = observed(compiled, [MAKERS[name](rows) for name in names])
            found = difference(eager, ours)
            assert found is None, str(found)
    told = [str(w.message) for w in caught if "no C++ compiler" not in str(w.message)]
    return compiled.cache_info().programs, told


@pytest.mark.parametrize("function", ROWS, ids=lambda f: f.__name__)
def test_row(function):
    assert warned(function, (2, 4, 2)) == (1, [])
