"""Helper pieces: what they define, what they need, and which of them a text gets."""

import pytest

from astjit.codegen.pieces import closure, pieces, used_pieces

MOVES = frozenset({"load", "store"})


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_every_need_is_a_piece(target):
    table = pieces(target)
    assert table
    for name, piece in table.items():
        assert piece.name == name
        assert set(piece.needs) <= set(table)
        assert not piece.text.startswith("// needs:")


@pytest.mark.parametrize(
    ("target", "name", "defined"),
    [
        ("cpu", "core", {"vf", "vi", "W", "Lanes", "Full", "Tail", "INLINE", "load", "sweep"}),
        ("cpu", "half", {"bf16", "f16", "vh", "widen_bf16"}),
        ("cpu", "combine", {"Sum", "Max", "Min"}),
        ("cpu", "reduce_each", {"reduce_each", "Any", "All", "Prod"}),
        ("cuda", "vec", {"Vec"}),
        ("cuda", "infinity", {"INFINITY"}),
        ("cuda", "any", {"Any"}),
        ("cuda", "all", {"All"}),
        ("cuda", "bfloat16", {"bfloat16"}),
        ("cuda", "block_reduce", {"block_reduce"}),
    ],
)
def test_what_a_piece_defines(target, name, defined):
    assert defined <= pieces(target)[name].defines


def test_a_piece_comes_after_all_that_it_needs():
    order = [piece.name for piece in closure("cuda", {"round_bf16", "block_reduce"})]
    assert order == ["warp_reduce", "block_reduce", "bfloat16", "widen_bf16", "narrow_bf16",
                     "round_bf16"]  # fmt: skip
    assert closure("cuda", set()) == []


def test_a_piece_comes_once_and_in_a_fixed_order():
    wanted = {"load", "store", "keep_packed"}
    order = [piece.name for piece in closure("cuda", wanted)]
    assert order == ["vec", "keep_packed", "load", "store"]


def test_a_piece_that_does_not_exist():
    with pytest.raises(KeyError, match="nothing"):
        closure("cpu", {"nothing"})


def test_pieces_are_found_by_the_names_a_text_mentions():
    assert used_pieces("cuda", "y = max_nan(a, b);") == {"max_nan"}
    assert used_pieces("cuda", "y = my_max_nan(a, b);") == set()
    assert used_pieces("cuda", "// max_nan\ny = 1;") == set()
    assert used_pieces("cuda", "load<4>(x); Vec<float, 4> v;", MOVES) == {"vec"}


@pytest.mark.parametrize("combine", ["Sum", "Prod", "Max", "Min", "Any", "All"])
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_every_combine_has_a_struct(target, combine):
    assert used_pieces(target, f"{combine}::combine(a, b)")


def test_doubles_get_their_overloads():
    assert used_pieces("cpu", "float y = exp(x);") == {"exp"}
    assert used_pieces("cpu", "float y = exp(1.0f + x * 2e-3f) / 3.f;") == {"exp"}
    for text in ("double y = exp(x);", "y = (float)exp(2.0);", "y = exp(1e-05);", "y = exp(2.);"):
        assert used_pieces("cpu", text) == {"exp", "exp_f64"}, text
