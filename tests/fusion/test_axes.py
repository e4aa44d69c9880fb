"""Order, collapse and names of axes."""

import pytest

from astjit.fusion.axes import Access, access, collapse, memory_order, moving, nest, place
from astjit.ir.notation import parse_type
from astjit.types.shape import Sym, mul

A, B, C = Sym("a"), Sym("b"), Sym("c")
SIZES = {0: A, 1: B, 2: C}


def dense(text, axes):
    return access(parse_type(text), axes)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("f32[a, b, c]", (0, 1, 2)),
        ("f32[a, b, c] order(2,0,1)", (2, 0, 1)),
        ("f32[a, b] strides(1, 8)", (1, 0)),
        ("f32[a, b] strides(2*b, 1)", (0, 1)),
        ("f32[a, b] strides(1, a)", (1, 0)),
        ("f32[a, b] strides(0, 1)", (1, 0)),
    ],
)
def test_memory_order(text, order):
    assert memory_order(parse_type(text)) == order


def test_a_broadcast_axis_is_not_reached():
    bias = dense("f32[1, b]", (None, 1))
    assert bias == Access({1: 1}, {1: B})
    expanded = parse_type("f32[a, b] strides(0, 1)")
    assert moving(expanded) == (False, True)
    assert access(expanded, (0, 1)) == bias


def test_a_dense_axis_beside_a_size_of_0_moves():
    kind = parse_type("f32[a, 0]")
    assert moving(kind) == (True, True)
    assert set(access(kind, (0, 1)).strides) == {0, 1}


def test_an_axis_that_is_made_of_loops():
    made, extents = {2: (3, 4)}, {0: A, 1: C, 3: 2, 4: B}
    whole = access(parse_type("f32[a, d, c]"), (0, 2, 1), made, extents)
    assert whole == Access({0: mul(2, B, C), 3: mul(B, C), 4: C, 1: 1}, {0: A, 3: 2, 4: B, 1: C})
    assert collapse((0, 3, 4, 1), [whole]) == [(0, 3, 4, 1)]
    away = access(parse_type("f32[a, d, c]"), (None, 2, 1), made, extents)
    assert away.strides == {3: mul(B, C), 4: C, 1: 1}
    apart = access(parse_type("f32[a, d] strides(s, 2)"), (0, 2), made, extents)
    assert apart.strides == {0: Sym("s"), 3: mul(2, B), 4: 2}


@pytest.mark.parametrize(
    ("buffers", "runs"),
    [
        ([("f32[a, b, c]", (0, 1, 2))], [(0, 1, 2)]),
        ([("f32[a, b, c]", (0, 1, 2)), ("f32[c]", (2,))], [(0, 1), (2,)]),
        ([("f32[a, b, c]", (0, 1, 2)), ("f32[a, 1, c]", (0, None, 2))], [(0,), (1,), (2,)]),
        ([("f32[a, b, c]", (0, 1, 2)), ("f32[b, c]", (1, 2))], [(0,), (1, 2)]),
        ([("f32[a, b, c] strides(2*b*c, c, 1)", (0, 1, 2))], [(0,), (1, 2)]),
        ([("f32[a, b, c] order(0,2,1)", (0, 1, 2))], [(0,), (1,), (2,)]),
    ],
)
def test_collapse(buffers, runs):
    assert collapse((0, 1, 2), [dense(*b) for b in buffers]) == runs


def test_names_and_extents():
    x, bias = dense("f32[a, b, c]", (0, 1, 2)), dense("f32[c]", (2,))
    one = nest((0, 1, 2), (), [x], SIZES)
    assert (one.axes, one.extents) == (("n",), {"n": mul(A, B, C)})
    two = nest((0, 1, 2), (), [x, bias], SIZES)
    assert two.extents == {"rows": mul(A, B), "cols": C}
    row = nest((0, 1), (2,), [x], SIZES)
    assert (row.parallel, row.reduced) == (("rows",), ("cols",))
    apart = dense("f32[a, 1, c]", (0, None, 2))
    assert nest((0, 1, 2), (), [x, apart], SIZES).axes == ("outer", "rows", "cols")
    assert nest((0, 1), (2,), [x, apart], SIZES).axes == ("outer", "rows", "cols")
    many = nest(
        (0, 1, 2, 3), (), [Access({0: 9, 1: 99, 2: 999}, {0: A, 1: B, 2: C})], {**SIZES, 3: 7}
    )
    assert many.axes == ("d0", "d1", "d2", "d3")


def test_a_kernel_without_parallel_axes_has_one_axis():
    vector = nest((), (2,), [dense("f32[c]", (2,))], SIZES)
    assert (vector.parallel, vector.reduced, vector.extents) == ((), ("n",), {"n": C})
    assert nest((), (), [], {}).extents == {"n": 1}


def test_place():
    x, bias = dense("f32[a, b, c]", (0, 1, 2)), dense("f32[c]", (2,))
    half = dense("f32[a, b, c] strides(2*b*c, c, 1)", (0, 1, 2))
    flat = nest((0, 1, 2), (), [x, bias], SIZES)
    assert place(flat, x) == (("rows", "cols"), None)
    assert place(flat, bias) == (("cols",), None)
    cut = nest((0, 1, 2), (), [x, half], SIZES)
    assert cut.extents == {"rows": A, "cols": mul(B, C)}
    assert place(cut, half) == (("rows", "cols"), (mul(2, B, C), 1))
