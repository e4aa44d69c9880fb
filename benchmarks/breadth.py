"""What PyTorch users write around matmuls, by family: more than one kernel holds today.

Beside workloads.py, whose functions are one kernel each for every size, these are measured whatever
becomes of them. Inputs hold rows * cols elements, a power of two, in the shape each family has in
models.
"""

import math

import torch
import torch.nn.functional as F
from workloads import WORKLOADS, Make, Tensors, Workload, layer_norm, like, softmax


# -- norms ----------------------------------------------------------------------------------------
def add_layer_norm(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    return F.layer_norm(x + residual, (x.shape[-1],), weight, bias)


def group_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.group_norm(x, 4, weight, bias)


def batch_norm_relu(
    x: torch.Tensor,
    mean: torch.Tensor,
    var: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
) -> torch.Tensor:
    return F.relu(F.batch_norm(x, mean, var, weight, bias, training=False))


def instance_norm(x: torch.Tensor) -> torch.Tensor:
    return F.instance_norm(x)


def l2_normalize(x: torch.Tensor) -> torch.Tensor:
    return F.normalize(x, dim=-1)


# -- softmaxes and reductions ---------------------------------------------------------------------
def softmax_dim0(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=0)


def softmax_middle(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=1)


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.softmax((scores * 0.125).masked_fill(~mask, float("-inf")), dim=-1)


def logsumexp(x: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(x, dim=-1)


def argmax(x: torch.Tensor) -> torch.Tensor:
    return x.argmax(-1)


def var_mean(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.var_mean(x, dim=-1)


def square_sum0(x: torch.Tensor) -> torch.Tensor:
    return (x * x).sum(0)


def sin_cos_sum(x: torch.Tensor) -> torch.Tensor:
    return (torch.sin(x) * torch.cos(x)).sum()


# -- losses ---------------------------------------------------------------------------------------
def cross_entropy(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(x, target)


def cross_entropy_smoothed(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(x, target, label_smoothing=0.1)


def mse_loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(x, y)


def huber_loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.huber_loss(x, y)


def bce_with_logits(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.binary_cross_entropy_with_logits(x, y)


def kl_div(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.kl_div(F.log_softmax(x, -1), y, reduction="batchmean")


# -- pointwise ------------------------------------------------------------------------------------
def geglu(x: torch.Tensor) -> torch.Tensor:
    gate, up = x.chunk(2, dim=-1)
    return F.gelu(gate) * up


def mish_chain(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.mish(x + bias) * torch.sigmoid(x) + x


def mlp_epilogue(
    x: torch.Tensor, bias: torch.Tensor, gamma: torch.Tensor, residual: torch.Tensor
) -> torch.Tensor:
    return residual + gamma * (x + bias)


def broadcast(column: torch.Tensor, row: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return (column + row) * x - row


def bf16_chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x * y + x) * y - x


def mixed_casts(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return (x.float() * scale).clamp(-4, 4).to(torch.bfloat16)


def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def adam(p: torch.Tensor, g: torch.Tensor, m: torch.Tensor, v: torch.Tensor) -> None:
    m.lerp_(g, 0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    p.addcdiv_(m, v.sqrt().add_(1e-8), value=-1e-3)


# -- gathers --------------------------------------------------------------------------------------
def embedding_norm(
    tokens: torch.Tensor,
    table: torch.Tensor,
    position: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
) -> torch.Tensor:
    h = F.embedding(tokens, table) + position
    return F.layer_norm(h, (h.shape[-1],), weight, bias)


# -- inputs ---------------------------------------------------------------------------------------
def _images(rows: int, cols: int, dtype: torch.dtype) -> torch.Tensor:
    channels, side = (64, 64) if rows * cols >= 1 << 18 else (4, 4)
    return torch.randn(-(-rows * cols // (channels * side**2)), channels, side, side).to(dtype)


def _images_and(*kinds: str) -> Make:
    """Images and a value for each channel, above zero where the kind is "var"."""

    def make(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
        x = _images(rows, cols, dtype)
        values = (torch.randn(x.shape[1]).to(dtype) for _ in kinds)
        return x, *(v.abs() if k == "var" else v for k, v in zip(kinds, values, strict=True))

    return make


def _middle(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    length, inner = (128, 64) if rows * cols >= 1 << 18 else (16, 16)
    return (torch.randn(rows * cols // (length * inner), length, inner).to(dtype),)


def _scores(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    keys = min(512, math.isqrt(rows * cols // 16))
    batch = rows * cols // (8 * keys * keys)
    mask = torch.rand(batch, 1, keys, keys) > 0.3
    mask[..., 0] = True  # no row of nothing, which is NaN
    return torch.randn(batch, 8, keys, keys).to(dtype), mask


def _classes(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    return torch.randn(rows, cols).to(dtype), torch.randint(cols, (rows,))


def _chances(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    y = torch.softmax(torch.randn(rows, cols), -1)
    return torch.randn(rows, cols).to(dtype), y.to(dtype)


def _queries(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    length = min(1024, rows * cols // 256)
    angle = torch.randn(length, 64)
    x = torch.randn(rows * cols // (64 * length), length, 64)
    return x.to(dtype), angle.cos().to(dtype), angle.sin().to(dtype)


def _words(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    width = min(cols, 1024)
    count = rows * cols // width
    words = max(1, count // 4)
    rest = (
        torch.randn(shape).to(dtype) for shape in ((words, width), (width,), (width,), (width,))
    )
    return torch.randint(words, (count,)), *rest


def _moments(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    return tuple(torch.rand(rows * cols).to(dtype) for _ in range(4))


def _angles(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    return ((torch.rand(rows, cols) * 1.5).to(dtype),)  # of one sign: a sum that is not chance


def _broadcast(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    return tuple(torch.randn(s).to(dtype) for s in ((rows, 1), (cols,), (rows, cols)))


def _halves(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    return tuple(torch.randn(rows, cols).to(torch.bfloat16) for _ in range(2))


def _half_and_row(rows: int, cols: int, dtype: torch.dtype) -> Tensors:
    return torch.randn(rows, cols).to(torch.bfloat16), torch.randn(cols)


def _rows_of(cols: int) -> Make:
    """All elements as rows of `cols`, as many as are whole."""
    return lambda rows, width, dtype: (torch.randn(rows * width // cols, cols).to(dtype),)


def _normed_rows_of(cols: int) -> Make:
    """Likewise, and a weight and a bias."""
    full = _rows_of(cols)
    return lambda rows, width, dtype: (
        *full(rows, width, dtype),
        *(torch.randn(cols).to(dtype) for _ in range(2)),
    )


def _rows_in_all(count: int) -> Make:
    """All elements as `count` rows."""
    return lambda rows, cols, dtype: (torch.randn(count, rows * cols // count).to(dtype),)


SHORT = (1, 8, 33, 64)
FUNCTIONS = {
    **WORKLOADS,
    "add_layer_norm": Workload(add_layer_norm, like("full", "full", "row", "row")),
    "group_norm": Workload(group_norm, _images_and("weight", "bias")),
    "batch_norm_relu": Workload(batch_norm_relu, _images_and("mean", "var", "weight", "bias")),
    "instance_norm": Workload(instance_norm, _images_and()),
    "l2_normalize": Workload(l2_normalize, like("full")),
    "softmax_dim0": Workload(softmax_dim0, like("full")),
    "softmax_middle": Workload(softmax_middle, _middle),
    "masked_softmax": Workload(masked_softmax, _scores),
    "logsumexp": Workload(logsumexp, like("full")),
    "argmax": Workload(argmax, like("full")),
    "var_mean": Workload(var_mean, like("full")),
    "square_sum0": Workload(square_sum0, like("full")),
    "sin_cos_sum": Workload(sin_cos_sum, _angles),
    "cross_entropy": Workload(cross_entropy, _classes),
    "cross_entropy_smoothed": Workload(cross_entropy_smoothed, _classes),
    "mse_loss": Workload(mse_loss, like("full", "full")),
    "huber_loss": Workload(huber_loss, like("full", "full")),
    "bce_with_logits": Workload(bce_with_logits, _chances),
    "kl_div": Workload(kl_div, _chances),
    "geglu": Workload(geglu, like("full")),
    "mish_chain": Workload(mish_chain, like("full", "row")),
    "mlp_epilogue": Workload(mlp_epilogue, like("full", "row", "row", "full")),
    "broadcast": Workload(broadcast, _broadcast),
    "bf16_chain": Workload(bf16_chain, _halves),
    "mixed_casts": Workload(mixed_casts, _half_and_row),
    "rope": Workload(rope, _queries),
    "adam": Workload(adam, _moments),
    "embedding_norm": Workload(embedding_norm, _words),
    **{f"softmax_x{cols}": Workload(softmax, _rows_of(cols)) for cols in SHORT},
    **{f"layer_norm_x{cols}": Workload(layer_norm, _normed_rows_of(cols)) for cols in SHORT},
    **{f"softmax_{count}x": Workload(softmax, _rows_in_all(count)) for count in (1, 4)},
}
