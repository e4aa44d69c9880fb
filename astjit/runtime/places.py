"""Local names for the objects that guards ask more than once.

    self.encoder.layer[0].training is False          encoder = self._modules['encoder']
    self.encoder.layer[0].eps is ...           =>    layer_0 = encoder._modules['layer'][0]
                                                     layer_0.training is False

A place is an expression over parameters and constants: names, attributes and items, such as
`fn_globals['cfg'].eps`. Looking one up costs as much as a test, so a place that several others
begin with is looked up once.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from astjit.runtime.expressions import PLACE, found_in, is_simple, parent_of

_OWN = re.compile(r"\.__dict__\['(\w+)'\]")
_KINDS = re.compile(r"\._(?:modules|parameters|buffers)\['(\w+)'\]")
_SAME = re.compile(rf"({PLACE}) is ([^\W\d]\w*)")
_COMPARED = re.compile(r" (?:is|in|not in|[=!<>]=?) ")
_CONSTANTS = ("True", "False", "None")


@dataclass(eq=False, slots=True)
class Place:
    """One place.

    Attributes:
        text: as guards write it.
        parent: what its last attribute or item is of; None for a name.
        asked: how often tests ask for it itself.
        parts: the places that begin with it.
        local: its name in the function, once it has one.
        spelling: how it is written, with {} for its parent, "" for as it is.
        same_as: the constant that a test says it is: that name stands for it in all other tests.
        root: the name that it begins with.
    """

    text: str
    parent: "Place | None"
    asked: int = 0
    parts: list["Place"] = field(default_factory=list)
    local: str = ""
    spelling: str = ""
    same_as: str = ""
    root: str = field(init=False)

    def __post_init__(self) -> None:
        self.root = self.text if self.parent is None else self.parent.root

    @property
    def lookups(self) -> int:
        """How often it would be looked up, were it not kept."""
        count = self.asked
        for part in self.parts:
            within = part.lookups
            count += 1 if part._is_kept(within) else within
        return count

    @property
    def kept(self) -> bool:
        """Whether it gets a local name."""
        settled = self.local or self.spelling or self.parent is None or self.same_as
        return self._is_kept(0 if settled else self.lookups)  # counting takes a walk

    def _is_kept(self, lookups: int) -> bool:
        known = self.parent is None or self.same_as
        return bool(self.local or self.spelling) or (not known and lookups > 1)


class Places:
    """The places in the tests of one function.

    Args:
        name: gives a new local name for a wish.
        spelled: places that are written otherwise, with {} for what they are parts of.
    """

    def __init__(
        self, name: Callable[[str], str], spelled: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._name, self._spelled = name, spelled
        self._places: dict[str, Place] = {}
        self._in: dict[str, list[tuple[Place, int]]] = {}

    def ask(self, test: str) -> None:
        """Count what a test looks up."""
        for place in self.of(test):
            place.asked += 1
        if (same := self._sameness(test)) is not None and not same[0].local:
            same[0].same_as = same[0].local = same[1]

    def all(self) -> list[Place]:
        """All places so far."""
        return list(self._places.values())

    def of(self, test: str) -> list[Place]:
        """The longest places in a test, in order."""
        return [place for place, _ in self._found(test)]

    def owner(self, test: str) -> Place | None:
        """What a test is about: for `o.a is b` it is `o`, for `type(o) is C` it is `o` itself."""
        found = self.of(test)
        if not found:
            return None
        first = found[0]
        parents = {place.parent.text if place.parent else "" for place in found}
        if len(found) > 1 and len(parents) == 1 and first.parent is not None:
            return first.parent
        opening, _, rest = test.partition(first.text)
        within = not opening.strip("(") and _COMPARED.match(rest) and is_simple(test)
        return first.parent if within and first.parent is not None else first

    def binds(self, test: str) -> Iterable[tuple[Place, str]]:
        """The places to keep before a test, each with the statement that does it."""
        for place in self.of(test):
            yield from self._bind(place)

    def bind(self, text: str, local: str = "") -> Iterable[tuple[Place, str]]:
        """Keep a place, under a name that it was given."""
        place = self._place(text)  # or a call, such as that of a cache
        if place.parent is not None:
            yield from self._bind(place.parent)
        shown = _spelled(place)
        place.local = local or self._name(_wish(text))
        yield place, f"{place.local} = {shown}"

    def shown(self, test: str) -> str:
        """The test with local names."""
        same = self._sameness(test)
        made = test
        for place, start in reversed(self._found(test)):
            own = same is not None and place is same[0] and place.same_as == same[1]
            shown = _through(place) if own else _short(place)
            made = f"{made[:start]}{shown}{made[start + len(place.text) :]}"
        return made

    # -- finding them -----------------------------------------------------------------------------
    def _sameness(self, test: str) -> tuple[Place, str] | None:
        """The place and the constant of `place is constant`."""
        same = _SAME.fullmatch(test)
        if same is None or same[2] in _CONSTANTS or (place := self._place(same[1])).parent is None:
            return None
        return place, same[2]

    def _found(self, test: str) -> list[tuple[Place, int]]:
        """The longest places in a test, each with where it begins."""
        if test not in self._in:
            found = found_in(test)
            self._in[test] = [(self._place(f.text), f.start) for f in found if not f.called]
        return self._in[test]

    def _place(self, text: str) -> Place:
        if text not in self._places:
            inner, _ = parent_of(text)
            parent = self._place(inner) if inner else None
            made = Place(text, parent, spelling=self._spelled.get(text, ""))
            self._places[text] = made
            if parent is not None:
                parent.parts.append(made)
        return self._places[text]

    def _bind(self, place: Place) -> Iterable[tuple[Place, str]]:
        if place.local or place.parent is None:
            return
        yield from self._bind(place.parent)
        if place.kept:
            shown = _spelled(place)
            place.local = self._name(_wish(place.text))
            yield place, f"{place.local} = {shown}"


def _short(place: Place) -> str:
    """The text of a place from the nearest local name on."""
    known: Place | None = place
    while known is not None and not known.local:
        known = known.parent
    return place.text if known is None else known.local + place.text[len(known.text) :]


def _spelled(place: Place) -> str:
    """The text that looks a place up."""
    if place.spelling and place.parent is not None:
        return place.spelling.format(_short(place.parent))
    return _short(place)


def _through(place: Place) -> str:
    """The text of a place from the nearest local name of what it is a part of."""
    if place.parent is None:
        return place.text
    return f"{_short(place.parent)}{place.text[len(place.parent.text) :]}"


def readable(text: str) -> str:
    """A place as the user writes it: `fn_globals['cfg'].eps` is `cfg.eps`."""
    shown = re.sub(r"^(?:fn_globals|builtins)\['(\w+)'\]", r"\1", text)
    shown = re.sub(r"^cell_(\w+)\.cell_contents", r"\1", shown)
    return _KINDS.sub(r".\1", _OWN.sub(r".\1", shown))


def _wish(text: str) -> str:
    """A name for a place: its last words, such as `layer_0`."""
    shown = readable(text).replace("__dict__", "own")
    found = re.findall(r"[A-Za-z]\w*|\d+", shown.replace("__", ""))
    last = found[-1:] if not found or not found[-1].isdigit() else found[-2:]
    return "_".join(last) or "item"
