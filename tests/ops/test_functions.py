"""Functions of analysis: values at limits, and the error that is measured is the one published."""

import importlib.util
import math
import sys
from pathlib import Path

import pytest

from astjit.ops.functions import ROWS
from astjit.ops.spec import Trait

ULP = Path(__file__).resolve().parents[2] / "benchmarks" / "ulp.py"
NAMES = {op.name: op for op in ROWS}


@pytest.fixture(scope="module")
def measured():
    spec = importlib.util.spec_from_file_location("benchmarks_ulp_rows", ULP)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.FUNCTIONS


def test_no_function_is_worse_than_published(measured):
    shared = NAMES.keys() & measured.keys()
    assert len(shared) >= 10
    for name in shared:
        assert measured[name][2] <= NAMES[name].max_ulp, name


@pytest.mark.parametrize("op", ROWS, ids=str)
def test_every_function_publishes_its_error(op):
    assert 0 < op.max_ulp <= 2.5 or Trait.EXACT in op.traits


@pytest.mark.parametrize("name", ["log", "log2", "log10"])
def test_logarithms_at_their_limits(name):
    evaluate = NAMES[name].evaluate
    assert evaluate(1.0) == 0.0
    assert evaluate(0.0) == -math.inf
    assert math.isnan(evaluate(-1.0))
