"""The tests of what capture read besides its tensors, one object after the other.

    # self.norm
    norm = modules['norm']
    own = norm.__dict__
    if type(norm) is not LayerNorm or own['_forward_hooks'] or ...:
        return MISS

Tests that only classes decide, and in large programs those that only functions and their globals
decide, need not run at each call (runtime/kept.py).
"""

import builtins
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch

from astjit.frontend.hooks import GLOBALS
from astjit.frontend.reads import Guard, Reads
from astjit.ir.function import Function
from astjit.ir.value import Param, Value
from astjit.runtime.checks import Bind, Check, Item, Note, alternatives, bound, kept, negated
from astjit.runtime.classes import changing, class_attributes, settled_by_classes
from astjit.runtime.kept import Classes
from astjit.runtime.own import Own
from astjit.runtime.places import Place, Places, readable
from astjit.runtime.surroundings import Surroundings
from astjit.runtime.words import Words
from astjit.types.tensor import ScalarType

_PARTS = re.compile(r"(\.__dict__)?(\['_|\._)(parameters|buffers|modules)('\])?$|\.__dict__$")
_HEADINGS = {GLOBALS: "globals", "original": "the function itself"}
_CLASSES, _BUILTINS = "the classes of these objects", "functions of Python"
_TENSOR, _STATE = "what operations on tensors mean", "the state of PyTorch"
_FIRST = ("", "original")
_LAST = (_CLASSES, _BUILTINS, _TENSOR, _STATE)
_FEWEST = 40  # tests of functions for which a memory is worth its call


@dataclass(slots=True)
class _Owner:
    """An object with the guards about it and the inputs that are parts of it."""

    guards: list[Guard] = field(default_factory=list)
    inputs: dict[Param, str] = field(default_factory=dict)


class Outside:
    """The guards of one function.

    Args:
        function: whose inputs may be parts of these objects.
        reads: what capture read.
        words: gives names.
        inputs: the text of each input; those that are parts of objects are added.
        asked: the tests of such an input.

    Attributes:
        items: statements and tests in order.
    """

    def __init__(
        self,
        function: Function,
        reads: Reads,
        words: Words,
        inputs: dict[Value, str],
        asked: Callable[[Param], Iterable[Item]],
    ) -> None:
        self._words, self._reads, self._inputs, self._asked = words, reads, inputs, asked
        self.items: list[Item] = []
        guards, paths, self._places = self._all(function)
        settled, used = settled_by_classes(guards, self._places, reads.constants)
        guards = _without(guards, settled)
        around = Surroundings(self._places, reads.constants)
        steady = around.settled(guards)
        if len(steady) < _FEWEST:
            steady = []
        else:
            used |= around.classes
        guards = _without(guards, steady)
        later = around.needed([*(guard.test for guard in guards), *paths.values()])
        owners: dict[str, _Owner] = {}
        for guard in guards:
            about = self._subject(self._places.owner(guard.test))
            owners.setdefault(about, _Owner()).guards.append(guard)
        for param, path in paths.items():
            about = self._subject(self._places.owner(f"{path} is None"))
            owners.setdefault(about, _Owner()).inputs[param] = path
        for param in paths:
            self._inputs[param] = words.names.take(param.name, param.path, "input")
        for about in _FIRST:
            self._about(about, owners.pop(about, _Owner()))
        version = self._classes(settled, used)
        if steady:
            self._functions(version, steady, around, later)
        for about in sorted(owners, key=lambda about: about in _LAST):
            self._about(about, owners[about])

    def _all(self, function: Function) -> tuple[list[Guard], dict[Param, str], Places]:
        """All guards, the paths of inputs that are parts of objects, and the places in both."""
        kinds = {p.path: p.type for p in function.params}
        have = {f"type({path}) is {k}" for path, k in kinds.items() if isinstance(k, ScalarType)}
        guards = [guard for guard in self._reads.guards if guard.test not in have]
        own = Own(guards, self._reads.constants, self._words.define)
        guards = [own.replaced(guard) for guard in guards]
        inputs = [p for p in function.params if p not in self._inputs]
        paths = {param: own.rewritten(param.path) for param in inputs}
        tests = {guard.test for guard in guards}
        guards += [guard for test, guard in own.needed.items() if test not in tests]
        places = Places(self._words.names.take, own.spelled)
        for test in (*(guard.test for guard in guards), *paths.values()):
            places.ask(test)
        return guards, paths, places

    def _about(self, about: str, owner: _Owner) -> None:
        """All tests about one object."""
        places = self._places
        if about and (owner.guards or owner.inputs):
            self.items.append(Note(_HEADINGS.get(about) or readable(about)))
        paths = set(owner.inputs.values())
        late = [g for g in owner.guards if paths & {p.text for p in places.of(g.test)}]
        early = _without(owner.guards, late)
        first = [g for g in early if {p.text for p in places.of(g.test)} == {about}]
        self.items += self._read(first, about)
        self.items += self._read(_without(early, first), about)
        for param, path in owner.inputs.items():
            named = places.bind(path, self._inputs[param])
            self.items += [Bind(statement) for _, statement in named]
        for param in owner.inputs:
            self.items += self._asked(param)
        self.items += self._read(late, about)

    def _read(self, guards: list[Guard], about: str) -> list[Item]:
        """Tests in a row; what they look up more than once is looked up before."""
        items: list[Item] = []
        for guard in guards:
            items += [Bind(statement) for _, statement in self._places.binds(guard.test)]
        for guard in guards:
            where = f" ({guard.location})" if guard.location is not None else ""
            wrong = f"no longer true: {guard.reason}{where}"
            for fails in alternatives(negated(self._places.shown(guard.test))):
                items.append(Check(fails, wrong, f"reads {about}"))
        return items

    def _classes(self, settled: list[Guard], used: set[type]) -> str:
        """What classes say, asked again when one of them has changed; the text of their version."""
        block: list[Item] = []
        for place, classes in class_attributes(self._places, self._reads.constants):
            used.update(classes)
            block += [Bind(text) for _, text in self._places.bind(place.text)]
        block += self._read(settled, "classes")
        numbered = changing(used)
        if not block or not numbered:
            self.items += block
            return "None"
        memory = self._words.define("classes", Classes(numbered))
        made = kept(self._words.names.take, memory, (), block, bound(block))
        self.items += [Note(_CLASSES), made]
        return made.version

    def _functions(
        self, classes: str, steady: list[Guard], around: Surroundings, later: set[Place]
    ) -> None:
        """What functions and their globals say, asked again when one of them has changed."""
        block = self._read(steady, "functions")
        named = set(bound(block))
        names = sorted(place.local for place in later if place.local in named)
        memory = self._words.define("functions", around.memory())
        self.items.append(Note("functions and what they call"))
        self.items.append(kept(self._words.names.take, memory, (classes,), block, names))

    def _subject(self, place: Place | None) -> str:
        """What tests about a place are listed under: an object, a kind, "" for arguments."""
        if place is None:
            return _STATE
        if place.text in self._reads.parameters:
            return ""
        value = self._reads.constants.get(place.root)
        if value is vars(builtins):
            return _BUILTINS
        if value is torch.Tensor:
            return _TENSOR
        if isinstance(value, type):
            return _CLASSES
        if callable(value) and place.text != "original":
            return _STATE
        # the dicts of a module belong to it
        return _PARTS.sub("", place.text)


def _without(guards: list[Guard], others: list[Guard]) -> list[Guard]:
    """The guards that are none of the others; a guard is added once, so identity tells."""
    apart = set(map(id, others))
    return [guard for guard in guards if id(guard) not in apart]
