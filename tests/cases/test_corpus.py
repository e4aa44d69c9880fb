"""benchmarks/corpus.py compiles models without edits and tells what came of them."""

import sys
import warnings
from pathlib import Path

import pytest
import torch

import astjit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import corpus
from statements import run_by_python, touching
from zoo.table import MODELS


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Programs run through PyTorch; the warning about it comes once in a process."""
    monkeypatch.setenv("CXX", "/nonexistent")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="kernels run through PyTorch")
        yield


# Those that test_models.py and test_torch_models.py leave out, a few of a kind.
CHOSEN = ("mixtral", "stepped", "selective", "mobilenet")


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_values_caches_and_state_are_those_of_eager(name):
    row = corpus.measure(name, 0.0, False)
    assert row.faults == ()
    assert row.compiled >= corpus.WANTED
    assert row.segments == 1


def test_the_command(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "RESULTS", tmp_path / "corpus.md")
    assert corpus.main(["--quick", "--left", "--write", "mlp"]) == 0
    shown = capsys.readouterr().out
    assert "| mlp | 3 of 3 (100%) | 1 | 1 | 1 | 2 |" in shown
    assert "Not captured whole: none." in shown
    assert "| mlp | 3 of 3 (100%) |" in (tmp_path / "corpus.md").read_text()
    with pytest.raises(SystemExit):
        corpus.main(["nothing"])


def test_what_differs_is_told(monkeypatch, capsys):
    one, two = torch.ones(2, 3), torch.ones(3, 2).t()
    assert corpus.differs((one,), [one]) == "tuple instead of list"
    assert corpus.differs({"a": one}, {"b": one}) == "['a'] instead of ['b']"
    assert corpus.differs([one], [one, one]) == "1 tensors instead of 2"
    assert "strides" in corpus.differs(one, two)
    assert "not close" in corpus.differs(one, one + 1)
    assert corpus.differs(one, one.clone()) == ""
    monkeypatch.setattr(corpus, "differs", lambda *pair: "another value")
    assert corpus.main(["--quick", "mlp"]) == 1
    assert "another value" in capsys.readouterr().out


def doubled(x):
    return x * 2


def summed(x):
    y = doubled(x)
    total = y.sum()
    name = str(3)
    if float(total) > 0:
        y = y + 1
    return y, name


def test_statements_that_python_runs():
    first = summed.__code__.co_firstlineno
    x = torch.ones(3)
    found = touching(lambda: summed(x))
    lines = sorted(line - first for file, line in found if file == __file__)
    assert lines == [-3, 2, 4, 5]
    compiled = astjit.compile(summed)
    compiled(x)
    left = run_by_python(lambda: compiled(x)) & found
    assert sorted(line - first for _, line in left) == [4]
    assert run_by_python(lambda: summed(x)) >= found


def test_every_model_has_sizes_and_a_name():
    assert len(MODELS) >= 40
    assert all(row.sizes and name == name.strip() for name, row in MODELS.items())
