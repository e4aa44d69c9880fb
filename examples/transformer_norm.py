"""A small transformer whose norms, activations and residuals are compiled, its matmuls PyTorch's.

    python examples/transformer_norm.py          256 tokens, width 512
    python examples/transformer_norm.py --small  for the tests

The norm is written by hand, as people write them; `astjit.compile(model)` takes the model as it is.
"""

import statistics
import sys
import time

import torch
from torch import nn

import astjit


class RMSNorm(nn.Module):
    """Root mean square normalization (Zhang and Sennrich, 2019) in float32 for any input dtype."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The normalized rows of `x`, of its dtype."""
        h = x.float()
        scale = torch.rsqrt(h.square().mean(-1, keepdim=True) + self.eps)
        return (h * scale).to(x.dtype) * self.weight


class Block(nn.Module):
    """Attention and a SwiGLU, each after a norm and with a residual."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = RMSNorm(width), RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.gate, self.up = nn.Linear(width, 2 * width), nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Tokens, f32[batch, length, width], after one layer."""
        q, k, v = self.qkv(self.norm_1(x)).unflatten(-1, (3, self.heads, -1)).unbind(2)
        mixed = nn.functional.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True
        )
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        h = self.norm_2(x)
        return x + self.down(nn.functional.silu(self.gate(h)) * self.up(h))


def model(width: int, layers: int) -> nn.Module:
    """A stack of blocks, without an embedding."""
    torch.manual_seed(0)
    return nn.Sequential(*(Block(width, 4) for _ in range(layers)), RMSNorm(width)).eval()


def milliseconds(functions: list[nn.Module], x: torch.Tensor, rounds: int) -> list[float]:
    """The median time of each, the contenders taking turns."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, taken in zip(functions, times, strict=True):
            start = time.perf_counter()
            function(x)
            taken.append(1e3 * (time.perf_counter() - start))
    return [statistics.median(taken) for taken in times]


@torch.no_grad()
def main(small: bool) -> None:
    """Compile, compare, change the batch, and show what became of a call."""
    width, length, layers = (32, 8, 2) if small else (512, 256, 4)
    eager = model(width, layers)
    fast = astjit.compile(eager)
    for batch in (2, 3):
        x = torch.randn(batch, length, width)
        torch.testing.assert_close(fast(x), eager(x), rtol=1e-4, atol=1e-5)
    print(f"two batches agree, {fast.cache_info().programs} program")

    report = astjit.explain(fast, x)
    print(f"{len(report.kernels)} kernels, {len(report.library_calls)} library calls; the first:")
    print(report.kernels[0].cuda)

    slow_ms, fast_ms = milliseconds([eager, fast], x, 3 if small else 20)
    print(f"eager {slow_ms:.2f} ms, astjit {fast_ms:.2f} ms")


if __name__ == "__main__":
    main(small="--small" in sys.argv[1:])
