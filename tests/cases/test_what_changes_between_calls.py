"""What a call read may be another at the next call."""

import pytest
import torch

import astjit

ONE = torch.ones(3)
OTHER = ONE
NOTHING = None


class Lazy:
    """Attributes that exist only when asked for."""

    def __getattr__(self, name):
        if name == "scale":
            return 3.0
        raise AttributeError(name)


LAZY = Lazy()


def scaled(x):
    return x * LAZY.scale


def compared(x):
    return x + 1 if ONE is OTHER else x - 1


def optional(x, eps):
    return x if eps is NOTHING else x + eps


def test_an_attribute_appears_that_getattr_made_up_before():
    compiled, x = astjit.compile(scaled), torch.ones(3)
    assert torch.equal(compiled(x), x * 3)
    LAZY.scale = 5.0
    try:
        assert torch.equal(compiled(x), x * 5)
        del LAZY.scale
        Lazy.scale = 7.0
        assert torch.equal(compiled(x), x * 7)
    finally:
        del Lazy.scale
    assert torch.equal(compiled(x), x * 3)


def test_tensors_that_were_one_object_become_numbers(monkeypatch):
    compiled, x = astjit.compile(compared), torch.zeros(3)
    assert torch.equal(compiled(x), x + 1)
    monkeypatch.setitem(globals(), "OTHER", 2.0)
    assert torch.equal(compiled(x), x - 1)
    monkeypatch.setitem(globals(), "ONE", OTHER)
    with pytest.warns(astjit.AstjitWarning, match="`is` between two numbers"):
        assert torch.equal(compiled(x), x + 1)


def test_a_number_is_not_none():
    compiled = astjit.compile(optional, fullgraph=True)
    x = torch.zeros(3)
    assert compiled(x, None) is x
    assert torch.equal(compiled(x, 2.0), x + 2)
