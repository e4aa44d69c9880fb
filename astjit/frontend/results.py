"""How what the function returns and stores is put together again at each call.

return y, {"n": x.shape[0], "w": w}
  =>  tuple(result 0, {'n': <x.shape[0]>, 'w': <w>}), where < > is fetched as it is at the call

Objects made during the call are made again without running Python code of their classes. One that
stands at several places is made once.
"""

import enum
import types
from collections import OrderedDict, deque

import torch

from astjit.frontend.carriers import Float, Int
from astjit.frontend.outside import is_mapping
from astjit.frontend.reads import Container, Fetched, Leaf, Shared, Store, Template, shared_once
from astjit.frontend.rebuild import Rebuilt, rebuilt
from astjit.frontend.session import Session
from astjit.frontend.shadows import UNTOUCHED, Unread
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor
from astjit.ir.value import Value

_PLAIN = (int, bool, str, bytes, type(None), complex, type(Ellipsis))
_NAMED = (torch.dtype, torch.device, torch.memory_format, torch.layout, enum.Enum)


class Results:
    """Collects the results of a function.

    Args:
        session: the capture.

    Attributes:
        values: the results of the SSA function.
        shared: templates of what may stand at several places, parts first.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.values: list[Value] = []
        self.shared: list[Template] = []
        self._known: dict[int, tuple[object, Shared | None]] = {}  # None: being made
        self._views: dict[int, tuple[SymbolicTensor, Value]] = {}

    def finish(self, value: object) -> None:
        """Fill in what the program returns and what it writes to objects outside.

        Raises:
            Stop: for an object that cannot be made again.
        """
        reads = self.session.capture.reads
        output = self.template(value)
        stores = [
            Store(w.owner, w.place, w.how, None if w.value is UNTOUCHED else self.template(w.value))
            for w in self.session.outside.overlay.writes()
        ]
        reads.output, reads.stores, reads.shared = shared_once(output, stores, self.shared)

    def template(self, value: object) -> Template:
        """How to make `value` at a call.

        Raises:
            Stop: for an object that cannot be made again.
        """
        if isinstance(value, SymbolicTensor) and not value.alias:
            return self._tensor(value)
        if isinstance(value, Int | Float):
            return Fetched(value.node.number.text)
        if isinstance(value, Unread):
            return Fetched(value.path)
        if (path := self.session.outside.path(value)) is not None:
            return Fetched(path)
        if type(value) in _PLAIN or (type(value) is tuple and not value):
            return Fetched(repr(value))
        if isinstance(value, float) and type(value) is float:
            return Fetched(repr(value) if abs(value) < float("inf") else f"float('{value}')")
        if isinstance(value, _NAMED) and id(type(value)) not in self.session.made:
            return Fetched(self.session.outside.constant(str(value).split(".")[-1], value))
        if isinstance(value, types.ModuleType | type) and id(value) not in self.session.made:
            return Fetched(self.session.outside.constant(value.__name__, value))
        return self._object(value)

    def _tensor(self, tensor: SymbolicTensor) -> Template:
        """The caller's own tensor, a view of its memory, or a result of the function."""
        place = tensor.place
        self.session.capture.either.check(place.storage, "is returned or stored")
        own = place.storage.param
        if own is not None and not place.steps:
            return Fetched(own.path + tensor.alias)
        if own is None:
            value = tensor.value
        else:  # one view however often it is found
            _, value = self._views.setdefault(id(tensor), (tensor, place.chain(own)[-1]))
        if value not in self.values:
            self.values.append(value)
        return Leaf(self.values.index(value), tensor.alias)

    def _object(self, value: object) -> Template:
        """Something made during the call: once, however often it is found."""
        if id(value) in self._known:
            known = self._known[id(value)][1]
            if known is None:
                raise Stop(f"a result of type {type(value).__name__} that holds itself")
            return known
        self._known[id(value)] = value, None
        made = self._tensor(value) if isinstance(value, SymbolicTensor) else self._made(value)
        self.shared.append(made)
        found = Shared(len(self.shared) - 1)
        self._known[id(value)] = value, found
        return found

    def _made(self, value: object) -> Template:
        kind = type(value)
        if id(kind) in self.session.made:
            raise Stop(f"a result of type {kind.__name__}, made during the call")
        if isinstance(value, torch.Size):
            return self._container(_size, "Size", value)
        if is_mapping(value):
            assert isinstance(value, dict)
            keys = self._keys(value)
            items = tuple(self.template(part) for part in value.values())
            if kind is dict:
                return Container("dict", items, keys)
            return self._container(Rebuilt(OrderedDict, OrderedDict, keys=tuple(value)), "", value)
        if kind in (tuple, list):
            return Container(kind.__name__, tuple(self.template(part) for part in value))  # type: ignore[attr-defined]
        if kind in (set, frozenset, range, slice) and _plain_inside(value):
            return Fetched(repr(value))
        if kind is deque:
            made: object = Rebuilt(deque, deque, limit=value.maxlen)  # type: ignore[attr-defined]
            return self._container(made, "deque", value)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self._container(kind, kind.__name__, value)
        if kind.__module__ == "torch.return_types":
            return self._container(_Sequence(kind), kind.__name__, value)
        return self._instance(value)

    def _instance(self, value: object) -> Template:
        """An object with attributes, and with items where its class is a list or dict."""
        if (found := rebuilt(value)) is None:
            raise Stop(f"a result of type {type(value).__name__}, made during the call")
        how, parts = found
        return self._container(how, type(value).__name__, parts)

    def _container(self, make: object, name: str, parts: object) -> Template:
        values = parts.values() if isinstance(parts, dict) else parts
        items = tuple(self.template(part) for part in values)  # type: ignore[attr-defined]
        name = name or type(parts).__name__
        return Container(self.session.outside.constant(name, make), items)

    def _keys(self, value: dict[object, object]) -> tuple[str, ...]:
        return tuple(self.session.outside.key(key) for key in value)


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
