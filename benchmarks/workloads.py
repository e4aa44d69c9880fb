"""Functions that people write between matmuls, each one kernel for astjit, with their inputs."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F

Tensors = tuple[torch.Tensor, ...]
Make = Callable[[int, int, torch.dtype], Tensors]


def bias_gelu(x: torch.Tensor, bias: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
    h = x + bias
    return F.gelu(h, approximate="tanh") + residual


def bias_gelu_erf(x: torch.Tensor, bias: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
    return F.gelu(x + bias) + residual


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    return F.silu(gate) * up


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=-1)


def log_softmax(x: torch.Tensor) -> torch.Tensor:
    return F.log_softmax(x, dim=-1)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (x.shape[-1],), weight, bias)


def layer_norm_by_hand(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    centred = x - mean
    var = centred.square().mean(-1, keepdim=True)
    return centred * torch.rsqrt(var + 1e-5) * weight + bias


def rms_norm(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor]:
    h = x + residual
    rstd = torch.rsqrt(h.square().mean(-1, keepdim=True) + eps)
    return h, h * rstd * weight


@dataclass(frozen=True, slots=True)
class Workload:
    """A function and what it is given.

    Attributes:
        function: what is compiled.
        inputs: its arguments for rows, cols and a dtype.
    """

    function: Callable[..., object]
    inputs: Make


def like(*kinds: str) -> Make:
    """Normal inputs: "full" is [rows, cols], "row" is [cols]."""

    def make(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
        shapes = {"full": (rows, cols), "row": (cols,)}
        return tuple(torch.randn(shapes[kind]).to(dtype) for kind in kinds)

    return make


WORKLOADS = {
    "bias_gelu": Workload(bias_gelu, like("full", "row", "full")),
    "bias_gelu_erf": Workload(bias_gelu_erf, like("full", "row", "full")),
    "swiglu": Workload(swiglu, like("full", "full")),
    "softmax": Workload(softmax, like("full")),
    "log_softmax": Workload(log_softmax, like("full")),
    "layer_norm": Workload(layer_norm, like("full", "row", "row")),
    "layer_norm_by_hand": Workload(layer_norm_by_hand, like("full", "row", "row")),
    "rms_norm": Workload(rms_norm, like("full", "full", "row")),
}
