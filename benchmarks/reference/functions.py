"""What the hand-written kernels beside this file compute; their comments name its lines."""

import torch
import torch.nn.functional as F


def bias_gelu(x, bias, residual):
    h = x + bias
    return F.gelu(h, approximate="tanh") + residual


def rms_norm(x, residual, weight, eps=1e-6):
    h = x + residual
    rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)
    y = h * rstd * weight
    return y, h


def softmax(x):
    return torch.softmax(x, dim=-1)


def cross_entropy(x, target):
    return F.cross_entropy(x, target, reduction="none")


def square_sum0(x):
    return (x * x).sum(0)


def sin_cos_sum(x):
    return (torch.sin(x) * torch.cos(x)).sum()


def logsumexp_mean(x):
    return torch.logsumexp(x, -1).mean()
