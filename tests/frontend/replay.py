"""Captures a call, checks the SSA, and runs it again through PyTorch: what the tests compare."""

import inspect

import torch

from astjit.config import Config
from astjit.frontend.reads import Container, Fetched, Leaf, Reads, Shared
from astjit.frontend.segments import Segment, lower
from astjit.ir.printer import function_text
from astjit.ir.verifier import verify
from astjit.runtime.interpret import interpret


def segment(function, *args, **kwargs):
    """The segment of a call."""
    signature = inspect.signature(function, follow_wrapped=False)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return Segment(function, dict(bound.arguments))


class Captured:
    """One capture: `function`, `reads`, and the call's arguments by name."""

    def __init__(self, function, *args, config=None, sized=None, **kwargs):
        self.segment = segment(function, *args, **kwargs)
        self.segment.sized.update(sized or {})
        self.reads = Reads()
        self.function = lower(self.segment, self.reads, config or Config())
        verify(self.function)
        if sized is not None:
            sized.update(self.segment.sized)

    @property
    def text(self):
        """The SSA without locations."""
        lines = function_text(self.function).splitlines()
        return "\n".join(line.split("  ;")[0] for line in lines)

    @property
    def tests(self):
        """The texts of the guards."""
        return [guard.test for guard in self.reads.guards]

    def names(self, arguments=None):
        """What the paths see."""
        return {**self.reads.constants, **(arguments or self.segment.arguments)}

    def failing(self, *args, **kwargs):
        """The guards that do not hold for another call."""
        call = segment(self.segment.function, *args, **kwargs).arguments
        failed = []
        for guard in self.reads.guards:
            try:
                held = eval(guard.test, self.names(call))
            except (LookupError, AttributeError, TypeError, ValueError):
                held = False
            if not held:
                failed.append(guard.test)
        return failed

    def run(self, *args, **kwargs):
        """What the program would return; with arguments, for another call."""
        call = segment(self.segment.function, *args, **kwargs).arguments if args else None
        names = self.names(call)
        inputs = [eval(param.path, names) for param in self.function.params]
        results = interpret(self.function, inputs, check=True)
        for copied in self.reads.copies:
            eval(copied.path, names).copy_(results[copied.index])
        shared = []
        for template in self.reads.shared:
            shared.append(build(template, results, names, shared))
        return build(self.reads.output, results, names, shared)


def build(template, results, names, shared=()):
    """A result put together by its template."""

    def made(part):
        return build(part, results, names, shared)

    match template:
        case Shared(index):
            return shared[index]
        case Leaf(index):
            return results[index]
        case Fetched(text):
            return eval(text, names)
        case Container("tuple", items):
            return tuple(map(made, items))
        case Container("list", items):
            return list(map(made, items))
        case Container("dict", items, keys):
            return dict(zip((eval(k, names) for k in keys), map(made, items), strict=True))
        case Container(kind, items):
            return names[kind](*map(made, items))


def same(one, other):
    """Whether two results are alike in structure, types and every bit (NaN equals NaN)."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        layout = one.dtype, one.shape, one.stride(), one.device
        if layout != (other.dtype, other.shape, other.stride(), other.device):
            return False
        return torch.equal(one, other) or torch.allclose(one, other, equal_nan=True, rtol=1e-6)
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        pairs = list(zip(one, other, strict=False))
        return len(one) == len(other) and all(same(a, b) for a, b in pairs)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[k], other[k]) for k in one)
    return one == other or (one != one and other != other)
