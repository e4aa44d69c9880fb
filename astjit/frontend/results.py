"""How what the function returned is put together again at each call.

return y, {"n": x.shape[0], "w": w}
  =>  tuple(result 0, {'n': <x.shape[0]>, 'w': <w>}), where < > is fetched as it is at the call
"""

import enum
import types

import torch

from astjit.frontend.carriers import Float, Int
from astjit.frontend.outside import is_mapping
from astjit.frontend.reads import Container, Fetched, Leaf, Template
from astjit.frontend.session import Session
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor
from astjit.ir.value import Value

_PLAIN = (int, bool, str, bytes, type(None), complex, type(Ellipsis))
_NAMED = (torch.dtype, torch.device, torch.memory_format, torch.layout, enum.Enum)


class Results:
    """Collects the results of a function.

    Args:
        session: the capture.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.values: list[Value] = []
        self._seen: set[int] = set()

    def template(self, value: object) -> Template:
        """How to make `value` at a call.

        Raises:
            Stop: for an object that cannot be made again.
        """
        if isinstance(value, SymbolicTensor):
            return self._tensor(value)
        if isinstance(value, Int | Float):
            return Fetched(value.node.number.text)
        if (path := self.session.outside.path(value)) is not None:
            return Fetched(path)
        if type(value) in _PLAIN:
            return Fetched(repr(value))
        if isinstance(value, float) and type(value) is float:
            return Fetched(repr(value) if abs(value) < float("inf") else f"float('{value}')")
        if isinstance(value, _NAMED):
            return Fetched(self.session.outside.constant(str(value).split(".")[-1], value))
        if isinstance(value, torch.Size):
            parts = [self.template(part) for part in value]
            return Container(self.session.outside.constant("Size", _size), tuple(parts))
        if is_mapping(value):
            assert isinstance(value, dict)
            self._once(value)
            keys = tuple(self.session.outside.key(key) for key in value)
            items = tuple(self.template(part) for part in value.values())
            kind = "dict" if type(value) is dict else None
            if kind is None:
                raise Stop(f"a result of type {type(value).__name__}")
            return Container(kind, items, keys)
        if isinstance(value, (tuple, list)):
            return self._sequence(value)
        if type(value) in (set, frozenset, range, slice) and _plain_inside(value):
            return Fetched(repr(value))
        if isinstance(value, types.ModuleType | type) and id(value) not in self.session.made:
            return Fetched(self.session.outside.constant(value.__name__, value))
        raise Stop(f"a result of type {type(value).__name__}, made during the call")

    def _tensor(self, tensor: SymbolicTensor) -> Template:
        """The caller's own tensor, a view of its memory, or a result of the function."""
        if tensor.alias:
            self._once(tensor, "alias of a tensor")
        place = tensor.place
        own = place.storage.param
        if own is not None and not place.steps:
            return Fetched(own.path + tensor.alias)
        value = tensor.value if own is None else place.chain(own)[-1]
        if value not in self.values:
            self.values.append(value)
        return Leaf(self.values.index(value), tensor.alias)

    def _once(self, value: object, what: str = "list or dict") -> None:
        if id(value) in self._seen:
            raise Stop(f"one {what} is returned twice")
        self._seen.add(id(value))

    def _sequence(self, value: "tuple[object, ...] | list[object]") -> Template:
        kind = type(value)
        if kind is list:
            self._once(value)
        items = tuple(self.template(part) for part in value)
        if kind in (tuple, list):
            return Container(kind.__name__, items)
        if hasattr(kind, "_fields"):
            return Container(self.session.outside.constant(kind.__name__, kind), items)
        if kind.__module__ == "torch.return_types":
            made = _Sequence(kind)
            return Container(self.session.outside.constant(kind.__name__, made), items)
        raise Stop(f"a result of type {kind.__name__}")


def _size(*sizes: int) -> torch.Size:
    return torch.Size(sizes)


class _Sequence:
    """A class of torch.return_types called with its parts, as a namedtuple is."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __call__(self, *parts: object) -> object:
        return self.kind(parts)


def _plain_inside(value: object) -> bool:
    if isinstance(value, slice):
        return all(type(p) in _PLAIN for p in (value.start, value.stop, value.step))
    return all(type(part) in (*_PLAIN, float) for part in value)  # type: ignore[attr-defined]
