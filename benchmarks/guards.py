"""What guards cost at each call: for three tensors, and for the modules of a BERT.

    python benchmarks/guards.py

It prints the microseconds of the function that `fn.guards()` shows, the best of several runs.
"""

import re
import time
import timeit
from collections.abc import Callable
from typing import Any

import torch

import astjit

Tensor = torch.Tensor


def normed(x: Tensor, residual: Tensor, w: Tensor, eps: float = 1e-6) -> Tensor:
    """Three tensors and a number."""
    h = x + residual
    return h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps) * w


class Attention(torch.nn.Module):
    """Four projections, as BERT has them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width, self.is_causal, self.scaling = width, False, width**-0.5
        self.query, self.key = torch.nn.Linear(width, width), torch.nn.Linear(width, width)
        self.value, self.dense = torch.nn.Linear(width, width), torch.nn.Linear(width, width)
        self.norm, self.dropout = torch.nn.LayerNorm(width), torch.nn.Dropout()

    def forward(self, x: Tensor) -> Tensor:
        """Attention without a softmax: only the modules count here."""
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = q @ k.transpose(-1, -2) * self.scaling
        mixed = scores.tril() @ v if self.is_causal else scores @ v
        return self.norm(x + self.dropout(self.dense(mixed)))


class Layer(torch.nn.Module):
    """Attention and two projections."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = Attention(width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.norm, self.dropout = torch.nn.LayerNorm(width), torch.nn.Dropout()

    def forward(self, x: Tensor) -> Tensor:
        """One layer of the encoder."""
        x = self.attention(x)
        return self.norm(x + self.dropout(self.down(torch.nn.functional.gelu(self.up(x)))))


class Encoder(torch.nn.Module):
    """As many modules as a BERT of two layers has, and as many parameters."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(width) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        """All layers."""
        for layer in self.layers:
            x = layer(x)
        return x


def cost(compiled: Any, *args: object) -> tuple[int, float]:
    """How many tests the guards of a call have, and their microseconds."""
    program = compiled.__astjit__.built(args, {})
    text = program.host.guards
    namespace: dict[str, Any] = dict(program.host.namespace)
    exec(text, namespace)
    fits: Callable[..., bool] = namespace[re.findall(r"def (\w+)", text)[0]]
    given = compiled.__astjit__.dispatcher.entry.bind(*args)
    assert fits(*given), "the guards of a call hold for it"
    number = 2_000
    timer = time.process_time  # other processes do not count
    best = min(timeit.repeat(lambda: fits(*given), timer=timer, number=number, repeat=15)) / number
    tests = len(re.findall(r"\bif | or ", text))
    return tests, best * 1e6


def main() -> None:
    """Print both figures."""
    x = torch.randn(4, 16, 32)
    with torch.no_grad():
        three = astjit.compile(normed, fullgraph=True)
        print("three tensors: {} tests, {:.1f} us".format(*cost(three, x, x, x[0, 0])))
        encoder = Encoder(32, 2).eval()
        compiled = astjit.compile(lambda x: encoder(x), fullgraph=True)
        print("an encoder: {} tests, {:.1f} us".format(*cost(compiled, x)))


if __name__ == "__main__":
    main()
