"""Statements of random programs about Python: classes, closures, generators, numbers, handlers."""

from collections.abc import Callable

from tests.programs import expressions as ex
from tests.programs.draft import Draft
from tests.programs.program import Block, Node, block

Body = Callable[[Draft, int], tuple[Node, ...]]

# What the module of a program defines for them.
PRELUDE: tuple[Node, ...] = (
    "import contextlib, copy, dataclasses, enum, functools, itertools, math, operator",
    block("class Mode(enum.Enum):", "SUM = 1", "MEAN = 2"),
    block(
        "class Point:",
        block("def __init__(self, first, second=2):", "self.first, self.second = first, second"),
    ),
    Block(
        (
            (
                "@dataclasses.dataclass(frozen=True)\nclass Fixed:",
                (
                    "value: object",
                    "by: float = 0.5",
                    block("def moved(self):", "return Fixed(self.value + self.by, self.by * 2)"),
                ),
            ),
        )
    ),
    Block(
        (
            (
                "class Box:",
                (
                    "kind = 'box'",
                    block("def __init__(self, *items):", "self.items = list(items)"),
                    block("def __len__(self):", "return len(self.items)"),
                    block("def __getitem__(self, at):", "return self.items[at]"),
                    block("def __setitem__(self, at, value):", "self.items[at] = value"),
                    block("def __iter__(self):", "return iter(self.items)"),
                    block("def __contains__(self, kind):", "return kind == self.kind"),
                    block("def __add__(self, other):", "return type(self)(*self.items, other)"),
                    block("def __iadd__(self, other):", "self.items.append(other)", "return self"),
                    block("def __call__(self, v):", "return v + len(self.items)"),
                    block("@property\ndef first(self):", "return self.items[0]"),
                    block("@first.setter\ndef first(self, value):", "self.items[0] = value"),
                    block("@staticmethod\ndef twice(v):", "return v * 2"),
                    block("@classmethod\ndef of(cls, v):", "return cls(v, v)"),
                ),
            ),
        )
    ),
    Block(
        (
            (
                "class Deep(Box):",
                (
                    "kind = 'deep'",
                    block(
                        "def __init__(self, *items):",
                        "super().__init__(*items)",
                        "self.depth = 1",
                    ),
                    block("def __call__(self, v):", "return super().__call__(v) * self.depth"),
                ),
            ),
        )
    ),
    Block(
        (
            (
                "class Layer(torch.nn.Module):",
                (
                    block(
                        "def __init__(self):",
                        "super().__init__()",
                        "self.weight = torch.nn.Parameter(torch.full((1,), 2.0), False)",
                        "self.register_buffer('seen', torch.zeros(()))",
                        "self.eps = 0.5",
                    ),
                    block(
                        "def forward(self, v):",
                        block("if self.training:", "self.seen += 1"),
                        "return v * self.weight + self.eps",
                    ),
                ),
            ),
        )
    ),
    block("def steps(v, count=2):", block("for i in range(count):", "yield v * i")),
    block("def joined(*vs, **named):", "return [*vs, *named.values()]"),
    block("def collected(v, into=[]):", "into.append(v)", "return into"),
    block(
        "@contextlib.contextmanager\ndef scaled_config(factor):",
        "before = config.eps",
        "config.eps = factor",
        Block((("try:", ("yield config",)), ("finally:", ("config.eps = before",)))),
    ),
    block(
        "def counter(start):",
        block("def more(v):", "nonlocal start", "start += 1", "return v * start"),
        "return more",
    ),
)
GLOBALS = ("box = Deep(torch.ones(2), 3)", "layer = Layer()", "MODE = Mode.SUM")
CHANGES = (
    "m.layer.eval()",
    "m.layer.train()",
    "m.layer.eps = 2.0",
    "m.layer.weight = torch.nn.Parameter(torch.zeros(1), False)",
    "m.layer.seen.fill_(7.0)",
    "m.box.depth = 3",
    "m.box = m.Box(torch.zeros(2))",
    "m.Deep.kind = 'other'",
    "m.box.items.append(1)",
    "m.MODE = m.Mode.MEAN",
    "m.Point.__init__.__defaults__ = (3,)",
    "m.collected.__defaults__[0].clear()",
    "m.layer.register_buffer('extra', torch.ones(1))",
)


def conditions(draft: Draft) -> list[str]:
    """Tests of what this module defines."""
    sizes = draft.tensors(lambda t: t.dim() > 0)
    options = [
        "MODE is Mode.SUM",
        "layer.training",
        "len(box) > 2",
        "'deep' in box",
        "n in (1, 2, 3)",
        "mode in {'sum', 'mean'} and opt is None",
        "isinstance(box, Deep) or flag",
        "0 < n < 3",
        "hasattr(box, 'depth')",
        "getattr(config, 'nothing', None) is None",
        "bool(STORE)",
        "any(v is None for v in (opt, config.last))",
    ]
    if sizes:
        x = draft.random.choice(sizes)
        options += [
            f"{x}.shape[0] % 2",
            f"1 < {x}.shape[0] <= 4",
            f"{x}.stride(-1) == 1",
            f"all(s > 1 for s in {x}.shape)",
            f"{x}.numel() > 6",
            f"{x}.shape[0] == len(box)",
            f"max({x}.shape) == {x}.shape[-1]",
        ]
    return options


def made(draft: Draft) -> Node:
    """An object, and something done to it."""
    x, n, name = ex.tensor(draft, 1), ex.number(draft), draft.fresh()
    y = ex.partner(draft, x, 0)
    other = draft.fresh()
    return draft.one(
        f"{name} = Point({x}, {n})",
        f"{name} = Point({x})\n{name}.first {draft.one('+=', '*=')} {y}",
        f"{name} = dataclasses.replace(Fixed({x}), by={y})",
        f"{name} = Fixed({x}).moved().value",
        f"{name} = Fixed({x})\n{other} = {name}.moved()",
        f"{name} = Box({x}, {y})\n{name} += {n}",
        f"{name} = Deep({x}) + {y}",
        f"{name} = Box.of({x}).first",
        f"{name} = Deep({x})\n{name}.first = {y}\n{other} = list({name})",
        f"{name} = box({x})",
        f"{name} = Box.twice({x})",
        f"{name} = layer({x})",
        f"{name} = layer({x}) + layer.seen",
        f"{name} = box.first",
        f"box.first = {x}",
        f"box[0] = {x}",
        f"{name} = [v for v in box]",
        f"layer.eps = {n}",
        "layer.seen.add_(1)",
        f"{name} = copy.copy({draft.one('box', 'config')})",
        f"{name} = operator.add({x}, {y})",
        f"{name} = functools.reduce(operator.add, [{x}, {y}, {n}])",
        f"{name} = functools.partial(shifted, by={n})({x})",
        f"{name} = {{Mode.SUM: {x}, Mode.MEAN: {y}}}[MODE]",
        f"{name} = {{f'{{n}}': {x}}}",
        f"{name} = (lambda v, *w: v if not w else w[0])({x}, {y})",
    )


def iterated(draft: Draft) -> Node:
    """Generators, comprehensions and what takes functions."""
    x, name = ex.tensor(draft, 1), draft.fresh()
    y = ex.partner(draft, x, 0)
    a, b = draft.fresh(), draft.fresh()
    return draft.one(
        f"{name} = list(steps({x}))",
        f"{name} = sum(steps({x}, 3))",
        f"{a}, {b} = steps({x})",
        f"{name} = sum(v * 2 for v in ({x}, {x}))",
        f"{name} = next(iter([{x}, {y}]))",
        f"{name} = [v + i for i, v in enumerate(({x}, {x}))]",
        f"{name} = list(map(double, [{x}, {x}]))",
        f"{name} = {{i: v for i, v in zip('ab', ({x}, {y}))}}",
        f"{name} = sorted([{x}, {x}[None]], key=lambda v: -v.dim())",
        f"{name} = joined({x}, *[{y}], named={x})",
        f"{name} = collected({x})",
        f"{name} = collected({x}, [])",
        f"{name} = list(itertools.chain([{x}], ({y},)))",
        f"{name} = [[v, {y}] for v in ({x},)][0]",
        f"{name} = max(({x}, {x}[None]), key=lambda v: v.dim())",
        f"({a}, {b}), *{name} = ({x}, {y}), {x}",
        f"{name} = dict(zip(('a', 'b'), ({x}, {y}))) | {{'c': {x}}}",
        f"{name} = [*steps({x}), {y}]",
        f"{name} = list(filter(lambda v: v.dim(), ({x}, {x}[None])))",
    )


def numbers(draft: Draft) -> Node:
    """Arithmetic of Python numbers and sizes."""
    n, m, name = ex.number(draft), ex.number(draft), draft.fresh()
    return draft.one(
        f"{name} = {n} // 2",
        f"{name} = {n} % 3",
        f"{name} = divmod({n}, 2)",
        f"{name} = max({n}, {m})",
        f"{name} = min({n}, {m}, 2)",
        f"{name} = abs({n})",
        f"{name} = int({n})",
        f"{name} = float({n})",
        f"{name} = round({n} * 1.5)",
        f"{name} = {n} ** 2",
        f"{name} = {n} / 2",
        f"{name} = -{n}",
        f"{name} = {n} or {m}",
        f"{name} = {n} and {m}",
        f"{name} = {n} if flag else {m}",
        f"{name} = bool({n})",
        f"{name} = f'{{{n}}}'",
        f"{name} = sum(({n}, {m}))",
        f"{name} = math.floor({n} + 0.5)",
        f"{name} = ({n}, {m}) < ({m}, {n})",
        f"{name} = len(range({draft.one('2', '3')}))",
        f"{name} = [{n}] * 2",
        f"{name} = sorted([{n}, {m}, 1])",
    )


def nonlocal_closure(draft: Draft, body: Body) -> Node:
    """A function inside that rebinds a variable of the one that is tested."""
    names = draft.tensors()
    held = draft.random.choice(names) if names else "x"
    x, name = ex.tensor(draft, 0), draft.fresh()
    inner = f"inner{draft.made}"
    change = draft.one(f"{held} = {held} + v", f"{held} = v", f"{held} *= 2", f"{held} += v")
    calls = draft.one(
        f"{name} = {inner}({x})",
        f"{name} = {inner}({x})\n{inner}({x})",
        f"{name} = [{inner}(v) for v in ({x}, {x})]",
    )
    free = block(
        f"def {name}_(v, {held}={held}):",
        block(f"def {inner}(v):", f"nonlocal {held}", change, f"return {held}"),
        calls,
        f"return {name}, {held}",
    )
    counted = (f"more = counter({draft.one('1', 'n', '2.0')})", f"{name} = more({x})", "more(x)")
    if draft.chance(0.4):
        return Block((("if True:", counted),))
    return Block((("if True:", (free, f"{name} = {name}_({x})")),))


def handled(draft: Draft, body: Body) -> Node:
    """Handlers of all forms, and managers."""
    x, name = ex.tensor(draft, 1), draft.fresh()
    failing = draft.one(
        f"{name} = {x}.view(7, 13)",
        f"{name} = [{x}][n]",
        f"{name} = {{'a': {x}}}[mode]",
        "raise KeyError(mode)",
        f"raise ValueError({x}.shape[0]) from None" if ".shape" not in x else "raise ValueError",
        "assert flag, mode",
        f"{name} = {x}",
        f"{name} = config.nothing",
        f"{name} = None + 1",
    )
    match draft.random.randrange(5):
        case 0:
            parts = [("try:", (failing,)), ("except:", (f"{name} = {x} + 1", *body(draft, 1)))]
            return Block(tuple(parts))
        case 1:
            told = "except Exception as error:", (f"{name} = type(error).__name__, error.args",)
            return Block((("try:", (*body(draft, 1), failing)), told, ("else:", body(draft, 1))))
        case 2:
            inner = Block((("try:", (failing,)), ("finally:", body(draft, 1))))
            return Block((("try:", (inner,)), ("except Exception:", (f"{name} = {x}",))))
        case 3:
            return block("with contextlib.suppress(Exception):", *body(draft, 1), failing)
    scaled = (f"{name} = config.scaled({x})", *body(draft, 1))
    return block(f"with scaled_config({ex.number(draft)}) as c_:", *scaled)


def chosen(draft: Draft, body: Body) -> Node:
    """`match`, `global`, `del`, `while` on sizes."""
    x, name = ex.tensor(draft, 1), draft.fresh()
    sized = draft.tensors(lambda t: t.dim() > 0)
    match draft.random.randrange(5):
        case 0:
            subject = draft.one(f"({x}, n)", "mode", "n", "config", f"{{'k': {x}}}", f"[{x}]")
            cases = draft.random.sample(
                [
                    ("case (torch.Tensor() as v, 2):", (f"{name} = v * 2",)),
                    ("case 'sum':", (f"{name} = {x}",)),
                    ("case int(k):", (f"{name} = {x} + k",)),
                    ("case Config(eps=e):", (f"{name} = {x} * e",)),
                    ("case {'k': v}:", (f"{name} = v",)),
                    ("case [v]:", (f"{name} = v + v",)),
                    ("case float() | None:", (f"{name} = -{x}",)),
                ],
                3,
            )
            arms = [Block((part,)) for part in cases]
            return block(f"match {subject}:", *arms, block("case _:", f"{name} = {x}"))
        case 1:
            value = draft.one("SCALE + 1", "2.0", ex.number(draft), x)
            return Block((("if True:", (f"global_({value})", f"{name} = {x} * 1")),))
        case 2:
            return f"{name} = {x}\ndel {name}\n{name} = {ex.tensor(draft, 0)}"
        case 3 if sized:
            y = draft.random.choice(sized)
            turns = f"turns{draft.made}"
            loop = block(f"while {turns} < {y}.shape[0]:", f"{turns} += 2", *body(draft, 1))
            return Block((("if True:", (f"{turns} = 0", loop)),))
    loop = block("for i in range(3):", block("if i == n:", "break"), *body(draft, 1))
    return Block((loop.parts[0], ("else:", body(draft, 1))))
