"""Patterns of match, as displays in the copy and matched by hooks."""

import ast
import types

import pytest
import torch

from astjit.frontend.patterns import captures, described
from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured


def pattern(text):
    (statement,) = ast.parse(f"match x:\n  case {text}: pass").body
    return statement.cases[0].pattern


@pytest.mark.parametrize(
    ("text", "names", "shown"),
    [
        ("1 | 2", [], "('or', (('value', 1), ('value', 2)))"),
        ("[a, *b]", ["a", "b"], "('sequence', (('as', None, 'a'), ('star', 'b')))"),
        ("{'k': None, **c}", ["c"], "('mapping', (('k', ('same', None)),), 'c')"),
        ("P(0, y=_) as p", ["p"], None),
    ],
)
def test_descriptions(text, names, shown):
    found = described(pattern(text), lambda node: node)
    assert captures(pattern(text)) == names
    wanted = shown or ("('as', ('class', P, (('value', 0),), (('y', ('as', None, None)),)), 'p')")
    assert ast.unparse(ast.fix_missing_locations(found)) == wanted


def test_what_a_pattern_reads_of_an_outside_object_is_guarded():
    def function(x, v):
        match v:
            case types.SimpleNamespace(kind="a", by=by):
                return x * by
            case types.SimpleNamespace():
                return -x

    one = types.SimpleNamespace(kind="a", by=2.0)
    captured = Captured(function, torch.ones(1, 2), one)
    assert captured.failing(torch.ones(1, 2), types.SimpleNamespace(kind="a", by=3.0)) == []
    assert captured.failing(torch.ones(1, 2), types.SimpleNamespace(kind="b", by=2.0)) != []


def test_too_many_positions_are_an_error():
    def function(x):
        match 1:
            case int(1, 2):
                return x

    with pytest.raises(TypeError, match="accepts 1 positional sub-pattern"):
        Captured(function, torch.ones(2))


def test_a_tensor_is_not_compared():
    def function(x):
        match x:
            case 1:
                return x

    with pytest.raises(Stop, match="a condition on the values of a tensor"):
        Captured(function, torch.ones(2))
