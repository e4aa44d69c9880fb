"""A unary op is one row: with nothing else it is captured, fused, built and run on both targets."""

import torch

import astjit
from astjit.ops.rules import FLOAT_ONE
from astjit.ops.spec import Kind, Op, Operand
from astjit.ops.table import OPS, extended
from astjit.targets.nvrtc import compile_cuda
from tests.emulator import emulate

ROW = Op(
    name="ndtr",
    kind=Kind.ELEMENTWISE,
    rule=FLOAT_ONE,
    operands=(Operand("input"),),
    torch=("torch.special.ndtr",),
    signature="input",
    doc="the share of a normal distribution below",
    spell={
        "cpu": "0.5f * erfc(-0.707106781f * {0})",
        "cpu.f64": "0.5 * erfc(-0.7071067811865476 * {0})",
        "cuda": "0.5f * erfcf(-0.707106781f * {0})",
        "cuda.f64": "0.5 * erfc(-0.7071067811865476 * {0})",
    },
)


def share(x, bias):
    h = x + bias
    return torch.special.ndtr(h) * 2


def test_one_row_is_enough():
    assert ROW.name not in OPS
    x, bias = torch.randn(5, 36), torch.randn(36)
    with extended(ROW):
        function = astjit.compile(share, fullgraph=True)
        torch.testing.assert_close(function(x, bias), share(x, bias))
        (kernel,) = astjit.explain(function, x, bias).kernels
        assert kernel.kind == "pointwise"
        assert "ndtr %h" in function.ssa(x, bias)
        source = function.cuda_source(x, bias, arch="sm_90")
    assert compile_cuda(source, "sm_90").resources["share"].spill_stores == 0
    helpers, kernels = source.split('extern "C"', 1)
    out = torch.full((5, 36), float("nan"))
    report = emulate(
        helpers.split("\n", 1)[1],
        'extern "C"' + kernels,
        "share",
        None,
        [x, bias, out, 5, 36],
        (2, 1),
        (32, 8),
    )
    assert not report.errors
    torch.testing.assert_close(out, share(x, bias))
    with extended(ROW):
        wide = astjit.compile(share, fullgraph=True)(x.double(), bias.double())
    torch.testing.assert_close(wide, share(x.double(), bias.double()), rtol=1e-14, atol=1e-14)


def test_without_the_row_it_is_a_library_call():
    report = astjit.explain(astjit.compile(share), torch.randn(5, 36), torch.randn(36))
    assert len(report.library_calls) == 1
