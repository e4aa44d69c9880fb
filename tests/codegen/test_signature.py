"""The contract between a text and the host: arguments in order, parts of a text."""

from astjit.codegen.emit import cpu_unit, cuda_unit
from astjit.codegen.signature import Entry, Text
from astjit.fusion.schedule import schedule
from tests.codegen import records

SIZES = {"rows": 3, "cols": 4096}


def entry(kernel, target):
    pair = [(kernel, schedule(kernel, target, SIZES, 16))]
    unit = cpu_unit if target == "cpu" else cuda_unit
    return unit(pair, records.source_line, "sm_90").entries[kernel.name]


def told(found):
    return [f"{a.role} {a.name} {a.ctype}" for a in found.arguments]


def test_arguments_on_the_cpu():
    found = entry(records.rms_norm(), "cpu")
    assert (found.name, found.scratch) == ("rms_norm_kernel", 0)  # no name of the C library's
    buffers = [f"buffer {name} pointer" for name in ("x", "residual", "weight", "h", "y")]
    assert told(found) == [
        *buffers,
        "size rows long",
        "size cols long",
        "number eps float",
        "threads threads int",
    ]


def test_scratch_is_counted_a_thread():
    found = entry(records.softmax("bf16"), "cpu")
    assert found.scratch == 1
    assert "work work pointer" in told(found)


def test_arguments_on_cuda():
    found = entry(records.rms_norm(), "cuda")
    assert told(found)[5:] == ["size cols int", "number eps float"]  # rows are the grid
    assert told(entry(records.bias_gelu(), "cuda"))[4:] == ["size rows int", "size cols int"]


def test_a_text_is_its_parts():
    made = Text("// options\n", "helpers\n", "kernels\n", {"k": Entry("k", ())})
    assert made.source == "// options\n\nhelpers\n\nkernels\n"
    assert Text("// options\n", "", "kernels\n", {}).source == "// options\n\nkernels\n"
