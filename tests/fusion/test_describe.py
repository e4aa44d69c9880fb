"""A kernel as text."""

from astjit.config import Config
from astjit.fusion.describe import describe, describe_group
from astjit.fusion.group import groups
from astjit.ir.parser import parse

TEXT = """fn f(%x: bf16[rows, 8] strides(s, 1), %k: int):
  %0 = mul %x, %k
  %y = sum %0 {dim=[1]}
  return %y
"""
KERNEL = """kernel f row(rows | cols)
  in x: bf16[rows, cols] strides(x_stride_rows, 1)
  out y: bf16[rows]
  number k: int
  %x_ = load x [rows, cols]
  %0 = to k {f32}
  %1 = mul %x_, %0
  %2 = round_to %1 {bf16}
  %y_ = reduce %2 {sum}
  store y [rows], %y_
"""


def test_describe():
    (group,) = groups(parse(TEXT), "cpu", Config()).parts
    assert describe(group.kernel) == KERNEL
    sizes = "  size rows = rows\n  size cols = 8\n  stride x_stride_rows = s\n"
    assert describe_group(group) == KERNEL + sizes
