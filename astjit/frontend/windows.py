"""Sizes of what windows move over: convolutions and pooling, as formulas of the operands' sizes.

Two sets of example sizes cannot tell `n // 2` from `(n + 1) // 2`; here the formula of PyTorch's
documentation is written down, and the examples only say which result has it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from astjit.frontend.carriers import Int
from astjit.frontend.symbolic import SymbolicTensor
from astjit.types.shape import Dim, add, floordiv, mul

Args = Sequence[object]
Kwargs = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Call:
    """A call, with the number of axes that its windows move along."""

    axes: int
    args: Args
    kwargs: Kwargs

    def argument(self, name: str, position: int, default: object) -> object:
        """An argument that may be given by position or by name."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if len(self.args) > position else default

    def numbers(self, name: str, position: int, default: object) -> list[int]:
        """One number for each axis; run-time ones are pinned."""
        given = self.argument(name, position, default)
        found = list(given) if isinstance(given, tuple | list) else [given]
        found = found * self.axes if len(found) == 1 else found
        return [int(v) if isinstance(v, Int) else v for v in found]  # type: ignore[misc]

    def dims(self, position: int, name: str) -> tuple[Dim, ...]:
        """The last sizes of a tensor."""
        tensor = self.argument(name, position, None)
        if not isinstance(tensor, SymbolicTensor) or tensor.kind.rank < self.axes:
            return ()
        return tensor.kind.dims[tensor.kind.rank - self.axes :]


def window_sizes(dotted: str, args: Args, kwargs: Kwargs) -> list[Dim]:
    """The sizes of a result along the axes that windows move over; empty for other functions.

    Those that `pad` makes larger as well.
    """
    name = dotted.rpartition(".")[2].lstrip("_")
    if name == "pad":
        return _padded(_Call(1, args, kwargs))
    if name[-1:] != "d" or name[-2:-1] not in ("1", "2", "3"):
        return []
    rule = _RULES.get(name[:-2])
    return rule(_Call(int(name[-2]), args, kwargs)) if rule else []


def window_dims(dotted: str, args: Args, kwargs: Kwargs) -> list[Dim]:
    """The sizes of a convolution's window, which are the last ones of its weight."""
    name = dotted.rpartition(".")[2]
    if not name.startswith("conv") or name[-1:] != "d" or name[-2:-1] not in ("1", "2", "3"):
        return []
    return list(_Call(int(name[-2]), args, kwargs).dims(1, "weight"))


def _steps(size: Dim, window: Dim, stride: int, padding: int, dilation: int) -> Dim:
    """How many places a window has: (size + 2 padding - dilation (window - 1) - 1) / stride + 1."""
    room = add(add(size, 2 * padding - 1 + dilation), mul(window, -dilation))
    return add(floordiv(room, stride), 1)


def _convolution(call: _Call) -> list[Dim]:
    padding = call.argument("padding", 4, 0)
    if padding == "same":
        return list(call.dims(0, "input"))
    pads = call.numbers("padding", 4, 0) if padding != "valid" else [0] * call.axes
    rows = zip(
        call.dims(0, "input"),
        call.dims(1, "weight"),
        call.numbers("stride", 3, 1),
        pads,
        call.numbers("dilation", 5, 1),
        strict=False,
    )
    return [_steps(*row) for row in rows]


def _transposed(call: _Call) -> list[Dim]:
    rows = zip(
        call.dims(0, "input"),
        call.dims(1, "weight"),
        call.numbers("stride", 3, 1),
        call.numbers("padding", 4, 0),
        call.numbers("output_padding", 5, 0),
        call.numbers("dilation", 7, 1),
        strict=False,
    )
    return [
        add(add(mul(size, s), mul(window, d)), 1 + more - s - d - 2 * p)
        for size, window, s, p, more, d in rows
    ]


def _pooled(call: _Call, *, dilation: int | None, ceil: int) -> list[Dim]:
    if call.argument("ceil_mode", ceil, default=False):
        return []
    windows = call.numbers("kernel_size", 1, 1)
    stride = call.argument("stride", 2, None)
    same = stride is None or stride == []
    rows = zip(
        call.dims(0, "input"),
        windows,
        windows if same else call.numbers("stride", 2, None),
        call.numbers("padding", 3, 0),
        call.numbers("dilation", dilation, 1) if dilation else [1] * call.axes,
        strict=False,
    )
    return [_steps(*row) for row in rows]


def _max_pool(call: _Call) -> list[Dim]:
    return _pooled(call, dilation=4, ceil=5)


def _avg_pool(call: _Call) -> list[Dim]:
    return _pooled(call, dilation=None, ceil=4)


def _padded(call: _Call) -> list[Dim]:
    """The sizes with what is added before and after, the last axis first."""
    tensor, pads = call.argument("input", 0, None), call.argument("pad", 1, None)
    if not isinstance(tensor, SymbolicTensor) or not isinstance(pads, tuple | list):
        return []
    sizes = tensor.kind.dims[::-1]
    added = [_amount(value) for value in pads]
    pairs = zip(added[::2], added[1::2], sizes, strict=False)
    return [add(size, a, b) for a, b, size in pairs if a is not None and b is not None]


def _amount(value: object) -> Dim | None:
    if isinstance(value, Int):
        return value.node.number.dim
    return value if isinstance(value, int) else None


_RULES: dict[str, Callable[[_Call], list[Dim]]] = {
    "conv": _convolution,
    "conv_transpose": _transposed,
    "max_pool": _max_pool,
    "avg_pool": _avg_pool,
}
