"""Functions that must become one column kernel each, as SSA text with the eager PyTorch beside."""

import torch

from tests.fusion.cases import Case


def standardise(x):
    var, mean = torch.var_mean(x, 0)
    return (x - mean) * torch.rsqrt(var + 1e-5), mean, var


def normalize(x):
    return x / (x * x).sum(1, keepdim=True).sqrt().clamp_min(1e-12)


def masked(x, w, b, s):
    return (torch.softmax(x * w + b, 0) * s).sum(0)


COLUMN_CASES = (
    Case(
        "square_sum",
        """fn square_sum(%x: FLOAT[rows, cols]):
  %s = mul %x, %x
  %y = sum %s {dim=(0,), keepdim=False}
  return %y
""",
        lambda x: (x * x).sum(0),
        "column",
    ),
    Case(
        "softmax",
        """fn softmax(%x: FLOAT[rows, cols]):
  %y = softmax %x {dim=0}
  return %y
""",
        lambda x: torch.softmax(x, 0),
        "column",
    ),
    Case(
        "log_softmax_middle",
        """fn log_softmax_middle(%x: FLOAT[outer, rows, cols]):
  %y = log_softmax %x {dim=1}
  return %y
""",
        lambda x: torch.log_softmax(x, 1),
        "column",
    ),
    Case(
        "standardise",
        """fn standardise(%x: FLOAT[rows, cols]):
  %var, %mean = var_mean %x {dim=(0,), correction=1, keepdim=False}
  %d = sub %x, %mean
  %v = add %var, 1e-05
  %r = rsqrt %v
  %y = mul %d, %r
  return %y, %mean, %var
""",
        standardise,
        "column",
    ),
    Case(
        "extremes",
        """fn extremes(%x: FLOAT[rows, cols]):
  %a = amax %x {dim=(0,), keepdim=False}
  %b = amin %x {dim=(0,), keepdim=False}
  %s = mean %x {dim=(0,), keepdim=False}
  return %a, %b, %s
""",
        lambda x: (x.amax(0), x.amin(0), x.mean(0)),
        "column",
    ),
    Case(
        "normalize",
        """fn normalize(%x: FLOAT[outer, rows, width, cols]):
  %s = mul %x, %x
  %t = sum %s {dim=(1,), keepdim=True}
  %q = sqrt %t
  %c = clamp %q, 1e-12, none
  %y = div %x, %c
  return %y
""",
        normalize,
        "column",
    ),
    Case(
        "masked",
        """fn masked(
    %x: FLOAT[rows, cols], %w: FLOAT[cols], %b: FLOAT[rows, 1], %s: FLOAT[rows, 1]):
  %m = mul %x, %w
  %a = add %m, %b
  %p = softmax %a {dim=0}
  %q = mul %p, %s
  %y = sum %q {dim=(0,), keepdim=False}
  return %y
""",
        masked,
        "column",
    ),
    Case(
        "broadcast_inside",
        """fn broadcast_inside(
    %x: FLOAT[outer, rows, width, cols], %b: FLOAT[outer, rows, 1, cols]):
  %a = add %x, %b
  %y = sum %a {dim=(1,), keepdim=False}
  return %y
""",
        lambda x, b: (x + b).sum(1),
        "column",
    ),
    Case(
        "transposed",
        """fn transposed(%x: FLOAT[rows, cols]):
  %t = permute %x {dims=(1, 0)}
  %e = exp %t
  %y = sum %e {dim=(1,), keepdim=False}
  return %y
""",
        lambda x: x.t().exp().sum(1),
        "column",
    ),
    Case(
        "part",
        """fn part(%x: FLOAT[rows, cols]) where 0 <= cols + -1, 1 <= cols:
  %p = slice %x {dim=1, start=1, stop=cols}
  %y = amax %p {dim=(0,), keepdim=True}
  return %y
""",
        lambda x: x[:, 1:].amax(0, keepdim=True),
        "column",
    ),
)
BY_NAME = {case.name: case for case in COLUMN_CASES}
