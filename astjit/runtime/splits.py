"""Functions that are not captured whole: what is cut where, and the functions that run instead.

Each place at which a capture stops becomes a mark of the statement there. The function is cut at
its marks, its segments are compiled as functions of their own when they are first reached, and
where one of them stops there is one more mark. Functions and modules that a marked statement calls
are compiled by themselves.
"""

import ast
import sys
import types
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from astjit.frontend.flow import blocks
from astjit.frontend.hooks import known_copies
from astjit.frontend.marks import COMPILED, disabled_by
from astjit.frontend.runs import CALLEE, Marks, Place, Run, place
from astjit.frontend.segmenting import why_whole
from astjit.frontend.source import source_of
from astjit.frontend.stops import Failed, Stop, place_in
from astjit.frontend.twins import Twin, linked, segment_function, twin_of
from astjit.location import Location
from astjit.runtime.locks import Lock
from astjit.runtime.program import Program

MOST_ALIKE = 8  # functions of one code that are compiled; more are closures, made again and again
_MODULE_HOOKS = (
    "_backward_hooks",
    "_backward_pre_hooks",
    "_forward_hooks",
    "_forward_pre_hooks",
)


class Part(Protocol):
    """A function that is compiled: the whole, a segment or a callee."""

    @property
    def call(self) -> Any:
        """Calls it."""
        ...

    @property
    def split(self) -> "Split":
        """How it is cut."""
        ...

    @property
    def dispatcher(self) -> Any:
        """Its programs."""
        ...


Make = Callable[..., Part]  # of a function and its split
Show = Callable[[Program], str]
UNREACHED = "not captured yet: no call has reached it"


class Family:
    """A compiled function, its segments, and the functions that its statements call.

    Args:
        make: makes a part of a function.
    """

    def __init__(self, make: Make) -> None:
        self.make = make
        self.lock = Lock()
        self.root: Split | None = None
        self.members: dict[types.FunctionType, Part | None] = {}  # None: not worth compiling
        self._alike: Counter[types.CodeType] = Counter()

    def split_of(self, function: types.FunctionType) -> "Split":
        """The split of the function that the user compiled."""
        self.root = Split(function, self)
        return self.root

    def callee(self, value: Any) -> Any:
        """What a statement that stays Python calls instead of `value`: itself, or it compiled."""
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
            found = self._function(value.__func__)
            same = found is value.__func__
            return value if same else types.MethodType(found, value.__self__)
        if isinstance(value, torch.nn.Module) and _is_plain_module(value):
            forward = value.forward
            found = self.callee(forward)
            return value if found is forward else found
        return value

    def _function(self, function: types.FunctionType) -> Any:
        if function not in self.members:
            with self.lock:
                if function not in self.members:
                    self.members[function] = self._part(function)
        part = self.members[function]
        if part is None:
            return function
        return part.split.runner() or part.call if part.split.only else part.call

    def _part(self, function: types.FunctionType) -> Part | None:
        code = function.__code__
        if self._alike[code] >= MOST_ALIKE or not may_be_compiled(function):
            return None
        self._alike[code] += 1
        return self.make(function, split=Split(function, self))

    def dispatchers(self) -> list[Any]:
        """Those of all segments and callees."""
        members = [part for part in self.members.values() if part is not None]
        roots = [self.root, *(member.split for member in members)]
        segments = [part for root in roots if root for part in root.parts.values()]
        return [part.dispatcher for part in (*segments, *members)]

    def leave(self, function: types.FunctionType) -> None:
        """Run a callee as it is from now on."""
        self.members[function] = None

    def clear(self) -> None:
        """Forget the callees."""
        self.members.clear()
        self._alike.clear()


def may_be_compiled(function: types.FunctionType) -> bool:
    """Whether a function that a statement calls is the user's, and no library's."""
    module = str(function.__globals__.get("__name__", ""))
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names and top != "__main__":
        return False
    if top in ("torch", "astjit") and not module.startswith("torch.nn.modules."):
        return False
    return not (hasattr(function, COMPILED) or disabled_by(function))


def _is_plain_module(module: torch.nn.Module) -> bool:
    """Whether a call of a module does nothing but call its `forward`."""
    cls: Any = type(module)
    if cls.__call__ is not torch.nn.Module.__call__ or module._compiled_call_impl is not None:
        return False
    if any(getattr(module, name) for name in _MODULE_HOOKS) or torch._C._get_tracing_state():
        return False
    shared: Any = torch.nn.modules.module
    return not any(getattr(shared, f"_global{name}") for name in _MODULE_HOOKS)


class Split:
    """How one function is cut.

    Args:
        function: the whole, a segment or a callee.
        family: to which it belongs.
        whole: the split of the function of which this is a segment.
        run: the segment.
    """

    def __init__(
        self,
        function: types.FunctionType,
        family: Family,
        whole: "Split | None" = None,
        run: Run | None = None,
    ) -> None:
        self.function, self.family, self.run = function, family, run
        self.whole = whole or self
        self.marks: Marks = whole.marks if whole is not None else Marks()
        self.parts: dict[tuple[object, ...], Part] = {}  # of the whole: by key
        self.twin: Twin | None = None
        self.cut = False  # there are marks inside
        self.only = False  # calls are no longer captured whole
        self._made: tuple[tuple[int, ...], Any] | None = None

    # --- what happened ---

    def stopped(self, stop: Stop) -> bool:
        """A capture of the function ended: mark the place; whether parts of it may be compiled."""
        return not stop.whole and self._marked(stop.own, stop.reason)

    def failed(self, error: Exception, reason: str) -> bool:
        """A capture raised what eager does not, or what eager raises again and again."""
        inner = error.__context__ if isinstance(error.__context__, Failed) else error
        return self._marked(place_in(inner, known_copies(self.function)), reason)

    def worn(self, reason: str) -> bool:
        """It has as many programs as it may: find the statement that needs more."""
        return self._marked(None, reason)

    def _marked(self, own: Location | None, reason: str) -> bool:
        with self.family.lock:
            try:
                tree = source_of(self.function).tree
            except Stop:
                return False
            if why_whole(tree) or isinstance(tree, ast.Lambda):
                return False
            before = self.marks.state()
            self._mark(tree.body, own, reason)
            if self.marks.state() != before:
                self.cut, self.only = True, not self.is_root
            return self.cut

    def _mark(self, body: list[ast.stmt], own: Location | None, reason: str) -> None:
        run = self.run
        if run is not None and run.test is not None:
            self.marks.tests.add(place(run.test))
            return
        if run is not None:
            body = list(run.statements)
        found = _statement_at(body, own) if own is not None else None
        if found is not None:
            self.marks.python[place(found)] = reason
            return
        if len(body) > 1:  # no place is known: find it by halves
            self.marks.cuts.add(place(body[len(body) // 2]))
        elif body:
            self.marks.python[place(body[0])] = reason

    def worthless(self) -> None:
        """The function was captured, and touches no tensor."""
        run = self.run
        if run is None:
            self.family.leave(self.function)
        elif run.test is not None:
            self.marks.tests.add(place(run.test))
        else:
            self.marks.inert.update(map(place, run.statements))

    # --- what runs ---

    @property
    def is_root(self) -> bool:
        """Whether it is what the user compiled."""
        return self.family.root is self

    def is_useful(self) -> bool:
        """Whether any of its segments and callees is compiled, or may be when it is reached."""
        return any(part.is_useful for part in self.family.dispatchers())

    def runner(self) -> Any:
        """The function that runs in its place, None where nothing of it is compiled."""
        if not self.cut or (self.run is not None and self.run.test is not None):
            return None
        state = self.marks.state()
        if self._made is None or self._made[0] != state:
            with self.family.lock:
                self._made = state, self._linked()
        return self._made[1]

    def _linked(self) -> Any:
        self.twin = twin_of(self.function, self.marks)
        if not self.twin.runs and not self.twin.callees:
            return None
        given: dict[str, object] = {CALLEE: self.family.callee}
        for name, run in self.twin.runs.items():
            part = self._part(run, self.twin.trees[name])
            given[name] = part.call
        return linked(self.twin, self.function, given)

    def _part(self, run: Run, tree: ast.FunctionDef) -> Part:
        known = self.whole.parts
        if run.key not in known:
            made = segment_function(self.whole.function, tree, f"segment_{len(known)}")
            known[run.key] = self.family.make(made, split=Split(made, self.family, self.whole, run))
        return known[run.key]

    def clear(self) -> None:
        """Forget all."""
        if self.is_root:
            self.family.clear()
        self.parts.clear()
        self.marks.__init__()  # type: ignore[misc]
        self.twin, self._made, self.cut, self.only = None, None, False, False


def _statement_at(body: list[ast.stmt], where: Location) -> ast.stmt | None:
    """The innermost statement at a place."""
    line, column = where.line, where.column
    for node in body:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        first, last = (node.lineno, node.col_offset), (end_line, end_column)
        at = (line, node.col_offset if column is None else column)
        if column is None and node.lineno < line:
            at = (line, end_column)
        if not first <= at <= last or not node.lineno <= line <= end_line:
            continue
        for block in blocks(node):
            if (found := _statement_at(block, where)) is not None:
                return found
        return node
    return None


@dataclass(frozen=True, slots=True)
class Cut:
    """A function that is cut, to be shown.

    Attributes:
        runs: its segments by the names that call them.
        parts: what is compiled of each so far; a segment that was never reached is not among them.
        reasons: why statements stay Python, by their places, in order.
        function: the function, or the module's `forward` where that is what is cut.
    """

    runs: Mapping[str, Run]
    parts: Mapping[str, Part]
    reasons: Mapping[Place, str]
    function: types.FunctionType

    @property
    def file(self) -> str:
        """Where the function is written."""
        return self.function.__code__.co_filename

    def programs(self, name: str) -> list[Program]:
        """The programs of a segment so far, the latest last."""
        part = self.parts.get(name)
        return [
            made for made in (part.dispatcher.made if part else ()) if isinstance(made, Program)
        ]

    def texts(self, show: Show, comment: str) -> str:
        """The texts of the segments, one after another, each under a line that says which it is.

        Args:
            show: the text of a program.
            comment: what such a line begins with.
        """
        found = []
        for name, run in self.runs.items():
            made = self.programs(name)
            text = show(made[-1]) if made else f"{comment} {UNREACHED}"
            found.append(f"{comment} {name}, {run.lines}\n{text.rstrip()}\n")
        return "\n".join(found)


def cut_shown(split: Split | None, stop: object) -> Cut | None:
    """How a function is cut by now, or would be at its first call; None where it is not.

    Args:
        split: of the function.
        stop: what ends its capture.
    """
    if split is None or not isinstance(stop, Stop):
        return None
    made = split if split.cut else Split(split.function, split.family)
    if not made.cut and not made.stopped(stop):
        return None
    runs = twin_of(made.function, made.marks).runs
    found = {name: made.parts.get(run.key) for name, run in runs.items()}
    parts = {name: part for name, part in found.items() if part is not None}
    reasons = dict(sorted(made.marks.python.items()))
    if runs:
        return Cut(runs, parts, reasons, split.function)
    members = [part.split for part in split.family.members.values() if part is not None]
    inner = [member for member in members if member.cut and member is not split]
    return cut_shown(inner[0], stop) if split.is_root and inner else None
