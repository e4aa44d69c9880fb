"""Attributes of objects as items of the objects' own dicts, which Python finds in half the time.

before: self.norm.eps is e         after: self.__dict__['norm'].__dict__['eps'] is e

They are the same while the class has no such attribute and looks attributes up as `object` does.
What `object.__getattribute__(config, 'eps')` finds needs the first only.
"""

import ast
import re
from collections.abc import Callable, Iterable, Mapping

from astjit.frontend.reads import Guard
from astjit.runtime.classes import KINDS, found_on, is_missing
from astjit.runtime.expressions import (
    Found,
    begin,
    found_in,
    is_simple,
    parent_of,
    remember,
    span,
    tree_of,
)

_USUAL: object = object.__getattribute__
_TYPE = re.compile(r"type\((.+)\) is ([^\W\d]\w*)")


class Own:
    """Rewrites the guards of one function.

    Args:
        guards: among them `type(place) is Class`, from which the classes of objects are known.
        constants: what names in guards stand for.
        define: adds to them.

    Attributes:
        needed: guards on classes, without which what was rewritten would not be the same.
        spelled: for the dicts of objects whose class looks attributes up in Python, the text that
            gives them.
    """

    def __init__(
        self,
        guards: Iterable[Guard],
        constants: Mapping[str, object],
        define: Callable[[str, object], str],
    ) -> None:
        self._constants, self._define = constants, define
        self._names = {id(v): name for name, v in constants.items() if isinstance(v, type)}
        self._classes: dict[str, type] = {}
        self.needed: dict[str, Guard] = {}
        self.spelled: dict[str, str] = {}
        self._getters = [f"{name}(" for name, v in constants.items() if v is _USUAL]
        self._made: dict[str, str] = {}
        self._lacked: dict[tuple[type, str], bool] = {}
        for guard in guards:
            kind = _TYPE.fullmatch(guard.test) if is_simple(guard.test) else None
            cls = constants.get(kind[2]) if kind is not None else None
            if kind is not None and isinstance(cls, type) and type(cls) in KINDS:
                self._classes[kind[1]] = cls

    def rewritten(self, text: str) -> str:
        """The text with attributes as items where they are the same."""
        if not any(getter in text for getter in self._getters):
            return self._simply(text, found_in(text))
        found: list[tuple[int, int, str]] = []
        self._collect(text, tree_of(text), found)
        for first, last, made in sorted(found, reverse=True):
            text = f"{text[:first]}{made}{text[last:]}"
        return text

    def _simply(self, text: str, places: tuple[Found, ...]) -> str:
        """The text with each of its places as it is written instead."""
        pieces, found, before, grown, known = list[str](), list[Found](), 0, 0, True
        for each in places:
            place = f"{each.text}{each.method}"
            made = self._place(place)
            known = known and made.endswith(each.method)
            own = made[: len(made) - len(each.method)]
            found.append(Found(own, each.start + grown, each.called, each.method))
            pieces += text[before : each.start], made
            before = each.start + len(place)
            grown += len(made) - len(place)
        if not grown:
            return text
        rewritten = "".join((*pieces, text[before:]))
        if known:  # the places are still there, and need not be looked for again
            remember(rewritten, found)
        return rewritten

    def replaced(self, guard: Guard) -> Guard:
        """The guard with attributes as items where they are the same."""
        test = self.rewritten(guard.test)
        return guard if test == guard.test else Guard(test, guard.reason, guard.location)

    def _place(self, place: str) -> str:
        """What stands for a place."""
        if place not in self._made:
            owner, step = parent_of(place)
            made = place
            if owner:
                inner, name = self._place(owner), step[1:]
                own = step.startswith(".") and self._is_own(owner, inner, name, "")
                made = f"{inner}.__dict__[{name!r}]" if own else f"{inner}{step}"
            self._made[place] = made
        return self._made[place]

    # -- finding them -----------------------------------------------------------------------------
    def _collect(self, text: str, tree: ast.AST, found: list[tuple[int, int, str]]) -> None:
        """Where attributes are in a text, with what stands there instead."""
        if isinstance(tree, ast.expr) and (made := self._part(text, tree)) is not None:
            first = begin(text, tree)
            found.append((first, first + len(span(text, tree)), made))
            return
        for part in ast.iter_child_nodes(tree):
            self._collect(text, part, found)

    def _part(self, text: str, tree: ast.expr) -> str | None:
        """What stands for a place, None for other expressions."""
        match tree:
            case ast.Name(name):
                return name
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(text, owner, name, "")
            case ast.Subscript(value=owner, slice=key):
                inner = self._part(text, owner)
                return None if inner is None else f"{inner}[{span(text, key)}]"
            case ast.Call(func=ast.Name(getter), args=[owner, ast.Constant(str(name))]) if (
                self._constants.get(getter) is _USUAL
            ):
                made = self._attribute(text, owner, name, getter)
                return None if made == f"{self._part(text, owner)}.{name}" else made
        return None

    def _attribute(self, text: str, owner: ast.expr, name: str, getter: str) -> str | None:
        inner = self._part(text, owner)
        if inner is None:
            return None
        if self._is_own(span(text, owner), inner, name, getter):
            return f"{inner}.__dict__[{name!r}]"
        return f"{inner}.{name}"

    def _is_own(self, place: str, inner: str, name: str, getter: str) -> bool:
        """Whether an attribute is an item of the object's dict; `getter` finds it by all means."""
        cls = self._classes.get(place)
        if cls is None or name.startswith("__") or not self._lacks(cls, name):
            return False
        lookup: object = cls.__getattribute__
        usual = lookup is _USUAL
        if not usual and not getter:
            return False
        shown = self._names[id(cls)]
        if usual:
            plain = self._known_as("usual_lookup", _USUAL)
            self._need(f"{shown}.__getattribute__ is {plain}", f"{shown} has another lookup")
        else:
            self.spelled[f"{inner}.__dict__"] = f"{getter}({{}}, '__dict__')"
        self._need(f"not hasattr({shown}, {name!r})", f"{shown} has {name}")
        return True

    def _lacks(self, cls: type, name: str) -> bool:
        """Whether a class has no such attribute; models have many objects of few classes."""
        if (cls, name) not in self._lacked:
            self._lacked[cls, name] = is_missing(found_on(cls, name))
        return self._lacked[cls, name]

    def _known_as(self, wish: str, value: object) -> str:
        known = next((name for name, v in self._constants.items() if v is value), "")
        return known or self._define(wish, value)

    def _need(self, test: str, reason: str) -> None:
        self.needed.setdefault(test, Guard(test, reason))
