"""Random programs from a seed: a module with helpers, a function, and calls that differ.

In half of the programs every statement fits the first calls; in the others some fail.
"""

import random
import re
import warnings

import torch

from tests.programs import objects
from tests.programs.calls import Caller
from tests.programs.draft import Draft, Scope
from tests.programs.program import Block, Call, Node, Program, block, text_of
from tests.programs.statements import function_body
from tests.programs.values import values

_IMPORTS = (
    "import torch",
    "import torch.nn.functional as F",
    "from collections import namedtuple",
)
_HELPERS: tuple[Node, ...] = (
    "Pair = namedtuple('Pair', 'first second')",
    block("def double(v):", "return v + v"),
    block(
        "def shifted(v, by=1, *, twice=False):", block("if twice:", "by = by * 2"), "return v + by"
    ),
    block("def parts(v):", "return v, v[..., None]"),
    block("def early(v, k):", block("if k > 1:", "return v"), "return v * SCALE"),
    block("def touched(v):", "v += 1", "return v"),
    block("def global_(value):", "global SCALE", "SCALE = value"),
)
_CLASS = Block(
    (
        (
            "class Config:",
            (
                "factor = 2",
                block(
                    "def __init__(self):",
                    "self.eps, self.count, self.last = 0.5, 2, None",
                    "self.weight = torch.ones(3)",
                ),
                block("def scaled(self, v):", "return v * self.factor + self.eps"),
            ),
        ),
    )
)
_GLOBALS = (
    "config = Config()",
    "SCALE = 2.0",
    "WEIGHT = torch.full((1,), 0.5)",
    "TABLE = {'w': torch.arange(3.0), 'k': 3}",
    "STORE = [torch.ones(2)]",
)


_NAME = re.compile(r"(?:@.*\n)?(?:def |class )?(\w+)(?: = |\(|:)")  # what a statement binds
_WORD = re.compile(r"\w+")


def generate(seed: int) -> Program:
    """The program of a seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of statements that are tried
        return _generate(seed)


def _generate(seed: int) -> Program:
    choice = random.Random(seed)
    caller = Caller(choice)
    calls = caller.calls(choice.randint(3, 5))
    cells = choice.random() < 0.2
    prelude = (*_IMPORTS, *_HELPERS, _CLASS, *objects.PRELUDE, *_GLOBALS, *objects.GLOBALS)
    loose = choice.random() < 0.5
    needed = 1 if loose else 1 + sum(call.like_first for call in calls[1:])
    ordered = sorted(range(len(calls)), key=lambda i: (i > 0, not calls[i].like_first))
    scopes = _scopes(prelude, caller, [calls[i].call for i in ordered], cells)
    draft = Draft(choice, scopes, needed, loose)
    draft.locals = [name for name in caller.names if name in scopes[0]]
    draft.locals += ["k"] if cells else []
    body = function_body(draft, choice.randint(2, 8))
    function = block(f"def f({caller.signature}):", *body)
    if cells:
        function = block(
            "def make(k):",
            function,
            block("def change(value):", "nonlocal k", "k = value"),
            "return f, change",
        )
    module = (*prelude, function, *(("f, change = make(2)",) if cells else ()))
    made = _changing_cells(choice, [c.call for c in calls]) if cells else [c.call for c in calls]
    return Program(_needed(module, made), tuple(made), grad=choice.random() < 0.15)


def _needed(module: tuple[Node, ...], calls: list[Call]) -> tuple[Node, ...]:
    """The module without definitions that nothing speaks of: a program then runs in less time."""
    texts = [text_of((node,)) for node in module]
    names = [_NAME.match(text) for text in texts]
    kept = [name is None for name in names]
    spoken = " ".join(text for text, keep in zip(texts, kept, strict=True) if keep)
    spoken += " ".join([*(text_of((*c.setup, c.text)) for c in calls), "f"])
    while True:
        used = set(_WORD.findall(spoken))
        more = [i for i, m in enumerate(names) if m and not kept[i] and m.group(1) in used]
        if not more:
            return tuple(node for node, keep in zip(module, kept, strict=True) if keep)
        for at in more:
            kept[at] = True
            spoken += texts[at]


def _changing_cells(choice: random.Random, calls: list[Call]) -> list[Call]:
    """Some calls change the cell before."""
    made = []
    for index, call in enumerate(calls):
        if index and choice.random() < 0.4:
            value = choice.choice(("3", "0.5", "2.0", "True"))
            call = Call((*call.setup, f"m.change({value})"), call.text)
        made.append(call)
    return made


def _scopes(
    prelude: tuple[Node, ...], caller: Caller, calls: list[Call], cells: bool
) -> list[Scope]:
    """For each call, the names that the function sees at its start."""
    scopes: list[Scope] = []
    outer: Scope = {}
    text = compile(text_of(prelude), "<draft>", "exec")
    for call in calls:
        module: Scope = {"__name__": "builtins"}  # where dataclasses look for their module
        exec(text, module)
        earlier = dict.fromkeys(f"r{i}" for i in range(len(calls)))
        outside = {**earlier, **outer, "torch": torch, "values": values, "m": _Module(module)}
        exec(text_of(call.setup), outside)
        outer = outer or outside
        scope = dict(module)
        if cells:
            scope["k"] = 2
        exec(f"def f({caller.signature}): return locals()", module)
        scope.update(eval(call.text, {**outside, "f": module["f"]}))
        scopes.append(scope)
    return scopes


class _Module:
    """A namespace as the caller's `m`: stores reach it."""

    def __init__(self, names: Scope) -> None:
        self.__dict__ = names
