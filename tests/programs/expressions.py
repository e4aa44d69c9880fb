"""Expressions of random programs: exact operations, views, numbers and what containers hold."""

import torch

from tests.programs.draft import Draft

DTYPES = ("float32", "float64", "bfloat16", "float16", "int64", "int32", "bool", "uint8")
_FLOATS = ("float32", "float32", "float64", "bfloat16", "float16")
_INTEGERS = ("int64", "int32")


def number(draft: Draft) -> str:
    """A Python number: written, read from a name, or a size."""
    names = draft.named(lambda v: isinstance(v, int | float))
    if names and draft.chance(0.5):
        return "n" if "n" in names and draft.chance(0.5) else draft.random.choice(names)
    if draft.chance(0.25):
        return draft.one("SCALE", "config.eps", "config.count", "TABLE['k']")
    if draft.chance(0.2) and (sizes := draft.tensors(lambda t: t.dim() > 0)):
        return f"{draft.random.choice(sizes)}.{draft.one('shape[0]', 'shape[-1]', 'size(0)')}"
    if draft.chance(0.15):
        return f"({number(draft)} {draft.one('+', '-', '*')} {number(draft)})"
    return draft.one("0", "1", "2", "-1", "3", "0.5", "2.0", "-1.5", "1.0", "0.0", "True")


def tensor(draft: Draft, depth: int = 2) -> str:
    """A tensor: a name, or an operation on tensors."""
    names = draft.tensors()
    if not names or draft.chance(0.04):
        return _made(draft)
    if depth == 0 or draft.chance(0.35):
        at = max(draft.random.randrange(len(names)) for _ in range(2))  # recent ones more often
        return names[at]
    kind = draft.random.choices(
        (_unary, _binary, view, _selection, _helper, _reduction, _joined, _held, _library),
        (3, 6, 6, 2, 1.5, 1, 1, 1, 1.5),
    )[0]
    return kind(draft, depth - 1)


def partner(draft: Draft, text: str, depth: int) -> str:
    """A tensor that broadcasts with another, or a number."""
    if draft.chance(0.3):
        return number(draft)
    shape = draft.tensor(text).shape
    names = draft.tensors(lambda t: _broadcasts(t.shape, shape))
    if names and draft.chance(0.7):
        return draft.random.choice(names)
    if draft.chance(0.3):
        return tensor(draft, depth)
    return number(draft)


def _broadcasts(one: torch.Size, other: torch.Size) -> bool:
    pairs = zip(reversed(one), reversed(other), strict=False)
    return all(a == b or 1 in (a, b) for a, b in pairs)


def mask(draft: Draft, text: str) -> str:
    """A condition of the sizes of a tensor."""
    return f"{text} {draft.one('>', '<', '>=', '!=', '==')} {partner(draft, text, 0)}"


def _unary(draft: Draft, depth: int) -> str:
    x = tensor(draft, depth)
    exact = ("-{}", "{}.abs()", "torch.neg({})", "{}.clone()", "{}.contiguous()", "{}.detach()")
    casts = ("{}.float()", "{}.double()", "{}.to(torch.{dtype})", "{}.to(dtype=torch.{dtype})")
    rest = ("{}.clamp(min={n})", "{}.clamp({n}, {m})", "F.relu({})", "{}.square()", "{}.sign()")
    rare = ("~{}", "{}.logical_not()", "torch.zeros_like({})", "torch.full_like({}, {n})")
    more = (
        "{}.floor()",
        "{}.to({})",
        "{}.type_as({y})",
        "abs({})",
        "+{}",
        "F.dropout({}, 0.5, False)",
    )
    chosen = draft.random.choice(draft.random.choice((exact, exact, casts, rest, rare, more)))
    is_float = draft.tensor(x).is_floating_point()
    dtype = draft.random.choice(_FLOATS if is_float else DTYPES)
    names = draft.tensors(lambda t: t.is_floating_point() or not is_float) or [x]
    return chosen.replace("{}", x).format(
        n=number(draft), m=number(draft), dtype=dtype, y=draft.random.choice(names)
    )


def _binary(draft: Draft, depth: int) -> str:
    x = tensor(draft, depth)
    y = partner(draft, x, depth)
    if draft.chance(0.55):
        if draft.chance(0.3):
            x, y = y, x
        return f"({x} {draft.one('+', '-', '*', '+', '*', '-')} {y})"
    if draft.chance(0.2):
        return f"({x} {draft.one('<', '>', '<=', '>=', '==', '!=', '&', '|', '^')} {y})"
    return draft.one(
        f"torch.maximum({x}, {y})",
        f"torch.minimum({x}, {y})",
        f"torch.add({x}, {y}, alpha={draft.one('2', '-1', 'n', 'SCALE')})",
        f"{x}.sub({y})",
        f"{x}.mul({y})",
        f"torch.eq({x}, {y})",
        f"torch.add({x}, other={y})",
        f"{x} // 2" if not draft.tensor(x).is_floating_point() else f"{x} * 0.5",
        f"{x} % 3" if not draft.tensor(x).is_floating_point() else f"({x} + {x})",
        f"torch.add(input={x}, other={y})",
    )


def _selection(draft: Draft, depth: int) -> str:
    x = tensor(draft, depth)
    y = partner(draft, x, depth)
    return draft.one(
        f"torch.where({mask(draft, x)}, {x}, {y})",
        f"{x}.masked_fill({mask(draft, x)}, {number(draft)})",
        f"torch.where({mask(draft, x)}, {y}, {number(draft)})",
    )


def _reduction(draft: Draft, depth: int) -> str:
    x = tensor(draft, depth)
    value = draft.tensor(x)
    # of zeros of both signs, which is the largest is nobody's promise: adding 0 makes them one
    exact = ("amax(-1).add(0)", "amin(0, keepdim=True).add(0)", "amax(dim=0).add(0)")
    exact += ("any()", "all(dim=-1)", "max().add(0)")
    if not value.is_floating_point():
        exact += ("sum(-1)", "sum()", "sum(0, keepdim=True)", "cumsum(-1)")
    return f"{x}.{draft.one(*exact)}"


def _library(draft: Draft, depth: int) -> str:
    """What PyTorch does by itself, or in rows that differ from elementwise ones."""
    x = tensor(draft, depth)
    rank = draft.tensor(x).dim()
    axis = draft.random.randrange(-rank, rank) if rank else 0
    n = number(draft)
    return draft.one(
        f"{x}.cumsum({axis})",
        f"{x}.sum({axis})",
        f"{x}.sum(({axis},), keepdim=True)",
        f"{x}.roll(1, {axis})",
        f"{x}.tril()",
        f"torch.triu({x}, 1)",
        f"{x}.repeat(2, {', '.join(['1'] * rank) or '1'})",
        f"{x}.repeat_interleave(2, {axis})",
        f"F.pad({x}, (1, {draft.one('0', '1', '-1')}))",
        f"F.pad({x}, (0, 1), value={n})",
        f"{x}.sort({axis}, stable=True)[0].add(0)",
        f"{x}.topk(1, {axis})[0].add(0)",
        f"{x}.argmax({axis})",
        f"{x}.index_select({axis}, torch.tensor([0, 0]))",
        f"{x}.gather({axis}, torch.zeros_like({x}, dtype=torch.int64))",
        f"{x}[[0, 0]]",
        f"{x}[torch.arange({x}.shape[0])]" if rank else f"{x}[None][[0]]",
        f"{x}[..., [0]]",
        f"torch.where({x} == {x}, {x}, {n})",
        f"{x}.max({axis})[0].add(0)",
        f"{x}.min({axis}).values.add(0)",
        f"torch.broadcast_tensors({x}, {x}[None])[0]",
        f"torch.meshgrid({x}.flatten(), {x}.flatten(), indexing='ij')[0]",
        f"{x}.flip({axis})",
        f"{x} @ {x}.mT" if rank > 1 else f"{x}.outer({x})",
        f"torch.einsum('...i->...', {x})" if rank else f"{x} * 1",
        f"{x}.unfold({axis}, 1, 1)",
        f"{x}.as_strided((2,), (0,))",
        f"{x}.rot90()",
        f"{x}.nan_to_num(0.0)",
        f"torch.atleast_2d({x})",
        f"{x}.tile((2,))",
        f"{x}.diff()",
        f"{x}.isnan()",
        f"torch.count_nonzero({x}, {axis})",
        f"{x}.data",
        f"{x}.new_tensor([1, 2])",
        f"torch.zeros({x}.shape, dtype={x}.dtype)",
        f"torch.full(({x}.numel(),), {n})",
        f"torch.arange({x}.numel()).view_as({x})",
        f"torch.linspace(0, 1, 3, dtype={x}.dtype)" if rank else f"{x}.reshape(1, 1)",
        f"{x}.amax((0, -1)).add(0)",
        f"{x}.half()",
        f"{x}.to({x}.dtype)",
        f"{x}.to(torch.float64, copy=True)",
        f"{x}.type(torch.bfloat16)",
        f"{x}.diagonal_scatter({n} * torch.ones(2))",
        f"{x}.clamp_min({n})",
        f"{x}.unsqueeze(0).squeeze(0)",
        f"{x}.mT.contiguous().mT" if rank > 1 else f"{x}.reshape(-1)",
        f"{x}.flatten()[1:].view(-1)",
        f"{x}[..., 1:].contiguous()",
    )


def _joined(draft: Draft, depth: int) -> str:
    x = tensor(draft, depth)
    y = partner(draft, x, 0)
    return draft.one(
        f"torch.stack([{x}, {y}])",
        f"torch.cat([{x}, {y}], {draft.one('0', '-1')})",
        f"torch.cat(({x}, {x}, {y}))",
    )


def _helper(draft: Draft, depth: int) -> str:
    x = tensor(draft, depth)
    return draft.one(
        f"double({x})",
        f"shifted({x}, {number(draft)})",
        f"shifted({x}, by={number(draft)}, twice={draft.one('True', 'False')})",
        f"parts({x})[{draft.one('0', '1')}]",
        f"early({x}, {number(draft)})",
        f"config.scaled({x})",
        f"touched({x})",
    )


def _held(draft: Draft, depth: int) -> str:
    """A tensor out of a container, an object or a global."""
    options = ["WEIGHT", "config.weight", "TABLE['w']"]
    for name in draft.named(lambda v: isinstance(v, list | tuple) and len(v) > 0):
        options += [f"{name}[0]", f"{name}[-1]"]
    for name in draft.named(lambda v: isinstance(v, dict) and len(v) > 0):
        options.append(f"{name}[{next(iter(draft.value(name)))!r}]")  # type: ignore[call-overload]
    return draft.random.choice(options)


def _made(draft: Draft) -> str:
    sized = draft.tensors()
    x = draft.random.choice(sized) if sized else "x"
    return draft.one(
        f"torch.zeros({x}.shape)",
        f"torch.ones_like({x})",
        f"{x}.new_zeros({x}.shape[-1:])",
        "torch.arange(4)",
        f"torch.arange({x}.shape[-1], device={x}.device)",
        f"torch.full({x}.shape, {number(draft)})",
        f"{x}.new_full((2, 3), {number(draft)})",
        "torch.tensor(2.5)",
    )


# --- views ---------------------------------------------------------------------------------------


def view(draft: Draft, depth: int) -> str:
    """A view of a tensor."""
    x = tensor(draft, depth)
    return view_of(draft, x)


def view_of(draft: Draft, x: str) -> str:
    """A view of the tensor that a text names."""
    shape = draft.tensor(x).shape
    rank = len(shape)
    if rank == 0:
        return draft.one(
            f"{x}[None]", f"{x}.view(1)", f"{x}.expand(3)", f"{x}[...]", f"{x}.reshape(-1)"
        )
    if draft.chance(0.45):
        return f"{x}[{index(draft, shape)}]"
    axis = draft.random.randrange(-rank, rank)
    size = shape[axis]
    options = [
        f"{x}.view(-1)",
        f"{x}.reshape(-1)",
        f"{x}.reshape({x}.shape[0], -1)",
        f"{x}.unsqueeze({axis})",
        f"{x}.squeeze()",
        f"{x}.squeeze({axis})",
        f"{x}.select({axis}, 0)",
        f"{x}.narrow({axis}, 0, {draft.random.randint(1, max(size, 1))})",
        f"{x}.flatten()",
        f"{x}.expand(2, {', '.join(['-1'] * rank)})",
        f"torch.flip({x}, [{axis}])",
        f"{x}.view({x}.shape)",
        f"{x}.view_as({x})",
        f"{x}.chunk(2, {axis})[0]",
        f"{x}.split(2, {axis})[-1]",
        f"torch.unbind({x}, {axis})[0]",
        f"{x}.movedim(0, -1)",
        f"{x}.transpose(0, {axis})",
        f"{x}.mT" if rank > 1 else f"{x}.T",
        f"{x}.permute({', '.join(map(str, draft.random.sample(range(rank), rank)))})",
        f"{x}.unflatten({axis}, ({draft.one('1', '2', '-1')}, {draft.one('-1', '1')}))",
        f"{x}.expand_as({x})",
        f"{x}.swapaxes(0, {axis})",
    ]
    if rank > 1:
        options += [f"{x}.t()", f"{x}.diagonal()", f"torch.diagonal({x}, 0, 0, 1)"]
        options += [f"{x}.flatten(0, 1)", f"{x}.transpose(0, 1)", f"{x}.view(-1, {x}.shape[-1])"]
    return draft.random.choice(options)


def index(draft: Draft, shape: torch.Size) -> str:
    """What stands in brackets after a tensor of some sizes."""
    items: list[str] = []
    for size in shape[: draft.random.randint(1, len(shape))]:
        last = max(size - 1, 0)
        a, b = sorted((draft.random.randint(0, size), draft.random.randint(0, size)))
        where = str(draft.random.choice((0, -1, last, draft.random.randint(0, last))))
        cut = draft.one(":", "1:", ":-1", "::2", f"{a}:{b}", ":2", "-2:", "1::2")
        items.append(draft.random.choices((where, cut, ":", "None"), (4, 4, 2, 0.5))[0])
    if draft.chance(0.1):
        items.insert(draft.random.randint(0, len(items)), "...")
    if draft.chance(0.05):
        items.append("None")
    return ", ".join(items)
