"""Grids cover every row and every vector exactly once, as the templates count them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astjit.fusion.kernel import Kernel
from astjit.fusion.launch import Launch, launch
from astjit.fusion.schedule import Schedule, schedule
from astjit.ir.function import Block
from tests.codegen import records

SIZE = st.integers(0, 5000)


def kernel(kind, parallel, reduced=()):
    return Kernel("k", kind, parallel, reduced, (), Block())


def plan(made, **sizes):
    return launch(made, schedule(made, "cuda", sizes, 16), sizes)


def test_rows_have_a_block_each():
    assert plan(records.softmax(), rows=33, cols=4096) == Launch((33, 1), (256, 1))
    assert plan(records.softmax(), rows=33, cols=513) == Launch((33, 1), (256, 1))
    assert plan(records.softmax(), rows=1, cols=50257) == Launch((1, 1), (512, 1))


def test_an_empty_row_still_has_results():
    assert plan(records.softmax(), rows=3, cols=0) == Launch((1, 1), (8, 16))


def test_rows_over_several_axes_are_counted_together():
    made = kernel("row", ("d0", "d1"), ("d2",))
    assert plan(made, d0=3, d1=5, d2=1100).grid == (15, 1)
    assert plan(made, d0=3, d1=5, d2=100).grid == (4, 1)
    assert plan(made, d0=3, d1=0, d2=100) is None


def test_one_row():
    made = kernel("row", (), ("n",))
    assert plan(made, n=100).grid == (1, 1)


def test_pointwise():
    made = records.bias_gelu()
    assert plan(made, rows=5, cols=4096) == Launch((3, 4), (256, 1))
    assert plan(made, rows=33, cols=128) == Launch((3, 1), (32, 8))
    assert plan(made, rows=1, cols=1) == Launch((1, 1), (32, 8))


def test_pointwise_over_one_axis_or_none():
    assert plan(kernel("pointwise", ("n",)), n=1025) == Launch((2, 1), (256, 1))
    assert plan(kernel("pointwise", ())) == Launch((1, 1), (256, 1))


@pytest.mark.parametrize("sizes", [{"rows": 0, "cols": 8}, {"rows": 8, "cols": 0}])
def test_nothing_to_do(sizes):
    assert plan(records.bias_gelu(), **sizes) is None


def test_no_rows():
    assert plan(records.softmax(), rows=0, cols=8) is None
    assert plan(kernel("pointwise", ("n",)), n=0) is None


def covered(size, starts, width=1):
    """How often each of `size` places is met by runs of `width` from `starts`."""
    counts = [0] * size
    for start in starts:
        for at in range(start, min(start + width, size)):
            counts[at] += 1
    return counts


@given(SIZE, SIZE)
def test_pointwise_covers_every_element_once(rows, cols):
    made = records.bias_gelu()
    sizes = {"rows": rows, "cols": cols}
    chosen = schedule(made, "cuda", sizes, 16)
    found = launch(made, chosen, sizes)
    if found is None:
        assert rows * cols == 0
        return
    (gx, gy), (bx, by) = found.grid, found.block
    # templates/cuda/pointwise.cu.j2: a column from y of the grid and x of the block, rows from x
    # of the grid and y of the block; a thread has nothing at or past the end
    columns = [(y * bx + x) * chosen.vector for y in range(gy) for x in range(bx)]
    lines = [
        (x * chosen.per_thread + j) * by + y
        for x in range(gx)
        for j in range(chosen.per_thread)
        for y in range(by)
    ]
    assert covered(cols, columns, chosen.vector) == [1] * cols
    assert covered(rows, lines) == [1] * rows
    # and no block is there for nothing
    assert (gy - 1) * bx * chosen.vector < cols
    assert (gx - 1) * chosen.per_thread * by < rows


@given(st.integers(0, 20_000))
def test_pointwise_over_one_axis_covers_every_element_once(n):
    made = kernel("pointwise", ("n",))
    chosen = schedule(made, "cuda", {"n": n}, 16)
    found = launch(made, chosen, {"n": n})
    threads = 0 if found is None else found.grid[0] * found.block[0]
    starts = [t * chosen.vector for t in range(threads)]
    assert covered(n, starts, chosen.vector) == [1] * n


@given(st.integers(1, 9000), st.sampled_from(["f32", "bf16"]))
def test_the_threads_of_a_resident_row_cover_it_once(cols, dtype):
    made = records.softmax(dtype)
    chosen = schedule(made, "cuda", {"rows": 1, "cols": cols}, 16)
    if chosen.variant == "looped":
        assert cols > 16 * 256 * (2 if dtype == "bf16" else 1)
        return
    starts = [
        (j * chosen.threads + x) * chosen.vector
        for j in range(chosen.per_thread)
        for x in range(chosen.threads)
    ]
    assert covered(cols, starts, chosen.vector) == [1] * cols


@pytest.mark.parametrize(("rows", "blocks"), [(1, 1), (4, 1), (5, 2), (1000, 250)])
def test_a_block_of_warps_has_several_rows(rows, blocks):
    sizes = {"rows": rows, "cols": 200}
    chosen = schedule(records.softmax(), "cuda", sizes, 16)
    assert chosen.variant == "warp"
    found = launch(records.softmax(), chosen, sizes)
    assert (found.grid, found.block) == ((blocks, 1), (32, 4))


@pytest.mark.parametrize("make", [records.softmax, records.bias_gelu])
def test_more_rows_than_an_int_counts_are_refused(make):
    kernel = make()
    for rows, fits in ((2**31 - 2**11, True), (2**31 - 1, False), (2**32 + 5, False)):
        sizes = {"rows": rows, "cols": 2}
        chosen = schedule(kernel, "cuda", sizes, 16)
        if fits:
            assert launch(kernel, chosen, sizes).grid[0] < 2**31
        else:
            with pytest.raises(OverflowError, match="counts at most"):
                launch(kernel, chosen, sizes)


def test_the_block_is_that_of_the_schedule():
    for threads, rows in ((32, 8), (64, 4), (256, 1)):
        chosen = Schedule("cuda", "plain", 4, threads, rows, 2)
        sizes = {"rows": 7, "cols": 9}
        assert launch(records.bias_gelu(), chosen, sizes).block == (threads, rows)


def test_tiles_of_a_very_long_row_are_counted_in_x():
    kernel = records.bias_gelu()
    sizes = {"rows": 3, "cols": 100_000_000}
    chosen = schedule(kernel, "cuda", sizes, 16)
    assert chosen.tiles_first
    assert launch(kernel, chosen, sizes).grid == (-(-100_000_000 // (256 * 4)), 2)
    shorter = schedule(kernel, "cuda", {"rows": 3, "cols": 60_000_000}, 16)
    assert not shorter.tiles_first
