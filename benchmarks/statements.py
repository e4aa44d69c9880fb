"""Which statements of a program touch tensors, and which of them Python still runs.

A statement touches tensors if it calls an operation of PyTorch itself: what its callees do is
theirs. It is found by running the program eagerly and looking, at every operation, for the
innermost frame that is not PyTorch's own; the modules of torch.nn count as the user's, since they
are compiled as well. A statement is left to Python if a call of the compiled program, captured
before, still comes past its line, and the line there is no call of a segment.
"""

import ast
import dis
import functools
import linecache
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import astjit

Statement = tuple[str, int]  # file, and the line at which it begins
_TORCH = str(Path(torch.__file__).parent)
_MODULES = str(Path(_TORCH) / "nn" / "modules")
_OURS = str(Path(astjit.__file__).parent)
_SEGMENT = "__astjit_segment"


def is_program(file: str) -> bool:
    """Whether a file is the user's or a library's that is compiled, not PyTorch's or astjit's."""
    inside = file.startswith((_TORCH, _OURS)) and not file.startswith(_MODULES)
    return not inside and file != __file__ and bool(linecache.getline(file, 1))


@functools.cache
def statements(file: str) -> dict[int, int]:
    """The line at which the innermost statement begins, by line."""
    found: dict[int, int] = {}
    tree = ast.parse("".join(linecache.getlines(file)))
    for node in ast.walk(tree):  # outer statements come before inner ones
        if isinstance(node, ast.stmt):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[line] = node.lineno
    return found


def statement(file: str, line: int) -> Statement:
    """The innermost statement at a line."""
    return file, statements(file).get(line, line)


class _Operations(TorchDispatchMode):
    """Notes whose statement each operation is."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[Statement] = set()

    def __torch_dispatch__(
        self, func: Any, kinds: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and not is_program(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None:
            self.found.add(statement(frame.f_code.co_filename, frame.f_lineno))
        return func(*args, **(kwargs or {}))


def touching(run: Callable[[], object]) -> set[Statement]:
    """The statements that touch tensors in a run, which is eager."""
    with _Operations() as seen:
        run()
    return seen.found


@functools.cache
def _calls(code: types.CodeType) -> frozenset[int]:
    """The lines of a function that call a segment."""
    found, line = set(), code.co_firstlineno
    for step in dis.get_instructions(code):
        line = step.starts_line or line
        if isinstance(step.argval, str) and step.argval.startswith(_SEGMENT):
            found.add(line)
    return frozenset(found)


def run_by_python(run: Callable[[], object]) -> set[Statement]:
    """The statements that Python comes past in a run, segments' calls left out."""
    found: set[Statement] = set()

    def at(frame: types.FrameType, event: str, arg: object) -> object:
        code = frame.f_code
        if event == "call" and not is_program(code.co_filename):
            return None
        if event == "line" and frame.f_lineno not in _calls(code):
            found.add(statement(code.co_filename, frame.f_lineno))
        return at

    before = sys.gettrace()
    sys.settrace(at)  # type: ignore[arg-type]
    try:
        run()
    finally:
        sys.settrace(before)
    return found
