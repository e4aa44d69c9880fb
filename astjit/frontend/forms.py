"""The types of a library call's results, as formulas of its operands' sizes (decision D13).

A result size that differs between two sets of example sizes is named by the form that fits both: a
size of the operands, plus or times a constant, or the product of two. Sizes that cannot change are
pinned.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Float, Number
from astjit.frontend.layouts import dense_order, dtype_of
from astjit.frontend.metas import Call, Facts, Unfit, infer
from astjit.frontend.stops import Stop
from astjit.frontend.symbolic import SymbolicTensor
from astjit.frontend.trials import real_layouts
from astjit.frontend.windows import window_dims, window_sizes
from astjit.types.shape import Dim, Sym, add, evaluate, floordiv, hint, mul
from astjit.types.tensor import TensorType

Pair = tuple[int, int]
_EVEN = (4, 10, 14, 22, 26, 34, 38, 46)  # twice a prime, but for the first


def result_types(
    capture: Capture,
    call: Call,
    one: Facts,
    sizes: Sequence[Sym],
    first: Mapping[str, int],
    device: str,
) -> list[TensorType]:
    """The types of the new tensors, over the sizes of the operands."""
    if not one.new:
        return []
    for dim in window_dims(call.dotted, call.args, call.kwargs):
        capture.pin(Number(hint(dim), capture.dim_text(dim), dim), "the size of a window")
    floats = [v for v in call.given if isinstance(v, Float) and v.node.number.dim is None]
    for other in (True, False) if floats else (True,):
        found = _symbolic_types(capture, call, one, sizes, first, device, other=other)
        if found is not None:
            break
    if found is None or not other:
        for value in floats:
            capture.pin(value.node.number, f"the result of {call.dotted} may depend on it")
    if found is None:
        for sym in sizes:
            capture.pin(_number(capture, sym), f"{call.dotted} gives no rule for its result's size")
        found = _types(call, (), one, one, first, first, device)
    return real_layouts(call, found, first)


def _symbolic_types(
    capture: Capture,
    call: Call,
    one: Facts,
    sizes: Sequence[Sym],
    first: Mapping[str, int],
    device: str,
    *,
    other: bool,
) -> list[TensorType] | None:
    """The types by other sizes (`other`: and floats) of all symbols, else of those that may change.

    None where no form fits.
    """

    def attempt(second: Mapping[str, int], free: Sequence[Sym]) -> list[TensorType] | None:
        try:
            two = infer(call, second, other=other, guess=True)
            types = _types(call, free, one, two, first, second, device)
            _confirm(call, types, (first, second), free, other=other)
        except (Unfit, NoForm):
            return None
        return types

    if (types := attempt(_examples(capture, sizes), sizes)) is not None:
        return types
    second, alike = _free_examples(capture, call, sizes, first)
    free = [sym for sym in sizes if second[sym.name] != first[sym.name]]
    types = attempt(second, free) if free else None
    for sym in sizes if types is not None else ():
        if sym not in free:
            capture.pin(_number(capture, sym), f"{call.dotted} gives no rule for its result's size")
    for one_sym, other_sym in alike if types is not None else ():
        capture.sizes.holds("==", one_sym, other_sym)
    return types


def _free_examples(
    capture: Capture, call: Call, sizes: Sequence[Sym], first: Mapping[str, int]
) -> tuple[dict[str, int], list[tuple[Sym, Sym]]]:
    """Other sizes, for those that may change alone or with those that they equal in this call.

    Returns:
        A size for each symbol, and the pairs of symbols that must stay equal.
    """
    other, made = _examples(capture, sizes), dict(first)
    alike: list[tuple[Sym, Sym]] = []

    def fits(group: Sequence[Sym]) -> bool:
        changed = {sym.name: other[group[0].name] for sym in group}
        try:
            infer(call, {**first, **changed}, guess=True)
        except Unfit:
            return False
        made.update(changed)
        return True

    groups = _grouped(sizes, capture.root_of)
    stuck = [sym for group in groups if not fits(group) for sym in group]
    for group in _grouped(stuck, hint):
        if len(group) > 1 and fits(group):
            alike += [(group[0], sym) for sym in group[1:]]
    return made, alike


def _grouped(sizes: Sequence[Sym], by: Callable[[Sym], object]) -> list[list[Sym]]:
    groups: dict[object, list[Sym]] = {}
    for sym in sizes:
        groups.setdefault(by(sym), []).append(sym)
    return [*groups.values()]


def _confirm(
    call: Call,
    types: Sequence[TensorType],
    before: tuple[Mapping[str, int], Mapping[str, int]],
    free: Sequence[Sym],
    *,
    other: bool,
) -> None:
    """Try a third set of sizes: 16 of 32 may be half, or half of one more.

    Odd sizes tell most of the forms that fit two examples apart. Where those are refused, others do
    it: half of what must be even is some other even size less a constant by chance only once.

    Raises:
        NoForm: if the types do not fit, or no third sizes are taken.
    """
    names = {sym.name for sym in free}
    for third in _third_examples(*before, names):
        try:
            found = infer(call, third, other=other, guess=True)
        except Unfit:
            continue
        for kind, (_, meta) in zip(types, found.new, strict=True):
            if tuple(evaluate(dim, third) for dim in kind.dims) != tuple(meta.shape):
                raise NoForm
        return
    raise NoForm


def _third_examples(
    first: Mapping[str, int], second: Mapping[str, int], free: Collection[str]
) -> Iterator[dict[str, int]]:
    """Other sizes again: odd ones, then even multiples of the first, equal where those were."""
    yield {n: 2 * size + 1 if size > 1 and n in free else size for n, size in second.items()}
    for shift in (0, 1):
        factors: dict[Pair, int] = {}
        made = dict(second)
        for name in made:
            if name in free:
                key = first[name], second[name]
                at = (len(factors) + shift) % len(_EVEN)
                made[name] = max(first[name], 1) * factors.setdefault(key, _EVEN[at])
        yield made


class NoForm(Exception):
    """No expression of the operands' sizes fits a result's size."""


def _number(capture: Capture, sym: Sym) -> Number:
    return Number(hint(sym), capture.dim_text(sym), sym)


def _examples(capture: Capture, sizes: Sequence[Sym]) -> dict[str, int]:
    """Other sizes than those of this call, which keep what was assumed to be equal.

    A multiple of each size keeps most divisibility; primes make different sizes stay different.
    """
    primes = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    factors: dict[object, int] = {}
    made: dict[str, int] = {}
    for sym in sizes:
        root = capture.root_of(sym)
        if isinstance(root, int):
            made[sym.name] = root
            continue
        factor = factors.setdefault(root, primes[len(factors) % len(primes)])
        made[sym.name] = max(hint(sym), 1) * factor
    return made


def _types(
    call: Call,
    sizes: Sequence[Sym],
    one: Facts,
    two: Facts,
    first: Mapping[str, int],
    second: Mapping[str, int],
    device: str,
) -> list[TensorType]:
    windows = window_sizes(call.dotted, call.args, call.kwargs)
    known = [((evaluate(dim, first), evaluate(dim, second)), dim) for dim in windows]
    for value in call.given:
        kind = value.kind if isinstance(value, SymbolicTensor) else None
        for dim in (*kind.dims, *kind.element_strides()) if kind is not None else ():
            known.append(((evaluate(dim, first), evaluate(dim, second)), dim))
    known += [((first[s.name], second[s.name]), s) for s in sizes]
    made: list[TensorType] = []
    if len(one.new) != len(two.new) or one.written != two.written:
        raise NoForm
    for (_, a), (_, b) in zip(one.new, two.new, strict=True):
        if (one.views.get(id(a)) is None) != (two.views.get(id(b)) is None):
            raise NoForm
        dtype = dtype_of(a)
        if dtype is None:
            raise Stop(f"a result of dtype {a.dtype}")
        if a.dim() != b.dim():
            raise NoForm
        dims = tuple(named(pair, known) for pair in zip(a.shape, b.shape, strict=True))
        orders = [dense_order(tuple(t.shape), t.stride()) for t in (b, a)]
        if None not in orders or (0 in a.shape and orders[0] is not None):
            made.append(TensorType(dtype, dims, orders[0], None, device))
            continue
        if orders[0] is not None or id(a) not in one.views:
            raise Stop("a library call whose result is not dense")
        strides = tuple(named(pair, known) for pair in zip(a.stride(), b.stride(), strict=True))
        made.append(TensorType(dtype, dims, None, strides, device))
    return made


def named(pair: Pair, known: Sequence[tuple[Pair, Dim]]) -> Dim:
    """The size that is `pair[0]` for the first example sizes and `pair[1]` for the second.

    Raises:
        NoForm: if no form that is tried fits.
    """
    a, b = pair
    if a == b:
        return a
    for other, dim in known:
        if other == pair:
            return dim
    for (x, y), dim in known:
        if x and a * y == b * x and a % x == 0:
            return mul(dim, a // x)
        if x and a and a * y == b * x and x % a == 0:
            return floordiv(dim, x // a)
    for (x, y), dim in known:
        if x != y and (b - y) == (a - x):
            return add(dim, a - x)
    for i, ((x, y), left) in enumerate(known):
        for (u, v), right in known[i:]:
            if (x * u, y * v) == pair:
                return mul(left, right)
            if (x + u, y + v) == pair:
                return add(left, right)
    raise NoForm
