"""A function while it is drawn: which names are bound, and to what, in several calls at once.

Every statement is tried, eagerly, before it becomes part of the function: once in a scope of each
of its calls. Whether it fits is so known without rules of shapes and dtypes.
"""

import random
from collections.abc import Callable, Sequence
from types import CodeType

import torch

from tests.programs.program import Node, text_of

Scope = dict[str, object]


class Draft:
    """The function's body so far.

    Args:
        choice: of everything that is drawn.
        scopes: names and values at the start of each call; the first is asked for shapes.
        needed: how many of the scopes, from the first, a statement must fit.
        loose: keep some statements that fail.
    """

    def __init__(
        self, choice: random.Random, scopes: Sequence[Scope], needed: int, loose: bool
    ) -> None:
        self.random, self.scopes, self.loose = choice, list(scopes), loose
        self.needed = self.scopes[:needed]
        self.locals: list[str] = []
        self.made = 0

    # -- names --------------------------------------------------------------------------------
    def named(self, fits: Callable[[object], bool]) -> list[str]:
        """Local names whose values fit in all calls."""
        found = []
        for name in self.locals:
            if not name.startswith("turns") and all(
                name in scope and fits(scope[name]) for scope in self.needed
            ):
                found.append(name)
        return found

    def tensors(self, fits: Callable[[torch.Tensor], bool] = lambda t: True) -> list[str]:
        """Local names of tensors."""
        return self.named(lambda value: isinstance(value, torch.Tensor) and fits(value))

    def value(self, name: str) -> object:
        """What a name is in the first call."""
        return self.scopes[0][name]

    def tensor(self, text: str) -> torch.Tensor:
        """What an expression is in the first call; a 0-d tensor if it is none."""
        try:
            with torch.no_grad():
                value = eval(text, dict(self.scopes[0]))
        except Exception:
            value = None
        return value if isinstance(value, torch.Tensor) else torch.zeros(())

    def fresh(self) -> str:
        """A name: a new one, or sometimes one that is bound already."""
        if self.locals and self.random.random() < 0.2:
            return self.random.choice(self.locals)
        self.made += 1
        return "abcdegijkpquvw"[self.made % 14] + ("" if self.made < 14 else str(self.made // 14))

    # -- drawing ------------------------------------------------------------------------------
    def chance(self, share: float) -> bool:
        """True in this share of all draws."""
        return self.random.random() < share

    def one(self, *options: str) -> str:
        """One of them."""
        return self.random.choice(options)

    # -- trying -------------------------------------------------------------------------------
    def accept(self, node: Node) -> bool:
        """Whether a statement fits; then it has been executed, and its names are bound."""
        try:
            code = compile(text_of((node,)), "<draft>", "exec")
        except SyntaxError:
            return False
        kept = [dict(scope) for scope in self.needed]
        for scope in self.needed:
            if not _runs(code, scope):
                if self.loose and self.chance(0.1):
                    break
                for one, before in zip(self.needed, kept, strict=True):
                    one.clear()
                    one.update(before)
                return False
        for scope in self.scopes[len(self.needed) :]:
            _runs(code, scope)
        for name in self.scopes[0]:
            if name not in kept[0] and name not in self.locals:
                self.locals.append(name)
        return True


def _runs(code: CodeType, scope: Scope) -> bool:
    try:
        with torch.no_grad():
            exec(code, scope)
    except Exception:
        return False
    return True
