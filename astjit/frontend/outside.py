"""What a function reads from outside, by path: each read becomes an input or a guard.

    scale (a global float)      a number of the SSA, guard `type(fn_globals['scale']) is float`
    cfg.causal (a bool)         itself, guard `cfg.causal is True`
    helper (a function)         rewritten when called, guard `fn_globals['helper'].__code__ is ...`
    params['w'] (a tensor)      an input of the SSA

Containers and plain objects keep their identity; their parts are read when they are asked for.
"""

import builtins
import enum
import types
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import torch

from astjit.frontend import torch_api
from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Float, Int
from astjit.frontend.overlay import Overlay
from astjit.frontend.shadows import UNTOUCHED, SetShadow
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor

STATIC = (str, bytes, type(None), type(Ellipsis), type(NotImplemented), complex, range)
TORCH_STATIC = (torch.dtype, torch.device, torch.memory_format, torch.layout, torch.Size)
SEQUENCES = (list, tuple)
MAPPINGS = (dict, OrderedDict)


def is_sequence(value: Any) -> bool:
    """A list, a tuple or a namedtuple, whose items Python code cannot have redefined."""
    if type(value) in SEQUENCES:
        return True
    plain = isinstance(value, tuple) and hasattr(type(value), "_fields")
    return plain and type(value).__getitem__ is tuple.__getitem__


def _empty_tuple(value: object) -> bool:
    """`()` is one object in all of Python, so that it can have no path."""
    return type(value) is tuple and not value


def is_mapping(value: object) -> bool:
    """A dict, whose items Python code cannot have redefined."""
    return type(value) in MAPPINGS


def is_container(value: object) -> bool:
    """A list, tuple, namedtuple or dict."""
    return is_sequence(value) or is_mapping(value)


class Outside:
    """The objects that were there before the call, with the path of each.

    Args:
        capture: where inputs and guards go.
    """

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self._paths: dict[int, tuple[object, str]] = {}
        self._read: dict[str, object] = {}
        self._constants: dict[int, str] = {}
        self._first: dict[str, object] = {}
        self.overlay = Overlay(self)

    # --- paths ---

    def path(self, value: object) -> str | None:
        """How the caller reaches an object; None for one made during capture."""
        found = self._paths.get(id(value))
        return found[1] if found else None

    def know(self, value: object, path: str) -> None:
        """Record the path of an object."""
        self._paths.setdefault(id(value), (value, path))
        self._first.setdefault(path, value)

    def real(self, value: Any) -> Any:
        """The caller's object, for one that may be a copy with its path."""
        path = self.path(value)
        return value if path is None else self._first.get(path, value)

    def others(self, kinds: Iterable[type], changed: Iterable[object]) -> list[str]:
        """The paths of all objects of these types that were read, besides those in `changed`."""
        wanted, known = set(kinds), set(map(id, changed))
        found = [(v, p) for p, v in self._first.items() if type(v) in wanted]
        return [path for value, path in found if id(value) not in known]

    def constant(self, name: str, value: object) -> str:
        """The name under which guards and paths reach an object as it is now."""
        if (known := self._constants.get(id(value))) is not None:
            return known
        words = "".join(c if c.isalnum() else "_" for c in name)
        words += "_" if words == "torch" and value is not torch else ""  # programs name torch
        name = self.capture.fresh(words if words[:1].isalpha() else f"_{words}", own=True)
        self.capture.reads.constants[name] = value
        self._constants[id(value)] = name
        return name

    def close(self) -> None:
        """Let go of the caller's objects."""
        self._paths.clear()
        self._read.clear()
        self._first.clear()
        self.overlay = Overlay(self)

    # --- reads ---

    def read(self, value: object, path: str) -> object:
        """What user code gets for `value`, which was found at `path`.

        Raises:
            Stop: for a tensor or object that cannot be guarded.
        """
        if path not in self._read:
            self._read[path] = self._first_read(value, path)
        return self._read[path]

    def _first_read(self, value: object, path: str) -> object:
        guard = self.capture.guard
        if isinstance(value, torch.Tensor):
            return self.capture.lift(value, path)
        if isinstance(value, bool) or value is None or value is Ellipsis:
            guard(f"{path} is {value!r}", f"{path} is {value!r}")
            return value
        if type(value) in (int, float):
            return self.capture.scalar(value, path)  # type: ignore[arg-type]
        if isinstance(value, int | float) and not isinstance(value, enum.Enum):
            raise Stop(f"{path} is a number of type {type(value).__name__}")
        if isinstance(value, enum.Enum):
            return self.same(value, path, f"{type(value).__name__}.{value.name}")
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return self.same(value, path, str(value))
        if type(value) in STATIC or isinstance(value, TORCH_STATIC) or _empty_tuple(value):
            self.equal(value, path)
            return value
        if type(value) in (set, frozenset):
            return self._frozen(value, path)
        return self._object(value, path)

    def known(self, path: str) -> object:
        """What was read at a path, UNTOUCHED if nothing was."""
        return self._read.get(path, UNTOUCHED)

    def require(self, test: str, reason: str) -> None:
        """Add a guard."""
        self.capture.guard(test, reason)

    def same(self, value: object, path: str, name: str) -> object:
        """An object that must be this very one."""
        self.know(value, path)
        shown = self.constant(name, value)
        if shown != path:
            self.capture.guard(f"{path} is {shown}", f"{path} is {name}")
        return value

    def equal(self, value: object, path: str) -> None:
        """Guard that a static value is this one, of this type: `1 == True == 1.0`."""
        guard, reason = self.capture.guard, f"{path} is {value!r}"
        guard(f"type({path}) is {self.type_name(type(value))}", reason)
        if type(value) in (complex, range):  # 0j == -0j, range(0) == range(1, 1)
            guard(f"repr({path}) == {repr(value)!r}", reason)
        else:
            plain = type(value) in (str, bytes, int) or _empty_tuple(value)
            guard(f"{path} == {value!r}" if plain else self._is_constant(value, path), reason)

    def _is_constant(self, value: object, path: str) -> str:
        return f"{path} == {self.constant('value', value)}"

    def type_name(self, cls: type) -> str:
        """How guards name a class: Python's own by their names."""
        own = getattr(builtins, cls.__name__, None) is cls
        return cls.__name__ if own else self.constant(cls.__name__, cls)

    def _frozen(self, value: Any, path: str) -> object:
        others = [item for item in value if not _is_told_by_identity(item)]  # than classes
        if not all(type(item) in (*STATIC, int, float, bool) for item in others):
            raise Stop(f"{path} is a set of other things than numbers, strings and classes")
        self.know(value, path)
        texts = sorted(map(repr, value))
        reason = f"{path} is {texts}"
        self.capture.guard(f"type({path}) is {type(value).__name__}", reason)
        if all(type(item) is str for item in others):
            self.capture.guard(f"{path} == {self.constant('items', frozenset(value))}", reason)
        elif len(others) < len(value):
            raise Stop(f"{path} is a set of classes and of numbers")
        else:  # {1} == {True}
            self.capture.guard(f"sorted(map(repr, {path})) == {texts}", reason)
        return value

    def _object(self, value: object, path: str) -> object:
        guard = self.capture.guard
        if (known := self.path(value)) is not None:
            if known != path:
                guard(f"{path} is {known}", f"{path} and {known} are one object")
            return value
        if isinstance(value, types.FunctionType) and torch_api.dotted_name(value) is None:
            self.know(value, path)
            code = self.constant(f"{value.__name__}_code", value.__code__)
            guard(f"{path}.__code__ is {code}", f"{path} is the function {value.__qualname__}")
            return value
        if isinstance(value, types.MethodType):
            owner = self.read(value.__self__, f"{path}.__self__")
            function = self.read(value.__func__, f"{path}.__func__")
            return types.MethodType(function, owner)  # type: ignore[arg-type]
        if isinstance(value, (types.ModuleType, type)) or callable_in_c(value):
            return self.same(value, path, getattr(value, "__name__", "object"))
        self.know(value, path)
        kind = self.type_name(type(value))
        guard(f"type({path}) is {kind}", f"{path} is a {type(value).__name__}")
        return value

    def of_tensors(self, name: str) -> None:
        """Guard that an attribute of torch.Tensor is what it is now."""
        meant = getattr(torch.Tensor, name, None)
        if meant is not None and meant is getattr(torch.Tensor, name):
            tensor = self.constant("Tensor", torch.Tensor)
            self.same(meant, f"{tensor}.{name}", f"Tensor_{name}")

    def methods(self, cls: type, path: str, names: Iterable[str]) -> None:
        """Guard that a class has the attributes of these names that it has now, or lacks them."""
        for name in names:
            if (found := getattr(cls, name, None)) is None:
                self.capture.guard(f"not hasattr({path}, {name!r})", f"{path} has no {name}")
            else:
                self.same(found, f"{path}.{name}", name)

    # --- parts ---

    def key(self, key: object) -> str:
        """Text of a dict key or index; one that is known at run time only is pinned."""
        if type(key) in (Int, Float):
            key = int(key) if isinstance(key, Int) else float(key)  # type: ignore[arg-type]
        if type(key) in (str, bytes, int, float, bool, type(None)):
            return repr(key)
        if type(key) is tuple:
            inner = ", ".join(map(self.key, key))
            return f"({inner},)" if key else "()"
        return self.constant(getattr(key, "__name__", "key"), key)

    def items(self, value: Any) -> Any:
        """What an outside container holds now, with its items read; or the value itself.

        Its length, or its keys in order, are guarded. A list or dict follows later stores.
        """
        path = self.path(value)
        if path is None:
            return value
        value = self.real(value)
        if type(value) is list:
            return self.overlay.of_list(value, path).read()
        if is_mapping(value):
            return self.overlay.of_dict(value, path).read()
        if type(value) is set and (shadow := self.overlay.found(value)):
            return shadow.items
        if is_sequence(value):
            self.length(value)
            read = [self.read(item, f"{path}[{i}]") for i, item in enumerate(value)]
            return tuple.__new__(type(value), read)
        return value

    def length(self, value: Any) -> int:
        """The length of a container, guarded where it is outside."""
        if (path := self.path(value)) is None:
            return len(value)
        value = self.real(value)
        if (shadow := self.overlay.found(value)) is None:
            self.capture.guard(f"len({path}) == {len(value)}", f"{path} has {len(value)} items")
            return len(value)
        return len(shadow.items if isinstance(shadow, SetShadow) else shadow.opened())

    def exposed(self, value: Any, depth: int = 8) -> Any:
        """A value fit for code that is not rewritten: outside containers copied, items read, deep.

        The copies keep the paths of what they stand for.
        """
        if type(value) in (Int, Float) or isinstance(value, SymbolicTensor) or depth == 0:
            return value
        if isinstance(value, slice):
            parts = (self.exposed(p, depth - 1) for p in (value.start, value.stop, value.step))
            return slice(*parts)
        if not is_container(value):
            return self.items(value) if type(value) is set else value
        path = self.path(value)
        copy = self.items(value)
        parts_of = copy.values() if isinstance(copy, dict) else copy
        inner = [self.exposed(part, depth - 1) for part in parts_of]
        if path is None and all(a is b for a, b in zip(inner, parts_of, strict=True)):
            return value
        if isinstance(copy, dict):
            made = type(copy)(zip(copy, inner, strict=True))
        elif hasattr(type(copy), "_fields"):
            made = tuple.__new__(type(copy), inner)
        else:
            made = type(copy)(inner)
        if path is not None:
            self.know(made, path)
        return made


def _is_told_by_identity(value: object) -> bool:
    """Whether it is a class that is equal to itself only."""
    kind: Any = type(value)
    same = all(getattr(kind, name) is getattr(type, name) for name in ("__eq__", "__hash__"))
    return isinstance(value, type) and same


def callable_in_c(value: object) -> bool:
    """Whether a callable is one object for the whole process: C functions, torch's functions."""
    kinds = (
        types.BuiltinFunctionType,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        types.GetSetDescriptorType,
        torch._ops.OpOverload,
        torch._ops.OpOverloadPacket,
        torch_api.CustomOpDef,
    )
    return isinstance(value, (kinds, types.FunctionType))
