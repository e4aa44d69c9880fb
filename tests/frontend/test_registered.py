"""Operators of torch.library: library calls where they are functions of their arguments."""

import itertools

import pytest
import torch

import astjit
from astjit.errors import UnsupportedOp

OPERATOR = torch.library.custom_op
CALLS = itertools.count()


@OPERATOR("astjit_tests::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float, times: int = 1) -> torch.Tensor:
    next(CALLS)
    return x * factor**times


@scaled.register_fake
def _(x, factor, times=1):
    return torch.empty_like(x)


@OPERATOR("astjit_tests::headed", mutates_args=())
def headed(x: torch.Tensor) -> list[torch.Tensor]:
    return [x[:1].clone(), x[1:].clone()]


@headed.register_fake
def _(x):
    return [x.new_empty(1, *x.shape[1:]), x.new_empty(x.shape[0] - 1, *x.shape[1:])]


@OPERATOR("astjit_tests::emptied", mutates_args=("x",))
def emptied(x: torch.Tensor) -> None:
    x.zero_()


@OPERATOR("astjit_tests::unknown", mutates_args=())
def unknown(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@OPERATOR("astjit_tests::noisy", mutates_args=(), tags=(torch.Tag.nondeterministic_seeded,))
def noisy(x: torch.Tensor) -> torch.Tensor:
    return x + torch.rand_like(x)


@noisy.register_fake
def _(x):
    return torch.empty_like(x)


@OPERATOR("astjit_tests::longer", mutates_args=())
def longer(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, x])


@longer.register_fake
def _(x):
    return torch.empty_like(x)  # which is wrong


def by_packet(x):
    return torch.ops.astjit_tests.scaled(x + 1, 2.0) * 3


def by_overload(x):
    return torch.ops.astjit_tests.scaled.default(x + 1, 2.0, times=2) * 3


def by_definition(x):
    return scaled(x + 1, 2.0) * 3


def in_a_list(x):
    first, second = torch.ops.astjit_tests.headed(x * 2)
    return first + 1, second - 1


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
@pytest.mark.parametrize("function", [by_packet, by_overload, by_definition, in_a_list])
def test_a_call_is_a_library_call(function):
    compiled = astjit.compile(function, fullgraph=True)
    for rows in (4, 7, 6):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(compiled(x), function(x), rtol=0, atol=0)
    assert compiled.cache_info().programs == 1
    assert "torch.ops.astjit_tests." in compiled.ssa(torch.randn(4, 3))


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
def test_capture_does_not_run_it():
    compiled = astjit.compile(by_packet)
    before = next(CALLS)
    compiled(torch.ones(3))
    compiled(torch.ones(5))
    assert next(CALLS) - before == 3


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: torch.ops.astjit_tests.emptied(x), "writes to its arguments"),
        (lambda x: torch.ops.astjit_tests.noisy(x), "draws random numbers"),
        (lambda x: torch.ops.astjit_tests.unknown(x), "meta tensors: There was no fake impl"),
        (lambda x: torch.ops.aten.add(x, 1), "is called directly"),
        (lambda x: torch.ops._c10d_functional.wait_tensor(x), "not known to be without effect"),
    ],
)
def test_what_may_be_more_is_left_to_python(function, why):
    with pytest.raises(UnsupportedOp, match=why):
        astjit.compile(function, fullgraph=True)(torch.ones(3))


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
def test_another_operator_under_the_name_is_followed(monkeypatch):
    compiled = astjit.compile(by_definition)
    x = torch.ones(3)
    assert compiled(x).tolist() == [12.0] * 3
    monkeypatch.setitem(globals(), "scaled", lambda x, factor: x)
    assert compiled(x).tolist() == [6.0] * 3
    monkeypatch.setitem(globals(), "scaled", torch.ops.astjit_tests.scaled)
    assert compiled(x).tolist() == [12.0] * 3


def test_a_gradient_is_recorded_by_eager():
    x = torch.ones(3, requires_grad=True)
    report = astjit.explain(by_packet, x)
    assert "gradient" in report.fallbacks[0].reason


@pytest.mark.filterwarnings("ignore::astjit.errors.AstjitWarning")
@pytest.mark.parametrize("built", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_fake_implementation_that_is_wrong_is_noticed(monkeypatch, built):
    def wrong(x):
        return torch.ops.astjit_tests.longer(x) * 2

    if built:
        monkeypatch.delenv("CXX")
    assert astjit.compile(wrong)(torch.ones(3)).tolist() == [2.0] * 6
