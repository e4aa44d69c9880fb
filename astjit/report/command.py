"""The command line: what becomes of a function in a file, for arguments given as types.

python -m astjit explain model.py:rms_norm 'f32[128,1024]' 'f32[1024]' eps=1e-6 --show cuda
python -m astjit ops | passes | targets | doctor
"""

import argparse
import ast
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from astjit.errors import UsageError
from astjit.ir.notation import parse_type
from astjit.ops.listing import listing
from astjit.passes.pipeline import ORDER, PASSES
from astjit.targets.table import TARGETS
from astjit.types.shape import evaluate
from astjit.types.tensor import TensorType

SHOWN = ("report", "ssa", "cuda", "cpp", "program", "rewritten")


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    top = argparse.ArgumentParser(prog="python -m astjit", description=__doc__.splitlines()[0])
    commands = top.add_subparsers(dest="command", required=True)
    explain = commands.add_parser("explain", help="what becomes of a call; runs nothing by itself")
    explain.add_argument("function", metavar="FILE:FUNCTION")
    explain.add_argument(
        "arguments",
        nargs="*",
        metavar="ARGUMENT",
        help="a tensor as 'f32[128,1024]', or a Python constant; NAME=ARGUMENT by keyword",
    )
    explain.add_argument("--arch", help="CUDA architecture, such as sm_90")
    explain.add_argument("--show", choices=SHOWN, default="report")
    explain.add_argument("--after", metavar="PASS", help="the SSA as this pass first leaves it")
    explain.add_argument("--target", choices=tuple(TARGETS))
    explain.add_argument(
        "--call",
        action="store_true",
        help="call it once before, with zeros, so that the segments of one that is cut are shown",
    )
    commands.add_parser("ops", help="every operation that astjit knows")
    commands.add_parser("passes", help="the passes over the SSA, in order")
    commands.add_parser("targets", help="what kernels are generated for, and whether they run here")
    commands.add_parser("doctor", help="versions, compilers and devices found here, and one test")
    return top


def load_function(place: str) -> Callable[..., object]:
    """The function at FILE:FUNCTION; the file is run, as importing it would.

    Raises:
        UsageError: there is no such file, or nothing of that name in it.
    """
    file, _, name = place.rpartition(":")
    if not file or not Path(file).is_file():
        raise UsageError(f"no file {file or place!r}", instead="FILE:FUNCTION")
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file} is not a Python file", instead="FILE:FUNCTION")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)
    if (folder := str(Path(file).resolve().parent)) not in sys.path:
        sys.path.insert(0, folder)  # what lies beside it, as for a script
    spec.loader.exec_module(module)
    found: object = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise UsageError(f"{file} has no function {name!r}")
    return found


def parse_arguments(texts: Sequence[str]) -> tuple[list[object], dict[str, object]]:
    """Positional and keyword arguments from their texts.

    Raises:
        UsageError: a text is neither a type of tensor with known sizes nor a constant.
    """
    positional: list[object] = []
    named: dict[str, object] = {}
    for text in texts:
        name, sign, rest = text.partition("=")
        if sign and name.isidentifier():
            named[name] = parse_argument(rest)
        else:
            positional.append(parse_argument(text))
    return positional, named


def parse_argument(text: str) -> object:
    """An empty CPU tensor for a type such as `f32[128,1024]`, else a Python constant."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        pass
    try:
        kind = parse_type(text)
        assert isinstance(kind, TensorType)
        sizes = tuple(evaluate(dim, {}) for dim in kind.dims)
        strides = tuple(evaluate(stride, {}) for stride in kind.element_strides())
        assert all(size >= 0 for size in sizes)
    except (ValueError, AssertionError, KeyError):
        instead = "a tensor as 'f32[128,1024]', or a Python constant"
        raise UsageError(f"not an argument: {text}", instead=instead) from None
    return torch.empty_strided(sizes, strides, dtype=getattr(torch, kind.dtype.torch))


def zeroed(values: Sequence[object]) -> None:
    """Fill the tensors among some arguments with zeros."""
    for value in values:
        if isinstance(value, torch.Tensor):
            value.zero_()


def list_ops() -> str:
    """Every row of the table."""
    return listing().rstrip()


def list_passes() -> str:
    """The passes in order, and the reasons for that order."""
    lines = [f"{each.name:10} {'required' if each.required else ''}".rstrip() for each in PASSES]
    return "\n".join([*lines, *(f"{a} before {b}: {why}" for a, b, why in ORDER)])


def list_targets() -> str:
    """The targets, and whether their kernels run here."""
    lines = []
    for target in TARGETS.values():
        state = target.problem() or "runs here"
        lines.append(f"{target.name:6} {target.language}, built by {target.builder}: {state}")
    return "\n".join(lines)
