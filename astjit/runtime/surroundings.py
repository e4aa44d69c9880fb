"""Which tests ask nothing but functions, cells and the namespaces in which functions find names.

    norm.__code__ is norm_code              what norm is, and its attribute `__code__`
    norm.__globals__['F'] is F              what norm is, and the state of its globals
    'sum' not in norm.__globals__           the same
    norm.__globals__['cfg'].eps == 1e-6     no: objects of the user are asked at each call

Such tests need not run again while these attributes are the same objects and these dicts have not
changed (`Functions` in runtime/kept.py). Nothing is held for it that functions do not hold anyway.
"""

import ast
import builtins
import re
import types
from collections.abc import Iterable, Iterator, Mapping

from astjit.frontend.hooks import GLOBALS
from astjit.frontend.reads import Guard
from astjit.runtime.classes import sources
from astjit.runtime.expressions import PLACE
from astjit.runtime.kept import SCALARS, Functions, Step, Way, is_fixed, is_held
from astjit.runtime.places import Place, Places

_FORMS = {
    "same": re.compile(rf"(?:not )*{PLACE} is (?:not )?{PLACE}"),
    "named": re.compile(rf"'[^'\\]*' (?:not )?in {PLACE}|not \('[^'\\]*' in {PLACE}\)"),
    "equal": re.compile(rf"{PLACE} [!=]= (?:-?[\d.]+(?:e-?\d+)?|'[^'\\]*')"),
    "typed": re.compile(rf"type\({PLACE}\) is [^\W\d]\w*"),
    "long": re.compile(rf"len\({PLACE}\) == \d+"),
}
_GLOBALS = ".__globals__"
_Reached = tuple[Way, object, object]


class Surroundings:
    """Finds these tests, and how what they ask is reached.

    Args:
        places: of all tests.
        constants: what the names that places begin with stand for, but for arguments.

    Attributes:
        classes: which decide what attributes of classes on the way are.
    """

    def __init__(self, places: Places, constants: Mapping[str, object]) -> None:
        self._places, self._constants = places, constants
        self._reached: dict[Place, _Reached | None] = {}
        self._at: dict[tuple[Place, bool], int] = {}
        self._steps: list[Step] = []
        self.classes: set[type] = set()

    def settled(self, guards: Iterable[Guard]) -> list[Guard]:
        """The guards that ask nothing else."""
        return [guard for guard in guards if self._settles(guard.test)]

    def memory(self) -> Functions:
        """What tells whether any of these guards may have another answer."""
        return Functions(tuple(self._steps))

    def needed(self, tests: Iterable[str]) -> set[Place]:
        """The places that other tests begin with."""
        return {place for test in tests for last in self._places.of(test) for place in _to(last)}

    def _settles(self, test: str) -> bool:
        form = next((name for name, form in _FORMS.items() if form.fullmatch(test)), "")
        found = self._places.of(test)
        if form in ("typed", "long") and found:
            del found[1:]  # a class, by its name
        asks = form == "named" or any(place.parent is not None for place in found)
        if not form or not asks or None in [self._way(place, test) for place in found]:
            return False
        if not self._fits(form, found[0]):
            return False
        for place in found:
            end = self._step(place, test)
            if form == "named":
                self._steps.append(Step(Way.STATE, end, None))
        return True

    def _fits(self, form: str, place: Place) -> bool:
        """Whether a test of this form asks no more than what a place is."""
        value = self._value(place)
        if form == "named":
            return self._is_namespace(place)
        if form == "long":
            return type(value) is tuple
        return form == "same" or type(value) in (*SCALARS, types.CodeType, dict)

    def _way(self, place: Place, test: str) -> _Reached | None:
        """As `_reach`, but for the place which a test says to be a constant."""
        return self._really(place) if self._says(test, place) else self._reach(place)

    def _says(self, test: str, place: Place) -> bool:
        return bool(place.same_as) and test.endswith(f" is {place.same_as}")

    def _step(self, place: Place, test: str = "") -> int:
        """Where among the steps a place is reached."""
        says = self._says(test, place)
        at = self._at.get((place, says))
        if at is None:
            reached = self._way(place, test)
            assert reached is not None
            way, key, _ = reached
            known = way is Way.CONSTANT or place.parent is None
            owner = -1 if known or place.parent is None else self._step(place.parent)
            self._steps.append(Step(way, owner, key))
            at = self._at[place, says] = len(self._steps) - 1
        return at

    def _reach(self, place: Place) -> _Reached | None:
        """The last step to a place, and what is there; None where other things decide it.

        A test says of some places that they are constants; all others rely on that.
        """
        if place not in self._reached:
            if place.same_as in self._constants and place.parent is not None:
                value = self._constants[place.same_as]
                self._reached[place] = Way.CONSTANT, value, value
            else:
                self._reached[place] = self._really(place)
        return self._reached[place]

    def _really(self, place: Place) -> _Reached | None:
        try:
            return self._last(place)
        except (AttributeError, IndexError, KeyError, TypeError):
            return None

    def _last(self, place: Place) -> _Reached | None:
        owner = place.parent
        if owner is None:
            value = self._constants[place.text]
            return Way.CONSTANT, value, value
        if self._reach(owner) is None:
            return None
        above: object = self._value(owner)
        text = place.text[len(owner.text) :]
        key = ast.literal_eval(text[1:-1]) if text[0] == "[" else text[1:]
        if text[0] == "[":
            named = self._is_namespace(owner)
            if not named and type(above) is not tuple:
                return None
            return Way.NAME if named else Way.ITEM, key, above[key]  # type: ignore[index]
        if type(above) is types.ModuleType:
            return Way.PART, key, vars(above)[key]
        if not is_held(above):
            return None
        made = getattr(above, key)
        if is_fixed(above, key):
            return Way.FIXED, key, made
        if isinstance(above, type) and (decide := sources(above, key)):
            self.classes.update(decide)
            return Way.CLASS, key, made
        return (Way.ATTRIBUTE, key, made) if is_held(made) else None

    def _value(self, place: Place) -> object:
        reached = self._reach(place)
        return None if reached is None else reached[2]

    def _is_namespace(self, place: Place) -> bool:
        """Whether a place is the globals of a function, or the builtins."""
        value = self._value(place)
        own = place.text == GLOBALS or value is vars(builtins) or place.text.endswith(_GLOBALS)
        return type(value) is dict and (own or self._is_of_a_class(place))

    def _is_of_a_class(self, place: Place) -> bool:
        reached = self._reach(place)
        return reached is not None and reached[0] is Way.CLASS


def _to(place: Place) -> Iterator[Place]:
    """A place and what it is a part of."""
    at: Place | None = place
    while at is not None:
        yield at
        at = at.parent
