from astjit.ir.parser import parse
from astjit.ir.printer import function_text
from astjit.ir.value import Literal
from astjit.ir.verifier import verify
from astjit.types.shape import Sym, text
from tests.check import text_of

TEXT = """
fn f(%x: f32[a, b], %y: f32[c], %p: bool[]) where b == c, a != 1:
  %0 = add %x, %y : f32[a, b]
  %n = size {value=2*a} : int
  %1 = library %x {target='torch.sort', template=(($0,), {})} : f32[a, b]
  %2 = if %p : f32[a, b] {
    then():
      %3 = neg %0 : f32[a, b]
      yield %3
    else():
      yield %1
  }
  return %2, %n
"""


def test_substitute_reaches_types_fields_regions_and_assumptions():
    function = parse(TEXT)
    function.substitute({"c": Sym("b"), "a": 7})
    verify(function)  # with the result types that a library call holds
    expected = TEXT.replace("where b == c, a != 1", "").replace(" :\n", ":\n", 1)
    expected = expected.replace("2*a", "14").replace("[a,", "[7,").replace("[c]", "[b]")
    assert function_text(function) == text_of(expected)


DIVIDED = """
fn f(%x: f32[1, a, b], %z: f32[c, d]) where N // M != -1, (N // M)*a == 2*c, b == d, M != 0:
  %y = expand %x {size=[N // M, a, b]} : f32[N // M, a, b] strides(0,b,1)
  return %y
""".replace("N // M", "((4*a*b) // (8*a))").replace("M", "8*a")


def test_substitute_works_divisions_out_alike_in_types_fields_and_assumptions():
    function = parse(DIVIDED)
    function.substitute({"b": 4, "d": 4})
    verify(function)
    assert [str(fact) for fact in function.assumed] == ["2*a == 2*c", "8*a != 0"]
    (node,) = function.body.nodes
    assert node.fields["size"] == (2, Sym("a"), 4)
    assert node.result.type.dims == (2, Sym("a"), 4)


def test_substitute_keeps_a_division_by_what_may_be_0():
    function = parse(DIVIDED.replace(", 8*a != 0", ""))
    function.substitute({"b": 4, "d": 4})
    (node,) = function.body.nodes
    assert text(node.fields["size"][0]) == "(16*a) // (8*a)"
    assert len(function.assumed) == 2


def test_replace_reaches_regions_and_results():
    function = parse(TEXT)
    x, y, _ = function.params
    first = function.body.nodes[0].result
    size = function.body.nodes[1].result
    function.body.replace({first: x, size: Literal(3)})
    text = function_text(function)
    assert "neg %x" in text
    assert "return %2, 3\n" in text.replace("%3 = if", "%2 = if")
    assert function.body.nodes[0].operands == (x, y)


def test_walk_visits_regions_after_their_node():
    ops = [node.op.name for node in parse(TEXT).body.walk()]
    assert ops == ["add", "size", "library", "if", "neg"]


def test_values_are_the_operands_that_are_present():
    node = parse(TEXT).body.nodes[0]
    node.operands = (node.operands[0], None)
    assert node.values == (node.operands[0],)
