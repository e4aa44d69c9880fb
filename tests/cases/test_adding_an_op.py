"""A unary op is one row: with nothing else it is captured, fused, built and run on both targets."""

import torch
import torch.nn.functional as F

import astjit
from astjit.ops.rules import FLOAT_ONE
from astjit.ops.spec import Kind, Op, Operand
from astjit.ops.table import OPS, extended
from astjit.targets.nvrtc import compile_cuda
from tests.emulator import emulate

ROW = Op(
    name="tanhshrink",
    kind=Kind.ELEMENTWISE,
    rule=FLOAT_ONE,
    operands=(Operand("input"),),
    torch=("torch.nn.functional.tanhshrink",),
    signature="input",
    doc="`x - tanh(x)`",
    spell={"cpu": "{0} - tanh({0})", "cuda": "{0} - tanhf({0})"},
)


def shrunk(x, bias):
    h = x + bias
    return F.tanhshrink(h) * 2


def test_one_row_is_enough():
    assert ROW.name not in OPS
    x, bias = torch.randn(5, 36), torch.randn(36)
    with extended(ROW):
        function = astjit.compile(shrunk, fullgraph=True)
        torch.testing.assert_close(function(x, bias), shrunk(x, bias))
        (kernel,) = astjit.explain(function, x, bias).kernels
        assert kernel.kind == "pointwise"
        assert "tanhshrink %h" in function.ssa(x, bias)
        source = function.cuda_source(x, bias, arch="sm_90")
    assert compile_cuda(source, "sm_90").resources["shrunk"].spill_stores == 0
    helpers, kernels = source.split('extern "C"', 1)
    out = torch.full((5, 36), float("nan"))
    report = emulate(
        helpers.split("\n", 1)[1],
        'extern "C"' + kernels,
        "shrunk",
        None,
        [x, bias, out, 5, 36],
        (2, 1),
        (32, 8),
    )
    assert not report.errors
    torch.testing.assert_close(out, shrunk(x, bias))


def test_without_the_row_it_is_a_library_call():
    report = astjit.explain(astjit.compile(shrunk), torch.randn(5, 36), torch.randn(36))
    assert len(report.library_calls) == 1
