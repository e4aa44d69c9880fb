"""Names of a kernel's parameters and values: the user's own, made unique and valid in C."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"\W+")


class Names:
    """Hands out names, each once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def take(self, *wishes: str, also: str = "") -> str:
        """The first wish that is a name, with `also` or a number after it where it is taken.

        Args:
            wishes: names in order of preference, of which empty ones are passed over.
            also: a suffix tried before numbers.
        """
        base = next(name for wish in wishes if (name := identifier(wish)))
        if base not in self.taken:
            return self._keep(base)
        base += also
        name, count = base, 2
        while name in self.taken:
            name, count = f"{base}{count}", count + 1
        return self._keep(name)

    def _keep(self, name: str) -> str:
        self.taken.add(name)
        return name


def identifier(name: str) -> str:
    """A C identifier after `name`, "" when nothing of it is left.

    before: state['w.1']    after: state_w_1
    """
    words = _WORD.sub("_", name).strip("_") if not name.isidentifier() else name
    return f"v{words}" if words[:1].isdigit() else words
