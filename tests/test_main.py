import subprocess
import sys

import pytest

from astjit.__main__ import main

MODEL = """
import torch
import astjit

@astjit.compile
def scaled(x, w, eps=1e-6):
    h = x * w
    return h + eps

@astjit.compile
def cut(x):
    y = x * 2
    print("half")
    return y.sum(0)

def plain(x):
    return x + x

def writes(x):
    x.t_()
    return x
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    file = tmp_path_factory.mktemp("model") / "model_for_main.py"
    file.write_text(MODEL)
    return file


@pytest.fixture
def ask(model, capsys):
    """(what was printed, what was said to be wrong) for a function and options."""

    def run(function, *options):
        wrong = main(["explain", f"{model}:{function}", *options])
        printed = capsys.readouterr()
        assert wrong == bool(printed.err)
        return printed.out, printed.err

    return run


@pytest.mark.filterwarnings("ignore:kernels run")
def test_segments_are_shown_once_a_call_has_reached_them(ask, monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    out, _ = ask("cut", "f32[3,4]")
    assert "not captured yet: no call has reached it" in out
    out, _ = ask("cut", "f32[3,4]", "--call")
    assert "half" in out
    assert "segment __astjit_segment_0__, line 12: cut_segment_0" in out
    assert "not captured yet" not in out


@pytest.mark.parametrize(
    ("show", "part"),
    [
        ("report", "kernel scaled (pointwise): reads 1.06 KiB"),
        ("ssa", "fn scaled(%x: f32[x0, x1], %w: f32[x1], %eps: float):"),
        ("cuda", "// nvrtc --gpu-architecture=sm_80"),
        ("cpp", 'extern "C" void scaled_kernel('),
        ("program", "scaled_kernel("),
        ("rewritten", "return __astjit_segment_0__(x, w, eps)"),
    ],
)
def test_show(ask, show, part):
    out, _ = ask("scaled", "f32[16,16]", "f32[16]", "eps=1e-5", "--show", show, "--arch", "sm_80")
    assert part in out


def test_a_function_that_is_not_compiled(ask):
    assert "kernel plain" in ask("plain", "bf16[3]")[0]
    assert "__global__" in ask("plain", "bf16[3]", "--show", "cuda")[0]
    assert "plain on cuda" in ask("plain", "bf16[3]", "--target", "cuda")[0]


def test_after_a_pass(ask):
    assert ask("plain", "f32[3]", "--after", "cse")[0].startswith("fn plain(")
    assert "no pass is called 'none'" in ask("plain", "f32[3]", "--after", "none")[1]


def test_what_is_wrong_is_said(ask):
    out, err = ask("writes", "f32[3]", "--show", "ssa")
    assert out == ""
    assert "x.t_()" in err
    assert "^^^" in err
    assert "f32[n]" in ask("plain", "f32[n]")[1]
    assert "not an argument: f32[-1]" in ask("plain", "f32[-1]")[1]
    assert "plain() missing 1 required positional argument: 'x'" in ask("plain")[1]
    assert "sm_7x" in ask("plain", "f32[3]", "--show", "cuda", "--arch", "sm_7x")[1]


@pytest.mark.parametrize("command", ["ops", "passes", "targets"])
def test_lists(command, capsys):
    assert main([command]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= 2


@pytest.mark.slow
def test_as_a_module():
    ran = subprocess.run(
        [sys.executable, "-m", "astjit", "targets"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("cpu ")
