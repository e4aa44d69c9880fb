"""Losses without a reduction, norms and normalizations are one kernel, as near as eager."""

import pytest
import torch
import torch.nn.functional as F

import astjit


def batch_norm(x, y):
    return F.relu(F.batch_norm(x, y[0], y[1].abs(), y[2], y[3]))


CASES = (
    (lambda x, y: F.mse_loss(x, y, reduction="none"), "pointwise"),
    (
        lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid(), reduction="none"),
        "pointwise",
    ),
    (lambda x, y: x.norm(dim=1), "row"),
    (lambda x, y: F.normalize(x, dim=-1) * y, "row"),
    (lambda x, y: F.cosine_similarity(x, y, dim=-1), "row"),
    (
        lambda x, y: F.cross_entropy(x, y.softmax(1), reduction="none", label_smoothing=0.1),
        "row",
    ),
    (lambda x, y: x.nansum(1), "row"),
    (lambda x, y: x.count_nonzero(1), "row"),
    (batch_norm, "pointwise"),
)


def every(*given):
    return [function(*inputs) for (function, _), inputs in zip(CASES, given, strict=True)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_one_kernel_each(dtype):
    generator = torch.Generator().manual_seed(0)
    inputs = [[torch.randn(12, 40, generator=generator).to(dtype) for _ in range(2)] for _ in CASES]
    compiled = astjit.compile(every, fullgraph=True)
    for found, (function, _), given in zip(compiled(*inputs), CASES, inputs, strict=True):
        torch.testing.assert_close(found, function(*given))
    report = astjit.explain(compiled, *inputs)
    assert [k.kind for k in report.kernels] == [kind for _, kind in CASES]
    assert not [c for c in report.library_calls if "div" not in c]
