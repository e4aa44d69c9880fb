"""Rows on real tensors: makes operands of any type, runs a row's host text, emits through torch."""

import itertools
import math
import re

import torch

from astjit.ir.builder import fill_fields
from astjit.ir.notation import parse_type
from astjit.ops.host import host_text, parameters  # noqa: F401 - for tests
from astjit.ops.layout import dense_or_strided
from astjit.ops.spec import Call, FieldKind, Kind, type_of
from astjit.ops.table import OPS
from astjit.types.dtype import BY_TORCH, F16, F64, I64
from astjit.types.shape import Sizes, evaluate
from astjit.types.tensor import ScalarType, TensorType

NUMBERS = {"bool": True, "int": 3, "float": 1.75}
SET = {
    "share": 0.1 / 5,
    "eps": 1e-5,
    "beta": 1.5,
    "low": -1.75,
    "inverse": 1 / 1.75,
}  # of operands by name

# Values of fields for rows that have fields without a default, and other interesting ones.
FIELDS = {
    "to": [{"dtype": d} for d in (F16, F64, I64)],
    "slice": [
        {"dim": 0},
        {"dim": -1, "start": 1},
        {"dim": 0, "start": -2, "stop": 9},
        {"dim": 2, "start": 0, "stop": 4, "step": 2},
        {"dim": 0, "start": 2, "stop": 1},
    ],
    "select_at": [{"dim": 0, "index": 1}, {"dim": 1, "index": 0}],
    "select": [{"dim": 0, "index": 1}, {"dim": -1, "index": -1}, {"dim": 1, "index": 0}],
    "permute": [{"dims": d} for d in ((2, 0, 1), (0, -1, 1), (0, 1, 2))],
    "squeeze": [{"dim": ()}, {"dim": (1,)}, {"dim": (0,)}, {"dim": (-2, 0)}],
    "unsqueeze": [{"dim": d} for d in (0, 1, -1, 3)],
    "expand": [{"size": s} for s in ((3, 5, 4), (2, 3, -1, 4), (3, 1, 4), (3, 0, 4))],
    "view": [{"shape": s} for s in ((12,), (3, 4), (4, 1, 3), (-1, 2), (3, 2, 2, 1))],
    "diagonal": [
        {},
        {"offset": 1},
        {"offset": -1},
        {"offset": 9},
        {"offset": -9},
        {"dim1": 1, "dim2": 0, "offset": 2},
    ],
    "index_select": [{"dim": 0}],
    "gather": [{"dim": 0}],
    "index": [{"dim": 0}],
    **{
        f"arg{which}": [{}, {"dim": 0}, {"dim": -1, "keepdim": True}, {"keepdim": True}]
        for which in ("max", "min")
    },
    **{f"{which}_along": [{"dim": 0}, {"dim": -1, "keepdim": True}] for which in ("max", "min")},
    "nll_loss": [{"reduction": r, "ignore_index": 2} for r in ("none", "mean", "sum")],
    "cross_entropy": [
        {"reduction": r, "ignore_index": i, "label_smoothing": s}
        for r, i, s in (("none", -100, 0.1), ("mean", 2, 0.1), ("sum", 2, 0.1))
    ],
    "iota": [{"size": 4}, {"size": 0}],
    "one_hot": [{"num_classes": 5}],
    "flip": [{"dims": (0,)}, {"dims": (-1, 0)}],
    "pad": [{"pad": (1, 2)}, {"pad": (0, 1, 3, 0)}],
    "softmax": [{"dim": 0}, {"dim": -1}, {"dim": -1, "dtype": F64}],
    "log_softmax": [{"dim": 0}, {"dim": -1}, {"dim": -1, "dtype": F64}],
    "logsumexp": [{"dim": (0,)}, {"dim": (0, 1), "keepdim": True}],
    "round_decimals": [{"decimals": 2}, {"decimals": -1}],
    "gelu": [{}, {"approximate": "tanh"}],
    "layer_norm": [],  # the sample says which
    "rms_norm": [],
    "full": [{"size": (2, 3)}, {"size": (), "dtype": F16}, {"size": (0, 3), "dtype": I64}],
    "cat": [{"dim": 0}, {"dim": -1}],
    "stack": [{"dim": 0}, {"dim": -1}],
}
REDUCTIONS = [
    {},
    {"dim": (0,)},
    {"dim": (-1,), "keepdim": True},
    {"dim": (0, 1)},
    {"dim": (0,), "keepdim": True},
]


def parse(text):
    return None if text == "none" else parse_type(text)


def field_choices(op, types):
    """The field values with which a sample of this row is tried."""
    if any(f.name == "normalized_shape" for f in op.fields):
        return [{"normalized_shape": types[0].dims[-1:]}]
    if op.name in FIELDS:
        return FIELDS[op.name]
    if any(f.name == "dim" and f.kind is FieldKind.AXES for f in op.fields):
        chosen = list(REDUCTIONS)
        if op.name == "prod":
            chosen = [c for c in chosen if len(c.get("dim", ())) == 1]
        if any(f.name == "dtype" for f in op.fields):
            chosen.append({"dim": (0,), "dtype": F64})
        if any(f.name == "correction" for f in op.fields):
            chosen.append({"correction": 0})
        return chosen
    return [{}]


def cases():
    """(row, operand texts, fields) for every row that torch can run."""
    for op in OPS.values():
        if op.kind in (Kind.BODY, Kind.CONTROL, Kind.SIZE):
            continue
        for sample in op.rule.samples:
            for fields in field_choices(op, [parse(text) for text in sample]):
                yield op, sample, fields


def case_name(case):
    op, sample, fields = case
    shown = ",".join(f"{k}={v}" for k, v in fields.items())
    return f"{op.name}({'; '.join(sample)}){{{shown}}}"


def torch_dtype(dtype):
    return getattr(torch, dtype.torch)


def draw(kind, domain=(-4.0, 4.0), seed=0):
    """A tensor of a type with static sizes, in its layout; or a Python number."""
    if kind is None:
        return None
    if isinstance(kind, ScalarType):
        return NUMBERS[str(kind)]
    strides = [evaluate(s, {}) for s in kind.element_strides()]
    count = math.prod(kind.dims)
    extent = 1 + sum((d - 1) * s for d, s in zip(kind.dims, strides, strict=True)) if count else 0
    generator = torch.Generator().manual_seed(seed)
    low, high = domain
    values = torch.rand(extent, generator=generator, dtype=torch.float64) * (high - low) + low
    if kind.dtype.name == "bool":
        values = values > (low + high) / 2
    elif not kind.dtype.is_float:
        values = values.abs().ceil() if kind.dtype.name == "u8" else values.floor()
    return torch.as_strided(values.to(torch_dtype(kind.dtype)), kind.dims, strides)


def operands_of(op, types, seed=0):
    """Operands drawn from the row's domain; indices and normalised weights in range."""
    made = [draw(kind, op.domain, seed + i) for i, kind in enumerate(types)]
    for declared, value, i in zip(op.operands, made, itertools.count()):
        if declared.name in SET:
            made[i] = SET[declared.name]
        if declared.name in ("index", "target") or (
            op.name == "embedding" and declared.name == "input"
        ):
            made[i] = value.abs() % 5
    return made


def run(op, operands, fields):
    """The row through torch, by its host text; a list of results."""
    scalar = all(not isinstance(v, torch.Tensor) for v in operands) and op.kind is not Kind.FACTORY
    scalar = scalar and op.kind is not Kind.SIZE
    names = [None if v is None else f"_{i}" for i, v in enumerate(operands)]
    text = host_text(op, names, fill_fields(op, fields), scalar=scalar)
    scope = {f"_{i}": v for i, v in enumerate(operands)}
    result = eval(text, {"torch": torch, **scope})
    return list(result) if isinstance(result, tuple | list) else [result]


def infer(op, types, fields, sizes=None):
    call = Call(tuple(types), fill_fields(op, fields), Sizes() if sizes is None else sizes)
    return op.rule.infer(call)


def type_of_tensor(value):
    """The type of a tensor, for values that come from outside."""
    if not isinstance(value, torch.Tensor):
        return type_of(value)
    dtype = BY_TORCH[str(value.dtype).removeprefix("torch.")]
    dims = tuple(value.shape)
    return dense_or_strided(TensorType(dtype, dims), dims, tuple(value.stride()))


def layout(dims, strides):
    """Strides that mean something: not those of axes of size 1 or of tensors without elements."""
    return [None if d == 1 or 0 in dims else s for d, s in zip(dims, strides, strict=True)]


def assert_type(value, kind, case=""):
    """A result of torch is of the inferred type: dtype, sizes, strides."""
    if isinstance(kind, ScalarType):
        assert type(value).__name__ == str(kind), case
        return
    assert str(value.dtype) == f"torch.{kind.dtype.torch}", case
    assert tuple(value.shape) == kind.dims, case
    strides = [evaluate(s, {}) for s in kind.element_strides()]
    assert layout(kind.dims, value.stride()) == layout(kind.dims, strides), case


class TorchValue:
    """A value of TorchEmitter."""

    def __init__(self, data, kind):
        self.data, self.type = data, kind


class TorchEmitter:
    """Runs what is emitted at once; checks every type that a rule infers on the way."""

    def __init__(self, sizes=None):
        self.sizes = Sizes() if sizes is None else sizes
        self.names = []

    def value(self, data):
        return TorchValue(data, type_of_tensor(data)) if isinstance(data, torch.Tensor) else data

    def emit(self, name, *operands, **fields):
        return self.emit_all(name, *operands, **fields)[0]

    def emit_all(self, name, *operands, **fields):
        op = OPS[name]
        self.names.append(name)
        operands = list(operands)
        while len(operands) < len(op.operands) and op.operands[len(operands)].optional:
            operands.append(None)
        kinds = infer(op, [type_of(v) for v in operands], fields, self.sizes)
        data = [v.data if isinstance(v, TorchValue) else v for v in operands]
        results = run(op, data, fields)
        for result, kind in zip(results, kinds, strict=True):
            assert_type(result, kind)
        return tuple(TorchValue(r, k) for r, k in zip(results, kinds, strict=True))


def tensors(value):
    """The tensors of what a build or expand gave."""
    if isinstance(value, TorchValue):
        return [value.data]
    return [v.data for v in value]


def calls_in(text):
    """The functions and structs that a spelling calls."""
    return re.findall(r"([A-Za-z_]\w*)(?=[({]|::)", text.replace("::combine", "::"))
