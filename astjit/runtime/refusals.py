"""Calls that run eagerly: of which kinds, why, and as long as what capture had read is as it was.

    if model.training: print(...)      =>  eager while `model.training is True`

A capture that stops has read some objects by then, and noted what it relied on. While that holds,
it would stop at the same place; as soon as something changed, one more capture is tried.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from astjit.frontend.stops import Facts

MOST_KINDS = 64  # kinds of calls remembered; beyond, every call that misses is eager
MOST_TRIES = 8  # captures of one kind that stopped; beyond, all calls of the kind are eager

Holds = Callable[..., bool]


@dataclass(slots=True)
class _Kind:
    """What is known of one kind: the reason, and when it applies; always if `tests` is None."""

    reason: str
    tests: list[Holds] | None = field(default_factory=list)


class Refusals:
    """The kinds of calls of one function that run eagerly."""

    def __init__(self) -> None:
        self._kinds: dict[object, _Kind] = {}

    def why(self, kind: object, values: tuple[object, ...]) -> str:
        """The reason why a call runs eagerly; "" where a capture may be worth while."""
        known = self._kinds.get(kind)
        if known is None:
            return ""
        eager = known.tests is None or any(holds(*values) for holds in known.tests)
        return known.reason if eager else ""

    def add(self, kind: object, reason: str, facts: Facts | None = None) -> None:
        """A capture stopped.

        Args:
            kind: of the call.
            reason: not "".
            facts: what it had relied on; None: other captures of the kind would stop as well.
        """
        known = self._kinds.setdefault(kind, _Kind(reason))
        known.reason = reason
        if facts is None or known.tests is None or len(known.tests) >= MOST_TRIES - 1:
            known.tests = None
        else:
            known.tests.append(_test_of(facts))

    @property
    def many(self) -> bool:
        """Whether there are too many kinds to go on."""
        return len(self._kinds) >= MOST_KINDS

    def clear(self) -> None:
        """Forget all."""
        self._kinds.clear()


def _test_of(facts: Facts) -> Holds:
    """A function of the values of all parameters: whether all of the facts hold."""
    tests = " and ".join(f"({test})" for test in facts.tests) or "True"
    namespace: dict[str, object] = dict(facts.constants)
    source = f"def holds({', '.join(facts.parameters)}):\n    return bool({tests})\n"
    try:
        exec(compile(source, "<astjit facts>", "exec"), namespace)
    except (SyntaxError, RecursionError, MemoryError):  # nested too deeply for Python's parser
        return lambda *values: True
    function = namespace["holds"]
    assert callable(function)

    def holds(*values: object) -> bool:
        try:
            return bool(function(*values))
        except Exception:  # what was read is no longer there
            return False

    return holds
