"""Kernels that write to an input where it lies: when they may, and that they do it right."""

import pytest
import torch

from astjit.codegen.emit import cuda_unit
from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.inplace import in_place
from astjit.fusion.kernel import Group
from astjit.fusion.schedule import schedule
from astjit.ir.parser import parse
from astjit.runtime.interpret import bind_sizes
from astjit.targets.nvrtc import compile_cuda
from tests.kernels import build_cpu, cuda_variant, emulate_launch, no_source, run_cpu, run_parts

SCALED = """\
fn scaled(%x: f32[n], %g: f32[n], %lr: float):
  %1 = mul %g, %lr : f32[n]
  %2 = sub %x, %1 : f32[n]
  return %2
"""
NORMED = """\
fn normed(%x: f32[rows, cols], %w: f32[cols]):
  %1 = softmax %x {dim=-1} : f32[rows, cols]
  %2 = mul %1, %w : f32[rows, cols]
  return %2
"""
FILLED = """\
fn filled(%x: f32[n], %g: f32[n]):
  %1 = exp %g : f32[n]
  return %1
"""
READ_LATER = """\
fn later(%x: f32[n], %g: f32[n, n]):
  %1 = add %x, 1.0 : f32[n]
  %2 = matmul %g, %x : f32[n]
  return %2, %1
"""
TRANSPOSED = """\
fn transposed(%x: f32[n, n]):
  %1 = permute %x {dims=[1, 0]} : f32[n, n] order(1,0)
  %2 = add %x, %1 : f32[n, n]
  return %2
"""
TWO = """\
fn two(%x: f32[n], %g: f32[n]):
  %1 = add %x, %g : f32[n]
  %2 = exp %1 : f32[n]
  return %2, %1
"""
ADD_NORM = """\
fn add_norm(%x: f32[rows, cols], %y: f32[rows, cols]):
  %1 = add %x, %y : f32[rows, cols]
  %2 = softmax %1 {dim=-1} : f32[rows, cols]
  return %2, %1
"""
OLD_AND_NEW = """\
fn old_and_new(%x: f32[rows, cols]):
  %1 = amax %x {dim=(1,), keepdim=True} : f32[rows, 1]
  %2 = mul %x, 2.0 : f32[rows, cols]
  %3 = sub %x, %1 : f32[rows, cols]
  return %3, %2
"""


def cut(text, result=0):
    """The function, and its parts with result number `result` written to %x."""
    function = parse(text)
    parts = groups(function, "cpu", Config())
    return function, in_place(parts, {function.results[result]: function.params[0]})


def roles(parts):
    return [
        {b.name: b.role for b in part.kernel.buffers}
        for part in parts.parts
        if isinstance(part, Group)
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (SCALED, [{"x": "inout", "g": "in"}]),
        (NORMED, [{"x": "inout", "w": "in"}]),
        (FILLED, [{"g": "in", "out": "out"}]),
        (TRANSPOSED, [{"x": "in", "x_": "in", "out": "out"}]),
    ],
    ids=lambda value: value.split("(")[0] if isinstance(value, str) else "",
)
def test_the_role_of_what_is_read_and_written(text, wanted):
    _, parts = cut(text)
    found = roles(parts)
    assert [sorted(r.values()) for r in found] == [sorted(w.values()) for w in wanted]
    held = [part.held for part in parts.parts if isinstance(part, Group)]
    assert [bool(h) for h in held] == [text is not TRANSPOSED]


def test_not_where_something_later_reads_what_was_there():
    _, parts = cut(READ_LATER, result=1)
    assert all(not part.held for part in parts.parts if isinstance(part, Group))


def test_beside_another_output():
    _, parts = cut(TWO, result=1)
    (group,) = parts.parts
    assert sorted(b.role for b in group.kernel.buffers) == ["in", "inout", "out"]
    assert len(group.outputs) == 1


def test_what_is_written_is_read_again_where_it_lies():
    _, parts = cut(ADD_NORM, result=1)
    (group,) = parts.parts
    assert sorted(b.role for b in group.kernel.buffers) == ["in", "inout", "out"]
    for target in ("cpu", "cuda"):
        chosen = schedule(group.kernel, target, {"rows": 2, "cols": 50_000}, 16)
        assert "x" in dict(chosen.keep).values()


def test_not_where_a_later_pass_reads_what_was_there():
    _, parts = cut(OLD_AND_NEW, result=1)
    (group,) = parts.parts
    assert [b.role for b in group.kernel.buffers] == ["in", "out", "out"]


def arguments(text):
    torch.manual_seed(0)
    if text is NORMED:
        return [torch.randn(3, 1000), torch.randn(1000)]
    return [torch.randn(1003), torch.randn(1003), 0.1][: 3 if text is SCALED else 2]


def expected(text, given):
    x, y = given[0], given[1]
    if text is SCALED:
        return x - y * 0.1
    return x.softmax(-1) * y if text is NORMED else y.exp()


@pytest.mark.parametrize("text", [SCALED, NORMED, FILLED], ids=["scaled", "normed", "filled"])
@pytest.mark.parametrize("where", ["cpu", "emulator"])
def test_the_input_holds_the_result(text, where):
    function, parts = cut(text)
    given = arguments(text)
    wanted = expected(text, [t.clone() if isinstance(t, torch.Tensor) else t for t in given])
    kernels = [part.kernel for part in parts.parts if isinstance(part, Group)]
    if where == "cpu":
        library, made = build_cpu(kernels)

        def run(group, memory, sizes):
            run_cpu(library, made.entries[group.kernel.name], group, memory, sizes)
    else:

        def run(group, memory, sizes):
            buffers, values, chosen, plan = cuda_variant(group, memory, sizes)
            text = cuda_unit([(group.kernel, chosen)], no_source, "sm_90")
            emulate_launch(text, text.entries[group.kernel.name], buffers, values, plan)

    (result,) = run_parts(function, parts, given, bind_sizes(function.params, given), run)
    assert result is given[0]
    assert torch.allclose(result, wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("text", [SCALED, NORMED, FILLED], ids=["scaled", "normed", "filled"])
def test_the_cuda_text_builds(text):
    _, parts = cut(text)
    (kernel,) = (part.kernel for part in parts.parts if isinstance(part, Group))
    for cols in (1000, 8192):
        sizes = dict.fromkeys(kernel.axes, cols)
        made = cuda_unit([(kernel, schedule(kernel, "cuda", sizes, 16))], no_source, "sm_90")
        assert "__restrict__ x," not in made.kernels
        assert compile_cuda(made.source, "sm_90").cubin


def test_of_kernels_that_are_built_when_launched_the_last_alone_writes():
    function = parse("""\
fn both(%x: f32[n], %y: f32[m]):
  %1 = add %x, 1.0 : f32[n]
  %2 = mul %y, 2.0 : f32[m]
  return %1, %2
""")
    for built, wanted in ((True, [True, True]), (False, [False, True])):
        parts = groups(function, "cuda", Config())
        written = dict(zip(function.results, function.params, strict=True))
        made = in_place(parts, written, built=built)
        assert [bool(part.held) for part in made.parts if isinstance(part, Group)] == wanted
