"""Programs made from SSA text, without the front end."""

import textwrap

from astjit.config import Config
from astjit.frontend.reads import Container, Leaf, Reads
from astjit.fusion.group import groups
from astjit.ir.parser import parse
from astjit.passes.pipeline import run
from astjit.runtime.load import program
from astjit.targets.table import TARGETS

RMS_NORM = """
    fn rms_norm(%x: f32[x0, x1], %residual: f32[x0, x1], %w: f32[x1], %eps: float):
      %h = add %x, %residual : f32[x0, x1]  ; model.py:2
      %0 = mul %h, %h : f32[x0, x1]  ; model.py:3
      %1 = mean %0 {dim=[-1], keepdim=true} : f32[x0, 1]  ; model.py:3
      %2 = add %1, %eps : f32[x0, 1]  ; model.py:3
      %3 = rsqrt %2 : f32[x0, 1]  ; model.py:3
      %4 = mul %h, %3 : f32[x0, x1]  ; model.py:3
      %y = mul %4, %w : f32[x0, x1]  ; model.py:3
      return %h, %y
"""


def function(text):
    return parse(textwrap.dedent(text).strip())


def reads_of(fn, **more):
    """Parameters by their paths, and the results as a tuple."""
    names = tuple(p.path for p in fn.params if p.path.isidentifier())
    leaves = tuple(Leaf(at) for at in range(len(fn.results)))
    output = leaves[0] if len(leaves) == 1 else Container("tuple", leaves)
    return Reads(**{"parameters": names, "output": output, **more})


def made(text, target="cpu", reads=None):
    """The program of SSA text."""
    fn, config = function(text), Config()
    run(fn, config)
    parts = groups(fn, target, config)
    return program(fn, parts, reads or reads_of(fn), TARGETS[target])
