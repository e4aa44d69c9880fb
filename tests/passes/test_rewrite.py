from astjit.ir.parser import parse
from astjit.ir.printer import function_text
from astjit.ir.value import Literal
from astjit.passes.rewrite import Replacements, leaving, rewrite
from tests.check import check_alone, check_pass

TEXT = """
fn f(%x: f32[a, b], %c: bool[]):
  %0 = exp %x : f32[a, b]
  %1 = slice %0 {stop=0} : f32[0, b]
  %2 = neg %0 : f32[a, b]
  %3 = if %c : f32[a, b] {
    then():
      %4 = tanh %2 : f32[a, b]
      yield %4
    else():
      %5 = neg %x : f32[a, b]
      yield %5
  }
  %6 = library %2 {target='torch.relu', template=(($0,), {})} : f32[a, b]
  %7 = mul %x, 2.0 : f32[a, b]
  %8 = matmul %7, %7 : f32[a, a]
  %n = size {value=a} : int
  return %1, %3, %6, %8, %n
"""


def skip_exp(function):
    """A pass for the tests: exp of x becomes x."""
    return rewrite(function, lambda n: n.operands[0] if n.op.name == "exp" else None)


def test_what_leaves_is_results_and_what_they_may_be_views_of():
    text = TEXT.replace("matmul %7, %7 : f32[a, a]", "matmul %7, %x : f32[a, a]")
    function = parse(text.replace("%x: f32[a, b]", "%x: f32[a, a]").replace("[a, b]", "[a, a]"))
    ops = {v.node.op.name for v in leaving(function) if hasattr(v, "node")}
    assert ops == {"slice", "exp", "if", "tanh", "neg", "library", "matmul"}
    product = function.body.nodes[-2]
    assert product.operands[0] not in leaving(function)
    assert function.results[-1] not in leaving(function)  # a number has no memory


def test_operands_are_replaced_and_the_node_stays():
    check_pass(
        skip_exp,
        """
        fn f(%x: f32[a]):
          %y = exp %x : f32[a]
          %0 = add %y, %y : f32[a]
          return %0
        """,
        """
        fn f(%x: f32[a]):
          %y = exp %x : f32[a]
          %0 = add %x, %x : f32[a]
          return %0
        """,
    )


def test_a_result_keeps_its_node():
    check_alone(
        skip_exp,
        """
        fn f(%x: f32[a]):
          %y = exp %x : f32[a]
          %0 = slice %y {stop=0} : f32[0]
          return %0
        """,
    )


def test_the_user_s_name_moves_to_a_nameless_value():
    check_pass(
        skip_exp,
        """
        fn f(%x: f32[a]):
          %0 = neg %x : f32[a]
          %y = exp %0 : f32[a]
          %1 = add %y, 1.0 : f32[a]
          return %1
        """,
        """
        fn f(%x: f32[a]):
          %y = neg %x : f32[a]
          %y.1 = exp %y : f32[a]
          %0 = add %y, 1.0 : f32[a]
          return %0
        """,
    )


def test_numbers_are_replaced_in_results_too():
    function = parse("fn f(%x: f32[a]):\n  %n = size {value=a} : int\n  return %n, %x")
    changes = Replacements(function)
    changes.replace(function.body.nodes[0], [Literal(3)])
    changes.finish(function.body)
    assert changes.changed
    assert function_text(function).splitlines()[-1] == "  return 3, %x"


def test_a_replacement_without_a_use_is_no_change():
    function = parse("fn f(%x: f32[a]):\n  %0 = exp %x : f32[a]\n  return %x")
    assert not skip_exp(function)
