"""`a, (b, *c) = value`, `for a, b in values`: what is unpacked is read by path, at each level."""

import itertools
from collections.abc import Iterator

from astjit.frontend.session import Session, iterate
from astjit.frontend.syntax import Names


def each(session: Session, names: tuple[Names, ...], values: object) -> Iterator[object]:
    """What a loop iterates over whose target is an unpacking: the items, unpacked."""
    for value in iterate(session, values):  # type: ignore[attr-defined]
        yield unpack(session, names, value)


def unpack(session: Session, names: tuple[Names, ...], value: object) -> object:
    """`a, (b, *c) = value`: the parts, themselves unpacked where a target is."""
    items = iterate(session, value)
    nested = any(isinstance(name, tuple) for name in names)
    starred = next((i for i, n in enumerate(names) if isinstance(n, str) and n[:1] == "*"), None)
    if nested and not isinstance(items, (list, tuple)):
        wanted = None if starred is not None else len(names) + 1
        items = list(itertools.islice(items, wanted))  # type: ignore[call-overload]
    if not isinstance(items, (list, tuple)) or len(items) + (starred is not None) < len(names):
        return items
    parts = list(items)
    if starred is None and len(parts) != len(names):
        return items
    end = len(names) if starred is None else starred
    after = len(names) - end - 1 if starred is not None else 0
    places = [*range(end), *range(len(parts) - after, len(parts))]
    wanted_names = [*names[:end], *names[len(names) - after :]]
    for name, i in zip(wanted_names, places, strict=True):
        if isinstance(name, tuple):
            parts[i] = unpack(session, name, parts[i])
        elif name and name[0] != "*":
            session.capture.bind(name, parts[i])
    return parts
