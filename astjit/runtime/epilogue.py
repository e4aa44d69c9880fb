"""The end of a host function: what is returned and stored is made, then written, then returned.

    cache = self.cache              # objects are looked up before anything changes
    result = Output(h, cache)
    x.copy_(x2)
    self.h = h
    cache.append(h)
    return result

Everything that can fail comes before the first write (decision D17).
"""

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from astjit.frontend.reads import Container, Fetched, Leaf, Reads, Shared, Store, Template


@dataclass(frozen=True, slots=True)
class Epilogue:
    """Statements of the end.

    Attributes:
        made: what comes before all writes.
        stored: writes to objects.
        returned: the expression that is returned.
    """

    made: list[str]
    stored: list[str]
    returned: str


def epilogue(reads: Reads, results: Sequence[str], name: Callable[..., str]) -> Epilogue:
    """The end of a host function.

    Args:
        reads: how results are put together, and what is stored.
        results: texts of the results of the SSA function.
        name: gives a new local name for a wish.
    """
    return _Writer(reads, results, name).write()


class _Writer:
    def __init__(self, reads: Reads, results: Sequence[str], name: Callable[..., str]) -> None:
        self.reads, self.results, self.name = reads, results, name
        self.lines: list[str] = []
        self.owners: dict[str, str] = {}
        self.shared: list[str] = []

    def write(self) -> Epilogue:
        for template in self.reads.shared:
            text = self.text(template)
            self.shared.append(self._keep(text, "shared"))
        stores = self.reads.stores
        for store in stores:
            if store.owner not in self.owners:
                own = store.owner.isidentifier()
                local = store.owner if own else self._keep(store.owner, _wish(store.owner))
                self.owners[store.owner] = local
        stored = [self._stored(store) for store in stores]
        returned = self.text(self.reads.output)
        if stores and not self._settled(self.reads.output):
            returned = self._keep(returned, "result")
        return Epilogue(self.lines, stored, returned)

    def text(self, template: Template) -> str:
        """The expression that makes a value."""
        match template:
            case Leaf(index, alias):
                return self.results[index] + alias
            case Fetched(text):
                return text
            case Shared(index):
                return self.shared[index]
            case Container(kind, items, keys):
                return _container(kind, [self.text(item) for item in items], keys)

    def _stored(self, store: Store) -> str:
        place = self.owners[store.owner] + store.place
        if store.value is None:
            return place if store.how == "do" else f"del {place}"
        text = self.text(store.value)
        if not self._settled(store.value):
            text = self._keep(text, _wish(store.place) if store.how == "set" else "item")
        return f"{place}({text})" if store.how == "call" else f"{place} = {text}"

    def _settled(self, template: Template) -> bool:
        """Whether an expression cannot fail and does not look at what is written before it."""
        match template:
            case Leaf(_, alias):
                return not alias
            case Fetched(text):
                return text.isidentifier() or _is_literal(text)
            case Container(kind, items):
                return kind in ("tuple", "list", "dict") and all(map(self._settled, items))
        return True

    def _keep(self, text: str, wish: str) -> str:
        local = self.name(wish, "kept")
        self.lines.append(f"{local} = {text}")
        return local


def _wish(text: str) -> str:
    words = re.findall(r"[A-Za-z]\w*", text)
    return words[-1] if words else ""


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def _container(kind: str, parts: list[str], keys: tuple[str, ...]) -> str:
    inner = ", ".join(parts)
    match kind:
        case "tuple":
            return f"({inner},)" if len(parts) == 1 else f"({inner})"
        case "list":
            return f"[{inner}]"
        case "dict":
            return "{" + ", ".join(f"{k}: {p}" for k, p in zip(keys, parts, strict=True)) + "}"
    return f"{kind}({inner})"
