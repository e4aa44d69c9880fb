"""Models of other libraries, each captured whole: one program for several sizes, eager's answers.

What changes later (an eps, a parameter, a layer, a hook, a config) is followed.
"""

import copy
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers
from torch import nn

import astjit
from astjit.errors import AstjitWarning

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from corpus import differs
from zoo.language import family, ids, masked, uncached
from zoo.table import MODELS

pytestmark = pytest.mark.slow


CHOSEN = ("bert", "gpt2", "llama", "vision", "einops")


def bert(layers):
    return family("bert", num_hidden_layers=layers)


def equal(one, other):
    assert differs(one, other) == ""


@pytest.fixture(autouse=True)
def _quiet():
    """No AstjitWarning but that a compiler is missing; gradients are off, as in serving."""
    torch.manual_seed(0)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error", AstjitWarning)
        warnings.filterwarnings("ignore", message="kernels run through PyTorch")
        yield


@pytest.mark.parametrize("name", CHOSEN)
def test_one_program_for_several_sizes(name):
    check(MODELS[name])


@pytest.mark.parametrize(("name", "data"), [("bert", ids), ("llama", uncached)])
def test_the_same_without_a_mask_or_a_cache(name, data):
    check(replace(MODELS[name], data=data))


def check(row):
    model = row.make()
    fast = astjit.compile(model)
    for size in row.sizes:
        given = row.data(*size)
        equal(row.call(fast, given), row.call(model, given))
    assert fast.cache_info().programs == 1


def test_a_loop_that_fills_a_cache():
    model = family("llama")
    fast = astjit.compile(model)

    def decoded(call):
        torch.manual_seed(1)
        cache, given, made = transformers.DynamicCache(config=model.config), ids(2, 5), []
        for _ in range(4):
            out = call(**given, cache=cache)
            given = {"input_ids": out.logits[:, -1:].argmax(-1)}
            made.append(out.logits)
        return made, cache

    one, other = decoded(fast), decoded(model)
    equal(one[0], other[0])
    equal(one[1], other[1])


def _new_parameter(model):
    model.encoder.layer[0].attention.self.query.weight = nn.Parameter(torch.randn(32, 32))


def _new_data(model):
    model.encoder.layer[0].attention.self.query.weight.data.mul_(2)


def _eps(model):
    model.encoder.layer[0].output.LayerNorm.eps = 0.5


def _layer(model):
    model.encoder.layer[1] = copy.deepcopy(model.encoder.layer[0])


def _activation(model):
    model.encoder.layer[0].intermediate.intermediate_act_fn = nn.ReLU()


def _fewer_layers(model):
    model.encoder.layer = model.encoder.layer[:1]
    model.config.num_hidden_layers = 1


def _hook(model):
    def double(module, args, out):
        return out[0] * 2 if isinstance(out, tuple) else out * 2

    model.encoder.layer[0].output.register_forward_hook(double)


def _config(model):
    model.config._attn_implementation = "eager"


@pytest.mark.parametrize(
    "change",
    [_eps, _new_parameter, _new_data, _layer, _activation, _fewer_layers, _hook, _config],
)
def test_what_changes_later_is_followed(change):
    model = bert(2 if change in (_layer, _fewer_layers) else 1)
    fast, given = astjit.compile(model), masked(2, 7)
    equal(fast(**given), model(**given))
    change(model)
    equal(fast(**given), model(**given))
