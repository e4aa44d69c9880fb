"""An `if` on a tensor of one element gives what eager gives, in one kernel where it can."""

import copy
import re

import pytest
import torch

import astjit
from tests import branch_functions as cases
from tests.branch_functions import R, chained, gated, scaled, several, two_results
from tests.emulator.machine import EmulatedDriver, posing


@pytest.fixture
def _without_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


interpreted = pytest.mark.usefixtures("_without_compiler")
pytestmark = pytest.mark.filterwarnings("ignore:kernels run through PyTorch")


def check(compiled, function, args, *, raises=False):
    """A call gives eager's results, and does to its arguments what eager does."""
    mine = copy.deepcopy(args)
    try:
        wanted = function(*args)
    except Exception as error:
        assert raises
        with pytest.raises(type(error), match=re.escape(str(error))):
            compiled(*mine)
        return
    got = compiled(*mine)
    torch.testing.assert_close(got, wanted, rtol=1e-6, atol=1e-6, equal_nan=True)
    torch.testing.assert_close(mine, args, rtol=1e-6, atol=1e-6, equal_nan=True)
    assert alike(got, mine) == alike(wanted, args)


def alike(results, args):
    """Which results are arguments, and which share memory with one."""
    found = []
    for part in results if isinstance(results, tuple) else (results,):
        for other in args:
            if isinstance(part, torch.Tensor) and isinstance(other, torch.Tensor):
                shares = part.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
                found.append((part is other, shares, part.stride()))
    return found


@interpreted
def test_both_arms_are_right():
    compiled = {}
    for function, args in several():
        made = compiled.setdefault(function, astjit.compile(function, fullgraph=True))
        check(made, function, args)
    for function, made in compiled.items():
        args = next(args for f, args in several() if f is function)
        assert " = if " in made.ssa(*args), function.__name__


@interpreted
@pytest.mark.parametrize("flags", [(True, False), (False, True)])
@pytest.mark.filterwarnings("ignore:.* runs eagerly")
def test_what_is_more_than_a_choice_runs_as_written(flags):
    for function in cases.OTHERS:
        compiled = astjit.compile(function)
        for flag in (*flags, *flags):
            cases.LOG.clear()
            cases.HELD.scale = 2.0
            args = R(6, 5), torch.tensor(flag)
            check(compiled, function, args, raises=True)
            half = len(cases.LOG) // 2
            assert cases.LOG[:half] == cases.LOG[half:]
    for function in (cases.written_after, cases.writes_what_it_may_be, cases.fits_in_one_arm):
        compiled = astjit.compile(function)
        for flag in flags:
            check(compiled, function, (R(6, 6), R(6, 6), torch.tensor(flag)))
    compiled = astjit.compile(cases.loops_and_breaks)
    for sign in (1, -1):
        check(compiled, cases.loops_and_breaks, (torch.rand(6, 5) * sign,))


@interpreted
def test_gradients_are_recorded_as_in_eager():
    compiled = astjit.compile(scaled)
    for flag in (1.0, -1.0):
        x = (torch.rand(3, 4) * flag).requires_grad_()
        y = x.detach().clone().requires_grad_()
        compiled(x, 2.0).sum().backward()
        scaled(y, 2.0).sum().backward()
        torch.testing.assert_close(x.grad, y.grad)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x, 2.0), scaled(y, 2.0))


def some(args):
    """Several functions, one after the other: one unit."""
    return [function(*given) for function, given in zip(SOME, args, strict=True)]


SOME = (scaled, chained, two_results, gated)


def for_some(n, *, last=False):
    """Arguments for each of these: the first there are, or the last."""
    pairs = list(several(n))
    chosen = dict(pairs if last else reversed(pairs))
    return [chosen[function] for function in SOME]


def test_the_kernels_of_some_together():
    compiled = astjit.compile(some, fullgraph=True)
    for n, last in ((33, False), (7, True), (40, False)):
        check(compiled, some, (for_some(n, last=last),))


def test_the_same_kernels_on_cuda():
    with posing(EmulatedDriver()) as driver:
        compiled = astjit.compile(some, fullgraph=True, target="cuda")
        check(compiled, some, (for_some(9),))
    assert len(driver.launches) >= 4
    for launch in driver.launches:
        assert launch.errors == []
        assert not any(launch.unwritten.values())


def test_a_loop_with_branches_is_one_kernel():
    args = dict(several())[gated]
    text = astjit.compile(gated, fullgraph=True).ssa(*args)
    assert " for %h {trip=x0" in text
    assert text.count(" = if ") == 2


def test_the_branch_is_one_for_all_elements():
    compiled, flag = astjit.compile(two_results, fullgraph=True), torch.tensor(True)
    for source in (compiled.cpp_source(R(5, 7), flag), compiled.cuda_source(R(5, 7), flag)):
        assert "const bool t_v" in source
        assert re.search(r"if \(t_v2?\) {", source)
    assert "kernel two_results" in str(astjit.explain(two_results, R(5, 7), flag))
