"""The object behind `__astjit__` in rewritten code, one for each function that is entered."""

import __future__

import functools
import importlib.util
import sys
import types
from collections.abc import Callable, Container
from typing import Any, NoReturn

from astjit.frontend import mutations, operators, stores
from astjit.frontend import session as rules
from astjit.frontend.arms import Choice, branch, chosen
from astjit.frontend.attributes import attribute
from astjit.frontend.classes import base, made, metaclass
from astjit.frontend.codes import PerCode
from astjit.frontend.interrupts import passing
from astjit.frontend.loops import Loop
from astjit.frontend.managers import context
from astjit.frontend.patterns import Pattern, matches
from astjit.frontend.rewrite import rewrite
from astjit.frontend.session import Session
from astjit.frontend.shadows import UNTOUCHED, DictShadow
from astjit.frontend.source import compiled, mark_rewritten, source_of
from astjit.frontend.stops import HOOKS, Stop
from astjit.frontend.unpacking import each, unpack

GLOBALS = "fn_globals"

Marks = frozenset[tuple[int, int | None]]  # lines and columns of conditions on tensors
_COPIES: PerCode[dict[Marks, types.CodeType]] = PerCode()  # by the original


class Hooks:
    """What a rewritten function reaches.

    Args:
        session: the capture.
        function: the function as the user wrote it.
        path: how the caller reaches it; "" for the function that is compiled.
    """

    def __init__(self, session: Session, function: types.FunctionType, path: str = "") -> None:
        self.session, self.function, self.path = session, function, path
        self._globals = GLOBALS
        root = session.capture.reads.constants[GLOBALS]
        if path:
            if function.__globals__ is root:
                session.capture.guard(
                    f"{path}.__globals__ is {GLOBALS}", f"where {path} is defined"
                )
            else:
                self._globals = f"{path}.__globals__"
        self._captured: dict[str, object] | None = None
        if not session.hooks:
            session.hooks.update(_of_session(session))
        vars(self).update(session.hooks)
        self.loop = functools.partial(Loop, session, function.__code__)
        file = function.__code__.co_filename
        self.choice = functools.partial(Choice, session, file)
        self.chosen = functools.partial(chosen, session, file)
        self.here = locals

    def defaults(
        self, given: int, named: Container[str]
    ) -> tuple[tuple[object, ...] | None, dict[str, object] | None]:
        """The function's defaults as user code gets them: those that a call takes are read.

        Args:
            given: how many arguments the call has by position.
            named: those that it has by name.
        """
        read, function = self.session.outside.read, self.function
        own, own_named = function.__defaults__ or (), function.__kwdefaults__ or {}
        first = function.__code__.co_argcount - len(own)
        names = function.__code__.co_varnames[first : first + len(own)]
        path = f"{self.path}.__defaults__"
        positional = list(own)
        for i, name in enumerate(names):
            if first + i >= given and name not in named:
                wrong = f"{self.path} has {len(own)} defaults"
                self.session.capture.guard(f"len({path}) == {len(own)}", wrong)
                positional[i] = read(own[i], f"{path}[{i}]")
        path = f"{self.path}.__kwdefaults__"
        keywords = {
            key: value if key in named else read(value, f"{path}[{key!r}]")
            for key, value in own_named.items()
        }
        return tuple(positional) or None, keywords or None

    # --- names ---

    def name(self, name: str, value: object) -> object:
        """A global or builtin."""
        outside = self.session.outside
        stored = outside.overlay.found(self.function.__globals__)
        if isinstance(stored, DictShadow) and (now := stored.get(name)) is not UNTOUCHED:
            return now
        if name in self.function.__globals__:
            return outside.read(value, f"{self._globals}[{name!r}]")
        self.session.capture.guard(f"{name!r} not in {self._globals}", f"{name} is Python's own")
        function: Any = self.function
        own = outside.constant("builtins", function.__builtins__)
        return outside.read(value, f"{own}[{name!r}]")

    def cell(self, name: str, value: object) -> object:
        """A variable of an enclosing function."""
        cell, path = self._cell(name)
        if (now := self.session.outside.overlay.attribute(cell, "cell_contents")) is not UNTOUCHED:
            return now
        return self.session.outside.read(value, f"{path}.cell_contents")

    def _cell(self, name: str) -> tuple[types.CellType, str]:
        """The cell of a variable, and its path."""
        index = self.function.__code__.co_freevars.index(name)
        assert self.function.__closure__ is not None
        cell = self.function.__closure__[index]
        if self.path:
            path = f"{self.path}.__closure__[{index}]"
        else:
            path = self.session.outside.constant(f"cell_{name}", cell)
        self.session.outside.know(cell, path)
        return cell, path

    def store_name(self, value: object, name: str) -> None:
        """`global name; name = value`."""
        self.session.unchanged(f"a store to {name} in a loop")
        outside, held = self.session.outside, self.function.__globals__
        outside.overlay.of_dict(held, self._globals).set(name, value)

    def store_cell(self, value: object, name: str) -> None:
        """`nonlocal name; name = value`."""
        self.session.unchanged(f"a store to {name} in a loop")
        cell, path = self._cell(name)
        path = self.session.outside.path(cell) or path
        self.session.outside.overlay.attributes(cell, path).set("cell_contents", value)

    def module(self, name: str, top: str) -> object:
        """`import name`: the module that the statement binds.

        Raises:
            Stop: if it was not imported before.
        """
        if name not in sys.modules:
            raise Stop(f"import of {name}, which was not imported before")
        return sys.modules[top]

    def imported(self, module: str, name: str, level: int) -> object:
        """`from module import name`."""
        package = self.function.__globals__.get("__package__") or ""
        full = importlib.util.resolve_name("." * level + module, package) if level else module
        self.module(full, full)
        found = sys.modules[full]
        if not hasattr(found, name):
            return self.module(f"{full}.{name}", f"{full}.{name}")
        return attribute(self.session, found, name)

    # --- the rest ---

    def slice(self, start: object, stop: object, step: object) -> slice:
        """`start:stop:step` in a subscript."""
        return slice(start, stop, step)

    def mapping(self, value: object) -> object:
        """What `**value` unpacks."""
        return self.session.outside.items(value)

    def decorator(self, decorate: object) -> Callable[[object], object]:
        """A decorator of a function defined during capture."""
        return lambda function: self.session.call(decorate, function)

    # --- match, raise ---

    def case(self, value: object, pattern: Pattern) -> bool:
        """Whether a pattern matches; what its names are bound to is kept."""
        self._captured = matches(self.session, value, pattern)
        return self._captured is not None

    def captured(self, name: str) -> object:
        """What a name of the pattern that matched is bound to."""
        assert self._captured is not None
        return self._captured[name]

    def raised(self, error: object) -> object:
        """What `raise` is given: an exception, made if it is a class.

        Raises:
            Stop: for an exception that was there before, since raising it changes it.
        """
        if isinstance(error, type) and issubclass(error, BaseException):
            error = self.session.call(error)
        elif isinstance(error, BaseException) and self.session.outside.path(error) is not None:
            raise Stop("raise of an exception that was there before the call")
        if isinstance(error, BaseException) and not isinstance(error, Exception):
            self.session.thrown.append(error)
        return error

    def stop(self, what: str) -> NoReturn:
        """A statement that is not captured."""
        raise Stop(what, syntax=True)


_SHARED = (
    "item",
    "iterate",
    "operand",
    "contains",
    "identical",
    "test",
    "shown",
    "key",
    "bind",
)
_OPERATORS = ("compared", "compare", "taken", "link", "either", "both", "remainder")
_STORES = ("store_attribute", "attribute_before", "delete_attribute")
_MUTATIONS = (
    "store_item",
    "item_before",
    "delete_item",
    "in_place",
    "in_place_attribute",
    "in_place_item",
)


def _of_session(session: Session) -> dict[str, object]:
    """The hooks that are the same for every function of a capture."""
    found: dict[str, Callable[..., object]] = {
        "context": context,
        "branch": branch,
        "passing": passing,
        "made": made,
        "metaclass": metaclass,
        "each": each,
        "unpack": unpack,
        "attribute": attribute,
    }
    homes = ((rules, _SHARED), (operators, _OPERATORS), (stores, _STORES), (mutations, _MUTATIONS))
    found.update((name, getattr(home, name)) for home, names in homes for name in names)
    shared = {name: functools.partial(hook, session) for name, hook in found.items()}
    return {**shared, "base": base, "call": session.call}


def known_copies(function: types.FunctionType) -> tuple[types.CodeType, ...]:
    """The code of the capture copies that there are."""
    return tuple((_COPIES.get(function.__code__) or {}).values())


def rewritten_code(function: types.FunctionType, marks: Marks = frozenset()) -> types.CodeType:
    """The code of the capture copy, made once for each function and the `if`s taken whole in it.

    Raises:
        Stop: if there is no source.
    """
    code = function.__code__
    copies = _COPIES.get(code)
    if copies is not None and marks in copies:
        return copies[marks]
    source = source_of(function)
    kept_as_text = code.co_flags & __future__.annotations.compiler_flag
    free = frozenset(code.co_freevars)
    tree = rewrite(source.fresh_tree(), free, annotations=not kept_as_text, marks=marks)
    made = compiled(tree, code, hooks=True)
    mark_rewritten(made)
    if copies is None:
        _COPIES.put(code, {marks: made})
    else:
        copies[marks] = made
    return made


def twin(
    hooks: Hooks,
    function: types.FunctionType,
    defaults: tuple[tuple[object, ...] | None, dict[str, object] | None] = (None, None),
) -> types.FunctionType:
    """The capture copy of a function, with the function's own globals and cells."""
    marks = hooks.session.branches.inside(function.__code__.co_filename)
    code = rewritten_code(function, marks)
    own = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells = tuple(
        types.CellType(hooks) if name == HOOKS else own[name] for name in code.co_freevars
    )
    made = types.FunctionType(code, function.__globals__, function.__name__, defaults[0], cells)
    made.__kwdefaults__ = defaults[1]
    made.__qualname__ = function.__qualname__
    return made
