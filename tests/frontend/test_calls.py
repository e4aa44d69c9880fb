"""`f(...)` during capture: who is run, who is rewritten, who ends the capture."""

import dataclasses
import functools
import random
import types

import pytest
import torch
import torch.nn.functional as F

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured, same


def x():
    return torch.randn(3, 4)


def affine(x, a=2.0, b=1.0):
    return x * a + b


class Scaler:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x * self.by

    def twice(self, x):
        return self(self(x))


@dataclasses.dataclass
class Options:
    a: float
    b: float = 2.0


@dataclasses.dataclass
class Checked:
    a: float

    def __post_init__(self):
        self.a = self.a * 2


class Picky(Exception):
    def __init__(self, text):
        super().__init__(text)
        self.text = text


class Made:
    def __new__(cls):
        return object.__new__(cls)


@functools.lru_cache
def cached(n):
    return n * 2


def raises(x):
    try:
        raise Picky("no")
    except Picky as error:
        return x * len(error.text)


@torch.no_grad()
def without_gradients(x):
    return x * 2


class Shifted(Scaler):
    def __call__(self, x):
        return super().__call__(x) + len(self)

    def __len__(self):
        return 3


def derived(x):
    class Local(Shifted):
        def extra(self, x):
            return self(x) * self.by

    return Local(2.0).extra(x)


PARTIAL = functools.partial(affine, b=3.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: affine(x, b=2.0),
        lambda x: PARTIAL(x),
        lambda x: functools.partial(affine, a=4.0)(x, b=5.0),
        lambda x: Scaler(2.0)(x) + Scaler(3.0).twice(x),
        lambda x: x * Options(3.0).b + Options(a=1.0, b=4.0).a,
        lambda x: x * cached(3),
        lambda x: x * cached(()).__len__() + x * cached((3, ("a",)))[2],
        lambda x: (lambda *a, **k: a[0] * k["s"])(x, s=2.0),
        lambda x: types.SimpleNamespace(a=x).a * 2,
        lambda x: torch.finfo(torch.float32).eps + x,
        lambda x: F.relu(x) + F.normalize(x, dim=-1),
        lambda x: x * 1 if torch.compiler.is_compiling() else x + 0,
        lambda x: x + 1 if torch.is_tensor(x) and not torch.is_grad_enabled() else x - 1,
        lambda x: x.to(torch.promote_types(torch.float16, torch.float32)) * 2,
        lambda x: torch.Tensor.add(x, 1) + torch.add(x, other=2),
        raises,
        without_gradients,
        derived,
        lambda x: x * Checked(1.0).a,
        lambda x: x if isinstance(Made(), Made) else -x,
        lambda x: x * max(Shifted(1.0), Shifted(2.0), key=lambda s: s.by).by,
        lambda x: x * sorted([Version(2), Version(1)])[0].n,
    ],
)
def test_calls_that_are_captured(function):
    argument = x()
    assert same(Captured(function, argument).run(), function(argument))


def test_a_partial_from_outside_is_followed():
    captured = Captured(lambda x, f: f(x), x(), functools.partial(affine, b=3.0))
    other = functools.partial(affine, b=4.0)
    assert captured.failing(x(), other) == []
    assert captured.run(torch.zeros(1, 1), other).item() == 4.0
    assert captured.failing(x(), functools.partial(affine, a=3.0)) != []
    assert captured.failing(x(), functools.partial(cached, b=3.0)) != []


def test_the_mode_of_gradients_that_was_asked_is_guarded():
    captured = Captured(lambda x: x if torch.is_grad_enabled() else -x, x())
    assert captured.failing(x()) == []
    with torch.no_grad():
        assert captured.failing(x()) == ["is_grad_enabled() is True"]


def test_another_compiled_function_is_looked_into():
    def compiled(x):
        raise AssertionError("run")

    compiled.__astjit__ = types.SimpleNamespace(function=affine)
    captured = Captured(lambda x, f: f(x) * 2, x(), compiled)
    assert captured.text.count("mul") == 2
    assert "f.__astjit__.function.__code__ is affine_code" in captured.tests


class Version:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return self.n < other.n


class Registry:
    def __init_subclass__(cls):
        SEEN.append(cls)


def registered(x):
    class Local(Registry):
        pass

    return x


def local_module(x):
    class Local(torch.nn.Module):
        pass

    return x


@torch.compiler.disable
def disabled(x):
    return x


class Module(torch.nn.Module):
    def forward(self, x):
        return x


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: Module()(x), "a module is made: Module"),
        (lambda x: disabled(x), "disable"),
        (lambda x: x * random.random(), r"random\(\) is not known to be without effect"),
        (lambda x: random.choice([x]), r"random.Random.choice\(\) is an effect"),
        (lambda x: torch.Tensor([1.0]), "a call of torch.Tensor"),
        (lambda x: torch.set_default_dtype(torch.float64), "set_default_dtype"),
        (lambda x: torch.set_num_threads(1), "set_num_threads"),
        (lambda x: torch.ops.aten.add(x, x), "a call of the operator"),
        (lambda x: torch.compile(affine)(x), r"torch.compile\(\)"),
        (registered, "a class whose base Registry defines __init_subclass__"),
        (local_module, "a module class defined inside the function"),
        (lambda x: NUMBER(x), "a call of a float|a call of a int"),
    ],
)
def test_calls_that_stop(function, reason):
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    with pytest.raises(Stop, match=reason):
        Captured(function, x())
    assert (torch.get_num_threads(), torch.get_default_dtype()) == (threads, dtype)


SEEN = []


def test_a_class_that_registers_itself_is_not_made():
    with pytest.raises(Stop):
        Captured(registered, x())
    assert SEEN == []


def in_a_graph(x):
    return x if torch.cuda.is_current_stream_capturing() else x * 2


def test_whether_a_graph_is_captured_is_asked_at_every_call(monkeypatch):
    monkeypatch.setattr(torch.cuda.graphs, "_cuda_isCurrentStreamCapturing", lambda: False)
    captured = Captured(in_a_graph, x())
    assert captured.failing(x()) == []
    monkeypatch.setattr(torch.cuda.graphs, "_cuda_isCurrentStreamCapturing", lambda: True)
    assert captured.failing(x()) == ["is_current_stream_capturing() is False"]


class Kind:
    pass


class Odd(type):
    def __eq__(cls, other):
        return True

    __hash__ = type.__hash__


def test_sets_of_classes():
    kinds = {Kind, torch.Tensor, "text"}
    captured = Captured(lambda x: x * 2 if type(x) in kinds and int not in kinds else x, x())
    assert captured.failing(x()) == []
    kinds.discard(Kind)
    assert len(captured.failing(x())) == 1
    for other in (3, Odd("Other", (), {})):
        kinds.add(other)
        with pytest.raises(Stop, match="a set of"):
            Captured(lambda x: x * 2 if Kind in kinds else x, x())
        kinds.discard(other)


NUMBER = 3
