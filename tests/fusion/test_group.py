"""Which values share a kernel, and that each kernel computes what eager does."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from astjit.config import Config
from astjit.fusion.describe import describe, describe_group
from astjit.fusion.group import MOST_PIECES, groups
from astjit.fusion.kernel import Group, LibraryCall
from astjit.ir.parser import parse
from astjit.runtime.interpret import interpret
from astjit.types.dtype import BF16, F16, F32
from astjit.types.shape import Sym, evaluate
from astjit.types.tensor import TensorType
from tests.fusion.cases import BY_NAME, CASES
from tests.fusion.execute import run, torch_dtype
from tests.fusion.programs import Programs, arguments

SIZES = {
    "plain": {"rows": 3, "cols": 8, "batch": 2, "b": 2, "h": 3, "s": 4, "t": 5, "a": 2, "c": 7},
    "none": {"rows": 0, "cols": 8, "batch": 0, "b": 0, "h": 3, "s": 4, "t": 5, "a": 0, "c": 7},
    "odd": {"rows": 5, "cols": 2, "batch": 3, "b": 3, "h": 2, "s": 1, "t": 33, "a": 7, "c": 2},
}


def parts_of(text, target="cpu", **config):
    return groups(parse(text), target, Config(**config))


def inputs(function, sizes, seed=0):
    made = torch.Generator().manual_seed(seed)
    found = []
    for param in function.params:
        kind = param.type
        if not isinstance(kind, TensorType):
            found.append(0.3)
            continue
        shape = [evaluate(d, sizes) for d in kind.dims]
        strides = [evaluate(s, sizes) for s in kind.element_strides()]
        span = 1 + sum(max(n - 1, 0) * s for n, s in zip(shape, strides, strict=True))
        flat = torch.randn(span, generator=made).to(torch_dtype(kind.dtype))
        found.append(flat.as_strided(shape, strides))
    return found


def check(function, arguments, wanted=None, exact=False, **config):
    """Every result of the parts is that of eager, in dtype, layout and value."""
    parts = groups(function, "cpu", Config(**config))
    wanted = interpret(function, arguments) if wanted is None else wanted
    for got, want in zip(run(function, parts, arguments), wanted, strict=True):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        if want.numel():
            live = [i for i, n in enumerate(want.shape) if n != 1]
            assert [got.stride()[i] for i in live] == [want.stride()[i] for i in live]
        if exact:
            torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
        else:
            torch.testing.assert_close(got, want, equal_nan=True)
    return parts


def as_list(value):
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64"])
def test_a_function_is_one_kernel(case, dtype):
    parts = groups(case.function(dtype), "cpu", Config())
    (group,) = parts.parts
    assert group.kernel.kind == case.kind
    assert group.kernel.name == case.function().name
    assert parts.unfused == ()
    reduced = {"pointwise": (), "row": ("cols",), "full": ("n",)}
    assert group.kernel.reduced == reduced[case.kind]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_kernel_computes_what_eager_does(case, sizes):
    for dtype in ("f32", "bf16"):
        function = case.function(dtype)
        arguments = inputs(function, sizes)
        check(function, arguments, as_list(case.eager(*arguments)))


def test_the_text_of_rms_norm(golden):
    (group,) = groups(BY_NAME["rms_norm"].function("bf16"), "cpu", Config()).parts
    golden("kernel/rms_norm_bf16.txt", describe_group(group))


def test_the_text_of_bias_gelu(golden):
    (group,) = groups(BY_NAME["bias_gelu_tanh"].function("f32"), "cpu", Config()).parts
    golden("kernel/bias_gelu_tanh.txt", describe_group(group))


def test_the_text_of_softmax(golden):
    (group,) = groups(BY_NAME["softmax"].function("f32"), "cpu", Config()).parts
    golden("kernel/softmax.txt", describe_group(group))


def cut(text, **config):
    """The parts, a kernel as the names of the rows that it computes, and the reasons."""
    parts = parts_of(text, **config)
    shown = []
    for part in parts.parts:
        if isinstance(part, LibraryCall):
            shown.append(part.node.op.name)
        else:
            rows = [n.op.name for n in part.kernel.body.nodes]
            shown.append([r for r in rows if r not in ("load", "store")])
    reasons = [(u.producer.op.name, u.consumer.op.name, u.reason) for u in parts.unfused]
    return shown, reasons


def test_a_library_call_cuts():
    shown, reasons = cut("""fn f(%x: f32[rows, cols], %w: f32[cols, k]):
  %a = abs %x
  %m = matmul %a, %w
  %b = tanh %m
  %c = neg %b
  return %c
""")
    assert shown == [["abs"], "matmul", ["tanh", "neg"]]
    reason = "matmul is a library call"
    assert reasons == [("abs", "matmul", reason), ("matmul", "tanh", reason)]


def test_what_lies_between_two_nodes_keeps_them_apart():
    shown, reasons = cut("""fn f(%x: f32[n, n]):
  %a = abs %x
  %m = matmul %a, %a
  %b = mul %a, %m
  return %b
""")
    assert shown == [["abs"], "matmul", ["mul"]]
    assert ("abs", "mul", "matmul lies between them") in reasons


def test_outputs_of_one_shape_that_share_an_input_share_a_kernel():
    shown, _ = cut("""fn f(%x: f32[rows, cols], %y: f32[rows, cols]):
  %a = abs %x
  %b = neg %x
  %c = sum %x {dim=[1]}
  %d = tanh %y
  return %a, %b, %c, %d
""")
    assert shown == [["abs", "neg", "reduce"], ["tanh"]]


def test_reductions_over_different_axes_are_apart():
    shown, reasons = cut("""fn f(%x: f32[a, b, c]):
  %s = softmax %x {dim=2}
  %t = sum %s {dim=[1, 2]}
  return %t
""")
    assert shown[1:] == [["reduce"]]
    assert reasons == [("softmax", "sum", "they reduce over different axes")]


def test_axes_that_are_not_one_in_memory_are_reduced_by_a_library_call():
    text = "fn f(%z: f32[a, b, c]):\n  %x = abs %z\n  %y = sum %x {dim=[0, 2]}\n  return %y\n"
    shown, reasons = cut(text)
    assert shown == [["abs"], "sum"]
    assert reasons == [("abs", "sum", "the reduced axes do not lie as one in every buffer")]


@pytest.mark.parametrize(("dim", "axes"), [(0, "column(cols | rows)"), (1, "row(rows | cols)")])
def test_the_kind_of_a_reduction_follows_from_memory(dim, axes):
    text = f"fn f(%x: f32[a, b]):\n  %y = softmax %x {{dim={dim}}}\n  return %y\n"
    (group,) = groups(parse(text), "cpu", Config()).parts
    assert f"kernel f {axes}" in describe(group.kernel)


def test_a_reduction_along_memory_is_a_kernel_whatever_the_axis():
    text = "fn f(%x: f32[a, b] order(1,0)):\n  %y = sum %x {dim=[0]}\n  return %y\n"
    (group,) = parts_of(text).parts
    assert group.extents == {"rows": Sym("b"), "cols": Sym("a")}
    assert group.kernel.buffers[0].strides is None


def test_a_transposed_read_of_a_computed_value_is_apart():
    shown, reasons = cut("""fn f(%x: f32[n, n]):
  %a = abs %x
  %t = permute %a {dims=[1, 0]}
  %y = add %a, %t
  return %y
""")
    assert shown == [["abs"], ["add"]]
    assert reasons == [("abs", "add", "one value is read at two indices")]


def test_a_reshape_of_a_computed_value_is_inside():
    shown, reasons = cut("""fn f(%x: f32[a, b, c]):
  %a = abs %x
  %v = view %a {shape=[a, b*c]}
  %y = softmax %v {dim=1}
  return %y
""")
    assert len(shown) == 1
    assert not reasons


def test_a_reshape_whose_sizes_do_not_divide_is_apart():
    shown, reasons = cut("""fn f(%x: f32[a, b, 6]) where 6*a*b == 4*c*d:
  %a = abs %x
  %v = view %a {shape=[c, d, 4]}
  %y = softmax %v {dim=1}
  return %y
""")
    assert shown[0] == ["abs"]
    assert reasons == [("abs", "softmax", "view of a computed value is more than a choice of axes")]


def test_views_that_choose_axes_stay_inside():
    (group,) = parts_of("""fn f(%x: f32[rows, cols]):
  %m = amax %x {dim=[1]}
  %u = unsqueeze %m {dim=1}
  %e = expand %u {size=[rows, cols]}
  %y = sub %x, %e
  return %y
""").parts
    assert [b.name for b in group.kernel.buffers] == ["x", "y"]


def test_a_view_needed_outside_is_made_of_the_stored_value():
    shown, _ = cut("""fn f(%x: f32[rows, cols]):
  %a = abs %x
  %t = permute %a {dims=[1, 0]}
  %y = neg %a
  return %t, %y
""")
    assert shown == [["abs", "neg"], "permute"]


def test_slices_of_an_input_are_strides_and_an_offset():
    (group,) = groups(BY_NAME["swiglu_chunk"].function(), "cpu", Config()).parts
    gate, up, _ = group.kernel.buffers
    x = group.inputs[0]
    assert group.inputs == (x, x)
    assert gate.strides == ("gate_stride_rows", 1)
    assert up.strides == ("up_stride_rows", 1)
    assert [str(o) for o in group.offsets] == ["0", "cols // 2"]
    assert {str(s) for s in group.strides.values()} == {"cols"}


def test_a_composite_that_does_not_fit_stays_whole():
    shown, _ = cut("""fn f(%x: f32[a, b, c]):
  %m = mean %x {dim=[0, 2]}
  return %m
""")
    assert shown == ["mean"]


def test_a_group_has_a_limit():
    lines = "".join(f"  %a{i + 1} = neg %a{i}\n" for i in range(MOST_PIECES + 50))
    last = MOST_PIECES + 50
    parts = parts_of(f"fn f(%a0: f32[n]):\n{lines}  return %a{last}\n")
    sizes = [len(p.kernel.body.nodes) - 2 for p in parts.parts]
    assert sum(sizes) == last
    assert max(sizes) <= MOST_PIECES
    assert parts.unfused[0].reason == f"a kernel has at most {MOST_PIECES} operations"


def test_kernels_are_named_after_the_function_and_the_variable():
    parts = parts_of("""fn f(%x: f32[n, n]):
  %a = abs %x
  %m = matmul %a, %a
  %0 = neg %m
  %1 = matmul %0, %m
  %2 = neg %1
  return %2
""")
    names = [p.kernel.name for p in parts.parts if isinstance(p, Group)]
    assert names == ["f_a", "f_neg", "f_neg2"]


def test_names_of_buffers_do_not_clash_with_axes():
    (group,) = parts_of(
        "fn f(%rows: f32[a, b], %w: f32[b]):\n  %n = add %rows, %w\n  return %n\n"
    ).parts
    assert [b.name for b in group.kernel.buffers] == ["rows2", "w", "n"]


def test_a_size_that_is_no_axis_is_a_number_from_the_host():
    text = """fn f(%x: f32[a, b], %y: f32[c]):
  %n = size {value=c}
  %z = mul %x, %n
  return %z
"""
    size, group = parts_of(text).parts
    assert size.node.op.name == "size"
    assert group.numbers == (size.node.result,)
    function = parse(text)
    check(function, [torch.randn(3, 4), torch.randn(5)], exact=True)


def test_an_expansions_size_runs_before_its_kernel():
    text = """fn f(%x: f32[a, b, 4]):
  %0, %m = var_mean %x {dim=[1, 2], correction=3}
  return %0, %m
"""
    parts = check(parse(text), [torch.randn(3, 5, 4)])
    assert [type(p) for p in parts.parts] == [Group]


def test_a_row_that_reads_a_view_of_a_total_is_apart():
    function = parse("""fn f(%x: f32[n, m]):
  %p = gt %x, 0
  %a = any %p
  %y = softmax %x {dim=-1}
  %t = permute %a {dims=[]}
  %z = gt %y, %t
  return %y, %a, %z
""")
    parts = check(function, [torch.randn(3, 5)])
    assert len(parts.parts) > 1


def test_a_total_written_to_all_elements_is_apart_from_its_rows():
    """The elements vary over nothing, but have an index: there is none after all rows."""
    function = parse("""fn f(%x: f32[n, m], %s: f32[n, 1]):
  %r = add %x, %s
  %a = amax %r {dim=[0, 1]}
  %z = full 0 {size=[n, m], dtype=f32}
  %c = gt %z, 0
  %w = where %c, 0.25, %a
  return %r, %w
""")
    parts = check(function, [torch.randn(3, 5), torch.randn(3, 1)])
    assert len(parts.parts) > 1


def test_dead_nodes_are_no_part():
    shown, _ = cut("fn f(%x: f32[n]):\n  %a = abs %x\n  %b = neg %x\n  return %b\n")
    assert shown == [["neg"]]


def test_a_row_without_text_for_the_target_is_called():
    text = "fn f(%x: f32[n]):\n  %a = tanh %x\n  return %a\n"
    assert isinstance(parts_of(text, target="cpu").parts[0], Group)
    assert isinstance(parts_of(text, target="abacus").parts[0], LibraryCall)


@pytest.mark.parametrize("seed", range(3))
def test_kernels_read_any_layout(seed):
    made = torch.Generator().manual_seed(seed)
    text = """fn f(%x: f32[a, b, c] order(2,0,1), %y: f32[a, b, c] strides(s, 1, t), %w: f32[b, 1]):
  %0 = add %x, %y
  %1 = mul %0, %w
  %z = softmax %1 {dim=1}
  return %z, %0
"""
    x = torch.randn(5, 2, 3, generator=made).permute(1, 2, 0)
    y = torch.randn(2, 5, 7, generator=made)[:, :, :3].permute(0, 2, 1)
    check(parse(text), [x, y, torch.randn(3, 1, generator=made)])


def test_integers_and_comparisons():
    text = """fn f(%x: i32[n, 3], %y: u8[3]):
  %a = add %x, %y
  %b = lt %a, 2
  %c = where %b, %a, 7
  %d = div %c, %y
  %e = sum %b {dim=[1]}
  return %d, %e, %b
"""
    x = torch.tensor([[1, -5, 3], [2**31 - 1, 0, -(2**31)]], dtype=torch.int32)
    check(parse(text), [x, torch.tensor([1, 2, 255], dtype=torch.uint8)], exact=True)


def test_fp32_numerics_round_only_what_is_stored_or_cast():
    text = """fn f(%x: bf16[n]):
  %a = mul %x, 3
  %b = add %a, %x
  %c = to %b {dtype=f32}
  %d = to %c {dtype=bf16}
  %e = neg %d
  return %e
"""
    (eager,), (fp32,) = (parts_of(text, numerics=n).parts for n in ("eager", "fp32"))
    assert [n.op.name for n in eager.kernel.body.nodes].count("round_to") == 3
    assert [n.op.name for n in fp32.kernel.body.nodes].count("round_to") == 1


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@given(st.randoms(use_true_random=False), st.integers(1, 12))
@settings(max_examples=40)
def test_random_functions(random, steps):
    """Whatever is fused, in whatever order parts run, the results are those of eager."""
    function = Programs(random).draw(steps)
    given_ = arguments(function)
    parts = groups(function, "cpu", Config())
    for got, want in zip(run(function, parts, given_), interpret(function, given_), strict=True):
        assert got.dtype == want.dtype
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-9, equal_nan=True)


@given(st.randoms(use_true_random=False), st.integers(1, 12), st.sampled_from((BF16, F16, F32)))
@settings(max_examples=40)
def test_random_exact_functions_are_bit_equal(random, steps, dtype):
    """16-bit values are rounded exactly where eager rounds them."""
    function = Programs(random, dtype, exact=True).draw(steps)
    given_ = arguments(function)
    parts = groups(function, "cpu", Config())
    for got, want in zip(run(function, parts, given_), interpret(function, given_), strict=True):
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
