"""Random programs from the command line: `python -m tests.programs.run --seeds 0:50000 --jobs 2`.

Prints how many calls a compiled program answered, why others ran eagerly, and for each kind of
fault the seeds and the smallest program that still shows it. CXX=/nonexistent runs the programs
through PyTorch, many times faster than through a C++ compiler.
"""

import argparse
import collections
import concurrent.futures
import logging
import multiprocessing
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from tests.programs import effects
from tests.programs.front import front_only
from tests.programs.generate import generate
from tests.programs.program import Program, smaller
from tests.programs.world import Fault, counted, run_program

Make = Callable[[int], Program]
_MOST_TRIES = 400  # while one program is made smaller
_LONGEST = 10.0  # seconds that a smaller program may take
_CHUNK = 50  # seeds that one process takes at a time


@dataclass(slots=True)
class Summary:
    """What came of many programs.

    Attributes:
        numbers: programs, whole (every call captured), partly, calls, captured, raised.
        faults: by seed.
        reasons: why calls ran eagerly.
    """

    numbers: collections.Counter[str] = field(default_factory=collections.Counter)
    faults: dict[int, Fault] = field(default_factory=dict)
    reasons: collections.Counter[str] = field(default_factory=collections.Counter)

    def add(self, other: "Summary") -> None:
        """Take in what another found."""
        self.numbers.update(other.numbers)
        self.faults.update(other.faults)
        self.reasons.update(other.reasons)

    def __str__(self) -> str:
        kinds: dict[str, list[int]] = collections.defaultdict(list)
        for seed, fault in sorted(self.faults.items()):
            kinds[fault.kind].append(seed)
        lines = [", ".join(f"{key} {value}" for key, value in self.numbers.items())]
        lines += [f"{count:7} eager: {text}" for text, count in self.reasons.most_common(40)]
        for kind, seeds in sorted(kinds.items(), key=lambda item: -len(item[1])):
            lines.append(f"{len(seeds):7} FAULT {kind}: seeds {seeds[:8]}")
        return "\n".join(lines)


def run_seeds(seeds: range, make: Make = generate, **options: object) -> Summary:
    """Run the programs of some seeds.

    Args:
        seeds: which.
        make: the program of a seed.
        options: for astjit.compile.
    """
    torch.set_num_threads(1)
    logging.getLogger("astjit").setLevel(logging.CRITICAL)  # faults say it
    found = Summary()
    outcomes = []
    for seed in seeds:
        outcome = run_program(make(seed), **options)
        outcomes.append(outcome)
        if outcome.fault is not None:
            found.faults[seed] = outcome.fault
        found.numbers.update(
            programs=1,
            whole=int(outcome.captured == outcome.calls),
            partly=int(0 < outcome.captured < outcome.calls),
            calls=outcome.calls,
            captured=outcome.captured,
            raised=outcome.raised,
        )
    found.reasons = counted(outcomes)
    return found


def shrunk(program: Program, kind: str) -> tuple[Program, Fault]:
    """The smallest program found that has a fault of the same kind."""
    fault = run_program(program).fault
    assert fault is not None
    tries, again = 0, True
    while again and tries < _MOST_TRIES:
        again = False
        for candidate in smaller(program):
            tries += 1
            if (found := _fault(candidate)) is not None and found.kind == kind:
                program, fault, again = candidate, found, True
                break
            if tries >= _MOST_TRIES:
                break
    return program, fault


class _Endless(BaseException):
    """A smaller program does not end: `list` of an object without its `__iter__`, for one."""


def _fault(program: Program) -> Fault | None:
    def stop(*_: object) -> None:
        raise _Endless

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _LONGEST)
    try:
        return run_program(program).fault
    except (Exception, _Endless):  # a smaller program may lack its own function
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def described(seed: int, fault: Fault, make: Make = generate) -> str:
    """The smallest program with the fault of a seed, and the fault."""
    program, least = shrunk(make(seed), fault.kind)
    return (
        f"\n===== seed {seed}: {fault.kind}\n{program}\n--> call {least.call}: {least.difference}"
    )


def run_many(seeds: range, jobs: int, make: Make = generate) -> Summary:
    """Run the programs of many seeds, in several processes; faults are told as they come."""
    chunks = [seeds[i : i + _CHUNK] for i in range(0, len(seeds), _CHUNK)]
    total = Summary()
    if jobs == 1:
        for chunk in chunks:
            _take(total, run_seeds(chunk, make))
        return total
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting = [pool.submit(run_seeds, chunk, make) for chunk in chunks]
        for done in concurrent.futures.as_completed(waiting):
            _take(total, done.result())
    return total


def _take(total: Summary, found: Summary) -> None:
    total.add(found)
    numbers = total.numbers
    told = f"{numbers['programs']} programs, {numbers['whole']} whole, {len(total.faults)} faults"
    news = [f"{seed} {fault.kind}" for seed, fault in found.faults.items()]
    print("; ".join([told, *news]), file=sys.stderr, flush=True)


def main() -> int:
    """The command line; 1 when there are faults."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", default="0:2000", help="first:last, the last left out")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", type=int, default=1, help="programs shown for each kind of fault")
    parser.add_argument("--front", action="store_true", help="the front end alone, in less time")
    parser.add_argument("--effects", action="store_true", help="programs that print and raise")
    parser.add_argument("--text", action="store_true", help="print the programs and run nothing")
    given = parser.parse_args()
    first, _, last = given.seeds.partition(":")
    seeds = range(int(first), int(last or int(first) + 1))
    make = effects.generate if given.effects else generate
    if given.text:
        for seed in seeds:
            print(f"# seed {seed}\n{make(seed)}\n")
        return 0
    if given.front:
        front_only()
    total = run_many(seeds, given.jobs, make)
    print(total, flush=True)
    shown: collections.Counter[str] = collections.Counter()
    for seed, fault in sorted(total.faults.items()):
        shown[fault.kind] += 1
        if shown[fault.kind] <= given.show:
            print(described(seed, fault, make), flush=True)
    return 1 if total.faults else 0


if __name__ == "__main__":
    sys.exit(main())
