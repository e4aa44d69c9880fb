"""Losses as people write them, compiled: how many kernels each is, and that the values agree.

python examples/loss_zoo.py          4096 rows
python examples/loss_zoo.py --small  for the tests
"""

import sys
from collections.abc import Callable

import torch
import torch.nn.functional as F

import astjit


def label_smoothing(logits, target, smoothing=0.1):
    """Cross entropy against a target mixed with the uniform distribution (Szegedy et al., 2016)."""
    logp = F.log_softmax(logits, -1)
    picked = logp.gather(-1, target[:, None]).squeeze(-1)
    return -((1 - smoothing) * picked + smoothing * logp.mean(-1))


def focal(logits, labels, gamma=2.0):
    """Binary focal loss (Lin et al., 2017)."""
    p = torch.sigmoid(logits)
    hit = torch.where(labels > 0, p, 1 - p)
    return (1 - hit) ** gamma * F.binary_cross_entropy_with_logits(logits, labels, reduction="none")


def dice(logits, labels, eps=1.0):
    """One minus the soft Dice coefficient of each row (Milletari et al., 2016)."""
    p = torch.sigmoid(logits)
    shared, total = (p * labels).sum(-1), p.sum(-1) + labels.sum(-1)
    return 1 - (2 * shared + eps) / (total + eps)


def huber(prediction, value, delta=1.0):
    """Huber's loss, by hand."""
    error = (prediction - value).abs()
    return torch.where(error < delta, 0.5 * error * error, delta * (error - 0.5 * delta))


def distillation(logits, labels, temperature=4.0):
    """Kullback-Leibler divergence of softened distributions (Hinton et al., 2015), by rows."""
    student = F.log_softmax(logits / temperature, -1)
    teacher = F.log_softmax(labels / temperature, -1)
    return temperature**2 * (teacher.exp() * (teacher - student)).sum(-1)


def cosine(prediction, value, eps=1e-8):
    """One minus the cosine of the angle between rows."""
    dot = (prediction * value).sum(-1)
    lengths = prediction.square().sum(-1) * value.square().sum(-1)
    return 1 - dot * torch.rsqrt(lengths + eps)


ZOO: dict[Callable[..., torch.Tensor], str] = {
    label_smoothing: "classes",
    focal: "labels",
    dice: "labels",
    huber: "values",
    distillation: "values",
    cosine: "values",
}


def inputs(kind: str, rows: int, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Predictions, and targets of a kind."""
    torch.manual_seed(0)
    second = {
        "classes": lambda: torch.randint(columns, (rows,)),
        "labels": lambda: torch.randint(2, (rows, columns)).float(),
        "values": lambda: torch.randn(rows, columns),
    }
    return torch.randn(rows, columns), second[kind]()


def main(small: bool) -> None:
    """One line a loss."""
    rows, columns = (16, 24) if small else (4096, 512)
    for loss, kind in ZOO.items():
        args = inputs(kind, rows, columns)
        fast = astjit.compile(loss)
        torch.testing.assert_close(fast(*args), loss(*args), rtol=1e-4, atol=1e-5)
        report = astjit.explain(fast, *args)
        calls = ", ".join(report.library_calls) or "no library call"
        print(f"{loss.__name__}: {len(report.kernels)} kernel(s), {calls}; agrees with eager")


if __name__ == "__main__":
    main(small="--small" in sys.argv[1:])
