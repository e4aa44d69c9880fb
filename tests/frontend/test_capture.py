"""One capture: inputs, names, guards, sizes found equal."""

import pytest
import torch

from astjit.config import Config
from astjit.frontend.capture import Capture
from astjit.frontend.carriers import number_of
from astjit.frontend.reads import Reads
from astjit.frontend.stops import RAISED, Failed, NeedsGrad
from astjit.types.dim import floordiv
from astjit.types.shape import Predicate


@pytest.fixture
def capture():
    yield Capture("f", Reads(parameters=("x", "x0")), Config(), taken={"x", "x0", "total"})
    RAISED.first = None


def test_inputs_are_named_after_their_paths(capture):
    paths = ("x", "state['w']", "fn_globals['scale']", "cell_bias.cell_contents", "self.w[0]")
    for path in paths:
        capture.lift(torch.ones(2), path)
    shown = [(p.name, str(p.type)) for p in capture.function.params]
    assert shown == [
        ("x", "f32[x0_]"),  # a parameter of the user's is called x0
        ("state_w", "f32[state_w0]"),
        ("scale", "f32[scale0]"),
        ("bias", "f32[bias0]"),
        ("w", "f32[w0]"),
    ]
    assert capture.size_paths["state_w0"] == "state['w'].shape[0]"


def test_names_do_not_meet(capture):
    assert [capture.fresh("y"), capture.fresh("y"), capture.fresh("total")] == ["y", "y_", "total_"]
    assert capture.fresh("total", own=True) == "total"
    assert capture.fresh("x", own=True) == "x_"


def test_a_guard_is_kept_once(capture):
    capture.guard("x is None", "why")
    capture.guard("x is None", "again")
    assert [g.reason for g in capture.reads.guards] == ["why"]


def test_a_result_that_is_an_operand_is_that_tensor(capture):
    x = capture.lift(torch.ones(2, 3), "x")
    value = capture.emit("neg", x.value)
    assert capture.wrap(value) is not capture.wrap(value)
    assert capture.wrap(x.value, [x]) is x
    capture.bind("y", capture.wrap(value))
    capture.bind("z", capture.wrap(value))
    assert value.name == "y"


def test_operands_that_do_not_fit_fail(capture):
    x, y = capture.lift(torch.ones(2), "x"), capture.lift(torch.ones(3), "y")
    with pytest.raises(Failed, match="do not fit"):
        capture.emit("add", x.value, y.value)


def test_gradients_are_told_apart(capture):
    weight = torch.ones(2, requires_grad=True)
    with pytest.raises(NeedsGrad, match="x"):
        capture.lift(weight, "x")
    with torch.no_grad():
        assert capture.lift(weight, "x").wants_grad


def test_sizes_found_equal_become_one(capture):
    x = capture.lift(torch.ones(4, 6), "x")
    y = capture.lift(torch.ones(6), "y")
    z = capture.lift(torch.ones(4, 6), "z")
    added = capture.emit("add", x.value, y.value)
    capture.function.body.results = [capture.emit("mul", added, z.value)]
    assert capture.sizes.holds("==", z.kind.dims[0], 4)
    assert str(capture.root_of(z.kind.dims[0])) == "4"
    function = capture.finish()
    assert [str(p.type) for p in function.params] == ["f32[4, x1]", "f32[x1]", "f32[4, x1]"]
    assert function.assumed == []


def test_an_equality_that_another_one_makes_plain_is_found_too(capture):
    x, y = capture.lift(torch.ones(4), "x"), capture.lift(torch.ones(8), "y")
    (half,), (whole,) = x.kind.dims, y.kind.dims
    assert capture.sizes.holds("==", half, floordiv(whole, 2))
    assert capture.sizes.holds("==", whole, 8)
    function = capture.finish()
    assert [str(p.type) for p in function.params] == ["f32[4]", "f32[8]"]
    assert function.assumed == []


def test_facts_that_are_no_equality_stay(capture):
    x = capture.lift(torch.ones(4, 6), "x")
    rows, cols = x.kind.dims
    assert not capture.sizes.holds("<", cols, rows)
    assert capture.finish().assumed == [Predicate("<=", rows, cols)]


def test_an_alias_is_another_object_of_one_value(capture):
    x = capture.lift(torch.ones(2), "x")
    other = capture.alias(x, ".detach()")
    assert other is not x
    assert (other.value, other.alias) == (x.value, ".detach()")


def test_the_default_dtype_is_that_of_torch():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        capture = Capture("f", Reads(), Config())
    finally:
        torch.set_default_dtype(before)
    x = capture.lift(torch.arange(3), "x")
    assert str(capture.emit("exp", x.value).type) == "f64[x0]"
    assert capture.function.default.name == "f64"


def test_big_integers_are_static(capture):
    assert capture.scalar(2**63, "x") == 2**63
    assert [g.test for g in capture.reads.guards] == ["type(x) is int", f"x == {2**63}"]
    assert number_of(capture.scalar(2**63 - 1, "y")).value is not None


def test_after_the_end_no_tensor_is_kept(capture):
    x = torch.ones(2)
    made = capture.lift(x, "x")
    assert capture.real(made) is x
    assert capture.input_tensors() == [made]
    capture.close()
    assert capture.real(made) is None
    assert capture.input_tensors() == []
