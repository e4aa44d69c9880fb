"""Classes defined inside the function: used in it, and never mistaken for those of another call."""

import collections
import contextlib
import enum
import typing
import warnings

import pytest
import torch

import astjit

X = torch.tensor([1.0, 2.0])


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "kernels run")
        yield


def by_type(x):
    class Base:
        factor = 2

    own = {"k": 3, "times": lambda self, v: v * self.k, "of": staticmethod(lambda v: v + 1)}
    made = type("Made", (Base,), own)
    held = type("Held", (), {"value": x})
    items = type("Items", (dict,), {})()
    items["a"] = x
    thing = made()
    thing.u = x
    return thing.times(x) + made.factor, made.of(thing.u), held.value * 2, items["a"], made.__name__


def named(x):
    pair = collections.namedtuple("pair", "u v", defaults=[2])
    other = typing.NamedTuple("other", [("u", object)])  # noqa: UP014

    class Both(typing.NamedTuple):
        u: object
        v: int = 2

        def both(self):
            return self.u * self.v

    p = pair(x)
    q = p._replace(v=5)
    return p.u * p.v + q.v, pair._fields, pair._make([x, 1]).u, other(x).u, Both(x).both()


def enumerated(x):
    kind = enum.Enum("kind", "A B")
    return x * kind.B.value, kind["A"].name, [k.value for k in kind]


def where(x):
    made = type("made", (), {})
    return x, made.__module__, collections.namedtuple("pair", "u").__module__, made.__qualname__


@pytest.mark.parametrize("function", [by_type, named, enumerated, where])
def test_a_class_is_used_during_the_call(function):
    compiled = astjit.compile(function, fullgraph=True)
    for x in (X, torch.ones(3)):
        for found, wanted in zip(compiled(x), function(x), strict=True):
            same = torch.equal(found, wanted) if isinstance(wanted, torch.Tensor) else False
            assert same or found == wanted
    assert compiled.cache_info().programs == 1


def a_pair(x):
    return collections.namedtuple("pair", "u")(x)


def a_member(x):
    return enum.Enum("kind", "A").A


def a_class(x):
    return type("made", (), {"x": x})


def an_object(x):
    return [type("made", (), {})()]


@pytest.mark.parametrize("function", [a_pair, a_member, a_class, an_object])
def test_each_call_makes_a_class_of_its_own(function):
    compiled = astjit.compile(function)
    with pytest.warns(astjit.AstjitWarning, match="made during the call"):
        one = compiled(X)
    other = compiled(X)
    assert one is not other
    pairs = zip(one, other, strict=True) if isinstance(one, list) else [(one, other)]
    assert all(type(a) is not type(b) or a is not b for a, b in pairs)


class Watched:
    def __init_subclass__(cls):
        raise AssertionError("seen")


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: type("made", (torch.nn.Module,), {})()(x), "a module class"),
        (lambda x: type("made", (Watched,), {}), "__init_subclass__"),
        (lambda x: type("made", (), {"held": Watched()}).held and x, "holds a Watched"),
        (lambda x: type("made", (enum.Enum,), {}) and x, "a class made by EnumType"),
    ],
)
def test_classes_whose_making_runs_code_end_the_capture(function, reason):
    compiled = astjit.compile(function)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with contextlib.suppress(Exception):  # as eager raises it
            compiled(X)
    assert [reason in str(w.message) for w in told] == [True]
    assert compiled.cache_info().programs == 0
