"""Counted loops give what eager gives, whatever their number of iterations, and stay loops."""

import copy
import re
import runpy
from pathlib import Path

import pytest
import torch

import astjit
from tests.emulator.machine import EmulatedDriver, posing
from tests.loop_functions import R, ema, gae, in_place, returns, several, state_space


@pytest.fixture
def _without_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


def check(compiled, function, args):
    """A call gives eager's results, and does to its arguments what eager does."""
    mine = copy.deepcopy(args)
    try:
        wanted = function(*args)
    except (RuntimeError, IndexError) as error:
        with pytest.raises(type(error)):
            compiled(*mine)
        return
    torch.testing.assert_close(compiled(*mine), wanted, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(mine, args, rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
@pytest.mark.usefixtures("_without_compiler")
def test_every_number_of_iterations_is_right():
    compiled = {}
    for count in (10, 0, 1, 2, 5, 40):
        for function, args in several(count):
            made = compiled.setdefault(function, astjit.compile(function))
            check(made, function, args)
    for function, made in compiled.items():
        assert " for " in made.ssa(*dict(several(10))[function]), function.__name__


def every(args):
    """All loops of this file as one function: one unit."""
    return [
        ema(*args["ema"]),
        gae(*args["gae"]),
        returns(*args["returns"]),
        state_space(*args["state_space"]),
        in_place(*args["in_place"]),
        [f(*args[f.__name__]) for f in REST],
    ]


REST = [f for f, _ in several(6) if f not in (ema, gae, returns, state_space, in_place)]


def test_the_kernels_of_all_loops_together():
    compiled = astjit.compile(every, fullgraph=True)
    for count, n in ((9, 7), (33, 40), (300, 21)):
        torch.manual_seed(count)
        args = {f.__name__: given for f, given in several(count, n)}
        check(compiled, every, (args,))


def all_of(pairs, scale):
    return [ema(x, h, scale) for x, h in pairs]


STORE = []


def kept(x, h):
    for t in range(x.shape[0]):
        h = h + x[t]
        STORE.append(h)
    return h


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
@pytest.mark.usefixtures("_without_compiler")
def test_a_global_list_that_grows():
    compiled, args = astjit.compile(kept, fullgraph=True), (R(7, 3), R(3))
    for _ in range(2):
        STORE.clear()
        check(compiled, kept, args)
        assert len(STORE) == 14
        torch.testing.assert_close(STORE[:7], STORE[7:])


def test_dtypes_ranks_and_layouts():
    pairs = []
    for dtype in (torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32):
        for shape in ((), (3,), (3, 40)):
            pairs.append(((R(9, *shape) * 4).to(dtype), (R(shape) * 4).to(dtype)))
    pairs.append((R(9, 40, 3).transpose(1, 2), R(3, 40)))
    pairs.append((R(40, 9).t(), R(40)))
    pairs.append((R(9, 40), R(3, 40)))
    pairs.append((R(9), R(40)))
    compiled = astjit.compile(all_of, fullgraph=True)
    check(compiled, all_of, (pairs, 2))


def test_text_does_not_depend_on_the_number_of_iterations():
    texts = set()
    for count in (10, 10_000):
        args = (R(count, 4), R(4), 0.9)
        fresh = astjit.compile(ema)
        texts.add((fresh.ssa(*args), fresh.cpp_source(*args)))
    assert len(texts) == 1
    ((ssa, source),) = texts
    assert "for %h {trip=x0" in ssa
    assert "for (long t = 0; t < " in source


def test_the_same_kernels_on_cuda():
    """As the emulator runs them: every store of every iteration once, nothing beyond."""
    for count, n in ((6, 7), (9, 40)):
        torch.manual_seed(count)
        args = {f.__name__: given for f, given in several(count, n)}
        with posing(EmulatedDriver()) as driver:
            compiled = astjit.compile(every, fullgraph=True, target="cuda")
            check(compiled, every, (args,))
        assert len(driver.launches) >= len(args)
        for launch in driver.launches:
            assert launch.errors == []
            assert not any(launch.unwritten.values())


PAGE = Path(__file__).resolve().parents[2] / "docs" / "loops.md"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_is_made(tmp_path):
    example, kernel, loop = (text for _, text in _FENCE.findall(PAGE.read_text(encoding="utf-8")))
    file = tmp_path / "averages.py"
    file.write_text(example)
    averages = runpy.run_path(str(file))["averages"]
    given = R(100, 12), torch.zeros(12), 0.9
    for got, want in zip(averages(*given), averages.__wrapped__(*given), strict=True):
        torch.testing.assert_close(got, want)
    assert kernel in averages.cpp_source(*given)
    assert averages.ssa(*given).replace(f"{tmp_path}/", "") == loop
