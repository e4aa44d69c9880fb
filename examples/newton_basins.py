"""Newton's method for z**3 = 1 from every point of a square: which root it finds, and how fast.

python examples/newton_basins.py [--small] [--out newton_basins.png]

A `while` that ends where the point has converged, an early return, tuples, an inner function.
"""

import argparse
import math
from pathlib import Path

import torch
from pictures import write_png

import astjit

ROOTS = tuple((math.cos(t * math.tau / 3), math.sin(t * math.tau / 3)) for t in range(3))
COLORS = torch.tensor([[230, 70, 60], [70, 180, 90], [60, 100, 220]], dtype=torch.float64)


@astjit.elementwise(max_trips=10_000)
def basin(x, y):
    """The root that is found, counted from 0, or 3, and the number of steps."""

    def near(root):
        return abs(x - root[0]) < 1e-4 and abs(y - root[1]) < 1e-4

    steps = 0
    while steps < 60:
        for which, root in enumerate(ROOTS):
            if near(root):
                return which, steps
        square = x * x + y * y
        if square == 0.0:
            break
        # z - (z**3 - 1) / (3 z**2), with z**-2 as the square of the conjugate over |z|**4
        real, imaginary = x * x - y * y, -2 * x * y
        scale = 1 / (3 * square * square)
        x, y = x * 2 / 3 + real * scale, y * 2 / 3 + imaginary * scale
        steps += 1
    return 3, steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a small picture")
    parser.add_argument("--out", type=Path, default=Path("newton_basins.png"))
    options = parser.parse_args()
    size = 64 if options.small else 1000
    x = torch.linspace(-1.5, 1.5, size)
    y = torch.linspace(1.5, -1.5, size)[:, None]
    root, steps = basin(x, y)
    colors = torch.cat([COLORS, torch.zeros(1, 3, dtype=torch.float64)])
    bright = (0.85 ** steps.double().clamp(max=25)).unsqueeze(-1)
    write_png(options.out, (colors[root] * bright).round().to(torch.uint8))
    found = [f"{(root == which).float().mean().item():.1%}" for which in range(3)]
    print(f"{options.out}: {tuple(root.shape)}, the three roots from {', '.join(found)}")


if __name__ == "__main__":
    main()
