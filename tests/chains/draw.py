"""Draws a random chain: a function of one to thirty assignments, and inputs for it at two sizes.

def chain_17(x0, x1, i, s):
    y0 = x0 + x1
    y1 = torch.softmax(y0, -1)
    return y1
"""

import random
import warnings
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from tests.chains.statements import EVERY, EXACT, Template

SIZES = (0, 1, 2, 3, 5, 7, 8, 9, 16, 17, 31, 33, 65)
_MOST = 9000  # elements of one value
_DTYPES = (torch.float32,) * 8 + (
    *(torch.bfloat16, torch.float16, torch.float64, torch.bfloat16),
    *(torch.int64, torch.int32, torch.uint8, torch.int8, torch.bool, torch.int16),
)
_SPECIAL = (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.0, -1.0, 0.5, 2.5, -2.5)
NAMES = {"torch": torch, "F": F}


@dataclass(frozen=True, slots=True)
class Statement:
    """`target = text`, with the template's promise."""

    target: str
    text: str
    template: Template
    terms: str


@dataclass(frozen=True, slots=True)
class Chain:
    """A random function.

    Attributes:
        name: of it.
        parameters: tensors x0..., an index i, a number s.
        statements: in order.
        results: what it returns.
        inputs: arguments at two sizes.
    """

    name: str
    parameters: tuple[str, ...]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    inputs: tuple[tuple[object, ...], ...]

    @property
    def exact(self) -> bool:
        """Whether every value must be eager's, bit for bit but for signs of zeros."""
        return all(each.template.exactness in ("exact", "zeros") for each in self.statements)

    def eager(self, arguments: tuple[object, ...]) -> dict[str, Any]:
        """Every value by name, by PyTorch."""
        world = {**NAMES, **dict(zip(self.parameters, arguments, strict=True))}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec("\n".join(f"{s.target} = {s.text}" for s in self.statements), world)
        return world

    def source(self, name: str, results: tuple[str, ...]) -> str:
        """The function's text."""
        lines = [f"def {name}({', '.join(self.parameters)}):"]
        lines += [f"    {each.target} = {each.text}" for each in self.statements]
        return "\n".join([*lines, f"    return {', '.join(results)},"]) + "\n"


def draw(seed: int) -> Chain:
    """The chain of a seed."""
    return _Draw(random.Random(seed)).chain(f"chain_{seed}")


class _Draw:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.exact = rng.random() < 0.5
        self.made = torch.Generator().manual_seed(rng.randrange(2**31))

    def chain(self, name: str) -> Chain:
        rng = self.rng
        dims = [rng.choice(SIZES) for _ in range(3)]
        again = [size if size < 2 else rng.choice([n for n in SIZES if n != 1]) for size in dims]
        shapes, kinds = [], []
        for _ in range(rng.randint(1, 4)):
            shapes.append([rng.random() < 0.15 for _ in range(rng.choice((0, 1, 2, 2, 2, 3)))])
            kinds.append((rng.choice(_DTYPES), rng.choice(_LAYOUTS)))
        inputs = tuple(self.arguments(sizes, shapes, kinds) for sizes in (dims, again))
        names = (*(f"x{at}" for at in range(len(shapes))), "i", "s")
        statements = self.statements(names, inputs)
        made = [each.target for each in statements]
        results = tuple(dict.fromkeys([*(t for t in made if rng.random() < 0.2), *made[-1:]]))
        return Chain(name, names, statements, results, inputs)

    def arguments(self, sizes, shapes, kinds) -> tuple[object, ...]:
        tensors = []
        for ones, (dtype, layout) in zip(shapes, kinds, strict=True):
            dims = sizes[len(sizes) - len(ones) :] if ones else []
            shape = [1 if one else size for one, size in zip(ones, dims, strict=True)]
            if torch.Size(shape).numel() > _MOST:
                shape[0] = sizes[0] = 2
            tensors.append(layout(self.values(shape, dtype), self))
        count = self.rng.choice((0, 1, 3, 4))
        index = torch.randint(0, 2, (count,), generator=self.made)
        return (*tensors, index, self.rng.choice((0.25, 1.5, -0.5)))

    def values(self, shape, dtype) -> torch.Tensor:
        """Numbers of a normal distribution, with ties and special values here and there."""
        x = torch.randn(shape, generator=self.made) * 2
        if self.rng.random() < 0.5:
            x = (x * 2).round() / 2
        if dtype.is_floating_point and self.rng.random() < 0.4:
            spread = torch.rand(shape, generator=self.made)
            value = self.rng.choice(_SPECIAL)
            x = torch.where(spread < 0.1, value, x)
        if dtype is torch.bool:
            return x > 0
        return (x * 5).clamp(0 if dtype is torch.uint8 else -99, 99).to(dtype)

    def statements(self, names, inputs) -> tuple[Statement, ...]:
        worlds = [{**NAMES, **dict(zip(names, args, strict=True))} for args in inputs]
        values = [name for name in names if name.startswith("x")]
        found: list[Statement] = []
        wanted = self.rng.choice((1, 2, 3, 4, 6, 8, 12, 20, 30))
        for _ in range(wanted * 4):
            if len(found) == wanted:
                break
            template = self.rng.choice(EXACT if self.exact else EVERY)
            picked = {slot: self._recent(values) for slot in "abc"} | {"i": "i"}
            target = f"y{len(found)}"
            text, terms = (t.format(**picked) for t in (template.text, template.terms))
            if self._runs(target, text, worlds):
                found.append(Statement(target, text, template, terms))
                values.append(target)
        return tuple(found) or (Statement("y0", f"{values[0]} + s", EXACT[0], ""),)

    def _recent(self, values) -> str:
        return values[max(self.rng.randrange(len(values)) for _ in range(2))]

    def _runs(self, target, text, worlds) -> bool:
        """Whether PyTorch takes it without a warning, at both sizes, with a useful result."""
        made = []
        always = torch.is_warn_always_enabled()
        torch.set_warn_always(True)  # what is warned of once in a process would be drawn later
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                made = [eval(text, dict(world)) for world in worlds]
            except Exception:
                return False
            finally:
                torch.set_warn_always(always)
        for value in made:
            if not isinstance(value, torch.Tensor) or value.numel() > _MOST or value.dim() > 4:
                return False
            if value.is_complex() or (value.is_floating_point() and _hopeless(value)):
                return False
        for world, value in zip(worlds, made, strict=True):
            world[target] = value
        return True


def _hopeless(value: torch.Tensor) -> bool:
    """Nearly nothing finite, or so large that errors overflow."""
    finite = value[value.isfinite()]
    if value.numel() and finite.numel() * 2 < value.numel():
        return True
    return bool(finite.numel() and finite.abs().max() > 1e4)


def _dense(x: torch.Tensor, _: _Draw) -> torch.Tensor:
    return x


def _permuted(x: torch.Tensor, _: _Draw) -> torch.Tensor:
    back = tuple(reversed(range(x.dim())))
    return x.permute(back).contiguous().permute(back)


def _stepped(x: torch.Tensor, _: _Draw) -> torch.Tensor:
    return torch.stack([x, x], -1)[..., 0] if x.dim() else x


def _offset(x: torch.Tensor, draw: _Draw) -> torch.Tensor:
    return torch.cat([x[:1], x])[1:] if x.dim() and len(x) else x


def _padded(x: torch.Tensor, _: _Draw) -> torch.Tensor:
    return torch.cat([x, x[..., :1]], -1)[..., : x.shape[-1]] if x.dim() else x


_LAYOUTS = (_dense, _dense, _dense, _permuted, _stepped, _offset, _padded)
