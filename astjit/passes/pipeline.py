"""The passes, in the order in which they run, and the reasons for that order.

run(function, config)  =>  the function is changed in place; it is verified between all passes
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from astjit.config import Config
from astjit.errors import UsageError
from astjit.ir.function import Function
from astjit.ir.verifier import Verified, verify
from astjit.passes.cse import cse
from astjit.passes.dce import dce
from astjit.passes.fold import fold
from astjit.passes.simplify import simplify


@dataclass(frozen=True, slots=True)
class Pass:
    """A transformation of a function in place: valid SSA in, valid SSA out.

    Attributes:
        name: of the pass, its module, its function, and the command line's `--after`.
        function: returns whether it changed anything.
        required: later stages rely on it, so that it cannot be left out.
    """

    name: str
    function: Callable[[Function], bool]
    required: bool = False


PASSES = (
    Pass("fold", fold),  # sizes that are ints become literals: in kernels they cost no parameter
    Pass("cse", cse),  # the user's repeated terms are loaded and computed once
    Pass("simplify", simplify),  # views and casts that do nothing stand between rows that fuse
    Pass("dce", dce, required=True),  # fusion gives a kernel every value that it is given
)
ORDER = (
    ("fold", "cse", "folded constants must merge"),
    ("cse", "simplify", "arms that were made equal are one value"),
    ("cse", "dce", "cse leaves the merged values behind"),
    ("simplify", "dce", "simplify leaves what it went around behind"),
)  # tested, never used to sort

# A second round sees what the first made equal (simplify => cse => simplify). More is rarely needed
# and would only gain speed, so a bound keeps compile time linear.
ROUNDS = 3


def run(function: Function, config: Config, *, after: str = "", skip: tuple[str, ...] = ()) -> None:
    """Run all passes until nothing changes, at most ROUNDS times.

    Args:
        function: changed in place.
        config: the options of this compilation; no pass depends on one so far.
        after: stop when this pass has run once, to see its result.
        skip: names of passes to leave out.

    Raises:
        UsageError: if a name is no pass, or a pass to skip is required.
        InvalidIR: if the function is invalid, with the pass that made it so.
    """
    chosen = list(_chosen(after, skip))
    verified = Verified()
    verify(function, verified=verified)
    for _ in range(ROUNDS):
        changed = False
        for each in chosen:
            if each.function(function):  # what changed nothing is believed; the tests check that
                changed = True
                verify(function, after=each.name, verified=verified)
            if each.name == after:
                return
        if not changed:
            return


def _chosen(after: str, skip: tuple[str, ...]) -> Iterator[Pass]:
    known = {each.name: each for each in PASSES}
    for name in (*skip, *((after,) if after else ())):
        if name not in known:
            raise UsageError(f"no pass is called {name!r}", instead=f"one of {', '.join(known)}")
    for each in PASSES:
        if each.name not in skip:
            yield each
        elif each.required:
            raise UsageError(f"pass {each.name!r} is required", instead="do not skip it")
