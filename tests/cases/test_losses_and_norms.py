"""Losses without a reduction, norms and normalizations are one kernel, as near as eager."""

import pytest
import torch
import torch.nn.functional as F

import astjit

CASES = {
    "mse": (lambda x, y: F.mse_loss(x, y, reduction="none"), "pointwise"),
    "logits": (
        lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid(), reduction="none"),
        "pointwise",
    ),
    "norm": (lambda x, y: x.norm(dim=1), "row"),
    "normalize": (lambda x, y: F.normalize(x, dim=-1) * y, "row"),
    "cosine": (lambda x, y: F.cosine_similarity(x, y, dim=-1), "row"),
    "soft classes": (
        lambda x, y: F.cross_entropy(x, y.softmax(1), reduction="none", label_smoothing=0.1),
        "row",
    ),
    "nansum": (lambda x, y: x.nansum(1), "row"),
    "count": (lambda x, y: x.count_nonzero(1), "row"),
    "batch norm": (lambda x, y: F.relu(F.batch_norm(x, y[0], y[1].abs(), y[2], y[3])), "pointwise"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_kernel(name):
    function, kind = CASES[name]
    compiled = astjit.compile(function, fullgraph=True)
    for dtype in (torch.float32, torch.bfloat16):
        x, y = (torch.randn(12, 40, generator=torch.Generator().manual_seed(i)) for i in range(2))
        x, y = x.to(dtype), y.to(dtype)
        torch.testing.assert_close(compiled(x, y), function(x, y))
        report = astjit.explain(compiled, x, y)
        assert [k.kind for k in report.kernels] == [kind]
        assert not [c for c in report.library_calls if "div" not in c.name]
