"""The lowering of one function: its names, its tree, and what all frames of one lowering share."""

import ast
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from astjit.errors import ElementError
from astjit.frontend.elements.environment import (
    Binding,
    Conflict,
    Environment,
    Exit,
    Once,
)
from astjit.frontend.elements.kinds import Dynamic
from astjit.frontend.elements.names import assigned, read
from astjit.frontend.elements.refusals import Text
from astjit.frontend.elements.region import Region
from astjit.frontend.hooks import Hooks
from astjit.frontend.outside import is_container
from astjit.frontend.session import Session
from astjit.frontend.stops import NeedsGrad, Stop, forget
from astjit.ir.value import Result
from astjit.location import Location

Tree = ast.FunctionDef | ast.Lambda


@dataclass(eq=False, slots=True)
class Lowering:
    """What the frames of one map share.

    Attributes:
        session: the capture that it belongs to.
        region: the SSA that grows.
        body: lowers statements.
        limit: how often a `while` may run, None for as long as it likes.
        calls: the functions that are being lowered, outermost first: what tells them apart, their
            name, and where they were called.
    """

    session: Session
    region: Region
    body: "Callable[[Frame, Sequence[ast.stmt]], None]"
    limit: int | None = None
    calls: list[tuple[object, str, Location]] = field(default_factory=list)


@dataclass(eq=False)
class Frame:
    """One function that is being lowered.

    Attributes:
        lowering: what frames share.
        text: where it is written.
        tree: its tree.
        outer: the frame in which it was defined, None for a function of a module.
        hooks: reach the globals and cells of the function it is, or is in.
        scope: trees of which the names are its own, besides its parameters.
        environment: what its names hold now.
        temporaries: the variables of comprehensions that are being lowered.
    """

    lowering: Lowering
    text: Text
    tree: ast.AST
    outer: "Frame | None"
    hooks: Hooks
    parameters: tuple[str, ...] = ()
    scope: tuple[ast.AST, ...] = ()
    environment: Environment = field(default_factory=Environment)
    temporaries: dict[str, object] = field(default_factory=dict)

    @property
    def region(self) -> Region:
        """The SSA that grows."""
        return self.lowering.region

    @cached_property
    def own(self) -> frozenset[str]:
        """The names that are this frame's variables."""
        return frozenset((*self.parameters, *assigned(self.scope)))

    def error(self, code: str, node: ast.AST, seen: str, instead: str = "") -> ElementError:
        """The error for a node, with the calls that led to it."""
        made = self.text.error(code, node, seen, instead)
        for _, name, place in reversed(self.lowering.calls[1:]):
            made.add_note(f"{name} is called at {place}")
        return made

    def kept(self, node: ast.AST, value: object) -> object:
        """A value that something holds on to.

        Raises:
            ElementError: if it is an iterator, which has nothing left when it is asked again.
        """
        if isinstance(value, Once):
            seen = "an iterator, which changes when it is asked"
            raise self.error("AJ103", node, seen, "its items: tuple(...), [...]")
        return value

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """What is appended within comes from a node."""
        before, self.region.location = self.region.location, self.text.location(node)
        try:
            yield
        finally:
            self.region.location = before

    # --- names ---

    def hold(self, name: str, value: object) -> None:
        """Let a name hold a value."""
        self.environment.names[name] = Binding(value)

    def bind(self, name: str, value: object) -> None:
        """Let a variable hold a value, which is named after it unless it has a name."""
        self.hold(name, value)
        self.name(value, name)

    def name(self, value: object, name: str) -> None:
        """Name an SSA value after a variable, unless it has a name."""
        if isinstance(value, Dynamic) and isinstance(value.value, Result) and not value.value.name:
            value.value.name = name

    def lookup(self, name: str, node: ast.AST) -> object:
        """What a name holds.

        Raises:
            ElementError: nothing, or nothing on some path, or two things.
        """
        if name in self.temporaries:
            return self.temporaries[name]
        frame: Frame | None = self
        while frame is not None:
            if name in frame.own:
                return frame._variable(name, node, self)
            frame = frame.outer
        return self._outside(name, node)

    def _variable(self, name: str, node: ast.AST, reader: "Frame") -> object:
        binding = self.environment.names.get(name)
        if binding is None:
            raise reader.error("AJ104", node, f"`{name}` has no value here")
        if Exit.FALL in binding.unbound:
            seen = f"`{name}` may have no value here: {binding.why}"
            raise reader.error("AJ104", node, seen, f"give `{name}` a value before that")
        if isinstance(binding.value, Conflict):
            one, other = shown(binding.value.one), shown(binding.value.other)
            seen = f"`{name}` is {one} on one path and {other} on another"
            raise reader.error("AJ105", node, seen, "the same kind of value on both")
        return binding.value

    def _outside(self, name: str, node: ast.AST) -> object:
        function: types.FunctionType = self.hooks.function
        if name in function.__code__.co_freevars and function.__closure__ is not None:
            cell = function.__closure__[function.__code__.co_freevars.index(name)]
            try:
                held = cell.cell_contents
            except ValueError:
                raise self.error("AJ104", node, f"`{name}` has no value yet") from None
            return self.opened(node, lambda: self.hooks.cell(name, held))
        seen: Any = function  # not every typeshed knows of __builtins__
        for held in (function.__globals__, seen.__builtins__):
            if name in held:
                return self.opened(node, partial(self.hooks.name, name, held[name]))
        raise self.error("AJ104", node, f"name `{name}` is not defined")

    def opened(self, node: ast.AST, get: Callable[[], object]) -> object:
        """A value from outside; a container with its items read.

        Raises:
            ElementError: if it cannot be guarded.
        """
        try:
            value = get()
            return self.lowering.session.outside.exposed(value) if is_container(value) else value
        except Stop as stop:
            forget(stop)
            raise self.error("AJ103", node, stop.reason) from None
        except NeedsGrad as needs:
            raise self.error("AJ103", node, f"{needs.path} requires a gradient") from None

    @cached_property
    def read_by_inner(self) -> set[str]:
        """The names that functions defined inside may read, whenever they are called."""
        inner = [
            n
            for tree in self.scope
            for n in ast.walk(tree)
            if isinstance(n, ast.FunctionDef | ast.Lambda)
        ]
        return read(inner)

    def read_outside(self, inside: Iterable[ast.AST]) -> set[str]:
        """The names that are read in this frame, but for some trees."""
        skipped = {id(n) for tree in inside for n in ast.walk(tree)}
        nodes = (n for tree in self.scope for n in ast.walk(tree) if id(n) not in skipped)
        found = set()
        for node in nodes:
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                found.add(node.id)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
        return found | self.read_by_inner


def shown(value: object) -> str:
    """A value in an error."""
    if isinstance(value, Dynamic):
        return str(value.kind)
    if isinstance(value, Once):
        return "an iterator"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, bool | int | float | str) or value is None:
        return f"`{value!r}`"
    return f"a {type(value).__name__}"
