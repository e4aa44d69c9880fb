"""Random programs with effects from a seed: prints, mutation, nested control flow, exceptions.

What they print goes to a list of the module, so that effects and their order are compared like
everything else. Some names may be unbound where they are read, and some statements fail.
"""

import random

from tests.programs.program import Block, Call, Node, Program, block

_PRELUDE: tuple[Node, ...] = (
    "import contextlib",
    "import torch",
    block(
        "class Out:",
        block("def __init__(self):", "self.lines = []"),
        block("def write(self, text):", "self.lines.append(text)"),
    ),
    "OUT = Out()",
    "STORE = {'n': 0}",
    "KEPT = []",
    block(
        "class Managed:",
        block("def __init__(self, swallows):", "self.swallows = swallows"),
        block("def __enter__(self):", "print('enter', file=OUT)", "return self"),
        block(
            "def __exit__(self, kind, error, trace):",
            "print('exit', kind and kind.__name__, file=OUT)",
            "return self.swallows and kind is ValueError",
        ),
    ),
    block("def pure(v, by=1.0):", "w = v * by", "return torch.relu(w) - 0.25"),
    block(
        "def loud(v, by=1.0):",
        "w = (v * by).clamp(-9, 9)",
        "print('loud', round(float(w.sum()), 3), file=OUT)",
        "return w + 1",
    ),
    block(
        "def deep(v, k):",
        block("if k <= 0:", "return v"),
        "print('deep', k, file=OUT)",
        "return deep((v * 0.5).tanh(), k - 1)",
    ),
    block("def odd(v, k):", "return v if k <= 0 else even(v + 1, k - 1)"),
    block("def even(v, k):", "print('even', file=OUT)", "return odd(v * 0.5, k - 1)"),
    block("def fails(v):", "v.add_(1)", "raise ValueError(f'failed with {v.dim()}')"),
    Block(
        (
            (
                "class Layer(torch.nn.Module):",
                (
                    block(
                        "def __init__(self, scale):",
                        "super().__init__()",
                        "self.scale, self.calls = scale, 0",
                    ),
                    block(
                        "def forward(self, v):",
                        "u = v * self.scale",
                        "self.calls += 1",
                        "return torch.tanh(u) + 0.5",
                    ),
                ),
            ),
        )
    ),
    "LAYERS = [Layer(0.5), Layer(2.0), Layer(1.0)]",
)
_TYPES = ("ValueError", "RuntimeError", "(ValueError, RuntimeError)", "Exception")


class _Drafter:
    """Draws statements; keeps the names that are likely to be bound, by kind."""

    def __init__(self, choice: random.Random) -> None:
        self.choice = choice
        self.tensors = ["x", "y"]
        self.ints = ["n"]
        self.lists = ["items"]
        self.functions: list[str] = []
        self.loops = 0  # around the statement
        self.count = 0

    def pick(self, names: list[str]) -> str:
        return self.choice.choice(names)

    def new(self, kind: list[str], prefix: str) -> str:
        """A name to bind: a new one, or one that is there."""
        if self.choice.random() < 0.4 and kind:
            return self.pick(kind)
        self.count += 1
        name = f"{prefix}{self.count}"
        kind.append(name)
        return name

    # --- expressions ---

    def tensor(self, depth: int = 2) -> str:
        """A tensor of four floats."""
        a = self.pick(self.tensors)
        if depth == 0 or self.choice.random() < 0.15:
            return a
        b = self.tensor(depth - 1)
        forms = [
            f"({b} + {a})",
            f"({b} * 0.5)",
            f"torch.tanh({b})",
            f"({b} - {a}.mean())",
            f"torch.where({a} > 0, {b}, {a})",
            f"{b}.clamp(-3, 3)",
            f"({b} * {self.pick(self.ints)}).clamp(-9, 9)",
            f"pure({b})",
            f"loud({b}, 0.5)",
            f"deep({b}, {self.choice.randint(0, 2)})",
            f"odd({b}, {self.choice.randint(0, 3)})",
            f"LAYERS[{self.choice.randint(0, 2)}]({b})",
            f"({b} if {self.condition()} else {a})",
            f"{self.pick(self.lists)}[-1].add(1)",
            f"sum([{a} * k for k in range(1, 3)], {b})",
        ]
        if self.functions:
            forms += [f"{self.pick(self.functions)}({b})"] * 3
        return self.choice.choice(forms)

    def condition(self) -> str:
        a, n = self.pick(self.tensors), self.pick(self.ints)
        forms = [
            f"{a}.sum() > {self.choice.randint(-2, 2)}",
            f"({a} > 0).all()",
            f"{n} > {self.choice.randint(0, 3)}",
            f"{n} % 2 == 0",
            f"{a}.sum() > 0 and {n} < 2",
            f"not {a}[0] > 0",
            f"len({self.pick(self.lists)}) > 1",
        ]
        return self.choice.choice(forms)

    # --- statements ---

    def block(self, length: int, depth: int) -> tuple[Node, ...]:
        """Statements; what they bind may be unbound after the block."""
        made: list[Node] = []
        for _ in range(length):
            made += self.statement(depth)
        return tuple(made)

    def inner(self, depth: int) -> tuple[Node, ...]:
        """A block that may not run: its names are mostly forgotten after it."""
        before = [list(kind) for kind in (self.tensors, self.ints, self.lists, self.functions)]
        made = self.block(self.choice.randint(1, 3), depth - 1)
        if self.choice.random() < 0.9:
            self.tensors, self.ints, self.lists, self.functions = before
        return made

    def statement(self, depth: int) -> list[Node]:
        simple = [self.assign] * 6 + [self.change] * 3 + [self.effect] * 4 + [self.number] * 2
        simple += [self.container] * 2 + [self.alias]
        compound = [self.branch] * 3 + [self.loop] * 3 + [self.attempt] * 2
        compound += [self.managed] * 2 + [self.function]
        if self.loops:
            simple += [self.jump] * 2
        kinds = simple + (compound if depth else [])
        return self.choice.choice(kinds)(depth)

    def assign(self, depth: int) -> list[Node]:
        value = self.tensor(3)
        form = self.choice.random()
        if form < 0.1:
            other = self.tensor()
            return [
                f"{self.new(self.tensors, 't')}, {self.new(self.tensors, 't')} = {value}, {other}"
            ]
        if form < 0.15:
            return [
                f"{self.new(self.tensors, 't')} = ({self.new(self.tensors, 't')} := {value}) + 1"
            ]
        return [f"{self.new(self.tensors, 't')} = {value}"]

    def change(self, depth: int) -> list[Node]:
        a = self.pick(self.tensors)
        forms = [
            f"{a} += {self.tensor(1)}",
            f"{a}.mul_(0.5)",
            f"{a}[0] = {self.choice.randint(0, 3)}",
            f"{a}[1:3] += 1",
            f"{a} = {a} * 0.5",
        ]
        return [self.choice.choice(forms)]

    def effect(self, depth: int) -> list[Node]:
        a, n = self.pick(self.tensors), self.pick(self.ints)
        forms = [
            f"print('at', {n}, tuple({a}.shape), file=OUT)",
            f"print(round(float({self.tensor(1)}.sum()), 3), file=OUT)",
            f"STORE['n'] = STORE['n'] + {n}",
            f"STORE['t'] = {self.tensor(1)}",
            f"KEPT.append({a})",
            f"OUT.last = {a}",
            f"assert {n} < 9, 'too many'",
        ]
        if self.choice.random() < 0.15:
            value = self.tensor(1)
            return [f"{self.new(self.tensors, 't')} = loud({value})"]
        return [self.choice.choice(forms)]

    def number(self, depth: int) -> list[Node]:
        a, n = self.pick(self.tensors), self.pick(self.ints)
        forms = [
            f"int({a}.sum().clamp(-4, 4).item())",
            f"{n} + 1",
            f"{a}.numel() - 3",
            f"len({self.pick(self.lists)})",
            f"int(bool(({a} > 0).any()))",
        ]
        value = self.choice.choice(forms)
        return [f"{self.new(self.ints, 'n')} = {value}"]

    def container(self, depth: int) -> list[Node]:
        if self.choice.random() < 0.4:
            value = self.tensor(1)
            return [f"{self.new(self.lists, 'l')} = [{value}, {self.pick(self.tensors)}]"]
        items = self.pick(self.lists)
        forms = [
            f"{items}.append({self.tensor(1)})",
            f"{items}[0] = {self.tensor(1)}",
        ]
        if self.choice.random() < 0.5:
            value = self.choice.choice((f"{items}[0] + 1", f"torch.stack({items}).mean(0)"))
            return [f"{self.new(self.tensors, 't')} = {value}"]
        return [self.choice.choice(forms)]

    def alias(self, depth: int) -> list[Node]:
        a = self.pick(self.tensors)
        if self.choice.random() < 0.2 and len(self.tensors) > 3:
            gone = self.tensors.pop()
            return [f"del {gone}"]
        value = self.choice.choice((a, f"{a}.view(4)"))
        return [f"{self.new(self.tensors, 't')} = {value}"]

    def jump(self, depth: int) -> list[Node]:
        word = self.choice.choice(("break", "continue"))
        return [block(f"if {self.condition()}:", word)]

    def branch(self, depth: int) -> list[Node]:
        test = self.condition()
        if self.choice.random() < 0.15:
            return [block(f"if {test}:", *self.inner(depth), f"return {self.result()}")]
        parts = [(f"if {test}:", self.inner(depth))]
        if self.choice.random() < 0.3:
            parts.append((f"elif {self.condition()}:", self.inner(depth)))
        if self.choice.random() < 0.5:
            parts.append(("else:", self.inner(depth)))
        return [Block(tuple(parts))]

    def loop(self, depth: int) -> list[Node]:
        kind = self.choice.random()
        if kind < 0.35:
            self.count += 1
            target = f"i{self.count}"
            header = f"for {target} in range({self.choice.randint(0, 3)}):"
            self.ints.append(target)
            body = self.looped(depth)
            self.ints.remove(target) if target in self.ints else None
            return [block(header, *body)]
        if kind < 0.55:
            return [block("for layer in LAYERS:", *self.looped(depth, "x = layer(x)"))]
        if kind < 0.75:
            self.count += 1
            target = f"v{self.count}"
            header = f"for {target} in list({self.pick(self.lists)})[:3]:"
            self.tensors.append(target)
            body = self.looped(depth)
            if target in self.tensors:
                self.tensors.remove(target)
            return [block(header, *body)]
        self.count += 1
        counter = f"c{self.count}"
        test = self.choice.choice((f"{self.pick(self.tensors)}.sum() < 3", self.condition()))
        body = self.looped(depth, f"{counter} += 1")
        parts = [(f"while {counter} < 3 and {test}:", body)]
        if self.choice.random() < 0.3:
            parts.append(("else:", self.inner(depth)))
        if self.choice.random() < 0.5:
            parts[0] = (
                f"while {test}:",
                (f"{counter} += 1", block(f"if {counter} > 3:", "break"), *body[1:]),
            )
        return [f"{counter} = 0", Block(tuple(parts))]

    def looped(self, depth: int, *first: str) -> tuple[Node, ...]:
        self.loops += 1
        body = self.inner(depth)
        self.loops -= 1
        return (*first, *body)

    def attempt(self, depth: int) -> list[Node]:
        body = list(self.inner(depth))
        failing = (
            f"{self.new([], 't')} = {self.pick(self.tensors)}.view(7)",
            f"fails({self.pick(self.tensors)})",
            "raise ValueError('by hand')",
            f"{self.pick(self.tensors)} = {self.pick(self.tensors)} + torch.ones(3)",
        )
        if self.choice.random() < 0.8:
            body.insert(self.choice.randint(0, len(body)), self.choice.choice(failing))
        kind = self.choice.choice(_TYPES)
        parts: list[tuple[str, tuple[Node, ...]]] = [("try:", tuple(body))]
        handler = ("print('caught', type(error).__name__, file=OUT)", *self.inner(depth))
        last = self.choice.random()
        if last < 0.8:
            parts.append((f"except {kind} as error:", handler))
            if self.choice.random() < 0.2:
                parts.append(("else:", self.inner(depth)))
        if last > 0.6:
            parts.append(("finally:", self.inner(depth)))
        return [Block(tuple(parts))]

    def managed(self, depth: int) -> list[Node]:
        manager = self.choice.choice(
            (
                "torch.no_grad()",
                "Managed(True)",
                "Managed(False)",
                "contextlib.suppress(ValueError)",
                "contextlib.nullcontext()",
            )
        )
        return [block(f"with {manager}:", *self.inner(depth))]

    def function(self, depth: int) -> list[Node]:
        self.count += 1
        name = f"g{self.count}"
        seen = self.pick(self.tensors)
        forms = [
            block(f"def {name}(v):", f"return v * 0.5 + {seen}"),
            block(f"def {name}(v):", "print('inner', file=OUT)", f"return v + {seen}"),
        ]
        n = self.pick(self.ints)
        forms.append(block(f"def {name}(v):", f"nonlocal {n}", f"{n} = {n} + 1", f"return v + {n}"))
        made = self.choice.choice(forms)
        self.functions.append(name)
        return [made]

    def result(self) -> str:
        a, b = self.pick(self.tensors), self.tensor(1)
        forms = (a, b, f"{a}, {b}", f"[{a}, {self.pick(self.ints)}]", f"({b}).sum().item()")
        return self.choice.choice(forms)


def generate(seed: int) -> Program:
    """The program of a seed."""
    choice = random.Random(seed)
    drafter = _Drafter(choice)
    body = drafter.block(choice.randint(4, 9), 3)
    function = block("def f(x, y, n, items):", *body, f"return {drafter.result()}")
    calls = []
    for number in range(choice.randint(2, 3)):
        setup: list[Node] = [
            f"x = values((4,), torch.float32, {choice.randint(0, 5)})",
            f"y = values((4,), torch.float32, {choice.randint(0, 5)})",
        ]
        if choice.random() < 0.15:
            setup[1] = choice.choice(("y = x", "y = x.view(4)"))
        setup.append(choice.choice(("items = [x, y]", "items = [x.clone()]", "items = [y * 1, x]")))
        calls.append(Call(tuple(setup), f"f(x, y, {choice.choice((number, 1, 2, 5))}, items)"))
    return Program((*_PRELUDE, function), tuple(calls))
