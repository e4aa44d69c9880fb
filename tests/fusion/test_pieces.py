"""What a node is made of for a kernel, and why it is none."""

import pytest

from astjit.fusion.pieces import Unfit, is_one, reduces_all, root_of, unit_of
from astjit.ir.parser import parse
from astjit.ops.spec import Kind
from astjit.types.shape import Predicate, Sizes, Sym, floordiv


def unit(line, params="%x: bf16[rows, cols], %w: bf16[cols]", target="cpu"):
    function = parse(f"fn f({params}):\n  {line}\n  return %y\n")
    return unit_of(function.body.nodes[-1], Sizes(), target)


def names(made):
    return [piece.op.name for piece in made.pieces]


def test_an_elementwise_row_is_its_own_piece():
    made = unit("%y = add %x, %w")
    assert made.pieces == (made.node,)
    assert made.results == made.node.results


def test_a_composite_that_rounds_once_is_widened():
    made = unit("%y = softmax %x {dim=-1}")
    assert names(made) == ["to", "amax", "sub", "exp", "sum", "div", "to"]
    assert [str(p.result.type.dtype) for p in made.pieces] == ["f32"] * 6 + ["bf16"]
    assert made.results == (made.pieces[-1].result,)


def test_composites_inside_composites_expand():
    made = unit(
        "%y = rms_norm %x, %w, 1e-05 {normalized_shape=[cols]}",
        params="%x: f32[rows, cols], %w: f32[cols]",
    )
    assert names(made) == ["mul", "sum", "size", "div", "add", "rsqrt", "mul", "mul"]


def test_several_results():
    made = unit("%v, %y = var_mean %x {dim=[1]}", params="%x: f32[rows, cols]")
    assert [root_of(r).node.op.name for r in made.results] == ["div", "div"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("%y = matmul %x, %w", "matmul is a library call"),
        ("%y = size {value=rows}", "size makes Python numbers"),
    ],
)
def test_what_is_no_unit(line, reason):
    with pytest.raises(Unfit) as caught:
        unit(line)
    assert str(caught.value) == reason


def test_a_target_that_cannot_spell_a_row():
    with pytest.raises(Unfit, match="softmax needs exp, which has no text for abacus"):
        unit("%y = softmax %x {dim=-1}", target="abacus")


def test_devices_do_not_mix():
    with pytest.raises(Unfit, match="mul mixes devices"):
        unit("%y = mul %x, %s", params="%x: f32[n] @cuda:0, %s: f32[]", target="cuda")


@pytest.mark.parametrize(
    ("line", "params", "wanted"),
    [
        ("%y = softmax %x {dim=0}", "%x: f32[n]", False),
        ("%y = sum %x {dim=[0]}", "%x: f32[n]", True),
        ("%y = sum %x", "%x: f32[1, n]", True),
        ("%y = sum %x {dim=[1]}", "%x: f32[1, n]", False),
    ],
)
def test_what_reduces_a_whole_tensor_alone(line, params, wanted):
    made = unit(line, params=params)
    pieces = [p for p in made.pieces if p.op.kind is Kind.REDUCE]
    assert pieces
    assert {reduces_all(p, made.node) for p in pieces} == {wanted}


def test_is_one():
    half = floordiv(Sym("n"), 2)
    assert is_one(1, Sizes())
    assert not is_one(half, Sizes())
    assert is_one(half, Sizes([Predicate("==", half, 1)]))
