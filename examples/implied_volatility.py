"""The volatility that Black and Scholes' formula needs to give an option's price, by bisection.

python examples/implied_volatility.py [--small] [--out implied_volatility.png]

Prices are made with a known volatility, which is then found again from them alone.
"""

import argparse
import math
from pathlib import Path

import torch
from pictures import palette, write_png

import astjit

COLORS = [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)]


def normal(x):
    """The distribution function of the standard normal distribution."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def black_scholes(spot, strike, years, rate, volatility):
    """The price of a call."""
    spread = volatility * math.sqrt(years)
    d = math.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years
    discounted = strike * math.exp(-rate * years)
    return spot * normal(d / spread) - discounted * normal(d / spread - spread)


price = astjit.elementwise(black_scholes)


@astjit.elementwise(max_trips=200)
def implied_volatility(target, spot, strike, years, rate):
    """The volatility for a price; nan where there is none."""
    low, high = 1e-6, 8.0
    if not black_scholes(spot, strike, years, rate, low) <= target:
        return math.nan
    if target > black_scholes(spot, strike, years, rate, high):
        return math.nan
    while high - low > 1e-10:
        middle = 0.5 * (low + high)
        if black_scholes(spot, strike, years, rate, middle) < target:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="few options")
    parser.add_argument("--out", type=Path, default=Path("implied_volatility.png"))
    options = parser.parse_args()
    size = 40 if options.small else 700
    strike = torch.linspace(70.0, 140.0, size, dtype=torch.float64)
    years = torch.linspace(2.0, 0.1, size, dtype=torch.float64)[:, None]
    smile = 0.18 + 0.5 * torch.log(strike / 100.0) ** 2 / torch.sqrt(years)
    quoted = price(100.0, strike, years, 0.03, smile)
    found = implied_volatility(quoted, 100.0, strike, years, 0.03)
    write_png(options.out, palette((found - 0.15) / 0.4, COLORS))
    known = ~found.isnan()
    error = (found - smile)[known].abs().max().item()
    print(f"{options.out}: {int(known.sum())} of {found.numel()} found, worst error {error:.1e}")


if __name__ == "__main__":
    main()
