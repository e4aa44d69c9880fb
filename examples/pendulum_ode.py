"""A damped, driven pendulum from many starts at once: Runge and Kutta's method, one start a thread.

python examples/pendulum_ode.py [--small] [--out pendulum.png]

The picture shows how often the pendulum has gone round, for each angle and speed at the start.
Each start stops as soon as the pendulum can no longer go over the top.
"""

import argparse
import math
from pathlib import Path
from typing import NamedTuple

import torch
from pictures import palette, write_png

import astjit

COLORS = [(20, 20, 90), (60, 140, 220), (245, 245, 245), (240, 150, 60), (120, 10, 30)]
STEP = 0.02


class State(NamedTuple):
    """Of one pendulum."""

    angle: float
    speed: float


def acceleration(state, damping):
    return -math.sin(state.angle) - damping * state.speed


def moved(state, rate, by):
    return State(state.angle + rate.angle * by, state.speed + rate.speed * by)


def rate(state, damping):
    return State(state.speed, acceleration(state, damping))


def runge_kutta(state, damping):
    """The state a step later."""
    a = rate(state, damping)
    b = rate(moved(state, a, STEP / 2), damping)
    c = rate(moved(state, b, STEP / 2), damping)
    d = rate(moved(state, c, STEP), damping)
    angle = (a.angle + 2 * b.angle + 2 * c.angle + d.angle) / 6
    speed = (a.speed + 2 * b.speed + 2 * c.speed + d.speed) / 6
    return moved(state, State(angle, speed), STEP)


@astjit.elementwise(max_trips=1_000_000)
def turns(angle, speed, damping):
    """How often it has gone round when it has lost the energy for more, and how long that took."""
    state = State(angle, speed)
    time = 0.0
    while 0.5 * state.speed**2 - math.cos(state.angle) > 1.0:
        state = runge_kutta(state, damping)
        time += STEP
    return round(state.angle / math.tau), time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a small picture")
    parser.add_argument("--out", type=Path, default=Path("pendulum.png"))
    options = parser.parse_args()
    size = 48 if options.small else 800
    angle = torch.linspace(-math.pi, math.pi, size, dtype=torch.float64)
    speed = torch.linspace(8.0, -8.0, size, dtype=torch.float64)[:, None]
    count, time = turns(angle, speed, 0.25)
    most = int(count.abs().max())
    write_png(options.out, palette(count / (2 * most) + 0.5, COLORS))
    longest = time.max().item()
    print(
        f"{options.out}: {tuple(count.shape)}, up to {most} turns, the last after {longest:.1f} s"
    )


if __name__ == "__main__":
    main()
