"""Statements of random programs, each tried before it is taken."""

from collections.abc import Callable

from tests.programs import expressions as ex
from tests.programs import objects
from tests.programs.draft import Draft
from tests.programs.program import Block, Node, block

_TRIES = 12


def statement(draft: Draft, depth: int = 1) -> Node | None:
    """A statement that fits, None if none was found soon."""
    for _ in range(_TRIES):
        kinds = _KINDS if depth else _PLAIN
        make = draft.random.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
        node = make(draft)
        if node is not None and draft.accept(node):
            return node
    return None


# --- plain statements ----------------------------------------------------------------------------


def _assign(draft: Draft) -> Node:
    text = ex.tensor(draft, 2)
    if draft.chance(0.08):
        return f"{draft.fresh()} = {draft.fresh()} = {text}"
    if draft.chance(0.05):
        name = draft.fresh()
        return f"{draft.fresh()} = ({name} := {text}) + {name}"
    return f"{draft.fresh()} = {text}"


def _view(draft: Draft) -> Node:
    return f"{draft.fresh()} = {ex.view(draft, 1)}"


def _unpack(draft: Draft) -> Node:
    x = ex.tensor(draft, 1)
    a, b = draft.fresh(), draft.fresh()
    rank = draft.tensor(x).dim()
    axis = draft.random.randrange(-rank, rank) if rank else 0
    return draft.one(
        f"{a}, {b} = {x}.chunk(2, {axis})",
        f"{a}, {b} = {x}, {ex.tensor(draft, 1)}",
        f"{a}, *{b} = {x}.unbind({axis})",
        f"{a}, {b} = parts({x})",
        f"{a}, {b}, *rest = {x}.split(1, {axis})",
        f"{a}, {b} = {b}, {a}",
        f"{a}, {b} = {x}.shape[-2:]",
    )


def _number(draft: Draft) -> Node:
    return f"{draft.fresh()} = {ex.number(draft)}"


def _augmented(draft: Draft) -> Node | None:
    if names := draft.tensors():
        x = draft.random.choice(names)
        operator = draft.one("+=", "-=", "*=", "+=", "*=")
        target = x
        if draft.tensor(x).dim() and draft.chance(0.35):
            target = f"{x}[{ex.index(draft, draft.tensor(x).shape)}]"
        return f"{target} {operator} {ex.partner(draft, target, 1)}"
    return None


def _count(draft: Draft) -> Node | None:
    names = draft.named(lambda v: isinstance(v, int | float))
    if not names:
        return None
    return f"{draft.random.choice(names)} {draft.one('+=', '*=', '-=')} {ex.number(draft)}"


def _written(draft: Draft) -> str:
    """What an in-place operation is called on: a tensor, or a view of one."""
    names = draft.tensors()
    x = draft.random.choice(names) if names else "x"
    return ex.view_of(draft, x) if draft.chance(0.3) else x


def _in_place(draft: Draft) -> Node:
    x = _written(draft)
    y, n = ex.partner(draft, x, 1), ex.number(draft)
    call = draft.one(
        f"{x}.add_({y})",
        f"{x}.add_({y}, alpha=2)",
        f"{x}.mul_({y})",
        f"{x}.sub_({y})",
        f"{x}.zero_()",
        f"{x}.fill_({n})",
        f"{x}.copy_({y})",
        f"{x}.clamp_(min={n})",
        f"{x}.clamp_({n}, 2)",
        f"{x}.neg_()",
        f"{x}.abs_()",
        f"{x}.masked_fill_({ex.mask(draft, x)}, {n})",
        f"F.relu({x}, inplace=True)",
        f"{x}.relu_()",
        f"torch.relu_({x})",
    )
    return f"{draft.fresh()} = {call}" if draft.chance(0.3) else call


def _store(draft: Draft) -> Node | None:
    names = draft.tensors(lambda t: t.dim() > 0)
    if not names:
        return None
    x = draft.random.choice(names)
    if draft.chance(0.15):
        return f"{x}[{ex.mask(draft, x)}] = {ex.number(draft)}"
    target = f"{x}[{ex.index(draft, draft.tensor(x).shape)}]"
    return f"{target} = {ex.partner(draft, target, 1)}"


def _deep_store(draft: Draft) -> Node | None:
    """A write through several views, or by an index tensor."""
    names = draft.tensors(lambda t: t.dim() > 0)
    if not names:
        return None
    x = draft.random.choice(names)
    inner = ex.view_of(draft, ex.view_of(draft, x))
    y, n = ex.partner(draft, inner, 0), ex.number(draft)
    at = draft.one("[0]", "[0, -1]", "torch.tensor([0, 0])", "torch.arange(2)", "..., [0]", "-1")
    size = f"{x}.shape[0]"
    return draft.one(
        f"{inner}.{draft.one('add_', 'mul_', 'copy_', 'sub_')}({y})",
        f"{inner} {draft.one('+=', '*=', '-=')} {y}" if inner.endswith("]") else f"{inner}.neg_()",
        f"{inner}[...] = {y}",
        f"{x}[{at}] = {n}",
        f"{x}[{at}] {draft.one('+=', '*=')} {n}",
        f"{x}.index_fill_(0, torch.tensor([0]), {n})",
        f"{x}.index_add_(0, torch.arange({size}), {x}.clone())",
        f"{x}.index_copy_(0, torch.tensor([0]), {x}[-1:].clone())",
        f"{x}.scatter_(0, torch.zeros_like({x}, dtype=torch.int64), {n})",
        f"{x}.masked_scatter_({x} == {x}, {x}.clone())",
        f"{x}.swapaxes(0, -1)[0].fill_({n})",
        f"{x}.unfold(0, 1, 1).add_({n})",
        f"{x}[::2], {x}[1::2] = {n}, {n}",
        f"{x}[:1], _ = {y}, {x}",
    )


def _out(draft: Draft) -> Node:
    x = _written(draft)
    y = ex.partner(draft, x, 0)
    target = draft.one(x, f"torch.empty_like({x})", *(draft.tensors() or [x])[-2:])
    call = draft.one(
        f"torch.add({x}, {y}, out={target})",
        f"torch.mul({x}, {y}, out={target})",
        f"torch.neg({x}, out={target})",
        f"torch.maximum({x}, {x}, out={target})",
    )
    return f"{draft.fresh()} = {call}" if draft.chance(0.5) else call


def _reshaped(draft: Draft) -> Node | None:
    """An in-place operation that changes sizes or strides."""
    names = draft.tensors()
    if not names:
        return None
    x = draft.random.choice(names)
    return f"{x}.{draft.one('squeeze_()', 'unsqueeze_(0)', 't_()', 'transpose_(0, -1)')}"


def _container(draft: Draft) -> Node:
    x, y = ex.tensor(draft, 1), ex.tensor(draft, 1)
    return draft.one(
        f"{draft.fresh()} = [{x}, {y}]",
        f"{draft.fresh()} = ({x}, {ex.number(draft)})",
        f"{draft.fresh()} = {{'p': {x}, 'q': {y}}}",
        f"{draft.fresh()} = dict(p={x}, n={ex.number(draft)})",
        f"{draft.fresh()} = [{x}]",
        f"{draft.fresh()} = Pair({x}, {ex.number(draft)})",
    )


def _container_use(draft: Draft) -> Node | None:
    lists = draft.named(lambda v: isinstance(v, list) and len(v) > 0)
    dicts = draft.named(lambda v: isinstance(v, dict) and len(v) > 0)
    options: list[str] = []
    x = ex.tensor(draft, 1)
    for name in lists:
        options += [
            f"{name}.append({x})",
            f"{name}[0] = {x}",
            f"{name}[-1].{draft.one('add_(1)', 'mul_(2)', 'zero_()')}",
            f"{draft.fresh()} = [v * 2 for v in {name}]",
            f"{draft.fresh()} = {name}.pop()",
            f"{draft.fresh()} = [v for v in {name} if v.dim() > 0]",
            f"{name} += [{x}]",
            f"{name}.extend([{x}, {x}])",
            f"{draft.fresh()} = {name}[::-1]",
            f"{draft.fresh()} = len({name})",
            f"{name}[0] += 1",
            f"{name}.insert(0, {x})",
            f"{draft.fresh()} = tuple({name})",
        ]
    for name in dicts:
        key = repr(next(iter(draft.value(name))))  # type: ignore[call-overload]
        options += [
            f"{name}['new'] = {x}",
            f"{name}[{key}] = {x}",
            f"{draft.fresh()} = {name}.get('nothing', {x})",
            f"{draft.fresh()} = {name}.pop({key})",
            f"{draft.fresh()} = {name}.setdefault('more', {x})",
            f"{name}.update(z={x})",
            f"{draft.fresh()} = {{k: v for k, v in {name}.items()}}",
            f"{draft.fresh()} = list({name}.values())",
            f"{name}[{key}].{draft.one('add_(1)', 'neg_()')}",
        ]
    return draft.random.choice(options) if options else None


def _outside(draft: Draft) -> Node:
    """A store to something that lives longer than the call."""
    x, n = ex.tensor(draft, 1), ex.number(draft)
    return draft.one(
        f"config.last = {x}",
        f"config.eps = {n}",
        "config.count += 1",
        f"STORE.append({x})",
        f"TABLE['w'] = {x}",
        f"TABLE['k'] = {n}",
        "WEIGHT.add_(1)",
        "config.weight.mul_(2)",
        f"config.weight = {x}",
        f"STORE[-1] = {x}",
        "STORE.clear()",
        f"setattr(config, 'last', {x})",
        "TABLE['w'] += 1",
        "config.weight += 1",
    )


# --- compound statements -------------------------------------------------------------------------


def condition(draft: Draft) -> str:
    """A test that is static, or one on sizes."""
    options = [
        f"{ex.number(draft)} {draft.one('>', '<', '==', '>=')} {ex.number(draft)}",
        "mode == 'sum'",
        "opt is None",
        "flag",
        "not flag",
        "isinstance(n, int)",
        "config.count",
        "len(STORE) > 1",
        "'w' in TABLE",
        "config.last is None",
    ]
    names = draft.tensors(lambda t: t.dim() > 0)
    if names:
        x, y = draft.random.choice(names), draft.random.choice(names)
        options += [
            f"{x}.shape[0] > {draft.one('1', '2', '3')}",
            f"{x}.shape == {y}.shape",
            f"{x}.is_contiguous()",
            f"{x}.dtype is torch.float32",
            f"{x} is {y}",
            f"{x}.shape[-1] == {y}.shape[-1] and {x}.dim() > 1",
            f"{x}.dim() == 2",
        ]
        if draft.chance(0.1):
            options += [f"{x}.sum() > 0"]
    return draft.random.choice(options + objects.conditions(draft) * draft.chance(0.5))


def _body(draft: Draft, most: int = 2) -> tuple[Node, ...]:
    """Statements of an arm, tried in scopes that are then thrown away."""
    kept = [dict(scope) for scope in draft.scopes]
    names = list(draft.locals)
    made = [statement(draft, 0) for _ in range(draft.random.randint(1, most))]
    for scope, before in zip(draft.scopes, kept, strict=True):
        scope.clear()
        scope.update(before)
    draft.locals[:] = names
    return tuple(node for node in made if node is not None)


def _if(draft: Draft) -> Node:
    parts = [(f"if {condition(draft)}:", _body(draft))]
    if draft.chance(0.2):
        parts.append((f"elif {condition(draft)}:", _body(draft)))
    if draft.chance(0.6):
        parts.append(("else:", _body(draft)))
    return Block(tuple(parts))


def _for(draft: Draft) -> Node:
    lists = draft.named(lambda v: isinstance(v, list | tuple) and 0 < len(v) < 9)
    headers = ["for i in range(2):", "for i in range(config.count):", "for step in (1, 2):"]
    for name in lists:
        headers += [f"for v in list({name}):", f"for i, v in enumerate({name}[:3]):"]
        headers += [f"for v, w in zip({name}[:], {name}[::-1]):"]  # copies: bodies may append
    for name in draft.tensors(lambda t: t.dim() > 0 and 0 < t.shape[0] < 6):
        headers += [f"for v in {name}:", f"for i in range({name}.shape[0]):"]
    header = draft.random.choice(headers)
    body: tuple[Node, ...] = _body(draft)
    if " v" in header and draft.chance(0.5):
        body = (*body, draft.one("v.mul_(2)", "v = v + 1", "v += 1", "if_v = v"))
    if draft.chance(0.1):
        body = (*body, block(f"if {condition(draft)}:", draft.one("break", "continue")), *body[:1])
    return block(header, *body)


def _counted(draft: Draft) -> Node:
    count = f"turns{draft.made}"
    return Block(
        (
            (
                "if True:",
                (
                    f"{count} = 0",
                    block(
                        f"while {count} < {draft.one('2', '3')}:", f"{count} += 1", *_body(draft)
                    ),
                ),
            ),
        )
    )


def _try(draft: Draft) -> Node:
    x = ex.tensor(draft, 1)
    failing = draft.one(
        f"{draft.fresh()} = {x}.view(7, 13)",
        f"{draft.fresh()} = {x} + torch.zeros(17, 19)",
        f"{draft.fresh()} = {x}[99]",
        f"{draft.fresh()} = config.nothing",
        f"{draft.fresh()} = TABLE['nothing']",
        f"{x}.expand(2, *{x}.shape).add_(1)",
        "raise ValueError('no')",
        "pass",
    )
    name = draft.fresh()
    kind = draft.one(
        "RuntimeError", "Exception", "(ValueError, RuntimeError, IndexError)", "KeyError"
    )
    parts = [
        ("try:", (*_body(draft, 1), failing)),
        (f"except {kind}:", (f"{name} = {ex.tensor(draft, 1)}", *_body(draft, 1))),
    ]
    if draft.chance(0.2):
        parts.append(("finally:", _body(draft, 1)))
    return Block(tuple(parts))


def _inner(draft: Draft) -> Node:
    """A function inside, over variables of the one that is tested."""
    name = f"inner{draft.made}"
    names = draft.tensors() or ["x"]
    captured, x = draft.random.choice(names), draft.random.choice(names)
    body = draft.one(f"v * {ex.number(draft)}", f"v + {captured}", f"(v, {captured})[0]", "-v")
    call = f"{draft.fresh()} = {name}({x})"
    if draft.chance(0.4):
        return Block((("if True:", (f"{name} = lambda v: {body}", call)),))
    return Block(
        (("if True:", (block(f"def {name}(v, k=2):", "v = v * k", f"return {body}"), call)),)
    )


def _with(draft: Draft) -> Node:
    return block("with torch.no_grad():", *_body(draft))


def _early(draft: Draft) -> Node:
    return block(f"if {condition(draft)}:", f"return {result(draft)}")


def result(draft: Draft) -> str:
    """What a function may return."""
    names = draft.named(lambda v: not callable(v)) or ["x"]
    count = draft.random.randint(1, 4)
    few = [names[max(draft.random.choices(range(len(names)), k=2))] for _ in range(count)]
    if draft.chance(0.3):
        few.append(ex.tensor(draft, 1))
    if draft.chance(0.15):
        few.append(ex.number(draft))
    joined = ", ".join(few)
    return draft.one(
        few[0],
        joined,
        f"[{joined}]",
        f"{{'first': {few[0]}, 'rest': ({joined},)}}",
        f"({few[0]}, [{joined}])",
        f"({joined},), {few[0]}",
    )


Maker = Callable[[Draft], Node | None]
_PLAIN: list[tuple[Maker, float]] = [
    (_assign, 7),
    (_view, 4),
    (_in_place, 4),
    (_augmented, 3),
    (_store, 3),
    (_container, 1.2),
    (_container_use, 2.5),
    (_number, 1),
    (_count, 0.5),
    (_unpack, 1),
    (_out, 1),
    (_outside, 1),
    (_reshaped, 0.15),
    (_deep_store, 1),
    (objects.made, 2),
    (objects.iterated, 1.2),
    (objects.numbers, 1),
]
_KINDS: list[tuple[Maker, float]] = [
    *_PLAIN,
    (_if, 2),
    (_for, 1.5),
    (_counted, 0.4),
    (_try, 0.5),
    (_inner, 0.8),
    (_with, 0.3),
    (lambda draft: objects.nonlocal_closure(draft, _body), 0.5),
    (lambda draft: objects.handled(draft, _body), 0.8),
    (lambda draft: objects.chosen(draft, _body), 0.8),
]


def function_body(draft: Draft, count: int) -> tuple[Node, ...]:
    """The statements of a function, the last of which returns."""
    made: list[Node] = []
    for _ in range(count):
        if draft.chance(0.04):
            made.append(_early(draft))
        elif (node := statement(draft)) is not None:
            made.append(node)
    made.append(f"return {result(draft)}")
    return tuple(made)
