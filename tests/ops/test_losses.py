"""Losses as rows give eager's results, element by element bit for bit."""

import pytest
import torch

from tests.ops.calls import BRAIN, DOUBLE, HALF, SINGLE, captured, eager, values

F = "torch.nn.functional."


def tensors(dtype):
    x, y = (values(dtype, seed=i)[10:].reshape(20, 25) for i in range(2))
    return x, y


def cases(dtype):
    x, y = tensors(dtype)
    share, sign = y.sigmoid(), torch.where(y > 0, 1.0, -1.0).to(dtype)
    weight = y[0].abs()
    return [
        ("mse_loss", (x, y), {}),
        ("l1_loss", (x, y), {}),
        ("smooth_l1_loss", (x, y), {"beta": 0.7}),
        ("huber_loss", (x, y), {"delta": 0.7}),
        ("binary_cross_entropy_with_logits", (x, share), {}),
        (
            "binary_cross_entropy_with_logits",
            (x, share),
            {"pos_weight": weight, "weight": weight},
        ),
        ("kl_div", (x, share), {}),
        ("kl_div", (x, y), {"log_target": True}),
        ("poisson_nll_loss", (x, share), {}),
        ("poisson_nll_loss", (x.abs(), share), {"log_input": False, "eps": 0.1}),
        ("soft_margin_loss", (x, sign), {}),
        ("hinge_embedding_loss", (x, sign), {"margin": 0.7}),
        ("margin_ranking_loss", (x, y, sign), {"margin": 0.7}),
        ("cross_entropy", (x, share), {}),
        ("cross_entropy", (x, share), {"label_smoothing": 0.1}),
    ]


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE, BRAIN, HALF], ids=str)
def test_each_element(dtype):
    for name, args, given in cases(dtype):
        given = {**given, "reduction": "none"}
        if name in ("huber_loss", "smooth_l1_loss") and dtype in (HALF, BRAIN):
            assert captured(F + name, *args, **given) is None
            continue
        found, (wanted,) = captured(F + name, *args, **given), eager(F + name, *args, **given)
        assert found is not None, name
        torch.testing.assert_close(found[0], wanted, rtol=0, atol=0, equal_nan=True, msg=name)


@pytest.mark.parametrize("reduction", ["sum", "mean", "batchmean"])
def test_reductions(reduction):
    for name, args, given in cases(DOUBLE):
        given = {**given, "reduction": reduction}
        left = "mean" if name == "kl_div" else "batchmean"  # warns, or is refused
        if reduction == left:
            assert captured(F + name, *args, **given) is None, name
            continue
        (found,), (wanted,) = captured(F + name, *args, **given), eager(F + name, *args, **given)
        torch.testing.assert_close(found, wanted)


def test_what_is_left_to_pytorch():
    x, y = tensors(SINGLE)
    assert captured(f"{F}mse_loss", x, y[0]) is None  # warns
    assert captured(f"{F}mse_loss", x, y.double()) is None
    assert captured(f"{F}mse_loss", x, y, weight=y) is None
    assert captured(f"{F}mse_loss", x, y, True) is None
    assert captured(f"{F}mse_loss", x, y, reduction="all") is None
    assert captured(f"{F}smooth_l1_loss", x, y, beta=0.0) is None
    assert captured(f"{F}smooth_l1_loss", x, y, beta=-1.0) is None
    assert captured(f"{F}poisson_nll_loss", x, y, full=True) is None
    assert captured(f"{F}cross_entropy", x, y, weight=y[0]) is None
    assert captured(f"{F}binary_cross_entropy", x, y) is None
