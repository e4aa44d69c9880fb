"""Calls that ran eagerly are captured once what they depended on has changed, and not before."""

import types
import warnings

import pytest
import torch

import astjit
from astjit.frontend.stops import Facts
from astjit.runtime.refusals import MOST_KINDS, MOST_TRIES, Refusals

X = torch.ones(3)
SETTINGS = types.SimpleNamespace(verbose=True, scale=2.0)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", astjit.AstjitWarning)
        yield


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x):
        if self.training:
            print(end="")
        return x * self.weight


LAYER = Layer()


def through_a_global(x):
    return LAYER(x) + 1


def through_an_argument(x, layer):
    return layer(x) + 1


def settings(x):
    if SETTINGS.verbose:
        print(end="")
    return x * SETTINGS.scale


def programs(compiled, *given):
    wanted = compiled.__wrapped__(*given)
    assert torch.equal(compiled(*given), wanted)
    return compiled.cache_info().programs


@pytest.mark.parametrize(
    ("function", "given"), [(through_a_global, (X,)), (through_an_argument, (X, LAYER))]
)
def test_a_model_that_is_cut_in_training_is_compiled_whole_for_evaluation(function, given):
    compiled = astjit.compile(function)
    LAYER.train()
    with torch.no_grad():
        assert [programs(compiled, *given) for _ in range(3)] == [1, 1, 1]  # after the print
        LAYER.eval()
        assert [programs(compiled, *given) for _ in range(3)] == [2, 2, 2]  # and of the whole
        LAYER.train()
        assert [programs(compiled, *given) for _ in range(3)] == [2, 2, 2]


def test_parameters_that_no_longer_want_a_gradient():
    compiled = astjit.compile(through_a_global)
    LAYER.eval()
    try:
        assert [programs(compiled, X) for _ in range(2)] == [0, 0]
        assert compiled.__astjit__.dispatcher.gradients == 2
        LAYER.requires_grad_(False)
        assert programs(compiled, X) == 1
    finally:
        LAYER.requires_grad_(True)


def captures(compiled, monkeypatch):
    """How often a function is captured from now on."""
    dispatcher, count = compiled.__astjit__.dispatcher, []
    build = dispatcher._build
    monkeypatch.setattr(dispatcher, "_build", lambda values: (count.append(1), build(values))[1])
    return count


def test_a_capture_is_tried_again_only_when_something_changed(monkeypatch):
    compiled = astjit.compile(settings)
    count = captures(compiled, monkeypatch)
    monkeypatch.setattr(SETTINGS, "verbose", True)
    assert [programs(compiled, X) for _ in range(3)] == [1, 1, 1]  # of what follows the print
    monkeypatch.setattr(SETTINGS, "scale", 3.0)  # not read before the capture stopped
    assert programs(compiled, X) == 1
    assert len(count) == 1
    monkeypatch.setattr(SETTINGS, "verbose", False)
    assert programs(compiled, X) == 2
    assert len(count) == 2


def changing(x):
    print(end=str(SETTINGS.scale)[:0])
    return x + 1


def test_what_changes_at_each_call_is_given_up(monkeypatch):
    compiled = astjit.compile(changing)
    count = captures(compiled, monkeypatch)
    for scale in range(3 * MOST_TRIES):
        monkeypatch.setattr(SETTINGS, "scale", scale + 0.5)
        assert programs(compiled, X) == 1  # of what follows the print
    assert len(count) == MOST_TRIES


def test_facts():
    refusals = Refusals()
    assert refusals.why("kind", (1,)) == ""
    refusals.add("kind", "odd", Facts(("n",), ("n % two == 1", "n.real < 9"), {"two": 2}))
    assert [refusals.why("kind", (n,)) for n in (1, 2, 11, "no number")] == ["odd", "", "", ""]
    refusals.add("other", "always")
    assert refusals.why("other", (2,)) == "always"
    refusals.add("kind", "none", Facts(("n",), (), {}))
    assert refusals.why("kind", (2,)) == "none"
    assert not refusals.many
    for number in range(MOST_KINDS):
        refusals.add(number, "more")
    assert refusals.many
    refusals.clear()
    assert not refusals.many
    assert refusals.why("other", (2,)) == ""
