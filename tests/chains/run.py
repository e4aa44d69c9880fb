"""Random chains from the command line: `python -m tests.chains.run --seeds 0:2000`.

Prints every fault with the function, and how many operations and kernels there were.
"""

import argparse
import collections
import logging
import sys
import traceback

import torch

from astjit.frontend.stops import Failed, Stop
from astjit.runtime.words import MISS
from tests.chains.check import Fault, checked
from tests.chains.draw import draw
from tests.chains.unit import built, functions, loaded

EACH = 50  # chains in one unit


def run_seeds(seeds: range) -> tuple[collections.Counter, list[Fault]]:
    """Counts, and the faults of the chains of some seeds, compiled as one unit."""
    torch.set_num_threads(1)
    logging.getLogger("astjit").setLevel(logging.CRITICAL)
    counts, faults, programs, kept = collections.Counter(), [], [], []
    for chain, function, results in functions([draw(seed) for seed in seeds]):
        try:
            programs.append(built(function, chain))
        except Stop as stop:
            counts[f"eager: {stop.reason}"] += 1
            programs.append(None)
        except Exception as error:
            if isinstance(error.__context__, Failed):  # as a meta function refuses it
                counts[f"eager: {str(error).splitlines()[-1]}"] += 1
                programs.append(None)
                kept.append((chain, results))
                continue
            faults.append(Fault(chain, type(error).__name__, traceback.format_exc(limit=-4)))
            programs.append(None)
        kept.append((chain, results))
    runs = iter(loaded([made for made in programs if made is not None]))
    found = [None if made is None else next(runs) for made in programs]
    for at in range(0, len(kept), 2):
        chain, (some, every) = kept[at][0], found[at : at + 2]
        if some is None or every is None:
            continue
        counts.update(chains=1, statements=len(chain.statements))
        for made in programs[at : at + 2]:
            counts.update(kernels=len(made.groups))
        for arguments in chain.inputs:
            counts.update(calls=1)
            both = some(*arguments), every(*arguments)
            if any(result is MISS for result in both):
                counts.update(missed=1)
            elif fault := checked(chain, arguments, both[1], both[0]):
                faults.append(fault)
    return counts, faults


def main() -> int:
    """Run the seeds asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0:200", help="first:last, the last left out")
    first, last = map(int, parser.parse_args().seeds.split(":"))
    counts, faults = collections.Counter(), []
    for start in range(first, last, EACH):
        more, wrong = run_seeds(range(start, min(start + EACH, last)))
        counts.update(more)
        faults += wrong
        for fault in wrong:
            print(fault, flush=True)
        print(f"{start + EACH - first} chains, {len(faults)} faults", flush=True)
    print("\n".join(f"{count:7} {name}" for name, count in counts.most_common()))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
