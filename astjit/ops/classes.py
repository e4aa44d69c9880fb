"""Losses of which the target is the number of a class: the class is read at a computed index.

    F.nll_loss(y, t)       =>  sum(-y[t] * w[t]) / sum(w[t])
    F.cross_entropy(x, t)  =>  the same of log_softmax(x), which is not written to memory

Targets equal to `ignore_index` count as nothing; any other must be a class, else the call fails and
runs as eager, which raises (decision D17). 16-bit means are divided in float32 and rounded once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from astjit.ops.gather import picked_rows
from astjit.ops.losses import soft_classes
from astjit.ops.spec import (
    Call,
    Emitter,
    Field,
    FieldKind,
    Kind,
    Op,
    Operand,
    Ref,
    Rule,
    Spelling,
    Trait,
    tensor_of,
)
from astjit.types.dtype import F32, I64, DType
from astjit.types.shape import Dim
from astjit.types.tensor import TensorType, Type

Number = Ref | float
OPERANDS = (Operand("input"), Operand("target"), Operand("weight", optional=True))
REDUCTION = Field("reduction", FieldKind.TEXT)
IGNORED = Field("ignore_index", FieldKind.INT)
SMOOTHING = Field("label_smoothing", FieldKind.FLOAT)
REDUCTIONS = ("none", "mean", "sum")
F = "torch.nn.functional."


def _in(emit: Emitter, x: Ref, dtype: DType) -> Ref:
    """x in a dtype."""
    return x if tensor_of(x).dtype is dtype else emit.emit("to", x, dtype=dtype)


def class_axis(kind: TensorType) -> int:
    """The axis of a prediction that counts classes."""
    return 1 if kind.rank > 1 else 0


def _infer(call: Call) -> tuple[Type, ...]:
    """One loss for each target, or one for all."""
    source, target = call.tensor(0), call.tensor(1)
    if not source.dtype.is_float or target.dtype is not I64:
        raise TypeError(f"losses of {source} and classes {target} are left to PyTorch")
    if source.rank != target.rank + 1:
        raise ValueError(f"expected a class for each row of {source}, not {target}")
    dims: tuple[Dim, ...] = target.dims if call.fields["reduction"] == "none" else ()
    return (TensorType(source.dtype, dims, device=source.device),)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What the targets choose.

    Attributes:
        emit: appends rows.
        axis: of the classes.
        keep: whether a target counts.
        index: the class, 0 where the target does not count.
        weight: of the class; None: each counts once.
        wide: the dtype in which means are divided.
    """

    emit: Emitter
    axis: int
    keep: Ref
    index: Ref
    weight: Ref | None
    wide: DType

    def of(self, logs: Ref) -> Ref:
        """The negative of each target's logarithm, by its weight."""
        at = self.emit.emit("unsqueeze", self.index, dim=self.axis)
        found = self.emit.emit("pick", logs, at, dim=self.axis)
        loss = self.emit.emit("neg", self.emit.emit("squeeze", found, dim=(self.axis,)))
        if self.weight is not None:
            loss = self.emit.emit("mul", loss, picked_rows(self.emit, self.weight, self.index, 0))
        return self.kept(loss)

    def kept(self, loss: Ref) -> Ref:
        """0 where the target does not count."""
        return self.emit.emit("where", self.keep, loss, 0)

    def total(self, loss: Ref) -> Ref:
        """The sum, in the dtype of means."""
        return self.emit.emit("sum", _in(self.emit, loss, self.wide))

    def count(self) -> Ref:
        """What a mean divides by: the sum of the weights."""
        if self.weight is None:
            return self.total(self.emit.emit("to", self.keep, dtype=self.wide))
        return self.total(self.kept(picked_rows(self.emit, self.weight, self.index, 0)))


def _chosen(emit: Emitter, x: Ref, target: Ref, weight: Ref | None, ignored: int) -> _Chosen:
    kind = tensor_of(x)
    keep = emit.emit("ne", target, ignored)
    index = emit.emit("where", keep, target, 0)
    wide = F32 if kind.dtype.is_half else kind.dtype
    return _Chosen(emit, class_axis(kind), keep, index, weight, wide)


def _nll_loss(
    emit: Emitter, logs: Ref, target: Ref, weight: Ref | None, *, reduction: str, ignore_index: int
) -> Sequence[Ref]:
    chosen = _chosen(emit, logs, target, weight, ignore_index)
    loss = chosen.of(logs)
    if reduction == "none":
        return (loss,)
    if reduction == "sum":
        return (emit.emit("sum", loss),)
    mean = emit.emit("div", chosen.total(loss), chosen.count())
    return (_in(emit, mean, tensor_of(logs).dtype),)


def _cross_entropy(
    emit: Emitter,
    x: Ref,
    target: Ref,
    weight: Ref | None,
    share: Number | None,
    *,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
) -> Sequence[Ref]:
    """With smoothing, `(1 - s) nll + share * (the sum of all classes' losses)`."""
    kind = tensor_of(x)
    axis = class_axis(kind)
    logs = emit.emit("log_softmax", x, dim=axis)
    if share is None:
        return _nll_loss(emit, logs, target, weight, reduction=reduction, ignore_index=ignore_index)
    chosen = _chosen(emit, x, target, weight, ignore_index)
    terms = logs
    if weight is not None:
        beside = weight
        for _ in range(kind.rank - axis - 1):
            beside = emit.emit("unsqueeze", beside, dim=-1)
        terms = emit.emit("mul", logs, beside)
    smooth = chosen.kept(emit.emit("neg", emit.emit("sum", terms, dim=(axis,))))
    loss = chosen.of(logs)
    if reduction != "none":
        loss, smooth = chosen.total(loss), chosen.total(smooth)
    if reduction == "mean":
        count = chosen.count()
        loss, smooth = emit.emit("div", loss, count), emit.emit("div", smooth, count)
    made = emit.emit(
        "add", emit.emit("mul", loss, 1 - label_smoothing), emit.emit("mul", smooth, share)
    )
    return (_in(emit, made, kind.dtype),)


SAMPLES = (
    ("f32[3, 5]", "i64[3]", "none"),
    ("bf16[3, 5]", "i64[3]", "bf16[5]"),
    ("f64[5]", "i64[]", "f64[5]"),
    ("f32[2, 5, 3]", "i64[2, 3]", "none"),
    ("f16[2, 5, 3, 2]", "i64[2, 3, 2]", "f16[5]"),
)
ROWS = tuple(
    Op(
        name=name,
        kind=Kind.COMPOSITE,
        traits=Trait.RAISES,
        rule=Rule(_infer, None, tuple((*s, *("float" for _ in more)) for s in SAMPLES)),
        operands=(*OPERANDS, *more),
        fields=(REDUCTION, IGNORED, *fields),
        host=f"{F}{name}({{0}}, {{1}}, {{2}}, ignore_index={{ignore_index}}, "
        f"reduction={{reduction}}{text})",
        expand=expand,
        doc=doc,
    )
    for name, more, fields, text, expand, doc in (
        ("nll_loss", (), (), "", _nll_loss, "`-input[target]`, weighted; none, their sum or mean"),
        (
            "cross_entropy",
            (Operand("share", optional=True),),  # of a class: label_smoothing / classes
            (SMOOTHING,),
            ", label_smoothing={label_smoothing}",
            _cross_entropy,
            "`-log_softmax(input)[target]`, weighted and smoothed; none, their sum or mean",
        ),
    )
)


# -- spellings ------------------------------------------------------------------------------------
def _fits(emit: Emitter, x: Ref, target: Ref, weight: Ref | None) -> bool:
    """Whether the shapes and dtypes are such as eager takes."""
    kind, classes = tensor_of(x), tensor_of(target)
    if not kind.dtype.is_float or classes.dtype is not I64 or kind.device != classes.device:
        return False
    if not kind.rank or kind.rank != classes.rank + 1:
        return False
    axis = class_axis(kind)
    rest = (*kind.dims[:axis], *kind.dims[axis + 1 :])
    if weight is not None:
        heavy = tensor_of(weight)
        if heavy.rank != 1 or heavy.dtype is not kind.dtype or heavy.device != kind.device:
            return False
        rest, given = (*rest, kind.dims[axis]), (*classes.dims, heavy.dims[0])
    else:
        given = classes.dims
    return all(a == b or emit.sizes.equal(a, b) for a, b in zip(rest, given, strict=True))


def _nll(
    emit: Emitter, x: Ref, target: Ref, weight: Ref | None, *, ignore_index: int, reduction: str
) -> object:
    if reduction not in REDUCTIONS or not _fits(emit, x, target, weight):
        return NotImplemented
    return emit.emit("nll_loss", x, target, weight, ignore_index=ignore_index, reduction=reduction)


def _entropy(
    emit: Emitter,
    x: Ref,
    target: Ref,
    weight: Ref | None,
    smoothing: Number,
    *,
    ignore_index: int,
    reduction: str,
) -> object:
    if not isinstance(smoothing, int | float) or not 0 <= smoothing < 1:
        return NotImplemented
    if tensor_of(target).dtype.is_float:
        if weight is not None or ignore_index != -100:
            return NotImplemented
        return soft_classes(emit, x, target, smoothing, reduction=reduction)
    if reduction not in REDUCTIONS or not _fits(emit, x, target, weight):
        return NotImplemented
    share = None
    if smoothing:
        classes = tensor_of(x).dims[class_axis(tensor_of(x))]
        share = emit.emit("div", smoothing, emit.emit("size", value=classes))
    return emit.emit(
        "cross_entropy",
        x,
        target,
        weight,
        share,
        ignore_index=ignore_index,
        reduction=reduction,
        label_smoothing=float(smoothing),
    )


LEGACY = "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None"
SPELLINGS = (
    Spelling(
        torch=(f"{F}nll_loss",),
        signature=f"{LEGACY}, reduction='mean'",
        build=_nll,
        operands=OPERANDS,
        fields=(IGNORED, REDUCTION),
    ),
    Spelling(
        torch=(f"{F}cross_entropy",),
        signature=f"{LEGACY}, reduction='mean', label_smoothing=0.0",
        build=_entropy,
        operands=(*OPERANDS, Operand("label_smoothing")),
        fields=(IGNORED, REDUCTION),
    ),
)
