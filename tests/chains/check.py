"""Compares a chain with PyTorch: each operation on the compiled function's own operands (D27).

An error cannot hide behind an earlier one: the reference of every statement is fed what the
compiled function computed before it. The function that returns less must return the same values.
"""

import warnings
from dataclasses import dataclass

import torch

from tests.chains.draw import NAMES, Chain, Statement
from tests.programs.compare import same_values

_ULPS = {torch.float32: 8, torch.float64: 1 << 24, torch.bfloat16: 2, torch.float16: 2}
# of float64 there is no better reference than PyTorch, which cancels in places (gelu of -8)
_SUM = 64  # roundings of partial sums


@dataclass(frozen=True, slots=True)
class Fault:
    """A wrong result.

    Attributes:
        chain: of which.
        kind: values, dtype, shape, strides, or what was raised.
        where: the statement, or the results that differ.
    """

    chain: Chain
    kind: str
    where: str

    def __str__(self) -> str:
        return (
            f"{self.kind}: {self.where}\n{self.chain.source(self.chain.name, self.chain.results)}"
        )


def checked(chain: Chain, arguments, every, some) -> Fault | None:
    """The first thing wrong with one call.

    Args:
        chain: what was called.
        arguments: of the call.
        every: the values of all its statements, None for those of an exact chain by PyTorch.
        some: its results, None if they were not computed.
    """
    world = {**NAMES, **dict(zip(chain.parameters, arguments, strict=True))}
    for statement, value in zip(chain.statements, every or (), strict=every is not None):
        if problem := _wrong(statement, value, world):
            return Fault(chain, problem, f"{statement.target} = {statement.text}")
        world[statement.target] = value
    if every is None:
        world = chain.eager(arguments)
    for name, value in zip(chain.results, some or (), strict=some is not None):
        if problem := _unlike(value, world[name], chain):
            return Fault(chain, problem, f"{name}, returned without the values before it")
    return None


def _wrong(statement: Statement, value: torch.Tensor, world) -> str:
    """What is wrong with the value of a statement; "" for nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        eager = eval(statement.text, dict(world))
    for fact in ("dtype", "shape"):
        if getattr(value, fact) != getattr(eager, fact):
            return f"{fact} {getattr(value, fact)}, eager {getattr(eager, fact)}"
    if _steps(value) != _steps(eager):
        return f"strides {value.stride()}, eager {eager.stride()}"
    if same_values(value, eager):
        return ""
    if statement.template.exactness == "zeros" and same_values(value + 0, eager + 0):
        return ""
    if statement.template.exactness in ("exact", "zeros") or not eager.is_floating_point():
        return _shown(value, eager)
    return _far(statement, value, eager, world)


def _far(statement: Statement, value: torch.Tensor, eager: torch.Tensor, world) -> str:
    wide = {
        name: x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x
        for name, x in world.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = eval(statement.text, dict(wide)).double()
        terms = eval(statement.terms, dict(wide)).double().abs() if statement.terms else exact.abs()
    own, theirs = (value.double() - exact).abs(), (eager.double() - exact).abs()
    eps = torch.finfo(value.dtype).eps
    count = _ULPS[value.dtype] if statement.template.exactness == "ulp" else _SUM
    room = count * eps * terms + torch.finfo(value.dtype).smallest_normal
    if statement.template.exactness == "ulp" or value.dtype is torch.float64:
        room = room + 1e-12  # below it the reference cancels as well (gelu of -40)
    both = own.isfinite() & theirs.isfinite()
    if statement.template.exactness == "sum" and not statement.terms:
        room = room + 512 * eps  # a row of equal values, normalized: its mean is off by a rounding
    if statement.template.exactness == "sum" and bool(both.any()):
        room = room + 4 * theirs[both].max()
    else:
        room = room + 2 * theirs
    same = (value.isnan() & eager.isnan()) | (value == eager)
    bad = ~(same | (both & (own <= room)))
    return _shown(value[bad], eager[bad]) if bool(bad.any()) else ""


def _unlike(value: torch.Tensor, full: torch.Tensor, chain: Chain) -> str:
    """Results agree with those of the function that returns everything.

    Where something is inexact they may differ by roundings: a composite whose pieces no longer
    share a kernel is PyTorch's own.
    """
    if same_values(value, full):
        return ""
    if value.dtype != full.dtype or value.shape != full.shape:
        return f"{value.dtype} {value.shape}, with all values {full.dtype} {full.shape}"
    zeros = all(each.template.exactness == "exact" for each in chain.statements)
    if not chain.exact or (not zeros and same_values(value + 0, full + 0)):
        return ""
    return _shown(value, full)


def _steps(value: torch.Tensor) -> list[object]:
    pairs = zip(value.shape, value.stride(), strict=True)
    return [step if size > 1 and value.numel() else "any" for size, step in pairs]


def _shown(value: torch.Tensor, eager: torch.Tensor) -> str:
    differ = ~((value == eager) | ((value != value) & (eager != eager)))
    if value.is_floating_point():
        differ |= torch.signbit(value) != torch.signbit(eager)
    ours, theirs = value[differ].flatten()[:4].tolist(), eager[differ].flatten()[:4].tolist()
    return f"{int(differ.sum())} of {differ.numel()} values, {ours}, eager {theirs}"
