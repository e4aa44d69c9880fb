"""Rows that add a scaled term: `add` with alpha, addcmul, addcdiv, lerp, and the FMA they use.

    torch.add(x, y, alpha=a)            =>  fma(y, a, x)
    torch.addcmul(x, a, b, value=v)     =>  fma(a * v, b, x)
    torch.lerp(x, y, w)                 =>  fma(w, y - x, x), or fma(w - 1, y - x, y)

They round where eager's vectors of lanes do on a CPU with FMA: PyTorch's last few elements of a
row, which it computes one by one, may differ from both by the last bit.
"""

from collections.abc import Sequence

from astjit.ops.rules import FUSED, PROMOTE, promoted
from astjit.ops.spec import (
    Call,
    Emitter,
    Kind,
    Op,
    Operand,
    Ref,
    Rule,
    Spelling,
    both,
    is_scalar,
    is_tensor,
    tensor_of,
    type_of,
)
from astjit.types.dtype import BOOL, F32, Category, DType, promote
from astjit.types.tensor import ScalarType, TensorType, Type

Number = Ref | float
X, ALPHA = Operand("input"), Operand("alpha")
TERMS = (X, Operand("tensor1"), Operand("tensor2"), Operand("value"))


def common_dtype(*operands: Number) -> DType:
    """The dtype to which eager brings all operands."""
    kinds = [type_of(v) for v in operands]
    tensors = [k for k in kinds if isinstance(k, TensorType)]
    return promote(
        tuple(k.dtype for k in tensors if k.dims),
        tuple(k.dtype for k in tensors if not k.dims),
        tuple(k.category for k in kinds if isinstance(k, ScalarType)),
    )


def brought(emit: Emitter, value: Number, dtype: DType) -> Number:
    """A tensor converted to `dtype`; a Python number as it is."""
    if not is_tensor(type_of(value)) or tensor_of(value).dtype is dtype:
        return value
    return emit.emit("to", value, dtype=dtype)


def spread(emit: Emitter, value: Number, x: Number) -> Number:
    """A number as a tensor, as x is one: what is computed of it is then no Python number."""
    if not is_scalar(type_of(value)):
        return value
    return emit.emit("where", emit.emit("lt", x, x), x, value)


def _scaled(call: Call) -> tuple[Type, ...]:
    """The type of the operands but the last, which is a number that their dtype can be."""
    rest = Call(call.types[:-1], call.fields, call.sizes, call.default)
    factor, dtype = call.types[-1], promoted(rest)
    if not isinstance(factor, ScalarType):
        raise TypeError(f"the factor must be a Python number, not {factor}")
    if factor.category > dtype.category or (factor.category is Category.BOOL):
        raise TypeError(f"a factor of type {factor} for operands of {dtype}")
    if dtype is BOOL or any(k is BOOL for k in _dtypes(rest)):
        raise TypeError("not implemented for bool")
    return PROMOTE.infer(rest)


def _dtypes(call: Call) -> list[DType]:
    return [k.dtype for k in call.types if isinstance(k, TensorType)]


def _infer_addcdiv(call: Call) -> tuple[Type, ...]:
    (kind,) = _scaled(call)
    if isinstance(kind, TensorType) and not kind.dtype.is_float:
        raise TypeError("integer division with addcdiv is no longer supported")
    return (kind,)


def _infer_lerp(call: Call) -> tuple[Type, ...]:
    dtypes = _dtypes(call)
    if len(set(dtypes)) != 1 or not dtypes[0].is_float:
        raise TypeError(f"lerp expects one floating dtype, not {', '.join(map(str, dtypes))}")
    tensors = tuple(k for k in call.types if isinstance(k, TensorType))
    return PROMOTE.infer(Call(tensors, call.fields, call.sizes, call.default))


def _add(emit: Emitter, x: Number, y: Number, alpha: Number) -> Sequence[Ref]:
    dtype = common_dtype(x, y)
    if dtype.is_float:
        return (emit.emit("fma", y, alpha, x),)
    scaled = emit.emit("mul", brought(emit, spread(emit, y, x), dtype), alpha)
    return (emit.emit("add", x, scaled),)


def _sub(emit: Emitter, x: Number, y: Number, alpha: Number) -> Sequence[Ref]:
    dtype = common_dtype(x, y)
    if dtype.is_float:
        minus = emit.emit("neg", brought(emit, spread(emit, y, x), dtype))
        return (emit.emit("fma", minus, alpha, x),)
    scaled = emit.emit("mul", brought(emit, spread(emit, y, x), dtype), alpha)
    return (emit.emit("sub", x, scaled),)


def _in_float(emit: Emitter, *operands: Number) -> tuple[DType, list[Number]]:
    """The common dtype, and the operands in it, those of 16 bits widened to float32."""
    dtype = common_dtype(*operands)
    made = [brought(emit, v, dtype) for v in operands]
    return dtype, [brought(emit, v, F32) if dtype.is_half else v for v in made]


def _addcmul(emit: Emitter, x: Ref, a: Ref, b: Ref, value: Number) -> Sequence[Ref]:
    """Contracted as eager's is; of 16-bit floats in float32, not contracted, rounded once."""
    dtype, (x_, a_, b_) = _in_float(emit, x, a, b)
    scaled = emit.emit("mul", a_, value)
    if dtype.is_float and not dtype.is_half:
        return (emit.emit("fma", scaled, b_, x_),)
    made = emit.emit("add", x_, emit.emit("mul", scaled, b_))
    return (brought(emit, made, dtype),)  # type: ignore[return-value]  # a tensor


def _addcdiv(emit: Emitter, x: Ref, a: Ref, b: Ref, value: Number) -> Sequence[Ref]:
    dtype, (x_, a_, b_) = _in_float(emit, x, a, b)
    made = emit.emit("add", x_, emit.emit("div", emit.emit("mul", a_, value), b_))
    return (brought(emit, made, dtype),)  # type: ignore[return-value]  # a tensor


def _lerp(emit: Emitter, x: Ref, end: Ref, weight: Number) -> Sequence[Ref]:
    """From the nearer end, so that a weight of 1 gives `end`."""
    way = emit.emit("sub", end, x)
    w = spread(emit, weight, x)
    close = emit.emit("lt", emit.emit("abs", w), 0.5)
    factor = emit.emit("where", close, w, emit.emit("sub", w, 1))
    return (emit.emit("fma", factor, way, emit.emit("where", close, x, end)),)


def _rsub(emit: Emitter, x: Ref, other: Number, alpha: Number) -> Ref:
    return emit.emit("sub_scaled", other, x, alpha)


PAIRS = (
    ("f32[3, 4]", "f32[4]", "float"),
    ("f32[3, 1]", "f64[4]", "int"),
    ("bf16[5]", "f32[]", "float"),
    ("f16[5]", "f16[5]", "float"),
    ("i32[3, 4]", "i64[4]", "int"),
    ("u8[5]", "u8[5]", "int"),
    ("f32[2, 3] order(1,0)", "f32[2, 3]", "float"),
)
TRIPLES = (
    ("f32[3, 4]", "f32[3, 1]", "f32[4]", "float"),
    ("f64[3, 4]", "f32[4]", "f64[]", "float"),
    ("f32[4]", "f32[4]", "f64[]", "float"),
    ("bf16[5]", "bf16[5]", "bf16[5]", "float"),
    ("f16[5]", "f32[]", "f16[5]", "int"),
)


def _sum(name: str, torch: tuple[str, ...], expand: object, host: str, doc: str) -> Op:
    return Op(
        name=name,
        kind=Kind.COMPOSITE,
        rule=Rule(_scaled, None, PAIRS),
        operands=(X, Operand("other"), ALPHA),
        torch=torch,
        signature="input, other, *, alpha=1, out=None",
        host=host,
        checked=("alpha",),
        expand=expand,  # type: ignore[arg-type]  # each takes its own operands
        doc=doc,
    )


def _terms(name: str, infer: object, samples: tuple[tuple[str, ...], ...], expand: object) -> Op:
    sign = "*" if name == "addcmul" else "/"
    return Op(
        name=name,
        kind=Kind.COMPOSITE,
        rule=Rule(infer, None, samples),  # type: ignore[arg-type]
        operands=TERMS,
        torch=both(name),
        signature="input, tensor1, tensor2, *, value=1, out=None",
        expand=expand,  # type: ignore[arg-type]
        doc=f"`input + value * tensor1 {sign} tensor2`",
        wide_numbers=True,
        checked=("value",) if name == "addcmul" else (),
        domain=(0.1, 4.0),
    )


ROWS = (
    Op(
        name="fma",
        kind=Kind.ELEMENTWISE,
        rule=FUSED,
        operands=(X, Operand("other"), Operand("addend")),
        host="({0}) * ({1}) + ({2})",  # rounds twice: only expansions use the row
        spell={
            "cpu": "fma({0}, {1}, {2})",
            "cuda": "fmaf({0}, {1}, {2})",
            "cuda.f64": "fma({0}, {1}, {2})",
        },
        doc="`input * other + addend` rounded once, of floats",
    ),
    _sum(
        "add_scaled",
        both("add"),
        _add,
        "torch.add({0}, {1}, alpha={2})",
        "`input + alpha * other`, an FMA of floats",
    ),
    _sum(
        "sub_scaled",
        (*both("sub"), *both("subtract")),
        _sub,
        "torch.sub({0}, {1}, alpha={2})",
        "`input - alpha * other`, an FMA of floats",
    ),
    _terms("addcmul", _scaled, (*TRIPLES, ("i32[4]", "i32[4]", "i64[4]", "int")), _addcmul),
    _terms("addcdiv", _infer_addcdiv, TRIPLES, _addcdiv),
    Op(
        name="lerp",
        kind=Kind.COMPOSITE,
        rule=Rule(
            _infer_lerp,
            None,
            (
                ("f32[3, 4]", "f32[4]", "float"),
                ("f32[3, 4]", "f32[4]", "f32[3, 1]"),
                ("bf16[5]", "bf16[5]", "float"),
                ("f16[5]", "f16[5]", "f16[5]"),
                ("f64[3]", "f64[3]", "f64[]"),
            ),
        ),
        operands=(X, Operand("end"), Operand("weight")),
        torch=both("lerp"),
        signature="input, end, weight, *, out=None",
        rounds="once",
        expand=_lerp,
        doc="`input + weight * (end - input)`, from the nearer end",
    ),
)

SPELLINGS = (
    Spelling(
        torch=("torch.rsub",),
        signature="input, other, *, alpha",
        build=_rsub,
        operands=(X, Operand("other"), ALPHA),
    ),
)
