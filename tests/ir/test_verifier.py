import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astjit.errors import InvalidIR
from astjit.ir import verifier
from astjit.ir.builder import infer_types
from astjit.ir.function import make_node
from astjit.ir.parser import parse
from astjit.ir.value import Param
from astjit.ir.verifier import Verified, verify, verify_block
from astjit.ops.table import OPS
from astjit.types.dtype import F32
from astjit.types.shape import Predicate, Sym, add
from astjit.types.tensor import TensorType
from tests.check import random_function

TEXT = """
fn f(%x: f32[a, b], %y: f32[b], %c: bool[]):
  %0 = add %x, %y : f32[a, b]
  %1 = sum %0 {dim=[1]} : f32[a]
  %2 = if %c : f32[a, b] {
    then():
      %3 = neg %0 : f32[a, b]
      yield %3
    else():
      yield %x
  }
  return %1, %2
"""


def problem(change):
    """What the verifier says after `change` has damaged the function."""
    function = parse(TEXT)
    verify(function)
    change(function, *function.body.nodes)
    with pytest.raises(InvalidIR) as caught:
        verify(function, after="cse")
    assert caught.value.after == "cse"
    assert "after pass 'cse'" in str(caught.value)
    assert caught.value.text.startswith("fn f(")
    return caught.value.problem


@given(st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_random_functions_are_valid(random):
    verify(random_function(random, regions=True))


def test_an_operand_is_defined_before_its_use():
    def swap(function, first, second, branch):
        function.body.nodes[:] = [second, first, branch]

    said = problem(swap)
    assert said == "`%0 = sum %1 {dim=[1]} : f32[a]` uses %1, which is not defined there"


def test_an_operand_belongs_to_the_function():
    def stranger(function, first, *rest):
        first.operands = (first.operands[0], Param(first.operands[1].type, "z"))

    assert problem(stranger) == "`%0 = add %x, %? : f32[a, b]` uses %?, which is not defined there"


def test_a_value_of_a_region_is_unknown_outside_and_in_the_other_arm():
    def leak(function, first, second, branch):
        function.results[0] = branch.regions[0].nodes[0].result

    assert problem(leak) == "the block's result %3 is not defined in it"

    def across(function, first, second, branch):
        branch.regions[1].results[0] = branch.regions[0].nodes[0].result

    assert problem(across) == "the block's result %3 is not defined in it"


def test_a_node_appears_once():
    def twice(function, first, *rest):
        function.body.nodes.insert(1, first)

    assert problem(twice) == "%0 is defined twice"


def test_parameters_are_unique():
    def twice(function, *nodes):
        function.params.append(function.params[0])

    assert problem(twice) == "%x is defined twice"


def test_types_may_name_either_of_two_sizes_assumed_equal():
    """Which of them a row names depends on what was assumed when it was made."""
    function = parse(TEXT.replace("(%x: f32[a, b], ", "(%x: f32[a, b], %z: f32[a], "))
    total = function.body.nodes[1].result
    total.type = TensorType(F32, (Sym("b"),))
    with pytest.raises(InvalidIR, match="the row infers"):
        verify(function)
    function.assumed = (*function.assumed, Predicate("==", Sym("a"), Sym("b")))
    verify(function)
    total.type = TensorType(F32, (Sym("b"), Sym("b")))
    with pytest.raises(InvalidIR, match="the row infers"):
        verify(function)


def test_types_are_what_the_row_infers():
    def retype(function, first, *rest):
        first.result.type = TensorType(F32, (Sym("b"), Sym("a")))

    said = problem(retype)
    assert said.endswith("the types are f32[b, a], the row infers f32[a, b]")

    def order(function, first, *rest):
        first.result.type = TensorType(F32, (Sym("a"), Sym("b")), (1, 0))

    assert problem(order).endswith("the types are f32[a, b] order(1,0), the row infers f32[a, b]")


def test_operands_fit_each_other():
    def shorter(function, first, *rest):
        function.params[1].type = TensorType(F32, (add(Sym("b"), 1),))

    assert "add(f32[a, b], f32[b + 1]): sizes b and b + 1 do not fit" in problem(shorter)


def test_sizes_fit_by_assumption_only():
    text = TEXT.replace("%y: f32[b]", "%y: f32[d]")
    with pytest.raises(InvalidIR, match="sizes b and d do not fit"):
        verify(parse(text))
    verify(parse(text.replace("%c: bool[]):", "%c: bool[]) where b == d:")))


def test_a_question_that_nothing_answers_is_named():
    text = "fn f(%x: f32[a]){}:\n  %0 = slice %x {{stop=4}} : f32[4]\n  return %0"
    with pytest.raises(InvalidIR, match="needs a < 4, which is not assumed"):
        verify(parse(text.format("")))
    verify(parse(text.format(" where 4 <= a")))


@pytest.mark.parametrize(
    ("operands", "said"),
    [(1, "add takes 2 operands, not 1"), (3, "add takes 2 operands, not 3")],
)
def test_operands_are_counted(operands, said):
    def count(function, first, *rest):
        first.operands = (first.operands * 2)[:operands]

    assert said in problem(count)


def test_only_optional_operands_are_absent():
    def absent(function, first, *rest):
        first.operands = (first.operands[0], None)

    assert "operand 'other' is absent" in problem(absent)


def test_fields_are_the_row_s_and_of_their_kind():
    def lose(function, first, second, branch):
        del second.fields["keepdim"]

    assert "the fields are ['dim', 'dtype'], the row's ['dim', 'dtype', 'keepdim']" in problem(lose)

    def change(function, first, second, branch):
        second.fields["dim"] = [1]

    assert problem(change).endswith("field dim=[1] is not of kind axes")

    def empty(function, first, second, branch):
        second.fields["keepdim"] = None

    assert problem(empty).endswith("field keepdim=none is not of kind bool")


def test_results_point_to_their_node():
    def other(function, first, second, branch):
        first.results = second.results

    assert "%0 points to another node" in problem(other)


def test_results_are_counted():
    def more(function, first, *rest):
        first.results = make_node(OPS["add"], (), {}, (first.result.type,) * 2).results
        for result in first.results:
            result.node = first
        function.body.nodes[1].operands = (first.results[0],)

    assert "2 results, but the row has 1" in problem(more)


def test_regions_are_for_control():
    def add_region(function, first, second, branch):
        first.regions = branch.regions
        branch.regions = ()
        function.body.nodes[:] = [first]

    assert "2 regions, but the row is of kind elementwise" in problem(add_region)

    def drop(function, first, second, branch):
        branch.regions = ()

    assert "0 regions, but the row is of kind control" in problem(drop)


def test_arms_yield_one_type():
    def other(function, first, second, branch):
        branch.regions[1].results[0] = second.result

    assert "the arms yield (f32[a, b]) and (f32[a])" in problem(other)


def test_the_row_is_the_table_s():
    def fake(function, first, *rest):
        row = OPS["add"]
        first.op = type(row)(name="plus", kind=row.kind, rule=row.rule, operands=row.operands)

    assert "the row 'plus' is not in the table" in problem(fake)


def test_every_size_symbol_is_read_from_a_parameter():
    text = "fn f(%x: f32[a]):\n  %n = size {value=2*z} : int\n  return %n"
    with pytest.raises(InvalidIR, match=r"has z, which is no size of a parameter"):
        verify(parse(text))
    with pytest.raises(InvalidIR, match=r"f32\[2\*a\] has a, which is no size"):
        verify(parse("fn f(%x: f32[2*a]):\n  return %x"))
    verify(parse("fn f(%x: f32[a] strides(s)):\n  %n = size {value=s} : int\n  return %n"))


def test_a_block_alone():
    function = parse(
        "fn f(%x: f32[a], %out: f32[a]):\n  %v = load %x {at='a'} : f32[]\n  return %v"
    )
    verify_block(function.body)
    function.body.nodes[0].result.type = TensorType(F32, (2,))
    with pytest.raises(InvalidIR, match=r"the types are f32\[2\], the row infers f32\[\]"):
        verify_block(function.body, after="lower")


def test_what_is_as_it_was_is_not_inferred_again(monkeypatch):
    function = parse(
        "fn f(%x: f32[a]):\n  %y = exp %x : f32[a]\n  %z = neg %y : f32[a]\n  return %z"
    )
    inferred = []
    known = infer_types

    def counted(op, *rest):
        inferred.append(op.name)
        return known(op, *rest)

    monkeypatch.setattr(verifier, "infer_types", counted)
    verified = Verified()
    verify(function, verified=verified)
    verify(function, verified=verified)
    assert inferred == ["exp", "neg"]
    function.assumed.append(Predicate("<", 2, Sym("a")))
    verify(function, verified=verified)
    assert inferred == ["exp", "neg"] * 2


def test_every_change_of_a_node_that_was_checked_is_seen():
    text = "fn f(%x: f32[a], %h: f16[a]):\n  %y = sum %x {dim=[0]} : f32[]\n"
    text += "  %z = neg %y : f32[]\n  return %z"

    def operand(function):
        function.body.nodes[0].operands = (function.params[1],)

    def kind(function):
        function.params[0].type = function.params[1].type

    def result(function):
        function.body.nodes[1].result.type = function.params[0].type

    def field(function):
        function.body.nodes[0].fields["keepdim"] = True

    def row(function):
        function.body.nodes[1].op = OPS["logical_not"]

    def order(function):
        function.body.nodes.reverse()

    for change in (operand, kind, result, field, row, order):
        function, verified = parse(text), Verified()
        verify(function, verified=verified)
        change(function)
        with pytest.raises(InvalidIR):
            verify(function, verified=verified)
