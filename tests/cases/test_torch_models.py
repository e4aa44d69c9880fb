"""Modules of torch.nn and models made of them: one program for several sizes, changes followed."""

import copy
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

import astjit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from zoo.table import MODELS
from zoo.vision import Block, squares


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Programs run through PyTorch; warnings about anything else are errors."""
    monkeypatch.setenv("CXX", "/nonexistent")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="kernels run through PyTorch")
        yield


CHANGES = {
    "mlp": lambda m: setattr(m[2], "eps", 0.5),
    "encoder in training, no dropout": lambda m: setattr(m.norm1, "eps", 0.5),
    "encoder": lambda m: setattr(m, "linear1", nn.Linear(16, 32)),
    "block": lambda m: setattr(m.bn1, "eps", 0.5),
    "block in training": lambda m: setattr(m, "relu", nn.Sigmoid()),
    "resnet": lambda m: m.layers[0].register_forward_hook(lambda m, a, y: y * 2),
    "unet": lambda m: setattr(m.downs[0][0], "weight", nn.Parameter(torch.ones(8, 4, 3, 3))),
    "recurrent": lambda m: setattr(m.embed, "weight", nn.Parameter(torch.ones(20, 8))),
    "attention": lambda m: setattr(m.attention, "in_proj_bias", nn.Parameter(torch.ones(48))),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_one_program_for_all_sizes_and_changes_are_followed(name):
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["encoder in training, no dropout", "block", "attention"])
def test_the_same_with_compiled_kernels(monkeypatch, name):
    monkeypatch.delenv("CXX")
    check(name)


def check(name):
    """Values as eager's, effects on the module too; one program; a change is followed."""
    torch.manual_seed(0)
    row, change = MODELS[name], CHANGES[name]
    module = row.make()
    other = copy.deepcopy(module)
    compiled = astjit.compile(module)
    for size in row.sizes:
        x = row.data(*size)
        torch.testing.assert_close(compiled(x), other(x), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(module.state_dict(), other.state_dict())
    assert compiled.cache_info().programs == 1, compiled.cache_info().reasons
    torch.manual_seed(1)
    change(module)
    torch.manual_seed(1)
    change(other)
    x = row.data(*row.sizes[0])
    torch.testing.assert_close(compiled(x), other(x), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_training_and_eval_in_turn():
    torch.manual_seed(0)
    module = Block(3, 8)
    other, compiled = copy.deepcopy(module), astjit.compile(module)
    for training in (True, False, True, False):
        compiled.train(training)
        other.train(training)
        x = squares(2, 8)
        torch.testing.assert_close(compiled(x), other(x), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(module.state_dict(), other.state_dict())
    assert compiled.cache_info().programs == 2
