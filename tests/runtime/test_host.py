import ast

import pytest
import torch

from astjit.errors import InternalError
from astjit.frontend.reads import Container, Fetched, Leaf, Reads
from astjit.runtime.host import HostWriter
from astjit.runtime.load import load
from tests.runtime.made import RMS_NORM, function, made, reads_of


def no_source(place):
    return "" if place.line != 2 else "    h = x + residual\n"


def test_the_host_function_reads_as_written(golden):
    golden("program/rms_norm.py", made(RMS_NORM).host.text)


def test_source_lines_stand_above_what_computes_them():
    program = made(RMS_NORM)
    host = HostWriter(program.function, program.reads, no_source)
    text = host.write(program.parts, program.unit.entries).text
    assert "    # h = x + residual   (model.py:2)\n    # (model.py:3)\n    h = empty" in text
    assert max(map(len, text.splitlines())) <= 100


def test_names_of_the_user_are_kept_apart_from_ours():
    program = made(
        """
        fn MISS(%threads: f32[n, m], %out: float):
          %threads2 = add %threads, %out : f32[n, m]
          return %threads2
        """
    )
    x = torch.randn(600, 700)
    torch.testing.assert_close(load(program).run(x, 2.0), x + 2.0)


MATMUL = """
    fn f(%x: f32[n, k], %w: f32[k, m]):
      %h = add %x, 1.0 : f32[n, k]
      %p = matmul %h, %w : f32[n, m]
      %y = exp %p : f32[n, m]
      return %y
"""


def test_library_calls_stand_between_kernels_and_the_dead_are_dropped():
    text = made(MATMUL).host.text
    body = [line.strip() for line in text.splitlines()]
    called = body.index("p = h @ w")
    assert body[called + 1] == "del h"
    assert body[-1] == "return y"
    assert sum("_kernel(" in line for line in body) == 2
    x, w = torch.randn(3, 4), torch.randn(4, 5)
    torch.testing.assert_close(load(made(MATMUL)).run(x, w), torch.exp((x + 1) @ w))


def test_results_in_containers_and_as_given():
    reads = Reads(
        ("x", "other"),
        output=Container(
            "dict",
            (Leaf(0), Container("list", (Fetched("other"), Container("tuple", (Leaf(0),))))),
            ("'a'", "'b'"),
        ),
    )
    text = "fn f(%x: f32[n]):\n  %y = neg %x : f32[n]\n  return %y"
    given = object()
    out = load(made(text, reads=reads)).run(torch.ones(3), given)
    assert out["a"].tolist() == [-1, -1, -1]
    assert out["b"][0] is given
    assert out["b"][1] == (out["a"],)


def test_host_numbers_are_computed_by_python():
    text = """
        fn f(%x: f32[n], %a: float):
          %b = mul %a, 2.0 : float
          %y = mul %x, %b : f32[n]
          return %y, %b
    """
    y, b = load(made(text)).run(torch.ones(3), 1.5)
    assert (y.tolist(), b) == ([3.0] * 3, 3.0)


def test_views_are_torchs_own_and_share_memory():
    text = """
        fn f(%x: f32[n, m]):
          %y = permute %x {dims=[1, 0]} : f32[m, n] order(1,0)
          return %y
    """
    x = torch.randn(3, 5)
    y = load(made(text)).run(x)
    assert y.data_ptr() == x.data_ptr()
    assert (y.shape, y.stride()) == ((5, 3), (1, 5))


def test_a_part_of_an_input_is_read_where_it_lies():
    text = """
        fn f(%x: f32[8, 4]):
          %part = slice %x {dim=0, start=2, stop=6} : f32[4, 4]
          %y = neg %part : f32[4, 4]
          return %y
    """
    program = made(text)
    assert "x.data_ptr() + 32" in program.host.text
    x = torch.randn(8, 4)
    torch.testing.assert_close(load(program).run(x), -x[2:6])


def test_results_have_the_layout_of_their_type():
    text = """
        fn f(%x: f32[n, m] order(1,0)):
          %y = add %x, 1.0 : f32[n, m] order(1,0)
          return %y
    """
    x = torch.randn(5, 3).t()
    y = load(made(text)).run(x)
    assert y.stride() == x.stride()
    torch.testing.assert_close(y, x + 1)


def test_the_interpreted_program_gives_the_same():
    program = made(RMS_NORM)
    writer = HostWriter(program.function, program.reads, no_source)
    text = writer.write_interpreted(lambda *given: [len(given), "y"])
    namespace = dict(text.namespace)
    exec(text.text, namespace)
    x = torch.ones(2, 3)
    assert namespace[text.name](x, x, torch.ones(3), 1e-6) == (4, "y")


def test_torch_must_be_torch():
    fn = function("fn f(%x: f32[n]):\n  return %x")
    with pytest.raises(InternalError, match="`torch`"):
        HostWriter(fn, reads_of(fn, constants={"torch": object()}), no_source)


def test_on_cuda_memory_is_torchs_and_threads_are_not_asked_for():
    there = RMS_NORM.replace("]", "] @cuda:0").replace("[-1] @cuda:0", "[-1]")
    text = made(there, "cuda").host.text
    assert "x.get_device() != 0" in text
    assert "h = empty_like(x)" in text
    assert "threads(" not in text
    ast.parse(text)


def test_strides_of_new_tensors():
    text = "fn f(%x: f32[a, b, 3, 1, c]):\n  %y = neg %x : f32[a, b, 3, 1, c]\n  return %y"
    program = made(text)
    strides = "((b or 1) * 3 * (c or 1), 3 * (c or 1), c or 1, c or 1, 1)"
    assert f"empty_strided_cpu((a, b, 3, 1, c), {strides}, float32)" in program.host.text
    for sizes in ((2, 4, 3, 1, 5), (2, 0, 3, 1, 5), (0, 4, 3, 1, 0)):
        x = torch.randn(sizes)
        assert load(program).run(x).stride() == x.stride()
