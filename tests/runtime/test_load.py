import pytest
import torch

import astjit
from astjit.errors import KernelBuildError
from astjit.location import Location
from astjit.runtime import load as module
from astjit.runtime.load import load, measure, source_line
from astjit.runtime.pool import POOL
from astjit.runtime.words import MISS
from astjit.targets.cxx import find_compiler
from tests.runtime.made import RMS_NORM, function, made, reads_of


def rms_norm(x, residual, w, eps):
    h = x + residual
    return h, h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps) * w


def inputs(rows, cols):
    return torch.randn(rows, cols), torch.randn(rows, cols), torch.randn(cols), 1e-6


def same(got, wanted):
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other)
        assert one.stride() == other.stride() or not one.numel()


@pytest.fixture(scope="module")
def loaded():
    return load(made(RMS_NORM))


@pytest.mark.parametrize(
    ("rows", "cols"), [(2, 3), (33, 1000), (3, 5000), (700, 800), (0, 8), (8, 0)]
)
def test_one_program_for_all_sizes(loaded, rows, cols):
    given = inputs(rows, cols)
    same(loaded.run(*given), rms_norm(*given))
    assert loaded.why_not(*given) == ""


def test_an_offset_into_memory_is_minded(loaded):
    _, residual, _, eps = inputs(4, 7)
    memory = torch.randn(40)
    given = memory[3:31].view(4, 7), residual, memory[33:40], eps
    same(loaded.run(*given), rms_norm(*given))


def test_a_call_that_does_not_fit(loaded):
    x, residual, w, eps = inputs(4, 7)
    assert loaded.run(x, residual, w.double(), eps) is MISS
    assert loaded.why_not(x, residual, w.double(), eps) == "w is not of dtype float32"
    assert loaded.why_not(x, residual, w, None) == "eps is not a Python float"


def test_kernels_are_counted(loaded):
    ((origin, count),) = loaded.origins()
    assert origin in ("memory", "disk", "built")
    assert count == 1


def test_a_program_without_kernels_builds_nothing():
    loaded = load(made("fn f(%x: f32[n]):\n  return %x"))
    x = torch.ones(3)
    assert loaded.run(x) is x
    assert list(loaded.origins()) == []


def without_kernels(monkeypatch, error):
    def refuse(text):
        raise error

    monkeypatch.setattr(module, "cpu_library", refuse)


def test_without_a_compiler_it_runs_through_pytorch_and_says_so_once(monkeypatch):
    monkeypatch.setattr(module, "_told", set())
    without_kernels(monkeypatch, FileNotFoundError("no C++ compiler"))
    loaded = load(made(RMS_NORM))
    assert loaded.warning == "kernels run through PyTorch: no C++ compiler"
    assert load(made(RMS_NORM)).warning == ""
    given = inputs(4, 7)
    same(loaded.run(*given), rms_norm(*given))
    assert loaded.run(given[0].double(), *given[1:]) is MISS
    assert list(loaded.origins()) == []


def test_a_text_that_does_not_compile_is_told_and_logged(monkeypatch, caplog):
    without_kernels(monkeypatch, KernelBuildError("g++", "unit.cpp", "line 3: no"))
    loaded = load(made(RMS_NORM))
    assert loaded.warning.startswith(
        "rms_norm runs through PyTorch: compilation of unit.cpp failed"
    )
    assert "line 3: no" in caplog.text
    given = inputs(4, 7)
    same(loaded.run(*given), rms_norm(*given))


def test_integers_and_halves():
    text = """
        fn f(%x: bf16[n, m], %k: i64[m]):
          %y = mul %x, %k : bf16[n, m]
          return %y
    """
    x, k = torch.randn(5, 9).bfloat16(), torch.arange(9)
    assert torch.equal(load(made(text)).run(x, k), x * k)


def test_measure_reads_sizes_and_addresses_by_path():
    text = """
        fn f(%x: f32[n, m], %w = state['w']: f32[m], %a = half: float):
          %y = mul %x, %w : f32[n, m]
          return %y
    """
    more = {"parameters": ("x", "state"), "constants": {"half": 0.5}}
    program = made(text, reads=reads_of(function(text), **more))
    x, state = torch.ones(2, 3), {"w": torch.ones(3)}
    sizes, pointers = measure(program, {"x": x, "state": state})
    assert sizes == {"n": 2, "m": 3}
    assert list(pointers.values()) == [x.data_ptr(), state["w"].data_ptr()]


def test_the_users_source_line():
    line = test_the_users_source_line.__code__.co_firstlineno
    assert source_line(Location(__file__, line)) == "def test_the_users_source_line():\n"
    assert source_line(Location("nowhere.py", 1)) == ""


def test_the_pool_is_asked_for_the_largest_result(monkeypatch):
    asked = []
    monkeypatch.setattr(POOL, "prepare", asked.append)

    @astjit.compile
    def f(x):
        return x * 2, (x + 1)[:2]

    f(torch.randn(3, 5))
    assert asked == ([60] if find_compiler() is not None else [])
