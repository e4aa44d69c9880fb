"""Products of matrices: PyTorch's own kernels, symbolic shapes (D13)."""

from astjit.ops.layout import device_of
from astjit.ops.rules import promoted
from astjit.ops.spec import (
    Call,
    Emitter,
    Kind,
    Op,
    Operand,
    Ref,
    Rule,
    Spelling,
    Trait,
    tensor_of,
)
from astjit.types.shape import Dim, broadcast
from astjit.types.tensor import TensorType, Type

TWO = (Operand("input"), Operand("other"))


def _same_dtype(*kinds: TensorType | None) -> None:
    dtypes = {k.dtype for k in kinds if k is not None}
    if len(dtypes) > 1:
        raise TypeError(f"expected operands of one dtype, got {', '.join(map(str, dtypes))}")


def _infer_matmul(call: Call) -> tuple[Type, ...]:
    a, b = call.tensor(0), call.tensor(1)
    _same_dtype(a, b)
    if not a.rank or not b.rank:
        raise ValueError("both arguments of matmul need at least one dim")
    inner = b.dims[-2] if b.rank > 1 else b.dims[0]
    if not call.sizes.equal(a.dims[-1], inner):
        raise ValueError(f"inner sizes {a.dims[-1]} and {inner} do not fit")
    batch = broadcast(call.sizes, a.dims[:-2], b.dims[:-2])
    rows: tuple[Dim, ...] = a.dims[-2:-1] if a.rank > 1 else ()
    cols: tuple[Dim, ...] = b.dims[-1:] if b.rank > 1 else ()
    return (TensorType(promoted(call), (*batch, *rows, *cols), device=device_of(call)),)


def _infer_linear(call: Call) -> tuple[Type, ...]:
    x, weight = call.tensor(0), call.tensor(1)
    bias = None if call.types[2] is None else call.tensor(2)
    _same_dtype(x, weight, bias)
    if weight.rank not in (1, 2) or not x.rank:
        raise ValueError(f"linear of {x} with a weight of {weight.rank} dims")
    if not call.sizes.equal(x.dims[-1], weight.dims[-1]):
        raise ValueError(f"sizes {x.dims[-1]} and {weight.dims[-1]} do not fit")
    if bias is not None and bias.rank and not call.sizes.equal(bias.dims[-1], weight.dims[0]):
        raise ValueError(f"a bias of size {bias.dims[-1]} for {weight.dims[0]} outputs")
    return (x.with_(dims=(*x.dims[:-1], *weight.dims[:-1])),)


def _matrices(emit: Emitter, a: Ref, b: Ref) -> object:
    fits = tensor_of(a).rank == tensor_of(b).rank == 2
    return emit.emit("matmul", a, b) if fits else NotImplemented


def _batches(emit: Emitter, a: Ref, b: Ref) -> object:
    left, right = tensor_of(a), tensor_of(b)
    fits = left.rank == right.rank == 3 and emit.sizes.equal(left.dims[0], right.dims[0])
    return emit.emit("matmul", a, b) if fits else NotImplemented


def _matrix_vector(emit: Emitter, a: Ref, b: Ref) -> object:
    fits = tensor_of(a).rank == 2 and tensor_of(b).rank == 1
    return emit.emit("matmul", a, b) if fits else NotImplemented


def _reversed(emit: Emitter, a: Ref, b: Ref) -> Ref:
    return emit.emit("matmul", b, a)


ROWS = (
    Op(
        name="matmul",
        kind=Kind.LIBRARY,
        traits=Trait.RAISES,  # of dtypes without a kernel
        rule=Rule(
            _infer_matmul,
            None,
            (
                ("f32[3, 4]", "f32[4, 5]"),
                ("f32[2, 3, 4]", "f32[4]"),
                ("f32[4]", "f32[4, 5]"),
                ("f32[4]", "f32[4]"),
                ("f32[2, 1, 3, 4]", "f32[5, 4, 6]"),
                ("f32[3, 4] order(1,0)", "f32[4, 5] order(1,0)"),
                ("bf16[2, 3, 4]", "bf16[4, 5]"),
            ),
        ),
        operands=TWO,
        torch=("torch.matmul", "Tensor.matmul", "Tensor.__matmul__"),
        signature="input, other, *, out=None",
        doc="matrix product",
    ),
    Op(
        name="linear",
        kind=Kind.LIBRARY,
        traits=Trait.RAISES,  # of dtypes without a kernel
        rule=Rule(
            _infer_linear,
            None,
            (
                ("f32[3, 4]", "f32[5, 4]", "f32[5]"),
                ("bf16[2, 3, 4]", "bf16[5, 4]", "none"),
                ("f32[4]", "f32[5, 4]", "f32[5]"),
            ),
        ),
        operands=(Operand("input"), Operand("weight"), Operand("bias", optional=True)),
        torch=("torch.nn.functional.linear",),
        signature="input, weight, bias=None",
        doc="`input @ weight.T + bias`",
    ),
)

SPELLINGS = (
    Spelling(
        torch=("torch.mm", "Tensor.mm"),
        signature="input, mat2, *, out=None",
        build=_matrices,
        operands=(Operand("input"), Operand("mat2")),
    ),
    Spelling(
        torch=("torch.bmm", "Tensor.bmm"),
        signature="input, mat2, *, out=None",
        build=_batches,
        operands=(Operand("input"), Operand("mat2")),
    ),
    Spelling(
        torch=("torch.mv", "Tensor.mv"),
        signature="input, vec, *, out=None",
        build=_matrix_vector,
        operands=(Operand("input"), Operand("vec")),
    ),
    Spelling(
        torch=("Tensor.__rmatmul__",), signature="input, other", build=_reversed, operands=TWO
    ),
)
