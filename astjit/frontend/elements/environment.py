"""What names hold at one place of a function, and how two places become one.

    if c: y = 1                  y holds 1 or nothing: reading it afterwards is an error
    if c: return 0               what follows is lowered where the function has not returned
    else: y = 1

A way out (Exit) is taken always, never, or where a bool of the element says so.
"""

import dataclasses
import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from astjit.frontend.elements.kinds import BOOL, Dynamic, Kind, is_number, kind_of, promoted
from astjit.frontend.elements.region import Region
from astjit.ir.function import Block, Node
from astjit.ir.value import Literal, Value
from astjit.ops.spec import Kind as OpKind
from astjit.ops.spec import Trait


class Exit(enum.Enum):
    """How a block can be left before its end, or that it was not."""

    FALL = "the end"
    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"
    END = "the test of the loop"


LEAVING = (Exit.BREAK, Exit.CONTINUE, Exit.RETURN, Exit.END)
_FEW = 4  # operations that are done rather than branched around
RETURNED = "return"  # the name under which a frame keeps what it returns


class Hole:
    """Stands for the value of a name that holds nothing."""


HOLE = Hole()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two values that cannot be one: an error where it is read.

    Attributes:
        one: of one path.
        other: of the other.
    """

    one: object
    other: object


@dataclass(frozen=True, slots=True)
class Binding:
    """What a name holds.

    Attributes:
        value: the value.
        unbound: the ways out on which it may hold nothing.
        why: how it may come to hold nothing, in words.
    """

    value: object
    unbound: frozenset[Exit] = frozenset()
    why: str = ""


@dataclass(slots=True)
class Environment:
    """What holds at one place.

    Attributes:
        names: what they hold; a name that is not here holds nothing on any way.
        exits: for each way out that may have been taken whether it was.
        possible: the ways on which this place is reached.
    """

    names: dict[str, Binding] = field(default_factory=dict)
    exits: dict[Exit, object] = field(default_factory=dict)
    possible: frozenset[Exit] = frozenset({Exit.FALL})

    def copy(self) -> "Environment":
        """Another one that holds the same."""
        return Environment(dict(self.names), dict(self.exits), self.possible)

    def leave(self, how: Exit) -> None:
        """From here on this way out is taken."""
        self.exits[how] = True
        self.possible = frozenset({how})

    @property
    def ended(self) -> bool:
        """Whether nothing that follows in the block runs."""
        return Exit.FALL not in self.possible

    def staying(self) -> "Environment":
        """The same place for elements that took no way out."""
        names = {n: _narrowed(b, {Exit.FALL}) for n, b in self.names.items()}
        return Environment(names, {}, frozenset({Exit.FALL}))

    def left(self) -> "Environment":
        """The same place for elements that took one."""
        ways = self.possible - {Exit.FALL}
        names = {n: _narrowed(b, ways) for n, b in self.names.items()}
        only = next(iter(ways)) if len(ways) == 1 else None
        exits: dict[Exit, object] = {only: True} if only else dict(self.exits)
        return Environment(names, exits, ways)


def _narrowed(binding: Binding, ways: Iterable[Exit]) -> Binding:
    return dataclasses.replace(binding, unbound=binding.unbound & set(ways))


# --- values as scalars ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a frozen dataclass that the function makes.

    Attributes:
        cls: the class.
        names: of its fields.
        values: what they hold.
    """

    cls: type
    names: tuple[str, ...]
    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Once:
    """What an iterator gives. It is taken where it is made, since no second taking gives the same.

    Attributes:
        items: in order.
        reads: the names that Python would read when it is asked, not when it is made.
        stops: whether computing an item may fail, so that it matters how many are asked for.
    """

    items: tuple[object, ...]
    reads: frozenset[str] = frozenset()
    stops: bool = False


def parts(value: object) -> Sequence[object] | None:
    """The parts of a tuple, list or record, None for anything else."""
    if isinstance(value, tuple | list):
        return value
    return value.values if isinstance(value, Record) else None


def rebuilt(value: Any, new: Sequence[object]) -> object:
    """A tuple, list or record with other parts, made without running its class's code."""
    if isinstance(value, Record):
        return Record(value.cls, value.names, tuple(new))
    if isinstance(value, list):
        return list(new)
    return tuple(new) if type(value) is tuple else tuple.__new__(type(value), new)


def _alike(one: object, other: object) -> bool:
    if isinstance(one, Record) and isinstance(other, Record):
        return one.cls is other.cls
    return type(one) is type(other)


def same(one: object, other: object) -> bool:
    """Whether two values known now are one: of one type, equal, -0.0 and nan as they are."""
    if one is other:
        return True
    plain = (bool, int, float, str, bytes, type(None))
    return type(one) is type(other) and isinstance(one, plain) and repr(one) == repr(other)


@dataclass(frozen=True, slots=True)
class Slot:
    """Stands for the value that a node with regions will give.

    Attributes:
        index: which result of it.
    """

    index: int


@dataclass(slots=True)
class Slots:
    """Pairs of numbers that become one, each of which needs a result of a node.

    Attributes:
        pairs: the number of each path, and the kind that holds both.
        holes: the number of a pair of which the other is never read.
    """

    pairs: list[tuple[object, object, Kind]] = field(default_factory=list)
    holes: dict[int, object] = field(default_factory=dict)

    def merged(self, one: object, other: object) -> object:
        """One value for two, with slots for numbers that differ."""
        if one is other or same(one, other):
            return one
        if is_number(one) and is_number(other):
            return self.slot(one, other, promoted(kind_of(one), kind_of(other)))
        if isinstance(one, Hole) or isinstance(other, Hole):
            return self._with_hole(one, other)
        own, others = parts(one), parts(other)
        alike = _alike(one, other) and own is not None and others is not None
        if alike and own is not None and others is not None and len(own) == len(others):
            new = [self.merged(a, b) for a, b in zip(own, others, strict=True)]
            return rebuilt(one, new)
        return Conflict(one, other)

    def slot(self, one: object, other: object, kind: Kind) -> Slot:
        """A slot for a pair of numbers."""
        self.pairs.append((one, other, kind))
        return Slot(len(self.pairs) - 1)

    def _with_hole(self, one: object, other: object) -> object:
        """A value of one path; where it is a number the other path has a zero, never read."""
        value = other if isinstance(one, Hole) else one
        if is_number(value):
            kind = kind_of(value)
            zero = False if kind == BOOL else 0.0 if kind.is_float else 0
            self.holes[len(self.pairs)] = value
            if isinstance(one, Hole):
                return self.slot(zero, value, kind)
            return self.slot(value, zero, kind)
        if (own := parts(value)) is not None and not _all_known(own):
            return rebuilt(value, [self._with_hole(*self._ordered(one, p)) for p in own])
        return value

    def _ordered(self, one: object, part: object) -> tuple[object, object]:
        return (HOLE, part) if isinstance(one, Hole) else (part, HOLE)


def _all_known(values: Sequence[object]) -> bool:
    return not any(contains_dynamic(v) for v in values)


def contains_dynamic(value: object) -> bool:
    """Whether a value depends on elements."""
    if isinstance(value, Dynamic | Once):
        return True
    own = parts(value)
    return own is not None and any(contains_dynamic(p) for p in own)


def filled(value: object, results: Callable[[int], object]) -> object:
    """A value with its slots replaced."""
    if isinstance(value, Slot):
        return results(value.index)
    own = parts(value)
    if own is None:
        return value
    new = [filled(p, results) for p in own]
    return value if all(a is b for a, b in zip(own, new, strict=True)) else rebuilt(value, new)


# --- joining two arms ----------------------------------------------------------------------------


def joined(
    region: Region,
    condition: Dynamic,
    arms: tuple[tuple[Block, Environment], tuple[Block, Environment]],
    why: tuple[str, str],
) -> Environment:
    """Append the `if` of two arms that were lowered; what holds after it.

    Args:
        region: where it is appended.
        condition: a bool.
        arms: for each its block and what holds at its end.
        why: how a name that only the other arm binds comes to hold nothing.
    """
    (then, one), (other, two) = arms
    slots = Slots()
    made = Environment(possible=one.possible | two.possible)
    names = dict.fromkeys((*one.names, *two.names))
    merged = {n: _merged(slots, one, two, n, why) for n in names}
    flags = {
        how: slots.merged(one.exits.get(how, False), two.exits.get(how, False)) for how in LEAVING
    }
    results = selected(region, condition, then, other, slots)
    for name, binding in merged.items():
        value = filled(binding.value, results)
        made.names[name] = dataclasses.replace(binding, value=value)
    made.exits = {how: v for how, flag in flags.items() if (v := filled(flag, results))}
    return made


def _merged(
    slots: Slots, one: Environment, two: Environment, name: str, why: tuple[str, str]
) -> Binding:
    a, b = one.names.get(name), two.names.get(name)
    if a is not None and b is not None:
        if a is b:
            return a
        return Binding(slots.merged(a.value, b.value), a.unbound | b.unbound, a.why or b.why)
    if a is not None:
        return Binding(slots.merged(a.value, HOLE), a.unbound | two.possible, a.why or why[1])
    assert b is not None
    return Binding(slots.merged(HOLE, b.value), b.unbound | one.possible, b.why or why[0])


def selected(
    region: Region, condition: Dynamic, then: Block, other: Block, slots: Slots
) -> Callable[[int], object]:
    """Append what chooses between two arms; gives the result of each slot."""
    found: dict[int, object] = {}
    yields: list[tuple[int, Value, Value, Kind]] = []
    for index, (one, two, kind) in enumerate(slots.pairs):
        if kind == BOOL and one is True and two is False:
            found[index] = condition
        elif kind == BOOL and one is False and two is True:
            found[index] = region.op("logical_not", BOOL, condition)
        else:
            with region.inside(then):
                a = region.value(one, kind)
            with region.inside(other):
                b = region.value(two, kind)
            yields.append((index, a, b, kind))
    if not yields:
        return found.__getitem__  # whatever the arms compute, nobody needs it
    nodes = [*then.nodes, *other.nodes]
    if len(nodes) <= _FEW and all(k == BOOL for *_, k in yields) and all(map(_is_safe, nodes)):
        region.block.nodes += nodes  # `a and b`: cheaper than a branch
        then.nodes, other.nodes = [], []
    if not then.nodes and not other.nodes:
        for index, a, b, kind in yields:
            if index in slots.holes:  # known whichever arm is taken
                found[index] = Dynamic(region.real(slots.holes[index], kind), kind)
                continue
            if b == Literal(False) or a == Literal(True):
                name, value = ("logical_and", a) if b == Literal(False) else ("logical_or", b)
                found[index] = Dynamic(region.emit(name, condition.value, value), BOOL)
                continue
            both = isinstance(a, Literal) and isinstance(b, Literal)
            first = region.real(slots.pairs[index][0], kind) if both else a
            found[index] = Dynamic(region.emit("where", condition.value, first, b), kind)
        return found.__getitem__
    for at, (index, a, b, kind) in enumerate(yields):
        if isinstance(a, Literal) and isinstance(b, Literal):
            with region.inside(then):
                yields[at] = index, region.real(a.value, kind), b, kind
    then.results[:] = [a for _, a, _, _ in yields]
    other.results[:] = [b for _, _, b, _ in yields]
    node = region.structured("if", (condition.value,), then, other)
    for result, (index, _, _, kind) in zip(node.results, yields, strict=True):
        found[index] = Dynamic(result, kind)
    return found.__getitem__


def _is_safe(node: Node) -> bool:
    """Whether a node may run where its arm is not taken: nothing in it can fail or takes long."""
    return node.op.kind is OpKind.ELEMENTWISE and bool(node.op.traits & Trait.EXACT)


def anything(region: Region, flags: Iterable[object]) -> object:
    """Whether any of some bools holds."""
    found: object = False
    for flag in flags:
        if flag is True or found is True:
            found = True
        elif isinstance(flag, Dynamic):
            found = region.op("logical_or", BOOL, found, flag) if found else flag
    return found
