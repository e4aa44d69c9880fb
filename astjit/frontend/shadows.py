"""What one dict, list or set holds during a capture that may not change it.

A shadow is compared with the caller's object at the end: what was put back is not written at all.
Items that nobody looks at are neither read nor guarded; they may still be moved.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from astjit.frontend.stops import Stop


class _Mark:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNTOUCHED = _Mark("UNTOUCHED")  # nothing was stored there
GONE = _Mark("GONE")  # it was deleted


class Reader(Protocol):
    """What shadows ask of the objects outside."""

    def read(self, value: object, path: str) -> object:
        """What user code gets for a value found at a path."""
        ...

    def known(self, path: str) -> object:
        """What was read at a path, UNTOUCHED if nothing was."""
        ...

    def key(self, key: object) -> str:
        """Text of a key."""
        ...

    def require(self, test: str, reason: str) -> None:
        """Add a guard."""
        ...


@dataclass(frozen=True, slots=True)
class Write:
    """One statement of the program's end, its value as user code had it.

    Attributes:
        owner: path of the object.
        place: ".h", "['k']" or ".append".
        how: "set", "delete", "call", or "do" for a place that is the whole call.
        value: what is stored or passed, UNTOUCHED for none.
    """

    owner: str
    place: str
    how: str
    value: object = UNTOUCHED


@dataclass(eq=False, slots=True)
class Unread:
    """An item that nothing has looked at.

    Attributes:
        value: the item.
        path: of the item.
        seen: what user code got for it.
    """

    value: object
    path: str
    seen: object = UNTOUCHED

    def is_(self, item: object) -> bool:
        """Whether this is what stands at a place now."""
        return item is self or (self.seen is not UNTOUCHED and item is self.seen)


@dataclass(eq=False, slots=True)
class ListShadow:
    """A list as the program sees it.

    Attributes:
        reader: where items are read.
        real: the caller's list.
        path: how it is reached.
        tail: what was appended, while nobody has asked for anything else.
        items: all of it, once somebody has; items that nobody looked at are Unread.
        start: what it was made of; None where that no longer matters.
    """

    reader: Reader
    real: list[object]
    path: str
    tail: list[object] = field(default_factory=list)
    items: list[object] | None = None
    start: list[Unread] | None = None

    def opened(self) -> list[object]:
        """All items, its length guarded; what is done to this list is done to the shadow."""
        if self.items is None:
            self.reader.require(
                f"len({self.path}) == {len(self.real)}", f"{self.path} has {len(self.real)} items"
            )
            self.start = [Unread(v, f"{self.path}[{i}]") for i, v in enumerate(self.real)]
            self.items = [*self.start, *self.tail]
            self.tail = []
        return self.items

    def read(self) -> list[object]:
        """All items as user code sees them: the list itself, which follows later changes."""
        items = self.opened()
        for at, item in enumerate(items):
            if isinstance(item, Unread):
                items[at] = self.value(item)
        return items

    def value(self, item: object) -> object:
        """What user code gets for an item."""
        if isinstance(item, Unread):
            item.seen = self.reader.read(item.value, item.path)
            return item.seen
        return item

    def at(self, index: Any) -> object:
        """`list[index]`."""
        if self.items is None and type(index) is int and -len(self.tail) <= index < 0:
            return self.tail[index]
        items = self.opened()
        if isinstance(index, slice):
            return [self.value(item) for item in items[index]]
        items[index] = value = self.value(items[index])
        return value

    def append(self, values: list[object]) -> None:
        """Add items at the end."""
        (self.tail if self.items is None else self.items).extend(values)

    def clear(self) -> None:
        """Forget everything."""
        if self.items is None:
            self.items, self.tail = [], []
        self.items.clear()

    def writes(self) -> Iterator[Write]:
        """What the program does to the caller's list."""
        if self.items is None:
            yield from self._appended(self.tail)
            return
        start, now = self.start, self.items
        if start is None or len(now) < len(start):
            yield Write(self.path, "[:]", "set", [*now])
            return
        changed = [i for i, was in enumerate(start) if not was.is_(now[i])]
        if len(changed) > max(4, len(start) // 2):
            yield Write(self.path, "[:]", "set", [*now])
            return
        for i in changed:
            yield Write(self.path, f"[{i}]", "set", now[i])
        yield from self._appended(now[len(start) :])

    def _appended(self, values: list[object]) -> Iterator[Write]:
        if len(values) == 1:
            yield Write(self.path, ".append", "call", values[0])
        elif values:
            yield Write(self.path, ".extend", "call", [*values])


@dataclass(eq=False, slots=True)
class DictShadow:
    """A dict as the program sees it.

    Attributes:
        reader: where items are read.
        real: the caller's dict, or what a slotted object has instead.
        path: how it is reached.
        owner: for attributes, the path of the object; they are then written as such.
        slotted: there is no dict behind it.
        now: keys that were stored or deleted, in order.
        moved: keys deleted first, which come last when they are stored again.
        items: all of it, once somebody has asked for the keys.
        start: what it was made of; None where that no longer matters.
    """

    reader: Reader
    real: dict[Any, object]
    path: str
    owner: str = ""
    slotted: bool = False
    now: dict[Any, object] = field(default_factory=dict)
    moved: set[object] = field(default_factory=set)
    items: dict[Any, object] | None = None
    start: dict[Any, Unread] | None = None

    def get(self, key: object) -> object:
        """What was stored under a key: UNTOUCHED, GONE or a value."""
        if self.items is None:
            return self.now.get(key, UNTOUCHED)
        if key not in self.items:
            return GONE
        self.items[key] = value = self.value(self.items[key])
        return value

    def value(self, item: object) -> object:
        """What user code gets for an item."""
        if isinstance(item, Unread):
            item.seen = self.reader.read(item.value, item.path)
            return item.seen
        return item

    def set(self, key: object, value: object) -> None:
        """`dict[key] = value`."""
        if self.items is not None:
            self.items[key] = value
            return
        if self.now.get(key) is GONE:
            del self.now[key]
            self.moved.add(key)
        self.now[key] = value

    def delete(self, key: object) -> None:
        """`del dict[key]`, which must be there."""
        if self.items is not None:
            del self.items[key]
            return
        if key in self.now:
            self.moved.add(key)  # whether it was there before is not known
        self.now.pop(key, None)
        self.now[key] = GONE

    def opened(self) -> dict[Any, object]:
        """All items, the keys guarded; what is done to this dict is done to the shadow."""
        if self.items is None:
            shown = ", ".join(self.reader.key(key) for key in self.real)
            self.reader.require(f"[*{self.path}] == [{shown}]", f"the keys of {self.path}")
            if any(type(key) in (int, float, bool) for key in self.real):  # [1] == [True]
                texts = [*map(repr, self.real)]
                test = f"[*map(repr, {self.path})] == {texts}"
                self.reader.require(test, f"the keys of {self.path}")
            self.start = {
                key: Unread(value, f"{self.path}[{self.reader.key(key)}]")
                for key, value in self.real.items()
            }
            kind = OrderedDict if isinstance(self.real, OrderedDict) else dict
            self.items = kind(self.start)
            for key, value in self.now.items():
                if value is GONE or key in self.moved:
                    self.items.pop(key, None)
                if value is not GONE:
                    self.items[key] = value
            self.now, self.moved = {}, set()
        return self.items

    def read(self) -> dict[Any, object]:
        """All items as user code sees them: the dict itself, which follows later changes."""
        items = self.opened()
        for key, item in items.items():
            if isinstance(item, Unread):
                items[key] = self.value(item)
        return items

    def clear(self) -> None:
        """Forget everything."""
        if self.items is None:
            kind = OrderedDict if isinstance(self.real, OrderedDict) else dict
            self.items, self.now = kind(), {}
        self.items.clear()

    def writes(self) -> Iterator[Write]:
        """What the program does to the caller's dict.

        Raises:
            Stop: for a slot that was stored and deleted, and may have been empty.
        """
        if self.items is None:
            for key, value in self.now.items():
                yield from self._written(key, value)
            return
        start = self.start
        kept = [key for key in start or () if key in self.items]
        if start is None or [*self.items][: len(kept)] != kept:
            yield Write(self.path, ".clear()", "do")
            yield Write(self.path, ".update", "call", dict(self.items))
            return
        for key in start:
            if key not in self.items:
                yield self._write(key, "delete")
        for key, value in self.items.items():
            if key not in start or not start[key].is_(value):
                yield self._write(key, "set", value)

    def _written(self, key: object, value: object) -> Iterator[Write]:
        if key in self.moved and not self.slotted:
            yield Write(self.path, f".pop({self.reader.key(key)}, None)", "do")
        elif value is GONE:
            if key in self.moved:
                raise Stop(f"{self.owner}.{key} is stored and deleted")
            yield self._write(key, "delete")
        if value is not GONE and not self._as_before(key, value):
            yield self._write(key, "set", value)

    def _write(self, key: object, how: str, value: object = UNTOUCHED) -> Write:
        if self.owner:
            return Write(self.owner, f".{key}", how, value)
        return Write(self.path, f"[{self.reader.key(key)}]", how, value)

    def _as_before(self, key: object, value: object) -> bool:
        """Whether the very object that was read there is there again."""
        if key in self.moved or key not in self.real:
            return False
        place = f"{self.path}[{self.reader.key(key)}]"
        read = self.reader.known(place)
        if read is UNTOUCHED and self.owner:
            read = self.reader.known(f"{self.owner}.{key}")
            if read is value:
                shown = self.reader.key(key)
                self.reader.require(f"{shown} in {self.path}", f"{self.owner} has {key}")
        return read is value


@dataclass(eq=False, slots=True)
class SetShadow:
    """A set of plain values as the program sees it; what it held is guarded when it is read.

    Attributes:
        real: the caller's set.
        path: how it is reached.
        items: what it holds now.
    """

    real: set[object]
    path: str
    items: set[object]

    def writes(self) -> Iterator[Write]:
        """What the program does to the caller's set."""
        gone = [item for item in self.real if item not in self.items]
        new = [item for item in self.items if item not in self.real]
        for item in gone:
            yield Write(self.path, ".discard", "call", item)
        for item in new:
            yield Write(self.path, ".add", "call", item)


Shadow = ListShadow | DictShadow | SetShadow
