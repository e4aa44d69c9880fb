import pytest
import torch

import astjit
from astjit import explain
from astjit.errors import UsageError
from astjit.report.explain import Fallback, Report, report_eager
from astjit.targets.nvrtc import ARCHES


def block(x, w):
    h = x + 1.0
    p = h @ w
    return torch.softmax(p, -1)


def effect(x):
    print(x)
    return x + 1


@pytest.fixture(scope="module")
def report():
    return explain(block, torch.randn(8, 16), torch.randn(16, 32))


def test_kernels_with_bytes_operations_and_lines(report):
    first, second = report.kernels
    assert (first.kind, first.target, first.reads, first.writes, first.flops) == (
        "pointwise",
        "cpu",
        512,
        512,
        128,
    )
    assert (second.kind, second.reads, second.writes) == ("row", 1024, 1024)
    # max, minus, exp, sum, divide
    assert second.flops == 5 * 256
    assert [place.line for place in first.lines] == [block.__code__.co_firstlineno + 1]
    assert f'extern "C" void {first.name}_kernel(' in first.source
    assert f"{second.name}(" in second.cuda


def test_library_calls_and_what_stays_unfused(report):
    line = block.__code__.co_firstlineno + 2
    assert report.library_calls == (f"matmul (test_explain.py:{line})",)
    assert {edge.producer.split()[0] for edge in report.unfused} >= {"add"}
    assert all(edge.reason for edge in report.unfused)
    assert (report.fallbacks, report.target, report.gradients) == ((), "cpu", 0)


def test_registers_by_architecture(report):
    resources = report.kernels[0].resources
    assert tuple(resources) == ARCHES
    assert all(0 < r.registers <= 255 and r.spill_stores == 0 for r in resources.values())


def test_reads_as_text(report):
    text = str(report)
    assert text.startswith("block on cpu\n  kernel ")
    assert "(row): reads 1 KiB, writes 1 KiB, 1,280 operations" in text
    assert "return torch.softmax(p, -1)" in text
    assert "library call matmul" in text


def test_what_is_left_to_python(capsys):
    report = explain(effect, torch.ones(3))
    line = effect.__code__.co_firstlineno + 1
    (fallback,) = report.fallbacks
    assert (fallback.file, fallback.line, fallback.text) == (__file__, line, "print(x)")
    assert "print" in fallback.reason
    assert report.kernels == ()
    assert capsys.readouterr().out == ""  # nothing was run
    assert str(report).startswith("effect is cut into 1 segment\n  segment __astjit_segment_0__, ")


def test_gradients_are_counted():
    report = explain(block, torch.randn(2, 2, requires_grad=True), torch.randn(2, 2))
    assert report.gradients == 1
    assert "\n  1 call ran eagerly for gradients" in str(report)
    assert "requires a gradient" in report.fallbacks[0].reason


def test_a_fallback_without_a_place():
    report = report_eager("f", UsageError("no reason"), 0)
    assert report == Report("f", "", fallbacks=(Fallback("", 0, "", "no reason"),))
    assert str(report) == "f runs eagerly\n  left to Python: no reason"


def test_only_functions_are_explained():
    with pytest.raises(UsageError, match="not a Python function"):
        explain(3)


def test_a_function_that_is_cut_tells_its_segments_and_what_is_left():
    def function(x):
        y = x * 2
        print(end="")
        return y.sum() if y.max() > 0 else y

    compiled = astjit.compile(function)
    before = astjit.explain(compiled, torch.ones(3))
    assert [segment.programs for segment in before.segments] == [0, 0]
    assert "not captured yet" in str(before)
    for _ in range(2):
        compiled(torch.ones(3))
    report = astjit.explain(compiled, torch.ones(3))
    (first,) = report.segments
    assert (first.programs, first.last - first.first) == (1, 0)
    assert [fallback.reason for fallback in report.fallbacks] == [
        "print() is an effect",
        "a condition on the values of a tensor",
    ]
    assert report.fallbacks[0].text == 'print(end="")'
    assert report.syncs == 1
