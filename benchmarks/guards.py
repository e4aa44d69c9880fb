"""What guards cost at each call: for three tensors, the modules of an encoder, and a BERT.

    python benchmarks/guards.py

It prints the microseconds of the function that `fn.guards()` shows, the best of several runs, and
the milliseconds that a million rounds of a Python loop take: on another machine, or one with other
work to do, all figures grow as that does. The BERT has two layers and needs transformers.
"""

import importlib
import importlib.util
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


def bert() -> tuple[torch.nn.Module, Tensor]:
    """A BERT of two layers with random weights, and token numbers."""
    transformers: Any = importlib.import_module("transformers")  # slow, and not always there
    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
    )
    return transformers.BertModel(config).eval(), torch.randint(0, 99, (2, 7))


def loop() -> float:
    """Milliseconds of a fixed amount of work."""
    start, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number * number
    return (time.process_time() - start) * 1e3


def cost(title: str, compiled: Any, *args: object) -> None:
    """Print how many tests the guards of a call have, and their microseconds."""
    if isinstance(compiled, torch.nn.Module):
        compiled, args, _ = compiled.resolved(args, {})  # type: ignore[operator]
    program = compiled.__astjit__.built(args, {})
    text = program.host.guards
    namespace: dict[str, Any] = dict(program.host.namespace)
    exec(text, namespace)
    fits: Callable[..., bool] = namespace[re.findall(r"def (\w+)", text)[0]]
    given = compiled.__astjit__.dispatcher.entry.bind(*args)
    assert fits(*given), "the guards of a call hold for it"
    number = 2_000
    timer = time.process_time  # other processes do not count
    fixed = loop()
    best = min(timeit.repeat(lambda: fits(*given), timer=timer, number=number, repeat=15)) / number
    tests = len(re.findall(r"\bif | or ", text))
    print(f"{title}: {tests} tests, {best * 1e6:.1f} us (loop {min(fixed, loop()):.0f} ms)")


def main() -> None:
    """Print all figures."""
    x = torch.randn(4, 16, 32)
    with torch.no_grad():
        cost("three tensors", astjit.compile(normed, fullgraph=True), x, x, x[0, 0])
        encoder = Encoder(32, 2).eval()
        cost("an encoder", astjit.compile(lambda x: encoder(x), fullgraph=True), x)
        if importlib.util.find_spec("transformers") is not None:
            model, tokens = bert()
            cost("a BERT", astjit.compile(model, fullgraph=True), tokens)


if __name__ == "__main__":
    main()
