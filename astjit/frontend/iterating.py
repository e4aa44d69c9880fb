"""Builtin functions that go through items: sum, sorted, map, zip, dict, ... during capture.

What Python code of the items decides (comparisons, additions, truth, hashes) is run through the
capture; a function that is given, such as a key, is called through it.
"""

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from astjit.frontend.outside import is_mapping
from astjit.frontend.session import Session, iterate, key, operand, stood_in, test
from astjit.frontend.stand_ins import stood_for

_NUMBERS = (int, float, bool, complex)


def wrapped(session: Session, value: object) -> Any:
    """A function as C code may call it: through the capture."""
    return lambda *args, **kwargs: session.call(value, *args, **kwargs)


def items(session: Session, value: object) -> Iterable[object]:
    """The items of anything that can be iterated over."""
    return iterate(session, value)  # type: ignore[return-value]


def _sum(session: Session, values: object, start: object = 0) -> object:
    """Numbers are left to Python, whose sum of floats is more than additions."""
    plain: list[object] = []
    only_numbers, total = type(start) in _NUMBERS, start
    for value in items(session, values):
        if only_numbers and type(value) in _NUMBERS:
            plain.append(value)
            continue
        if only_numbers:
            total, only_numbers = sum(plain, start), False  # type: ignore[call-overload]
        if isinstance(start, str | bytes | bytearray):
            return sum([value], start)  # type: ignore[type-var]  # raises
        total = stood_for(operand(session, total) + operand(session, value))  # type: ignore[operator]
    return sum(plain, start) if only_numbers else total  # type: ignore[call-overload]


def _any(session: Session, values: object) -> bool:
    return any(test(session, value) for value in items(session, values))


def _all(session: Session, values: object) -> bool:
    return all(test(session, value) for value in items(session, values))


def _ordered(function: Callable[..., Any]) -> Callable[..., object]:
    """sorted, min or max: what is compared are stand-ins."""

    def call(session: Session, *args: object, key: object = None, **kwargs: object) -> object:
        several = len(args) > 1
        values = list(args) if several else [*items(session, *args)]
        if "reverse" in kwargs:
            kwargs["reverse"] = bool(test(session, kwargs["reverse"]))

        def compared(value: object) -> object:
            found = value if key is None else session.call(key, value)
            return stood_in(session, session.outside.exposed(found))

        if several and not kwargs:
            return function(*values, key=compared)
        return function(values, key=compared, **kwargs)

    return call


def _sequence(kind: Callable[..., object]) -> Callable[..., object]:
    def call(session: Session, *args: object) -> object:
        return kind(*(items(session, a) for a in args))

    return call


def _hashed(kind: Callable[..., object]) -> Callable[..., object]:
    def call(session: Session, *args: object) -> object:
        return kind(*([key(session, v) for v in items(session, a)] for a in args))

    return call


def _dict(session: Session, *args: object, **kwargs: object) -> object:
    made: dict[object, object] = {}
    for given in args[:1]:
        if is_mapping(given):
            made.update(session.outside.items(given))
        elif isinstance(given, dict):
            made.update(given)
        elif hasattr(given, "keys"):
            keys = session.call(session.call(getattr, given, "keys"))
            for name in items(session, keys):
                found = session.call(operator.getitem, given, name)
                made[key(session, name)] = found
        else:
            made.update(_pair(session, pair) for pair in items(session, given))
    return dict(made, *args[1:], **kwargs)  # raises where there are too many


def _pair(session: Session, pair: object) -> Any:
    found = list(items(session, pair))
    return [key(session, found[0]), *found[1:]] if len(found) == 2 else found


def _zip(session: Session, *args: object, strict: object = False) -> object:
    strict = bool(test(session, strict))
    return zip(*(items(session, a) for a in args), strict=strict)


def _enumerate(session: Session, values: object, start: Any = 0) -> object:
    return enumerate(items(session, values), start)


def _map(session: Session, function: object, *args: object) -> object:
    return map(wrapped(session, function), *(items(session, a) for a in args))


def _filter(session: Session, function: object, values: object) -> object:
    def holds(value: object) -> bool:
        return bool(test(session, value if function is None else session.call(function, value)))

    return filter(holds, items(session, values))


def _reversed(session: Session, values: object) -> object:
    if found := session.python_method(values, "__reversed__"):
        return session.call(session.bound(found, values))
    if session.python_method(values, "__len__") and session.python_method(values, "__getitem__"):
        return _backwards(session, values)
    held: Any = session.stand_ins.of(values) if session.speaks(values) else items(session, values)
    return reversed(held)


def _backwards(session: Session, values: Any) -> Iterator[object]:
    count: Any = session.call(len, values)
    for index in reversed(range(count)):
        yield session.call(type(values).__getitem__, values, index)


def _iter(session: Session, *args: object) -> object:
    if len(args) == 2:
        return iter(wrapped(session, args[0]), args[1])
    (values,) = args
    return iter(items(session, values))


ITERATING: dict[object, Callable[..., object]] = {
    sum: _sum,
    any: _any,
    all: _all,
    sorted: _ordered(sorted),
    min: _ordered(min),
    max: _ordered(max),
    list: _sequence(list),
    tuple: _sequence(tuple),
    set: _hashed(set),
    frozenset: _hashed(frozenset),
    dict: _dict,
    zip: _zip,
    enumerate: _enumerate,
    map: _map,
    filter: _filter,
    reversed: _reversed,
    iter: _iter,
}
