"""Variants follow from row length, dtype and alignment, and from nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.kernel import Group, facts, is_store
from astjit.fusion.schedule import (
    Schedule,
    cpu_schedule,
    is_float_kernel,
    itemsizes,
    lanes,
    schedule,
    shares,
    unit_stride,
)
from astjit.fusion.stages import is_element
from tests.codegen import records
from tests.fusion.cases import BY_NAME, CASES


def kernels():
    """Every kernel of the cases and the records that have templates."""
    found = [m(d) for m in (records.bias_gelu, records.rms_norm, records.softmax) for d in DTYPES]
    found.append(records.layer_norm())
    for case in CASES:
        for dtype in DTYPES:
            parts = groups(case.function(dtype), "cuda", Config()).parts
            found += [part.kernel for part in parts if isinstance(part, Group)]
    return found


DTYPES = ("f32", "bf16")
KERNELS = kernels()
KERNEL = st.sampled_from(KERNELS)
LENGTH = st.integers(0, 20_000) | st.sampled_from([50257, 2**20, 2**31 - 1, 2**33])


def chosen(kernel, cols=4096, alignment=16, target="cuda", outer=3):
    sizes = dict.fromkeys(kernel.axes, outer) | dict.fromkeys(kernel.swept[-1:], cols)
    return schedule(kernel, target, sizes, alignment)


@pytest.mark.parametrize(
    ("cols", "variant", "threads", "per_thread"),
    [
        (0, "warp", 8, 1),
        (1, "warp", 8, 1),
        (32, "warp", 8, 1),
        (33, "warp", 16, 1),
        (64, "warp", 16, 1),
        (65, "warp", 32, 1),
        (129, "warp", 32, 2),
        (257, "warp", 32, 4),
        (512, "warp", 32, 4),
        (513, "resident", 256, 1),
        (1024, "resident", 256, 1),
        (1025, "resident", 256, 2),
        (2048, "resident", 256, 2),
        (2049, "resident", 256, 4),
        (4096, "resident", 256, 4),
        (4097, "looped", 512, 2),
        (50257, "looped", 512, 2),
    ],
)
def test_rows_of_f32_by_length(cols, variant, threads, per_thread):
    made = chosen(records.softmax(), cols)
    assert (made.variant, made.threads, made.per_thread) == (variant, threads, per_thread)
    assert made.vector == 4


@pytest.mark.parametrize(
    ("cols", "variant"),
    [(1024, "warp"), (1025, "resident"), (8192, "resident"), (8193, "looped")],
)
def test_rows_of_bf16_are_twice_as_long(cols, variant):
    made = chosen(records.softmax("bf16"), cols)
    assert (made.variant, made.vector) == (variant, 8)


def test_a_row_without_kept_values_is_a_warps_as_far_as_8_vectors():
    r = records.Record(
        "total", "row", records.R, records.C,
        [("x", "f32", records.RC, "in"), ("out", "f32", records.R, "out")],
    )  # fmt: skip
    r.store("out", r.emit("reduce", r.load("x"), combine="sum"))
    kernel = r.kernel()
    assert chosen(kernel, 1024).variant == "warp"
    assert chosen(kernel, 1025).variant == "resident"


def test_a_lone_row_is_a_blocks():
    (kernel,) = [k for k in KERNELS if k.kind == "row" and k.parallel][:1]
    alone = replace(kernel, parallel=())
    sizes = {kernel.reduced[-1]: 100}
    assert schedule(alone, "cuda", sizes, 16).variant == "resident"


def test_a_row_with_many_kept_values_is_looped_earlier():
    r = records.Record("many", "row", records.R, records.C, [("out", "f32", records.RC, "out")])
    r = records.Record(
        "many",
        "row",
        records.R,
        records.C,
        [(f"x{i}", "f32", records.RC, "in") for i in range(5)]
        + [("out", "f32", records.RC, "out")],
    )
    loads = [r.load(f"x{i}") for i in range(5)]
    total = r.emit("reduce", loads[0], combine="sum")
    for load in loads[1:]:
        total = r.emit("add", total, r.emit("reduce", load, combine="sum"))
    value = total
    for load in loads:
        value = r.emit("mul", value, load)
    r.store("out", value)
    kernel = r.kernel()
    assert chosen(kernel, 2048).variant == "resident"
    assert chosen(kernel, 2049).variant == "looped"  # 5 values of 16 floats do not fit


@pytest.mark.parametrize(
    ("cols", "threads", "rows"),
    [(1, 32, 8), (64, 32, 8), (128, 32, 8), (129, 64, 4), (512, 128, 2), (513, 256, 1),
     (4096, 256, 1)],
)  # fmt: skip
def test_pointwise_blocks_follow_the_length_of_a_row(cols, threads, rows):
    made = chosen(records.bias_gelu(), cols)
    assert (made.variant, made.threads, made.rows, made.per_thread) == ("plain", threads, rows, 2)


@pytest.mark.parametrize(
    ("cols", "alignment", "aligned"),
    [(4096, 16, True), (4096, 8, False), (4096, 4, False), (4095, 16, False), (1000, 16, True)],
)
def test_alignment(cols, alignment, aligned):
    for kernel in (records.softmax(), records.bias_gelu()):
        assert chosen(kernel, cols, alignment).aligned == aligned


def test_a_strided_row_is_not_aligned():
    kernel = records.softmax()
    x, out = kernel.buffers
    apart = replace(kernel, buffers=(replace(x, strides=("x_rows", 1)), out))
    assert unit_stride(apart)
    assert chosen(apart).aligned
    across = replace(kernel, buffers=(replace(x, strides=(1, "x_cols")), out))
    assert not unit_stride(across)
    assert not chosen(across).aligned
    assert cpu_schedule(across).vector == 1


@pytest.mark.parametrize(("cols", "wide"), [(2**31 - 2**14 - 1, False), (2**31 - 2**14, True)])
def test_long_rows_have_wide_indices(cols, wide):
    assert chosen(records.softmax(), cols, outer=999).wide == wide
    assert chosen(records.bias_gelu(), cols).wide == wide


def test_what_is_kept_and_where():
    softmax, rms_norm = records.softmax(), records.rms_norm()
    assert chosen(softmax).keep == ((0, "registers"), (3, "registers"))
    assert chosen(softmax, 50257).keep == ()
    assert chosen(rms_norm, 50257).keep == ((2, "h"),)
    assert cpu_schedule(softmax).keep == ((3, "out"),)  # exp is dear, and out is free until then
    assert cpu_schedule(records.softmax("bf16")).keep == ((3, "scratch"),)  # out is too narrow
    assert cpu_schedule(rms_norm).keep == ((2, "h"),)
    assert cpu_schedule(records.rms_norm("bf16")).keep == ((3, "h"),)  # rounded: h holds it


def test_kept_values_by_position():
    kernel = records.softmax()
    exp = kernel.body.nodes[3].results[0]
    assert cpu_schedule(kernel).kept(kernel) == {exp: "out"}


def test_the_cpu_has_one_variant():
    kernel = records.softmax()
    assert chosen(kernel, 1, 1, "cpu") == chosen(kernel, 50257, 64, "cpu") == cpu_schedule(kernel)


def test_lanes():
    assert lanes(records.softmax()) == 4
    assert lanes(records.softmax("bf16")) == 8
    assert itemsizes(records.rms_norm()) == [4, 4, 4, 4, 4]
    assert itemsizes(records.cross_entropy()) == [4]  # target and out do not vary along a row


def test_kernels_that_are_left_to_the_compiler():
    assert is_float_kernel(records.softmax("bf16"))
    assert not is_float_kernel(records.softmax("f64"))
    assert cpu_schedule(records.softmax("f64")).vector == 1
    assert cpu_schedule(records.softmax()).vector == 0


@given(KERNEL, LENGTH, st.sampled_from([1, 2, 4, 8, 16]), st.integers(0, 10**6), st.integers(1, 99))
def test_a_variant_never_depends_on_the_batch(kernel, cols, alignment, one, other):
    """But for long rows, which blocks share while they are few."""
    found, more = (chosen(kernel, cols, alignment, outer=n) for n in (one, other))
    if "split" in (found.variant, more.variant):
        assert cols > 4096
        alone = {"variant": "looped", "wide": False}
        found, more = replace(found, **alone), replace(more, **alone)
    assert found == more


def test_few_long_rows_are_shared_by_blocks():
    softmax, sizes = records.softmax(), {"rows": 4, "cols": 1_000_000}
    made = schedule(softmax, "cuda", sizes, 16)
    assert made.variant == "split"
    assert shares(softmax, made, sizes) == 66  # 264 blocks: two for each multiprocessor
    assert shares(softmax, made, sizes | {"rows": 1}) == 122  # 32 KiB for each
    for rows, cols in ((133, 1_000_000), (4, 65_535), (0, 1_000_000)):
        given = {"rows": rows, "cols": cols}
        assert shares(softmax, made, given) == 1
        assert schedule(softmax, "cuda", given, 16).variant == "looped"


def test_few_columns_of_many_rows_are_shared_by_blocks():
    total, sizes = records.square_sum0(), {"rows": 1_000_000, "cols": 8}
    made = schedule(total, "cuda", sizes, 16)
    assert (made.variant, made.threads, made.rows) == ("split", 2, 128)
    assert shares(total, made, sizes) == 264
    assert schedule(total, "cuda", {"rows": 1000, "cols": 8}, 16).variant == "looped"
    assert schedule(total, "cuda", {"rows": 10**5, "cols": 10**5}, 16).variant == "looped"


def test_rows_are_not_shared_where_one_element_is_written_in_place():
    r = records.Record(
        "kept", "row", records.R, records.C,
        [("x", "f32", records.RC, "in"), ("y", "f32", records.R, "inout")],
    )  # fmt: skip
    r.store("y", r.emit("add", r.load("y"), r.emit("reduce", r.load("x"), combine="sum")))
    assert chosen(r.kernel(), 10**6).variant == "looped"


@given(KERNEL, LENGTH, st.sampled_from([1, 2, 4, 8]))
def test_alignment_narrows_accesses_and_changes_nothing_else(kernel, cols, alignment):
    narrow, full = chosen(kernel, cols, alignment), chosen(kernel, cols, 16)
    assert not narrow.aligned
    assert replace(full, aligned=False) == narrow


@given(KERNEL, LENGTH)
def test_limits_of_a_cuda_variant(kernel, cols):
    made = chosen(kernel, cols)
    assert isinstance(made, Schedule)
    assert made.vector * min(itemsizes(kernel)) <= 16
    assert made.threads * made.rows in (128, 256, 512)
    assert made.threads % 32 == 0 or (made.variant == "warp" and 32 % made.threads == 0)
    if made.aligned:
        assert cols % made.vector == 0
    if made.variant in ("warp", "resident"):
        owned = made.per_thread * made.vector
        assert cols <= made.threads * owned
        assert len(made.keep) * owned <= (96 if made.variant == "warp" else 64)


@given(KERNEL, LENGTH, st.sampled_from(["cpu", "cuda"]))
def test_every_kept_value_has_a_legal_place(kernel, cols, target):
    made = chosen(kernel, cols, target=target)
    known = facts(kernel)
    outputs = {b.name: b for b in kernel.buffers if b.role == "out"}
    for value, place in made.kept(kernel).items():
        assert is_element(kernel, known[value].axes)
        if place == "registers":
            assert made.variant in ("warp", "resident")
            continue
        if place == "scratch":
            assert target == "cpu"
            continue
        buffer = outputs[place]
        stores = [
            n for n in kernel.body.nodes if is_store(n) and kernel.buffer(n.operands[0]) is buffer
        ]
        assert len(stores) == 1
        if stores[0].values[1] is not value:  # borrowed until the result is stored
            assert buffer.dtype.name == "f32"
            assert known[stores[0].values[1]].stage > known[value].stage
            assert target == "cpu"


def test_names_of_cases_are_unique():
    assert len(BY_NAME) == len(CASES)
