"""Every row keeps its promises: types, layout, values, traits, expansion, spellings."""

import math
from collections import Counter
from contextlib import suppress

import pytest
import torch

from astjit.codegen.dialect import CPU, CUDA
from astjit.codegen.pieces import pieces
from astjit.fusion.pieces import OWN
from astjit.ir.parser import parse
from astjit.ir.printer import function_text
from astjit.ir.verifier import verify
from astjit.ops.binding import bind
from astjit.ops.rules import FLOAT_ONE
from astjit.ops.spec import Kind, Op, Operand, Trait
from astjit.ops.table import BY_TORCH, OPS, SPELLINGS, by_torch, extended, index
from astjit.types.dtype import DTYPES
from astjit.types.tensor import ScalarType, TensorType
from tests.ops import rows

CASES = list(rows.cases())
# eager warns of a variance without degrees of freedom, and gives what the expansion gives
pytestmark = pytest.mark.filterwarnings("ignore:.*degrees of freedom:UserWarning")
ELEMENTWISE = [op for op in OPS.values() if op.kind is Kind.ELEMENTWISE]
name_of = str


def drawn(op, sample, seed=0):
    types = [rows.parse(text) for text in sample]
    return types, rows.operands_of(op, types, seed)


def by_row(cases):
    """Cases of one row each: a test takes all of a row's, which is much quicker."""
    found = {}
    for op, sample, fields in cases:
        found.setdefault(op.name, []).append((op, sample, fields))
    return [pytest.param(group, id=name) for name, group in found.items()]


@pytest.mark.parametrize("group", by_row(CASES))
def test_the_inferred_type_is_that_of_torch(group):
    agreed = 0
    for op, sample, fields in group:
        types, operands = drawn(op, sample)
        try:
            inferred = rows.infer(op, types, fields)
        except (TypeError, ValueError, IndexError):
            with pytest.raises((RuntimeError, IndexError, TypeError, ValueError)):
                rows.run(op, operands, fields)
            continue
        found = rows.run(op, operands, fields)
        assert len(found) == len(inferred)
        for value, kind in zip(found, inferred, strict=True):
            rows.assert_type(value, kind, rows.case_name((op, sample, fields)))
        agreed += 1
    assert agreed


def close(op, dtype):
    if Trait.EXACT in op.traits and not dtype.is_floating_point:
        return {"rtol": 0, "atol": 0}
    return (
        {"rtol": 1e-6, "atol": 1e-6} if dtype is not torch.float64 else {"rtol": 1e-13, "atol": 0}
    )


@pytest.mark.parametrize("op", [o for o in ELEMENTWISE if o.evaluate], ids=name_of)
def test_evaluate_is_what_torch_computes(op):
    samples = [s for s in op.rule.samples if all("f" in t[:2] and "6" not in t[:3] for t in s)]
    samples = samples or op.rule.samples
    for sample in samples:
        types, operands = drawn(op, sample)
        (kind,) = rows.infer(op, types, {})
        if isinstance(kind, ScalarType) or kind.dtype.is_half:
            continue
        (found,) = rows.run(op, operands, {})
        whole = torch.broadcast_tensors(*(torch.as_tensor(v) for v in operands))
        wanted = [
            op.evaluate(*vs) for vs in zip(*(w.flatten().tolist() for w in whole), strict=True)
        ]
        expected = torch.tensor(wanted, dtype=found.dtype).reshape(found.shape)
        torch.testing.assert_close(found, expected, equal_nan=True, **close(op, found.dtype))


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 3.0, 1e-40]


def special_pairs(dtype):
    values = torch.tensor(SPECIAL if dtype.is_floating_point else range(-5, 6)).to(dtype)
    return values.repeat_interleave(len(values)), values.repeat(len(values))


def equal(a, b):
    return bool(((a == b) | ((a != a) & (b != b))).all())


@pytest.mark.parametrize("op", [o for o in ELEMENTWISE if len(o.operands) == 2], ids=name_of)
def test_commutative_says_so_and_only_so(op):
    for dtype in (torch.float32, torch.int32):
        a, b = special_pairs(dtype)
        try:
            (one,), (other,) = rows.run(op, [a, b], {}), rows.run(op, [b, a], {})
        except (RuntimeError, TypeError):  # not for this dtype
            continue
        assert equal(one, other) == (Trait.COMMUTATIVE in op.traits)


def self_trait(op, expected):
    """Whether f(f(x)) is f(x) (or x) for every special value, of every dtype the row takes."""
    holds = True
    for dtype in (torch.float32, torch.int32, torch.bool):
        x = torch.tensor([True, False]) if dtype is torch.bool else special_pairs(dtype)[0]
        try:
            (once,) = rows.run(op, [x], {})
            (twice,) = rows.run(op, [once], {})
        except (RuntimeError, TypeError):
            continue
        wanted = once if expected is Trait.IDEMPOTENT else x
        if once.dtype == x.dtype:
            holds = holds and equal(twice, wanted)
    return holds


UNARY = [o for o in ELEMENTWISE if len(o.operands) == 1 and not o.fields]
# the identity is both; what a bool makes of another dtype is not the same function again
BOTH = {"contiguous", "clone"}


def gives_bools(op):
    """Whether every result is a bool: then the op is another function the second time."""
    results = {str(t) for s in op.rule.samples for t in rows.infer(op, [rows.parse(s[0])], {})}
    return all(r.startswith("bool") for r in results)


OF_OTHERS = {"order", "float_of"}  # between floats and integers
SELF = [o for o in UNARY if o.name not in BOTH | OF_OTHERS and not gives_bools(o)]


@pytest.mark.parametrize("op", SELF, ids=name_of)
@pytest.mark.parametrize("trait", [Trait.IDEMPOTENT, Trait.INVOLUTION], ids=str)
def test_traits_of_unary_rows_are_true_both_ways(op, trait):
    assert self_trait(op, trait) == (trait in op.traits)


NARROW = ("argmax", "argmin", "max_along", "min_along")  # of at most 32 bits
EXPANDED = [c for c in CASES if c[0].expand is not None]


def widened(kind):
    """The type in float64: of floats, to compare associations rather than roundings."""
    if isinstance(kind, TensorType) and kind.dtype.is_float:
        return TensorType(DTYPES[-1], kind.dims, kind.order, kind.strides)
    return kind


class Recorder(rows.TorchEmitter):
    """Notes whether an index is checked on the way."""

    checks = False

    def emit_all(self, name, *operands, **fields):
        checked = name == "pick" and fields.get("checked", True)
        self.checks |= checked or Trait.RAISES in OPS[name].traits
        return super().emit_all(name, *operands, **fields)


@pytest.mark.parametrize("group", by_row(EXPANDED))
def test_rows_that_check_indices_say_so(group):
    emit = Recorder()
    for op, sample, fields in group:
        given = {f.name: fields.get(f.name, f.default) for f in op.fields}
        with suppress(NotImplementedError, TypeError, ValueError, IndexError):
            op.expand(emit, *map(emit.value, drawn(op, sample)[1]), **given)
    assert emit.checks == (Trait.RAISES in group[0][0].traits)


@pytest.mark.parametrize("group", by_row(EXPANDED))
def test_an_expansion_is_the_op_itself(group):
    tried = 0
    for op, sample, fields in group:
        fields = {k: v for k, v in fields.items() if k != "dtype"}
        given = [rows.parse(text) for text in sample]
        types = given if op.name in NARROW else [widened(kind) for kind in given]
        try:
            rows.infer(op, types, fields)
        except (TypeError, ValueError, IndexError):
            continue
        for seed in (0, 1):
            operands = rows.operands_of(op, types, seed)
            emit = rows.TorchEmitter()
            filled = {f.name: fields.get(f.name, f.default) for f in op.fields}
            try:
                made = op.expand(emit, *[emit.value(v) for v in operands], **filled)
            except NotImplementedError:  # PyTorch's, with a reason
                continue
            tried += 1
            wanted = rows.run(op, operands, fields)
            for value, expected in zip(rows.tensors(made), wanted, strict=True):
                torch.testing.assert_close(value, expected, rtol=1e-12, atol=1e-13, equal_nan=True)
    assert tried


@pytest.mark.parametrize("op", [o for o in OPS.values() if o.expand], ids=name_of)
def test_an_expansion_uses_rows_that_a_kernel_can_hold(op):
    emit = rows.TorchEmitter()
    sample = op.rule.samples[0]
    types, operands = drawn(op, sample)
    fields = rows.field_choices(op, types)[0]
    filled = {f.name: fields.get(f.name, f.default) for f in op.fields}
    op.expand(emit, *[emit.value(v) for v in operands], **filled)
    kinds = {OPS[name].kind for name in emit.names if OPS[name] not in OWN}
    assert kinds <= {Kind.ELEMENTWISE, Kind.REDUCE, Kind.VIEW, Kind.SIZE, Kind.COMPOSITE}
    assert op.name not in emit.names


@pytest.mark.parametrize("dialect", [CPU, CUDA], ids=["cpu", "cuda"])
@pytest.mark.parametrize("op", ELEMENTWISE, ids=name_of)
def test_every_elementwise_row_is_spelled_for_every_dtype_it_computes_in(op, dialect):
    for sample in op.rule.samples:
        types = [rows.parse(text) for text in sample]
        fields = rows.field_choices(op, types)[0]
        call = rows.Call(tuple(types), fields, rows.Sizes())
        computed = op.rule.computes(call)
        assert len(computed) == len(op.operands)
        text = op.spelling(dialect.languages, computed[-1].name)
        assert text is not None
        for place in range(len(op.operands)):
            assert f"{{{place}}}" in text


C_BUILTINS = {
    "cpu": {"to_", "f"},
    "cuda": {
        "to_", "fabsf", "fabs", "fmaf", "fma",
        "sqrtf", "sqrt", "powf", "pow", "fmodf", "fmod", "isinf",
        "isfinite", "floorf", "floor", "ceilf", "ceil", "truncf", "trunc", "rintf", "rint",
        "signbit",
        *(f"{n}{f}" for f in ("f", "") for n in (
            "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh",
            "erf", "erfc", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh",
            "atan2", "hypot", "copysign", "nextafter")),
    },
}  # fmt: skip


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_spellings_call_only_what_exists(target):
    known = {name for piece in pieces(target).values() for name in piece.defines}
    for op in ELEMENTWISE:
        for key, text in op.spell.items():
            if key.split(".")[0] not in (target, "c"):
                continue
            for word in rows.calls_in(text):
                found = word in known or word in C_BUILTINS[target] or word.startswith("__builtin_")
                assert found, (op.name, key, word)


@pytest.mark.parametrize("op", OPS.values(), ids=name_of)
def test_a_row_is_documented_and_whole(op):
    assert op.doc
    assert len({o.name for o in op.operands} | {f.name for f in op.fields}) == (
        len(op.operands) + len(op.fields)
    )
    assert (op.kind is Kind.VIEW) == (op.view is not None)
    assert (op.kind is Kind.REDUCE) == bool(op.combine)
    if op.kind is Kind.COMPOSITE:
        assert op.expand is not None
    if op.torch:
        assert op.signature
        declared = {p.name for p in rows.parameters(op.signature)}
        assert {o.name for o in op.operands} <= declared
    if op.max_ulp:
        assert Trait.EXACT not in op.traits


def test_torch_has_every_name():
    """A name that torch does not have would never be seen."""
    scope = {"torch": torch, "Tensor": torch.Tensor}
    absent = [name for name in BY_TORCH if not exists(name, scope)]
    assert absent == []


def exists(name, scope):
    first, *rest = name.split(".")
    value = scope[first]
    for part in rest:
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


def test_two_rows_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two rows are called 'add'"):
        index([OPS["add"], OPS["add"]])


def test_overloads_keep_their_order():
    table = by_torch([*SPELLINGS, *OPS.values()])
    kinds = [type(row).__name__ for row in table["torch.div"]]
    assert kinds == ["Spelling", "Op"]
    assert table == BY_TORCH


def test_no_name_has_one_row_twice():
    for name, candidates in BY_TORCH.items():
        assert max(Counter(map(id, candidates)).values()) == 1, name


NDTR = Op(
    name="ndtr",
    kind=Kind.ELEMENTWISE,
    rule=FLOAT_ONE,
    operands=(Operand("input"),),
    torch=("torch.special.ndtr",),
    signature="input",
    doc="the share of a normal distribution below `|x|` or `x`",
    spell={"cpu": "0.5f * erfc(-0.707f * {0})", "cuda": "0.5f * erfcf(-0.707f * {0})"},
    evaluate=lambda x: math.erfc(-x / math.sqrt(2)) / 2,
    max_ulp=1.5,
)


def test_a_unary_op_is_one_row():
    """Binding, types, text, verification, values and both spellings follow from the row alone."""
    name = "torch.special.ndtr"
    assert bind(name, ("x",), {}, lambda v: True) is None
    with extended(NDTR):
        assert bind(name, ("x",), {}, lambda v: True).row is NDTR
        text = "fn f(%x: bf16[rows, 4]):\n  %y = ndtr %x\n  return %y\n"
        function = parse(text)
        verify(function)
        assert str(function.results[0].type) == "bf16[rows, 4]"
        assert "ndtr %x : bf16[rows, 4]" in function_text(function)
        x = torch.linspace(-3, 3, 7)
        (found,) = rows.run(NDTR, [x], {})
        wanted = torch.tensor([NDTR.evaluate(v) for v in x.tolist()])
        torch.testing.assert_close(found, wanted)
        assert NDTR.spelling(CPU.languages, "f32") == "0.5f * erfc(-0.707f * {0})"
        assert NDTR.spelling(CUDA.languages, "f32") == "0.5f * erfcf(-0.707f * {0})"
    assert bind(name, ("x",), {}, lambda v: True) is None
    assert "ndtr" not in OPS
