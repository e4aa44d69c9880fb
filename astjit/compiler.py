"""The story on one screen: a call of a user's function becomes a program (decision D9)."""

import logging
from dataclasses import replace

from astjit.config import Config
from astjit.frontend.reads import Reads
from astjit.frontend.segments import Segment, lower
from astjit.frontend.split import cut_source, rewritten_source
from astjit.frontend.stops import Stop
from astjit.fusion.describe import described
from astjit.fusion.group import groups
from astjit.fusion.inplace import in_place
from astjit.fusion.kernel import Group, Parts, is_free
from astjit.ir.function import Function
from astjit.passes.pipeline import run
from astjit.runtime.entry import Loaded
from astjit.runtime.load import interpret_call, load, measure, program
from astjit.runtime.program import Program
from astjit.runtime.texts import cuda_text, kernel_texts
from astjit.targets.spec import Target
from astjit.targets.table import TARGETS, target_named, target_of
from astjit.types.tensor import TensorType

__all__ = [
    "Segment",
    "build",
    "build_call",
    "cuda_text",
    "cut_source",
    "interpret_call",
    "kernel_texts",
    "load_call",
    "lowered",
    "measure",
    "own_target",
    "rewritten_source",
]  # what api.py, which loads this module late, reaches through it

_log = logging.getLogger("astjit.fusion")


def build(segment: Segment, reads: Reads, target: Target | None, config: Config) -> Program:
    """The program for a segment as it is called.

    Args:
        segment: a function and the arguments of one call.
        reads: empty; filled by capture.
        target: what kernels are generated for; None: by the device of the tensors.
        config: options.

    Raises:
        Stop: something cannot be captured.
        NeedsGrad: an input requires a gradient while gradients are recorded.
        Exception: what the user's own code raised.
    """
    function = lower(segment, reads, config)  # frontend/: source -> symbolic run -> SSA
    run(function, config)  # passes/: in place, verified between all
    target = target or own_target(function)
    parts = groups(function, target.name, config)  # fusion/: kernels and library calls
    _log_parts(function.name, parts)
    parts = in_place(parts, reads.written(function), built=target is TARGETS["cpu"])
    return program(function, parts, reads, target)  # runtime/: the host function and its kernels


def _log_parts(name: str, parts: Parts) -> None:
    """What ASTJIT_LOG=fusion prints of one program."""
    for part in parts.parts:
        if isinstance(part, Group):
            _log.info("%s: kernel %s (%s)", name, part.kernel.name, part.kernel.kind)
        elif not is_free(part.node):
            _log.info("%s: library call %s", name, described(part.node))
    for edge in parts.unfused:
        ends = described(edge.producer), described(edge.consumer)
        _log.info("%s: not fused: %s -> %s: %s", name, *ends, edge.reason)


def lowered(segment: Segment, config: Config, after: str) -> Function:
    """The SSA of a segment as the pass called `after` first leaves it."""
    function = lower(segment, Reads(), config)
    run(function, config, after=after)
    return function


def own_target(function: Function) -> Target:
    """The target for the device of the function's tensors; 0-d CPU tensors go with any device."""
    types = [p.type for p in function.params]
    types += [r.type for node in function.body.nodes for r in node.results]
    devices = [kind.device for kind in types if isinstance(kind, TensorType)]
    device = next((d for d in devices if d != TARGETS["cpu"].device), TARGETS["cpu"].device)
    return target_of(device) or TARGETS["cpu"]


def build_call(segment: Segment, config: Config) -> Program:
    """The program for a call, for the target of the options if there is one."""
    target = target_named(config.target) if config.target else None
    return build(segment, Reads(), target, config)


def load_call(segment: Segment, config: Config) -> Loaded:
    """A program for a call, ready to run here.

    Raises:
        Stop: also where a kernel could not reach a tensor.
    """
    made = build_call(segment, config)
    if made.misplaced:
        raise Stop(made.misplaced)
    return replace(load(made), worthless=made.worthless, made=made)
