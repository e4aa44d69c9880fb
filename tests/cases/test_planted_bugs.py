"""Generated kernels with one bug planted in each: something notices, in every order of threads."""

import re
from dataclasses import dataclass

import pytest
import torch

from astjit.codegen.emit import cuda_unit
from astjit.fusion.launch import launch
from astjit.fusion.schedule import schedule
from tests.codegen import records
from tests.emulator import SCHEDULES, build, emulate
from tests.kernels import no_source

VALUES = "values differ"


@dataclass(frozen=True)
class Bug:
    """A change to a kernel's text, or to its helpers, and what is said of it then."""

    name: str
    kernel: str
    old: str
    new: str
    expected: str


# kernel: how it is made, rows, cols, alignment
KERNELS = {
    "pointwise": (records.bias_gelu, 5, 250, 4),
    "warp": (records.softmax, 5, 100, 16),
    "resident": (records.softmax, 3, 2047, 4),
    "looped": (records.softmax, 2, 5000, 16),
}
BUGS = (
    Bug("a row too many", "pointwise", "if (row >= rows) return;", "", "out-of-bounds"),
    Bug("lanes past the end", "pointwise", "v < left", "v <= left", "out-of-bounds|race"),
    Bug("a vector from anywhere", "pointwise", "load<4>(x + row_start + col, cols - col)",
        "*reinterpret_cast<const Vec<float, 4>*>(x + row_start + col)", "misaligned|out-of-bounds"),
    Bug("threads of no row", "warp", "inside && ", "", "out-of-bounds"),
    Bug("a group of a warp too small", "warp", "warp_reduce<Sum, 32>", "warp_reduce<Sum, 16>",
        VALUES),
    Bug("some threads leave", "warp", "const bool inside = row < rows;",
        "const bool inside = row < rows;\n  if (threadIdx.x > 25) return;", "has exited|deadlock"),
    Bug("no barrier", "resident", "__syncthreads();", "", "uninitialised|race"),
    Bug("one slot for two reductions", "resident", "slots[1]", "slots[0]", "write-after-read race"),
    Bug("lanes past the end are counted", "resident", "if (col + v >= cols) break;", "", VALUES),
    Bug("a maximum that starts at 0", "resident", "= -INFINITY", "= 0.0f", VALUES),
    Bug("a barrier for some", "resident", "float row_sum = 0.0f;",
        "float row_sum = 0.0f;\n  if (threadIdx.x < 64) __syncthreads();", "divergent barrier"),
    Bug("a step too long", "looped", "col += 2048", "col += 4096", VALUES),
    Bug("one step too many", "looped", "col < cols", "col <= cols", "out-of-bounds|race"),
)  # fmt: skip


def text_of(name):
    make, rows, cols, alignment = KERNELS[name]
    sizes = {"rows": rows, "cols": cols}
    kernel = make()
    chosen = schedule(kernel, "cuda", sizes, alignment)
    text = cuda_unit([(kernel, chosen)], no_source, "sm_90")
    return text, kernel, launch(kernel, chosen, sizes)


def planted(bug):
    text, _, _ = text_of(bug.kernel)
    both = [part.replace(bug.old, bug.new) for part in (text.helpers, text.kernels)]
    assert both != [text.helpers, text.kernels], "the bug is not planted"
    return tuple(both)


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """All texts at once: most of a small build is the start of g++."""
    right = [(t.helpers, t.kernels) for t, _, _ in map(text_of, KERNELS)]
    build([*right, *map(planted, BUGS)])


def said(name, helpers, kernels, order):
    """What is noticed of a launch, on inputs below -120 that begin one element off."""
    text, kernel, plan = text_of(name)
    _, rows, cols, alignment = KERNELS[name]
    torch.manual_seed(0)
    off = 0 if alignment == 16 else 1
    buffers = {}
    for buffer in kernel.buffers:
        count = cols * (rows if "rows" in buffer.axes else 1)
        values = -120 - torch.rand(count + off)[off:]
        buffers[buffer.name] = values if buffer.role == "in" else torch.full_like(values, torch.nan)
    given = {"rows": rows, "cols": cols, **buffers}
    args = [given[a.name] for a in text.entries[kernel.name].arguments]
    report = emulate(
        helpers, kernels, kernel.name, None, args, plan.grid, plan.block, schedule=order, seed=5
    )
    found = list(report.errors)
    x = buffers["x"].view(rows, cols)
    if name == "pointwise":
        h = torch.nn.functional.gelu(x + buffers["bias"], approximate="tanh")
        want = h + buffers["residual"].view(rows, cols)
    else:
        want = torch.softmax(x, -1)
    same = torch.allclose(buffers["out"].view(rows, cols), want, rtol=1e-5, atol=1e-7)
    return found if same else [*found, VALUES]


@pytest.mark.parametrize("order", SCHEDULES)
@pytest.mark.parametrize("name", KERNELS)
def test_nothing_is_said_of_right_kernels(name, order):
    text, _, _ = text_of(name)
    assert said(name, text.helpers, text.kernels, order) == []


@pytest.mark.parametrize("order", SCHEDULES)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name.replace(" ", "-"))
def test_a_planted_bug_is_noticed(bug, order):
    found = said(bug.kernel, *planted(bug), order)
    assert any(re.search(bug.expected, line) for line in found), found
