"""Shapes of the functions of neural networks: attention, recurrence, convolutions, norms, pooling.

    lstm(input [steps, batch, features], (h, c), weights, ...)
        =>  [steps, batch, directions * hidden], and the last h and c

Rules for meta_rules.py, whose tests compare each with PyTorch's meta function and kernel.
"""

from collections.abc import Callable, Sequence

import torch

from astjit.frontend.meta_shapes import Other, Refused, broadcast, empty, need, plain

Tensor = torch.Tensor
_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def _alike(*tensors: Tensor | None) -> bool:
    """Whether tensors are of one floating dtype."""
    dtypes = {t.dtype for t in tensors if t is not None}
    return len(dtypes) == 1 and dtypes <= set(_FLOATS)


def _vector(tensor: Tensor | None, size: int) -> None:
    if tensor is not None and tuple(tensor.shape) != (size,):
        raise Refused("a number for each channel is needed")


# --- attention -----------------------------------------------------------------------------------


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    need(_alike(query, key, value) and not dropout_p and not enable_gqa)
    need(query.dim() == key.dim() == value.dim() >= 3 and not (is_causal and attn_mask is not None))
    if query.size(-1) != key.size(-1) or key.size(-2) != value.size(-2):
        raise Refused("key and value do not fit")
    lead = tuple(query.shape[:-2])
    if broadcast(lead, tuple(key.shape[:-2]), tuple(value.shape[:-2])) != lead:
        raise Other
    need(query.shape[:-2] == key.shape[:-2] == value.shape[:-2])
    if attn_mask is not None:
        need(attn_mask.dtype in (torch.bool, query.dtype) and attn_mask.dim() >= 2)
        scores = (*lead, query.size(-2), key.size(-2))
        need(broadcast(tuple(attn_mask.shape), scores) == scores)
    return empty((*query.shape[:-1], value.size(-1)), query.dtype)


# --- recurrence ----------------------------------------------------------------------------------


def _recurrent(gates: int) -> Callable[..., object]:
    """The rule of a recurrent network with so many rows of weights for each hidden number."""

    def rule(
        x: Tensor,
        state: Tensor | Sequence[Tensor],
        weights: Sequence[Tensor],
        biased: bool,
        layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> object:
        states = (state,) if isinstance(state, Tensor) else tuple(state)
        need(x.dim() == 3 and all(s.dim() == 3 for s in states) and _alike(x, *states, *weights))
        need(not (train and dropout))  # random numbers
        each = len(weights) // (layers * (1 + bidirectional))
        need(len(weights) == each * layers * (1 + bidirectional) and each in (2, 3, 4, 5))
        projected = each == (5 if biased else 3)
        need(projected or each == (4 if biased else 2))
        hidden = weights[1].size(0) // gates
        out = weights[1].size(1)
        batch = x.size(0 if batch_first else 1)
        if any(s.size(0) != layers * (1 + bidirectional) or s.size(1) != batch for s in states):
            raise Refused("the first state does not fit")
        sizes = (out, hidden)
        if any(s.size(2) != size for s, size in zip(states, sizes, strict=False)):
            raise Refused("the first state does not fit")
        width = x.size(2)
        for layer in range(layers):
            for first in range(each * layer * (1 + bidirectional), len(weights), each):
                if first >= each * (layer + 1) * (1 + bidirectional):
                    break
                _weights(weights[first : first + each], gates * hidden, width, out, projected)
            width = out * (1 + bidirectional)
        steps = x.size(1 if batch_first else 0)
        made = empty((steps, batch, width), x.dtype)
        lasts = [empty(tuple(s.shape), x.dtype) for s in states]
        return (made.transpose(0, 1) if batch_first else made, *lasts)

    return rule


def _weights(weights: Sequence[Tensor], rows: int, width: int, out: int, projected: bool) -> None:
    """Check those of one layer in one direction.

    Raises:
        Refused: if they do not fit.
    """
    wanted = [(rows, width), (rows, out)]
    wanted += [(rows,)] * (len(weights) - 2 - projected)  # type: ignore[list-item]
    shapes = [tuple(w.shape) for w in (weights[:-1] if projected else weights)]
    if shapes != wanted:
        raise Refused("weights do not fit")
    need(not projected or tuple(weights[-1].shape) == (out, rows // 4))


# --- convolutions and pooling --------------------------------------------------------------------


def _numbers(value: object, axes: int) -> list[int]:
    """A number for each axis."""
    given = list(value) if isinstance(value, tuple | list) else [value]
    given = given * axes if len(given) == 1 else given
    found = [n for n in given if type(n) is int]
    need(len(found) == len(given) == axes)
    return found


def _steps(
    size: int, window: int, stride: int, padding: int, dilation: int, ceil_mode: bool = False
) -> int:
    need(window > 0 and stride > 0 and padding >= 0 and dilation > 0)
    room = size + 2 * padding - dilation * (window - 1) - 1
    if room < 0:
        raise Refused("a window is larger than what it moves over")
    if not ceil_mode:
        return room // stride + 1
    last = -(-room // stride)
    return last + (last * stride < size + padding)  # none begins behind the padding on the left


def _convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: object = 1,
    padding: object = 0,
    dilation: object = 1,
    groups: int = 1,
) -> Tensor:
    axes = weight.dim() - 2
    need(x.dim() == weight.dim() and _alike(x, weight, bias) and plain(x, weight))
    need(x.numel() > 0 and weight.numel() > 0 and groups > 0)
    if x.size(1) != weight.size(1) * groups or weight.size(0) % groups:
        raise Refused("channels do not fit")
    _vector(bias, weight.size(0))
    if padding == "same":
        need(set(_numbers(stride, axes)) == {1} and min(_numbers(dilation, axes)) > 0)
        return empty((x.size(0), weight.size(0), *x.shape[2:]), x.dtype)
    pads = 0 if padding == "valid" else padding
    numbers = (_numbers(n, axes) for n in (stride, pads, dilation))
    rows = zip(x.shape[2:], weight.shape[2:], *numbers, strict=True)
    return empty((x.size(0), weight.size(0), *(_steps(*row) for row in rows)), x.dtype)


def _transposed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: object = 1,
    padding: object = 0,
    output_padding: object = 0,
    groups: int = 1,
    dilation: object = 1,
) -> Tensor:
    axes = weight.dim() - 2
    need(x.dim() == weight.dim() and _alike(x, weight, bias) and plain(x, weight))
    need(x.numel() > 0 and weight.numel() > 0 and groups > 0)
    need(x.size(1) == weight.size(0) and not weight.size(0) % groups)
    _vector(bias, weight.size(1) * groups)
    numbers = [_numbers(n, axes) for n in (stride, padding, output_padding, dilation)]
    sizes = []
    for size, window, step, pad, more, apart in zip(
        x.shape[2:], weight.shape[2:], *numbers, strict=True
    ):
        need(step > 0 and apart > 0 and pad >= 0 and 0 <= more < max(step, apart))
        sizes.append((size - 1) * step - 2 * pad + apart * (window - 1) + more + 1)
    need(min(sizes) > 0)
    return empty((x.size(0), weight.size(1) * groups, *sizes), x.dtype)


def _max_pool(axes: int) -> Callable[..., object]:
    def rule(
        x: Tensor,
        kernel_size: object,
        stride: object = None,
        padding: object = 0,
        dilation: object = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor:
        need(not return_indices)
        return _pooled(x, axes, kernel_size, stride, padding, dilation, ceil_mode)

    return rule


def _avg_pool(axes: int) -> Callable[..., object]:
    def rule(
        x: Tensor,
        kernel_size: object,
        stride: object = None,
        padding: object = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        need(divisor_override is None)
        return _pooled(x, axes, kernel_size, stride, padding, 1, ceil_mode)

    return rule


def _pooled(
    x: Tensor,
    axes: int,
    kernel_size: object,
    stride: object,
    padding: object,
    dilation: object,
    ceil_mode: bool,
) -> Tensor:
    need(x.dim() == axes + 2 and _alike(x) and plain(x) and x.numel() > 0)
    windows, pads = _numbers(kernel_size, axes), _numbers(padding, axes)
    need(all(2 * pad <= window for pad, window in zip(pads, windows, strict=True)))
    same = stride is None or stride == []
    steps = windows if same else _numbers(stride, axes)
    rows = zip(x.shape[2:], windows, steps, pads, _numbers(dilation, axes), strict=True)
    return empty((*x.shape[:2], *(_steps(*row, ceil_mode) for row in rows)), x.dtype)


def _adaptive(axes: int) -> Callable[..., object]:
    def rule(x: Tensor, output_size: object) -> Tensor:
        need(x.dim() == axes + 2 and _alike(x) and plain(x) and x.numel() > 0)
        given = output_size if isinstance(output_size, tuple | list) else [output_size] * axes
        need(len(given) == axes)
        pairs = zip(given, x.shape[2:], strict=True)
        sizes = [size if wanted is None else wanted for wanted, size in pairs]
        need(all(type(size) is int and size > 0 for size in sizes))
        return empty((*x.shape[:2], *sizes), x.dtype)

    return rule


# --- norms, tables, losses -----------------------------------------------------------------------


def _batch_norm(
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: object = 0.1,
    eps: object = 1e-5,
) -> Tensor:
    need(not training and running_mean is not None and running_var is not None)
    need(x.dim() >= 2 and x.numel() > 0 and plain(x))
    need(_alike(x, running_mean, running_var, weight, bias))
    for each in (running_mean, running_var, weight, bias):
        _vector(each, x.size(1))
    return empty(tuple(x.shape), x.dtype)


def _group_norm(
    x: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    need(x.dim() >= 2 and x.numel() > 0 and plain(x) and num_groups > 0)
    need(_alike(x, weight, bias))
    if x.size(1) % num_groups:
        raise Refused("channels do not fit into groups")
    need(x.numel() > x.size(0) * num_groups)  # else batch statistics of one number are refused
    for each in (weight, bias):
        _vector(each, x.size(1))
    return empty(tuple(x.shape), x.dtype)


def _embedding(index: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    need(index.dtype in (torch.int64, torch.int32) and weight.dim() == 2 and plain(index))
    need(padding_idx is None or -weight.size(0) <= padding_idx < weight.size(0))
    return empty((*index.shape, weight.size(1)), weight.dtype)


def _cross_entropy(scores: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    need(scores.dim() >= 2 and target.dtype == torch.int64 and _alike(scores))
    need(reduction in ("mean", "sum") and scores.numel() > 0)
    if (scores.size(0), *scores.shape[2:]) != tuple(target.shape):
        raise Refused("a class for each row is needed")
    return empty((), scores.dtype)


F = "torch.nn.functional."
NET_RULES: dict[str, Callable[..., object]] = {
    f"{F}scaled_dot_product_attention": _attention,
    "torch.lstm": _recurrent(4),
    "torch.gru": _recurrent(3),
    "torch.rnn_tanh": _recurrent(1),
    "torch.rnn_relu": _recurrent(1),
    f"{F}batch_norm": _batch_norm,
    f"{F}group_norm": _group_norm,
    f"{F}embedding": _embedding,
    f"{F}cross_entropy": _cross_entropy,
    **{f"torch.conv{n}d": _convolution for n in (1, 2, 3)},
    **{f"torch.conv_transpose{n}d": _transposed for n in (1, 2, 3)},
    **{f"{F}max_pool{n}d": _max_pool(n) for n in (1, 2, 3)},
    **{f"{home}avg_pool{n}d": _avg_pool(n) for n in (1, 2, 3) for home in (F, "torch.")},
    **{f"{home}adaptive_avg_pool{n}d": _adaptive(n) for n in (1, 2, 3) for home in (F, "torch.")},
}
