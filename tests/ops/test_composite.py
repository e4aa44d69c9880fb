"""Expansions at the edges: infinities, NaN, zeros of both signs, overflow, 16-bit floats."""

import math

import pytest
import torch

from astjit.ops.table import OPS
from tests.ops import rows

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 88.0, -88.0, 89.0, 104.0, -104.0, 1e30, -1e30, 1e-40, 25.0]
EDGES += [math.inf, -math.inf, math.nan]
ACTIVATIONS = ["sign", "relu", "silu", "mish", "logsigmoid", "gelu", "softplus", "leaky_relu"]
PAIRS = ["remainder", "floor_divide", "trunc_divide"]
NORMS = ["softmax", "log_softmax", "logsumexp"]


def numbers_of(op):
    """Values of the operands that are Python numbers in torch."""
    return {"softplus": [1.5, 20.0], "leaky_relu": [0.1]}.get(op.name, [])


def expanded(op, operands, fields):
    """The op by its expansion, as fusion uses it: halves in float32 if it rounds once."""
    dtype = operands[0].dtype
    half = dtype in (torch.float16, torch.bfloat16) and op.rounds == "once"
    wide = [v.float() if half and isinstance(v, torch.Tensor) else v for v in operands]
    emit = rows.TorchEmitter()
    filled = {f.name: fields.get(f.name, f.default) for f in op.fields}
    made = rows.tensors(op.expand(emit, *[emit.value(v) for v in wide], **filled))
    return [m.to(dtype) if half else m for m in made]


def compare(op, operands, fields, **tolerance):
    for a, b in zip(expanded(op, operands, fields), rows.run(op, operands, fields), strict=True):
        torch.testing.assert_close(a, b, equal_nan=True, **tolerance)
        zero = (a == 0) & (b == 0)
        if tolerance["rtol"] == 0:
            assert torch.equal(a[zero].signbit(), b[zero].signbit())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_at_the_edges(name, dtype):
    op, x = OPS[name], torch.tensor(EDGES, dtype=dtype)
    for fields in rows.field_choices(op, [rows.type_of_tensor(x)]):
        # mish of -inf is NaN by its formula; eager gives -0.0 only from a vector of lanes
        keep = x[~torch.isinf(x)] if name == "mish" else x
        compare(op, [keep, *numbers_of(op)], fields, rtol=2e-6, atol=1e-37)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", PAIRS)
def test_divisions_at_the_edges_are_exact(name, dtype):
    # PyTorch's vector fmod is NaN for a denormal divisor, its scalar one and ours are not
    x = torch.tensor([v for v in EDGES if v != 1e-40], dtype=dtype)
    a, b = x.repeat_interleave(len(x)), x.repeat(len(x))
    compare(OPS[name], [a, b], {}, rtol=0, atol=0)
    if dtype is not torch.bfloat16:  # by a number in float32: the spellings see to that
        for number in (2.5, -0.75):
            compare(OPS[name], [x, number], {}, rtol=0, atol=0)


def test_clamp_keeps_nan_and_takes_tensors():
    x = torch.tensor(EDGES)
    for low, high in ((-1.0, 1.0), (None, 0.5), (0.25, None), (1.0, -1.0), (math.nan, 1.0)):
        compare(OPS["clamp"], [x, low, high], {}, rtol=0, atol=0)
    compare(OPS["clamp"], [x, x.flip(0), None], {}, rtol=0, atol=0)
    compare(OPS["clamp"], [torch.arange(5), 1, 3], {}, rtol=0, atol=0)


@pytest.mark.parametrize("name", NORMS)
def test_softmaxes_at_the_edges(name):
    inf, nan = math.inf, math.nan
    op = OPS[name]
    for row in ([1e30, -1e30, 0.0], [-inf, 0.0, 1.0], [-inf, -inf, -inf], [inf, 0.0, 1.0],
                [nan, 0.0, 1.0], [1e-40, 0.0, -0.0], [88.0, 89.0, 90.0]):  # fmt: skip
        fields = {"dim": (-1,)} if name == "logsumexp" else {"dim": -1}
        compare(op, [torch.tensor([row])], fields, rtol=2e-6, atol=1e-38)


def test_norms_of_a_constant_row_and_of_large_values():
    for row in ([5.0, 5.0, 5.0, 5.0], [1e18, -1e18, 1e18, 2e18], [0.0, 0.0, 0.0, 0.0]):
        x = torch.tensor([row])
        fields = {"normalized_shape": (4,)}
        compare(OPS["layer_norm"], [x, None, None, 1e-5], fields, rtol=1e-5, atol=1e-6)
        compare(OPS["rms_norm"], [x, None, 1e-5], fields, rtol=1e-5, atol=1e-6)


def test_a_variance_far_from_zero_is_as_good_as_eager():
    """One pass over x and x * x would be off by 100%."""
    x = torch.randn(8, 4097, generator=torch.Generator().manual_seed(0)) + 1000
    exact = x.double().var(1)
    (found,) = expanded(OPS["var"], [x], {"dim": (1,)})
    error, eager = ((v.double() - exact).abs().max() for v in (found, x.var(1)))
    assert error <= 1.5 * eager + 1e-7


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", [*ACTIVATIONS, "softmax", "log_softmax", "layer_norm", "rms_norm"])
def test_halves_rounded_once_are_as_good_as_eager(name, dtype):
    """Against float64; eager's log_softmax rounds the logarithm of the sum as well."""
    op = OPS[name]
    x = (torch.randn(64, 48, generator=torch.Generator().manual_seed(1)) * 3).to(dtype)
    operands, fields = [x, *numbers_of(op)], {}
    if name in ("softmax", "log_softmax"):
        fields = {"dim": -1}
    if name.endswith("_norm"):
        w = torch.linspace(-1, 2, 48).to(dtype)
        operands = [x, w, w, 1e-5] if name == "layer_norm" else [x, w, 1e-5]
        fields = {"normalized_shape": (48,)}
    exact = [v.double() if isinstance(v, torch.Tensor) else v for v in operands]
    (found,), (wanted,) = expanded(op, operands, fields), rows.run(op, operands, fields)
    (best,) = rows.run(op, exact, fields)
    assert found.dtype == wanted.dtype == dtype
    error, eager = ((v.double() - best).abs().mean() for v in (found, wanted))
    assert error <= 1.01 * eager


def test_logsumexp_rounds_piece_by_piece():
    assert OPS["logsumexp"].rounds == "pieces"
    x = torch.randn(64, 33, generator=torch.Generator().manual_seed(1)).bfloat16()
    compare(OPS["logsumexp"], [x], {"dim": (1,)}, rtol=2.0**-7, atol=0)


def test_optional_operands_may_be_absent():
    x, w = torch.randn(3, 4), torch.randn(4)
    fields = {"normalized_shape": (4,)}
    for weight, bias in ((None, None), (w, None), (None, w), (w, w)):
        compare(OPS["layer_norm"], [x, weight, bias, 1e-5], fields, rtol=1e-5, atol=1e-6)
    for weight in (None, w):
        compare(OPS["rms_norm"], [x, weight, 1e-5], fields, rtol=1e-5, atol=1e-6)


def test_norms_over_several_axes():
    x, w = torch.randn(2, 3, 4), torch.randn(3, 4)
    fields = {"normalized_shape": (3, 4)}
    compare(OPS["layer_norm"], [x, w, w, 1e-5], fields, rtol=1e-5, atol=1e-6)
    compare(OPS["rms_norm"], [x, w, 1e-5], fields, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "types", "fields"),
    [
        ("layer_norm", ("f32[3, 4]", "f32[3]", "none", "float"), {"normalized_shape": (4,)}),
        ("layer_norm", ("f32[3, 4]", "none", "none", "float"), {"normalized_shape": (3,)}),
        ("layer_norm", ("f32[4]", "none", "none", "float"), {"normalized_shape": (3, 4)}),
        ("rms_norm", ("i64[3, 4]", "none", "float"), {"normalized_shape": (4,)}),
        ("softmax", ("f32[3, 4]",), {"dim": 2}),
        ("softmax", ("i64[3, 4]",), {"dim": 1}),
        ("gelu", ("f32[3, 4]",), {"approximate": "sigmoid"}),
        ("gelu", ("i64[3, 4]",), {}),
        ("clamp", ("f32[3, 4]", "none", "none"), {}),
        ("logsumexp", ("f32[3, 4]",), {"dim": (2,)}),
    ],
)
def test_what_torch_refuses_is_refused(name, types, fields):
    op = OPS[name]
    kinds = [rows.parse(t) for t in types]
    with pytest.raises((TypeError, ValueError, IndexError)):
        rows.infer(op, kinds, fields)
    with pytest.raises((RuntimeError, IndexError)):
        rows.run(op, rows.operands_of(op, kinds), fields)
