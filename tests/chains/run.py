"""Random chains from the command line: `python -m tests.chains.run --seeds 0:2000`.

Prints every fault with the function, and how many operations and kernels there were.
"""

import argparse
import collections
import logging
import sys
import traceback
import warnings
from collections.abc import Sequence

import torch

from astjit.frontend.stops import Failed, Stop
from astjit.runtime.program import Program
from astjit.runtime.words import MISS
from tests.chains.check import Fault, checked
from tests.chains.draw import draw
from tests.chains.unit import Made, built, functions, loaded

EACH = 50  # chains in one unit


class Run:
    """Chains of some seeds, compiled as one unit and compared.

    Attributes:
        counts: chains, statements, kernels, calls, and why functions ran eagerly.
        faults: what differed.
    """

    def __init__(self, seeds: range, *, both: bool, options: Sequence[str] = ()) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.faults: list[Fault] = []
        torch.set_num_threads(1)
        logging.getLogger("astjit").setLevel(logging.CRITICAL)
        made = functions([draw(seed) for seed in seeds], both)
        for each in made:
            each.some, each.every = self.program(each.some, each), self.program(each.every, each)
        programs = [p for each in made for p in (each.some, each.every) if p is not None]
        self.counts["kernels"] += sum(len(program.groups) for program in programs)
        runs = iter(loaded(programs, options))
        for each in made:
            each.some, each.every = (p and next(runs) for p in (each.some, each.every))
            if each.some or each.every:
                self.call(each)

    def program(self, function, made: Made) -> Program | None:
        """The program of a function; None where there is none or it runs eagerly."""
        if function is None:
            return None
        try:
            return built(function, made.chain)
        except Stop as stop:
            self.counts[f"eager: {stop.reason}"] += 1
        except Exception as error:
            if isinstance(error.__context__, Failed):  # as a meta function refuses it
                self.counts[f"eager: {str(error).splitlines()[-1]}"] += 1
            else:
                where = traceback.format_exc(limit=-4)
                self.faults.append(Fault(made.chain, type(error).__name__, where))
        return None

    def call(self, made: Made) -> None:
        """Compare the calls at both sizes."""
        self.counts.update(chains=1, statements=len(made.chain.statements))
        for arguments in made.chain.inputs:
            some, every = (run and run(*arguments) for run in (made.some, made.every))
            if some is MISS or every is MISS:
                self.counts["other sizes do not fit"] += 1
                continue
            self.counts["calls"] += 1
            if (fault := checked(made.chain, arguments, every, some)) is not None:
                self.faults.append(fault)
                return


def main() -> int:
    """Run the seeds asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0:200", help="first:last, the last left out")
    parser.add_argument("--quick", action="store_true", help="one function a chain, as in CI")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    counts: collections.Counter[str] = collections.Counter()
    faults = 0
    warnings.simplefilter("ignore")
    for start in range(first, last, EACH):
        run = Run(range(start, min(start + EACH, last)), both=not options.quick)
        counts.update(run.counts)
        faults += len(run.faults)
        for fault in run.faults:
            print(fault, flush=True)
        print(f"to seed {start + EACH}: {faults} faults", flush=True)
    print("\n".join(f"{count:7} {name}" for name, count in counts.most_common()))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
