"""The Mandelbrot set: each point iterates until it escapes, in one kernel.

python examples/mandelbrot.py [--small] [--out mandelbrot.png]

As a tensor program every point would be iterated as often as the slowest one, and masked.
"""

import argparse
import math
from pathlib import Path

import torch
from pictures import palette, write_png

import astjit

COLORS = [(0, 7, 60), (32, 107, 203), (237, 255, 255), (255, 170, 0), (20, 2, 0)]


@astjit.elementwise
def escape_time(re, im, limit):
    """How many steps a point takes to leave the circle of radius 16, without jumps between."""
    x = y = 0.0
    for n in range(limit):
        x, y = x * x - y * y + re, 2.0 * x * y + im
        square = x * x + y * y
        if square > 256.0:
            return n + 1 - math.log2(math.log2(square) / 2)
    return -1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a small picture")
    parser.add_argument("--out", type=Path, default=Path("mandelbrot.png"))
    options = parser.parse_args()
    height = 60 if options.small else 1000
    re = torch.linspace(-2.1, 0.7, height * 7 // 5)
    im = torch.linspace(1.0, -1.0, height)[:, None]
    steps = escape_time(re, im, 200)
    shade = torch.log1p(steps.clamp(min=0)) / math.log(200)
    picture = palette(shade, COLORS)
    picture[steps < 0] = 0
    write_png(options.out, picture)
    inside = (steps < 0).float().mean().item()
    print(f"{options.out}: {tuple(steps.shape)}, {inside:.1%} of the points never escaped")
    print(escape_time.ssa(re, im, 200))


if __name__ == "__main__":
    main()
