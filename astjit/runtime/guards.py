"""What must hold for a program to be valid, as a flat list of tests, the cheapest first.

    if type(x) not in PLAIN or x.dtype is not float32 or not x.is_cpu or not x.is_contiguous():
        return MISS
    x0, x1 = x.shape
    if x0 == 1 or x1 == 1:
        return MISS

The same list gives the program's guards and the function that says which of them failed. Anything
a guard raises, such as unpacking a shape of another rank, counts as failed.
"""

import builtins
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import torch

from astjit.frontend.hooks import GLOBALS
from astjit.frontend.reads import Guard, Reads
from astjit.ir.function import Function
from astjit.ir.value import Param, Value
from astjit.runtime.checks import Bind, Check, Item, Kept, Note, alternatives, negated
from astjit.runtime.classes import changing, class_attributes, settled_by_classes
from astjit.runtime.expressions import found_in
from astjit.runtime.kept import Classes, Tensors
from astjit.runtime.own import Own
from astjit.runtime.places import Place, Places, readable
from astjit.runtime.words import Words
from astjit.types.shape import Dim, Predicate, Sym, hint, symbols, text
from astjit.types.tensor import PY_INT, ScalarType, TensorType

_SIGNS = {"==": "!=", "!=": "=="}
_HELD = re.compile(r"\._(?:parameters|buffers)\['\w+'\]$")
_PARTS = re.compile(r"(\.__dict__)?(\['_|\._)(parameters|buffers|modules)('\])?$|\.__dict__$")
_FEWEST = 2  # tensors of modules for which a memory is worth its call


@dataclass(slots=True)
class _Owner:
    """An object with the guards about it and the inputs that are parts of it."""

    guards: list[Guard] = field(default_factory=list)
    inputs: dict[Param, str] = field(default_factory=dict)


class Guards:
    """The guards of a function, and the names they give to its inputs and sizes.

    Attributes:
        items: statements and tests in order.
        inputs: the text of each input.
        sizes: the text of each size symbol.
    """

    def __init__(self, function: Function, reads: Reads, words: Words) -> None:
        self.words = words
        self.inputs: dict[Value, str] = {}
        self.sizes: dict[str, str] = {}
        self.items: list[Item] = []
        self._equal: list[Check] = []
        self._repeated, self._pins = _repeated(function.assumed), reads.pins
        tensors = [p for p in function.params if isinstance(p.type, TensorType)]
        given = [p for p in function.params if p.path in reads.parameters]
        held = [p for p in tensors if p not in given and _HELD.search(p.path)]
        self._held = held if len(held) >= _FEWEST else []
        self.inputs.update({p: p.path for p in given})
        for param in given:
            self._input(param)
        self._outside(function, reads)
        block: list[Item] = []
        for param in tensors:
            with self._into(block if param in self._held else self.items):
                if param in self._held:
                    self._kind(self.inputs[param], _tensor(param))
                self._measure(param, _tensor(param))
        tests: list[Check] = [*self._equal, *(self._fact(fact) for fact in function.assumed)]
        floats = [p for p in tensors if _tensor(p).dtype.is_float]
        wanted = [f"{self.inputs[p]}.requires_grad" for p in floats if p not in self._held]
        inner = [f"{self.inputs[p]}.requires_grad" for p in floats if p in self._held]
        if inner:
            wanted.append(self.words.names.take("wants_grad"))
            block.append(Bind(f"{wanted[-1]} = {' or '.join(inner)}"))
        self.items += self._tensors(block, tests, wanted[-1:])
        self._gradients(wanted)

    def size(self, dim: Dim) -> str:
        """Python text of a size."""
        return text(dim, lambda symbol: self.sizes[symbol.name])

    @contextmanager
    def _into(self, items: list[Item]) -> Iterator[None]:
        """Add what follows to these items."""
        outer, self.items = self.items, items
        try:
            yield
        finally:
            self.items = outer

    # -- one input ------------------------------------------------------------------------------
    def _input(self, param: Param) -> None:
        if isinstance(param.type, ScalarType):
            self._number(param, param.type)
        else:
            self._kind(self.inputs[param], _tensor(param))

    def _number(self, param: Param, kind: ScalarType) -> None:
        name, type_of = self.inputs[param], self.words.word("type")
        expected = self.words.word(str(kind))
        self._check(f"{type_of}({name}) is not {expected}", f"{name} is not a Python {kind}", name)
        if kind == PY_INT:
            self.sizes.setdefault(param.name, name)  # where it is used as a size
            wide = f"not {self.words.word('INT64_MIN')} <= {name} <= {self.words.word('INT64_MAX')}"
            self._check(wide, f"{name} needs more than 64 bits", name)

    def _kind(self, name: str, kind: TensorType) -> None:
        """Python type, dtype, device and, where one call tells, the layout."""
        type_of, tensors = self.words.word("type"), self.words.word("PLAIN")
        dtype = self.words.dtype(kind.dtype)
        tests = [
            (f"{type_of}({name}) not in {tensors}", "is not a plain tensor"),
            (f"{name}.dtype is not {dtype}", f"is not of dtype {kind.dtype.torch}"),
        ]
        if kind.device == "cpu":
            tests.append((f"not {name}.is_cpu", "is not on the CPU"))
        else:
            index = int(kind.device.partition(":")[2] or 0)
            tests.append((f"{name}.get_device() != {index}", f"is not on {kind.device}"))
        if kind.is_contiguous:
            tests.append((f"not {name}.is_contiguous()", "is not contiguous"))
        if kind.order is None or all(d == 1 for d in kind.dims):
            # a part of a conjugate is strided, and may be negated when it is read
            tests.append((f"{name}.is_neg()", "is negated lazily"))
        if not kind.rank:
            tests.append((f"{name}.dim()", "has not 0 dims"))
        for fails, wrong in tests:
            self._check(fails, f"{name} {wrong}", name)

    def _measure(self, param: Param, kind: TensorType) -> None:
        """Rank, sizes and strides."""
        name = self.inputs[param]
        if not kind.rank:
            return
        wrong = f"{name} has not {kind.rank} dims"
        self._check(f"{name}.dim() != {kind.rank}", wrong, shown=False)
        wishes = [
            d.name if isinstance(d, Sym) and d.name not in self.sizes else f"{name}{axis}"
            for axis, d in enumerate(kind.dims)
        ]
        local = self._unpack(f"{name}.shape", kind.dims, wishes)
        for axis, dim in enumerate(kind.dims):
            why = self._pins.get(f"{param.path}.shape[{axis}]", "")
            self._size(local[axis], dim, f"size {axis} of {name}", why and f": {why}")
        if not kind.is_contiguous:
            self._strides(name, kind)

    def _unpack(self, source: str, dims: tuple[Dim, ...], wishes: list[str]) -> list[str]:
        """Bind the sizes or strides that `source` gives; new symbols are known from here on."""
        local = []
        for dim, wish in zip(dims, wishes, strict=True):
            local.append(self.words.names.take(wish))
            if isinstance(dim, Sym):
                self.sizes.setdefault(dim.name, local[-1])
        targets = ", ".join(local) if len(local) > 1 else f"({local[0]},)"
        self.items.append(Bind(f"{targets} = {source}"))
        return local

    def _size(self, local: str, dim: Dim, what: str, why: str) -> None:
        match dim:
            case int():
                self._equal.append(Check(f"{local} != {dim}", f"{what} is not {dim}{why}"))
            case Sym() if self.sizes[dim.name] == local:
                if dim.name not in self._repeated:
                    self._equal.append(Check(f"{local} == 1", f"{what} is 1"))
            case _:
                shown = self._known(dim)
                self._equal.append(Check(f"{local} != {shown}", f"{what} is not {shown}"))

    def _known(self, dim: Dim) -> str:
        missing = [s.name for s in symbols(dim) if s.name not in self.sizes]
        if missing:
            raise ValueError(f"no input has the size {', '.join(missing)}")
        return self.size(dim)

    def _strides(self, name: str, kind: TensorType) -> None:
        """A dense layout in another order, or the class of a strided one (decision D5)."""
        strides = kind.element_strides()
        real = [a for a in range(kind.rank) if kind.dims[a] != 1]
        symbols_only = tuple(s if kind.strides is not None else 1 for s in strides)
        wishes = [f"{name}_stride{axis}" for axis in range(kind.rank)]
        local = self._unpack(f"{name}.stride()", symbols_only, wishes)
        for axis in real:
            stride = strides[axis]
            if isinstance(stride, Sym) and self.sizes.get(stride.name) == local[axis]:
                continue
            shown = self._known(stride)
            wrong = f"stride {axis} of {name} is not {shown}"
            self._equal.append(Check(f"{local[axis]} != {shown}", wrong))
        if kind.strides is not None:
            self._order(name, local, strides, [a for a in real if strides[a] != 0])

    def _order(
        self, name: str, local: list[str], strides: tuple[Dim, ...], axes: list[int]
    ) -> None:
        """The strides sorted as in the call that was captured: layouts of results follow it."""
        falling = sorted(axes, key=lambda axis: (-_hint(strides[axis]), axis))
        reason = f"the strides of {name} are ordered otherwise"
        for outer, inner in pairwise(falling):
            if isinstance(strides[outer], Sym):
                self._equal.append(Check(f"{local[outer]} < {local[inner]}", reason))
        for axis in axes:
            if isinstance(strides[axis], Sym):
                wrong = f"stride {axis} of {name} is 0 or 1"
                self._equal.append(Check(f"{local[axis]} < 2", wrong))

    # -- everything else ------------------------------------------------------------------------
    def _fact(self, fact: Predicate) -> Check:
        left, right = self._known(fact.left), self._known(fact.right)
        if fact.op in _SIGNS:
            return Check(f"{left} {_SIGNS[fact.op]} {right}", f"not {left} {fact.op} {right}")
        return Check(f"not {left} {fact.op} {right}", f"not {left} {fact.op} {right}")

    def _outside(self, function: Function, reads: Reads) -> None:
        """What capture read, one object after the other, and the inputs that are parts of them."""
        kinds = {p.path: p.type for p in function.params}
        have = {f"type({path}) is {k}" for path, k in kinds.items() if isinstance(k, ScalarType)}
        guards = [guard for guard in reads.guards if guard.test not in have]
        own = Own(guards, reads.constants, self.words.define)
        guards = [own.replaced(guard) for guard in guards]
        inputs = [p for p in function.params if p not in self.inputs]
        paths = {param: own.rewritten(param.path) for param in inputs}
        tests = {guard.test for guard in guards}
        guards += [guard for test, guard in own.needed.items() if test not in tests]
        places = Places(self.words.names.take, own.spelled)
        for test in (*(guard.test for guard in guards), *paths.values()):
            places.ask(test)
        settled, used = settled_by_classes(guards, places, reads.constants)
        guards = _without(guards, settled)
        owners: dict[str, _Owner] = {}
        for guard in guards:
            about = _subject(places.owner(guard.test), reads)
            owners.setdefault(about, _Owner()).guards.append(guard)
        for param in inputs:
            about = _subject(places.owner(f"{paths[param]} is None"), reads)
            owners.setdefault(about, _Owner()).inputs[param] = paths[param]
        for param in inputs:
            self.inputs[param] = self.words.names.take(param.name, param.path, "input")
        for about in _FIRST:
            self._about(about, owners.pop(about, _Owner()), places)
        self._classes(settled, used, places, reads)
        for about in sorted(owners, key=lambda about: about in _LAST):
            self._about(about, owners[about], places)

    def _about(self, about: str, owner: "_Owner", places: Places) -> None:
        """All tests about one object."""
        if about and (owner.guards or owner.inputs):
            self.items.append(Note(_HEADINGS.get(about) or readable(about)))
        paths = set(owner.inputs.values())
        late = [g for g in owner.guards if paths & {p.text for p in places.of(g.test)}]
        early = _without(owner.guards, late)
        first = [g for g in early if {p.text for p in places.of(g.test)} == {about}]
        self._read(first, about, places)
        self._read(_without(early, first), about, places)
        for param, path in owner.inputs.items():
            bound = places.bind(path, self.inputs[param])
            self.items += [Bind(statement) for _, statement in bound]
        for param in owner.inputs:
            if param not in self._held:
                self._input(param)
        self._read(late, about, places)

    def _read(self, guards: list[Guard], about: str, places: Places) -> None:
        """Tests in a row; what they look up more than once is looked up before."""
        for guard in guards:
            self.items += [Bind(statement) for _, statement in places.binds(guard.test)]
        for guard in guards:
            where = f" ({guard.location})" if guard.location is not None else ""
            for fails in alternatives(negated(places.shown(guard.test))):
                self._check(fails, f"no longer true: {guard.reason}{where}", f"reads {about}")

    # -- what need not be asked at each call ----------------------------------------------------
    def _classes(self, settled: list[Guard], used: set[type], places: Places, reads: Reads) -> None:
        """What classes say, asked again when one of them has changed."""
        block: list[Item] = []
        with self._into(block):
            for place in class_attributes(places, reads.constants):
                used.update(place[1])
                self.items += [Bind(text) for _, text in places.bind(place[0].text)]
            self._read(settled, "classes", places)
        if block and (numbered := changing(used)):
            memory = self.words.define("classes", Classes(numbered))
            self.items.append(Note(_CLASSES))
            self.items.append(self._kept(memory, (), block, _bound(block)))
        else:
            self.items += block

    def _tensors(
        self, block: list[Item], tests: list[Check], asked: Iterable[str]
    ) -> Iterator[Item]:
        """The tests of tensors, those of modules asked again when they are not as before."""
        if not block:
            yield from tests
            return
        local = set(_bound(block))
        block += [test for test in tests if _names(test.fails) <= local]
        late = [test for test in tests if not _names(test.fails) <= local]
        later = {*asked, *self.sizes.values()}.union(*(_names(test.fails) for test in late))
        memory = self.words.define("tensors", Tensors())
        given = tuple(self.inputs[param] for param in self._held)
        needed = [name for name in _bound(block) if name in later]
        yield Note("tensors of modules")
        yield self._kept(memory, given, block, needed)
        yield from late

    def _kept(
        self, memory: str, given: tuple[str, ...], block: list[Item], names: list[str]
    ) -> Kept:
        take = self.words.names.take
        version, found = take(f"{memory}_version"), take(f"{memory}_found")
        return Kept(memory, given, tuple(block), tuple(names), version, found)

    def _gradients(self, wants: list[str]) -> None:
        if wants:
            wanted = " or ".join(wants)
            shown = wanted if len(wants) == 1 else f"({wanted})"
            self.items.append(Note("gradients run eagerly"))
            enabled = self.words.word("grad_enabled")
            wrong = "an input requires a gradient"
            self._check(f"{enabled}() and {shown}", wrong, "gradients")

    def _check(self, fails: str, reason: str, about: str = "", *, shown: bool = True) -> None:
        self.items.append(Check(fails, reason, about, shown))


def _repeated(facts: Iterable[Predicate]) -> set[str]:
    """Symbols that are guarded to equal an earlier one, and so need no guard of their own."""
    first: dict[str, str] = {}
    for fact in facts:
        if fact.op == "==" and isinstance(fact.left, Sym) and isinstance(fact.right, Sym):
            left, right = (first.get(s.name, s.name) for s in (fact.left, fact.right))
            first = {k: left if v == right else v for k, v in first.items()}
            first.update({fact.left.name: left, fact.right.name: left})
    return {name for name, representative in first.items() if name != representative}


def _tensor(param: Param) -> TensorType:
    assert isinstance(param.type, TensorType)
    return param.type


def _hint(stride: Dim) -> int:
    try:
        return hint(stride)
    except KeyError:  # a function made by hand
        return 0


_HEADINGS = {GLOBALS: "globals", "original": "the function itself"}
_CLASSES, _BUILTINS = "the classes of these objects", "functions of Python"
_TENSOR, _STATE = "what operations on tensors mean", "the state of PyTorch"
_FIRST = ("", "original")
_LAST = (_CLASSES, _BUILTINS, _TENSOR, _STATE)


def _subject(place: Place | None, reads: Reads) -> str:
    """What tests about a place are listed under: an object, a kind of thing, "" for arguments."""
    if place is None:
        return _STATE
    if place.text in reads.parameters:
        return ""
    value = reads.constants.get(place.root)
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


def _bound(items: Iterable[Item]) -> list[str]:
    """The names that statements give."""
    texts = (item.statement.partition(" = ")[0] for item in items if isinstance(item, Bind))
    return [name for text in texts for name in re.findall(r"\w+", text)]


def _names(test: str) -> set[str]:
    return {name for found in found_in(test) for name in found.names}
