"""Offsets of rows and elements: dense buffers, those that vary over some axes, strided ones."""

import itertools

import pytest

from astjit.codegen.address import (
    Space,
    index_name,
    inner_stride,
    line_offset,
    space_of,
    split_line,
)
from astjit.fusion.kernel import Buffer, Kernel
from astjit.ir.function import Block
from astjit.types.dtype import F32

WIDE = "static_cast<long long>({0})"
PAGE = Space(("rows",), "cols", "row")
CUBE = Space(("d0", "d1"), "d2", "line")
DEEP = Space(("d0", "d1", "d2"), "d3", "line")


def kernel(kind, parallel, reduced=()):
    return Kernel("k", kind, parallel, reduced, (), Block())


def buffer(*axes, strides=None):
    return Buffer("x", F32, axes, "in", strides)


@pytest.mark.parametrize(
    ("axis", "name"),
    [("rows", "row"), ("cols", "col"), ("n", "i"), ("outer", "slab"), ("d0", "i0"), ("d12", "i12"),
     ("batch", "batch_i"), ("d", "d_i"), ("dx", "dx_i")],
)  # fmt: skip
def test_loop_variables(axis, name):
    assert index_name(axis) == name


@pytest.mark.parametrize(
    ("kind", "parallel", "reduced", "space", "count"),
    [
        ("pointwise", (), (), Space((), "", ""), "1"),
        ("pointwise", ("n",), (), Space((), "n", ""), "1"),
        ("pointwise", ("rows", "cols"), (), PAGE, "rows"),
        ("pointwise", ("d0", "d1", "d2"), (), CUBE, "d0 * d1"),
        ("row", ("rows",), ("cols",), PAGE, "rows"),
        ("row", ("d0", "d1"), ("d2",), CUBE, "d0 * d1"),
        ("row", (), ("n",), Space((), "n", ""), "1"),
    ],
)
def test_spaces(kind, parallel, reduced, space, count):
    made = space_of(kernel(kind, parallel, reduced))
    assert made == space
    assert made.count == count
    assert made.col == index_name(space.inner)


@pytest.mark.parametrize(
    ("space", "made", "narrow", "wide", "step"),
    [
        (PAGE, buffer("rows", "cols"), "row * cols", "static_cast<long long>(row) * cols", 1),
        (PAGE, buffer("rows"), "row", "static_cast<long long>(row)", 0),
        (PAGE, buffer("cols"), "", "", 1),
        (PAGE, buffer(), "", "", 0),
        (CUBE, buffer("d0", "d1", "d2"), "line * d2", "static_cast<long long>(line) * d2", 1),
        (CUBE, buffer("d0", "d1"), "line", "static_cast<long long>(line)", 0),
        (CUBE, buffer("d0", "d2"), "i0 * d2", "static_cast<long long>(i0) * d2", 1),
        (CUBE, buffer("d1", "d2"), "i1 * d2", "static_cast<long long>(i1) * d2", 1),
        (CUBE, buffer("d1"), "i1", "static_cast<long long>(i1)", 0),
        (
            DEEP,
            buffer("d0", "d2", "d3"),
            "(i0 * d2 + i2) * d3",
            "static_cast<long long>(i0 * d2 + i2) * d3",
            1,
        ),
        (DEEP, buffer("d0", "d2"), "(i0 * d2 + i2)", "static_cast<long long>(i0 * d2 + i2)", 0),
    ],
)
def test_dense_buffers(space, made, narrow, wide, step):
    assert line_offset(made, space, "{0}") == narrow
    assert line_offset(made, space, WIDE) == wide
    assert inner_stride(made, space) == step


@pytest.mark.parametrize(
    ("space", "made", "offset", "step"),
    [
        (PAGE, buffer("rows", "cols", strides=("x_s0", 1)), "row * x_s0", 1),
        (PAGE, buffer("rows", "cols", strides=(1, "x_s1")), "row", "x_s1"),
        (PAGE, buffer("rows", "cols", strides=(8, 2)), "row * 8", 2),
        (PAGE, buffer("cols", strides=("x_s0",)), "", "x_s0"),
        (PAGE, buffer("rows", strides=(0,)), "", 0),
        (CUBE, buffer("d0", "d1", "d2", strides=("a", "b", "c")), "i0 * a + i1 * b", "c"),
        (CUBE, buffer("d0", "d2", strides=("a", 1)), "i0 * a", 1),
        (CUBE, buffer("d0", "d1", "d2", strides=(0, 4, 1)), "i1 * 4", 1),
    ],
)
def test_strided_buffers(space, made, offset, step):
    assert line_offset(made, space, "{0}") == offset
    assert inner_stride(made, space) == step


def test_every_index_of_a_strided_buffer_is_wide():
    made = buffer("d0", "d1", "d2", strides=("a", "b", 1))
    wide = "static_cast<long long>(i0) * a + static_cast<long long>(i1) * b"
    assert line_offset(made, CUBE, WIDE) == wide


def test_the_row_counter_is_taken_apart():
    assert split_line(CUBE, "int") == ["const int i0 = line / d1;", "const int i1 = line % d1;"]
    assert split_line(DEEP, "long") == [
        "const long i0 = line / (d1 * d2);",
        "const long i1 = line % (d1 * d2) / d2;",
        "const long i2 = line % (d1 * d2) % d2;",
    ]


def test_offsets_evaluate_to_the_dense_place_of_every_element():
    sizes = {"d0": 2, "d1": 3, "d2": 5, "d3": 7}
    for axes in itertools.chain.from_iterable(
        itertools.combinations(sizes, count) for count in range(1, 5)
    ):
        made, seen = buffer(*axes), set()
        for line, col in itertools.product(range(2 * 3 * 5), range(7)):
            names = {**sizes, "line": line, "i3": col}
            for statement in split_line(DEEP, "long"):
                exec(statement.removeprefix("const long ").rstrip(";").replace("/", "//"), names)
            start = eval(line_offset(made, DEEP, "{0}") or "0", names)
            index = [names[index_name(a)] for a in axes]
            place = 0
            for axis, at in zip(axes, index, strict=True):
                place = place * sizes[axis] + at
            assert start + col * inner_stride(made, DEEP) == place
            seen.add(place)
        assert len(seen) == max(seen) + 1
