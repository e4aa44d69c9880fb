"""Names of kernels, buffers and numbers that are safe in C, and the way back."""

from dataclasses import replace

from astjit.codegen.names import Names
from astjit.codegen.rename import rename
from astjit.codegen.signature import Argument
from astjit.fusion.schedule import Schedule, schedule
from tests.codegen import records


def renamed(kernel, taken=(), fixed=(), suffix=""):
    return rename(kernel, schedule(kernel, "cpu", {}, 64), Names(taken), fixed, suffix)


def with_buffer(kernel, old, new):
    buffers = tuple(replace(b, name=new) if b.name == old else b for b in kernel.buffers)
    return replace(kernel, buffers=buffers)


def test_free_names_stay():
    made = renamed(records.rms_norm())
    assert made.kernel.name == records.rms_norm().name
    assert [b.name for b in made.kernel.buffers] == ["x", "residual", "weight", "h", "y"]
    assert made.numbers == ("eps",)


def test_what_would_be_hidden_is_renamed():
    kernel = with_buffer(with_buffer(records.softmax(), "x", "mask"), "out", "cols")
    made = renamed(replace(kernel, name="exp"), fixed=("mask",), suffix="_kernel")
    assert made.kernel.name == "exp_kernel"
    assert [b.name for b in made.kernel.buffers] == ["mask2", "cols2"]


def test_two_kernels_of_one_text_have_two_names():
    names = Names()
    kernel = records.softmax()
    first = rename(kernel, Schedule("cpu"), names, ())
    second = rename(kernel, Schedule("cpu"), names, ())
    assert first.kernel.name != second.kernel.name


def test_kept_values_follow_their_buffer():
    kernel = with_buffer(records.softmax(), "out", "mask")
    made = renamed(kernel, fixed=("mask",))
    places = {place for _, place in made.schedule.keep}
    assert places == {"mask2"}


def test_the_entry_speaks_the_users_names():
    kernel = with_buffer(records.rms_norm(), "x", "mask")
    made = renamed(kernel, taken=("eps",), fixed=("mask",))
    arguments = [Argument("buffer", "mask2", "pointer"), Argument("number", "eps2", "float")]
    entry = made.entry([*arguments, Argument("size", "cols", "long")])
    assert [a.name for a in entry.arguments] == ["mask", "eps", "cols"]
    assert [a.ctype for a in entry.arguments] == ["pointer", "float", "long"]
