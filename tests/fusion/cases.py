"""Functions that must become one kernel each, as SSA text with the eager PyTorch they came from."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from astjit.ir.parser import parse


@dataclass(frozen=True)
class Case:
    """A function as SSA, the same in PyTorch, and the kind of the one kernel that it becomes."""

    name: str
    text: str
    eager: Any
    kind: str

    def function(self, dtype="f32"):
        return parse(self.text.replace("FLOAT", dtype))


def bias_gelu(x, bias, residual, approximate="none"):
    return F.gelu(x + bias, approximate=approximate) + residual


def layer_norm_by_hand(x, w, b):
    mean = x.mean(-1, keepdim=True)
    centred = x - mean
    var = (centred * centred).mean(-1, keepdim=True)
    return centred * torch.rsqrt(var + 1e-5) * w + b


def rms_norm_by_hand(x, residual, w):
    h = x + residual
    return h * torch.rsqrt((h * h).mean(-1, keepdim=True) + 1e-6) * w, h


def rms_norm(x, residual, w):
    h = x + residual
    return F.rms_norm(h, (h.shape[-1],), w, 1e-6), h


def swiglu_chunk(x):
    gate, up = x[:, : x.shape[1] // 2], x[:, x.shape[1] // 2 :]
    return F.silu(gate) * up


def std_norm(x):
    std, mean = torch.std_mean(x, dim=-1, keepdim=True)
    return (x - mean) / std


def sincos(x):
    return torch.sin(x), torch.cos(x) * 2


CASES = (
    Case(
        "bias_gelu",
        """fn bias_gelu(%x: FLOAT[rows, cols], %bias: FLOAT[cols], %residual: FLOAT[rows, cols]):
  %a = add %x, %bias
  %g = gelu %a
  %y = add %g, %residual
  return %y
""",
        bias_gelu,
        "pointwise",
    ),
    Case(
        "bias_gelu_tanh",
        """fn bias_gelu_tanh(
    %x: FLOAT[rows, cols], %bias: FLOAT[cols], %residual: FLOAT[rows, cols]):
  %a = add %x, %bias
  %g = gelu %a {approximate='tanh'}
  %y = add %g, %residual
  return %y
""",
        lambda x, b, r: bias_gelu(x, b, r, "tanh"),
        "pointwise",
    ),
    Case(
        "swiglu",
        """fn swiglu(%a: FLOAT[rows, cols], %b: FLOAT[rows, cols]):
  %g = silu %a
  %y = mul %g, %b
  return %y
""",
        lambda a, b: F.silu(a) * b,
        "pointwise",
    ),
    Case(
        "swiglu_chunk",
        """fn swiglu_chunk(%x: FLOAT[rows, cols]) where 0 <= cols // 2, cols // 2 <= cols,
    0 <= 2*(cols // 2), 2*(cols // 2) <= cols, cols // 2 <= 2*(cols // 2):
  %gate = slice %x {dim=1, start=0, stop=cols // 2}
  %up = slice %x {dim=1, start=cols // 2, stop=cols // 2 + cols // 2}
  %s = silu %gate
  %y = mul %s, %up
  return %y
""",
        swiglu_chunk,
        "pointwise",
    ),
    Case(
        "softmax",
        """fn softmax(%x: FLOAT[rows, cols]):
  %y = softmax %x {dim=-1}
  return %y
""",
        lambda x: torch.softmax(x, -1),
        "row",
    ),
    Case(
        "log_softmax",
        """fn log_softmax(%x: FLOAT[batch, rows, cols]):
  %y = log_softmax %x {dim=2}
  return %y
""",
        lambda x: torch.log_softmax(x, -1),
        "row",
    ),
    Case(
        "masked_softmax",
        """fn masked_softmax(%x: FLOAT[b, h, s, t], %scale: float, %mask: FLOAT[b, 1, s, t]):
  %a = mul %x, %scale
  %m = add %a, %mask
  %y = softmax %m {dim=-1}
  return %y
""",
        lambda x, scale, mask: torch.softmax(x * scale + mask, -1),
        "row",
    ),
    Case(
        "layer_norm",
        """fn layer_norm(%x: FLOAT[a, b, cols], %w: FLOAT[cols], %bias: FLOAT[cols]):
  %y = layer_norm %x, %w, %bias, 1e-05 {normalized_shape=[cols]}
  return %y
""",
        lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b),
        "row",
    ),
    Case(
        "layer_norm_two",
        """fn layer_norm_two(%x: FLOAT[a, b, c], %w: FLOAT[b, c]):
  %y = layer_norm %x, %w, none, 1e-05 {normalized_shape=[b, c]}
  return %y
""",
        lambda x, w: F.layer_norm(x, x.shape[1:], w),
        "row",
    ),
    Case(
        "layer_norm_by_hand",
        """fn layer_norm_by_hand(%x: FLOAT[rows, cols], %w: FLOAT[cols], %b: FLOAT[cols]):
  %mean = mean %x {dim=[-1], keepdim=true}
  %centred = sub %x, %mean
  %0 = mul %centred, %centred
  %var = mean %0 {dim=[-1], keepdim=true}
  %1 = add %var, 1e-05
  %2 = rsqrt %1
  %3 = mul %centred, %2
  %4 = mul %3, %w
  %y = add %4, %b
  return %y
""",
        layer_norm_by_hand,
        "row",
    ),
    Case(
        "rms_norm_by_hand",
        """fn rms_norm(%x: FLOAT[rows, cols], %residual: FLOAT[rows, cols], %w: FLOAT[cols]):
  %h = add %x, %residual
  %0 = mul %h, %h
  %1 = mean %0 {dim=[-1], keepdim=true}
  %2 = add %1, 1e-06
  %3 = rsqrt %2
  %4 = mul %h, %3
  %y = mul %4, %w
  return %y, %h
""",
        rms_norm_by_hand,
        "row",
    ),
    Case(
        "rms_norm",
        """fn rms_norm(%x: FLOAT[rows, cols], %residual: FLOAT[rows, cols], %w: FLOAT[cols]):
  %h = add %x, %residual
  %y = rms_norm %h, %w, 1e-06 {normalized_shape=[cols]}
  return %y, %h
""",
        rms_norm,
        "row",
    ),
    Case(
        "softmax_between",
        """fn softmax_between(%x: FLOAT[rows, cols], %y: FLOAT[rows, 1]):
  %a = tanh %x
  %s = softmax %a {dim=1}
  %b = mul %s, %y
  %c = exp %b
  return %c
""",
        lambda x, y: torch.exp(torch.softmax(torch.tanh(x), 1) * y),
        "row",
    ),
    Case(
        "std_norm",
        """fn std_norm(%x: FLOAT[rows, cols]):
  %std, %mean = std_mean %x {dim=[-1], keepdim=true}
  %0 = sub %x, %mean
  %y = div %0, %std
  return %y
""",
        std_norm,
        "row",
    ),
    Case(
        "var_mean",
        """fn var_mean(%x: FLOAT[rows, cols]):
  %var, %mean = var_mean %x {dim=[1]}
  return %var, %mean
""",
        lambda x: torch.var_mean(x, dim=1),
        "row",
    ),
    Case(
        "sincos",
        """fn sincos(%x: FLOAT[rows, cols]):
  %a = sin %x
  %b = cos %x
  %c = mul %b, 2
  return %a, %c
""",
        sincos,
        "pointwise",
    ),
    Case(
        "logsumexp",
        """fn logsumexp(%x: FLOAT[rows, cols]):
  %y = logsumexp %x {dim=[-1]}
  return %y
""",
        lambda x: torch.logsumexp(x, -1),
        "row",
    ),
    Case(
        "sin_cos_sum",
        """fn sin_cos_sum(%x: FLOAT[rows, cols]):
  %a = sin %x
  %b = cos %x
  %c = mul %a, %b
  %d = abs %c
  %y = sum %d
  return %y
""",
        lambda x: (torch.sin(x) * torch.cos(x)).abs().sum(),
        "full",
    ),
    Case(
        "mse_mean",
        """fn mse_mean(%x: FLOAT[rows, cols], %y: FLOAT[rows, cols]):
  %d = sub %x, %y
  %s = mul %d, %d
  %m = mean %s
  return %m
""",
        F.mse_loss,
        "full",
    ),
    Case(
        "masked_mean",
        """fn masked_mean(%x: FLOAT[rows, cols], %w: FLOAT[rows, cols]):
  %v = abs %w
  %a = abs %x
  %p = mul %a, %v
  %s = sum %p
  %t = sum %v
  %y = div %s, %t
  %e = exp %x
  return %y, %e
""",
        lambda x, w: ((x.abs() * w.abs()).sum() / w.abs().sum(), x.exp()),
        "full",
    ),
    Case(
        "l2_norm",
        """fn l2_norm(%x: FLOAT[a, b, cols]):
  %s = mul %x, %x
  %t = sum %s {keepdim=true}
  %y = sqrt %t
  return %y
""",
        lambda x: (x * x).sum((0, 1, 2), keepdim=True).sqrt(),
        "full",
    ),
    Case(
        "bias_abs_sum",
        """fn bias_abs_sum(%x: FLOAT[rows, cols], %b: FLOAT[cols]):
  %c = add %x, %b
  %d = abs %c
  %y = sum %d
  return %y
""",
        lambda x, b: (x + b).abs().sum(),
        "row",
    ),
    Case(
        "logsumexp_mean",
        """fn logsumexp_mean(%x: FLOAT[rows, cols]):
  %l = logsumexp %x {dim=[-1]}
  %y = mean %l
  return %y
""",
        lambda x: torch.logsumexp(x, -1).mean(),
        "row",
    ),
    Case(
        "kl_batchmean",
        """fn kl_batchmean(%x: FLOAT[rows, cols], %t: FLOAT[rows, cols]):
  %l = log_softmax %x {dim=-1}
  %d = sub %t, %l
  %p = mul %t, %d
  %s = sum %p
  %n = size {value=rows}
  %y = div %s, %n
  %m = sum %p {dim=[1]}
  return %y, %m
""",
        lambda x, t: (
            (t * (t - torch.log_softmax(x, -1))).sum() / x.shape[0],
            (t * (t - torch.log_softmax(x, -1))).sum(1),
        ),
        "row",
    ),
)
BY_NAME = {case.name: case for case in CASES}
