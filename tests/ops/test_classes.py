"""Losses of numbers of classes: what is a row, and what stays PyTorch's call."""

import pytest
import torch

from astjit.ops.table import OPS
from astjit.types.dtype import F32, I32, I64
from astjit.types.shape import Sym
from astjit.types.tensor import TensorType
from tests.ops import rows
from tests.ops.calls import SINGLE, captured, eager, values

F = "torch.nn.functional."
N, C, K = Sym("n"), Sym("c"), Sym("k")


def test_one_loss_for_each_target_or_one_for_all():
    fields = {"reduction": "none", "ignore_index": -100}
    x, t = TensorType(F32, (N, C, K)), TensorType(I64, (N, K))
    (kind,) = rows.infer(OPS["nll_loss"], [x, t, None], fields)
    assert str(kind) == "f32[n, k]"
    (kind,) = rows.infer(OPS["nll_loss"], [x, t, None], {**fields, "reduction": "sum"})
    assert str(kind) == "f32[]"


@pytest.mark.parametrize("target", [TensorType(I32, (N, K)), TensorType(I64, (N,))], ids=str)
def test_other_targets_are_refused(target):
    fields = {"reduction": "none", "ignore_index": -100}
    with pytest.raises((TypeError, ValueError)):
        rows.infer(OPS["nll_loss"], [TensorType(F32, (N, C, K)), target, None], fields)


def test_values_and_what_is_left_to_pytorch():
    x = values(SINGLE)[10:].reshape(20, 25)
    t, w = torch.arange(20), torch.arange(25.0)
    for name in ("nll_loss", "cross_entropy"):
        for given in ({}, {"reduction": "sum"}, {"weight": w}, {"ignore_index": 3}):
            (found,), (wanted,) = captured(F + name, x, t, **given), eager(F + name, x, t, **given)
            torch.testing.assert_close(found, wanted, equal_nan=True)
        for args, given in (
            ((x, t.int()), {}),
            ((x, t.byte()), {}),
            ((x, t), {"weight": w.double()}),
            ((x, t), {"weight": w[:5]}),
            ((x, t[:5]), {}),
            ((x, t), {"reduction": "all"}),
            ((x, t, None, True), {}),
        ):
            assert captured(F + name, *args, **given) is None
    assert captured(f"{F}cross_entropy", x, t, label_smoothing=1.5) is None
