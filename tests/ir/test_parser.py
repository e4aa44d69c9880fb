import textwrap

import pytest

from astjit.errors import ParseError
from astjit.ir.parser import parse
from astjit.ir.printer import function_text
from astjit.ir.value import Literal
from astjit.location import Location
from astjit.ops.library import Slot
from astjit.types.dtype import F64
from astjit.types.shape import Predicate, Sym

WHOLE = """\
fn Model.forward(%x: f32[x0, x1], %w = d['a:b, c'][0]: f32[w0] @cuda:0, %c: bool[]) where x1 == w0,
    min(x0, 3) < x1:
  %0 = sum %x {dim=[1], dtype=f64} : f64[x0]  ; dir with space/model.py:12
  %s, %i = library %x, 2 {target='torch.sort', template=(($0, $1), {})} : f32[x0, x1], i64[x0, x1]
  %r = if %c : f32[x0, x1] {  ; model.py:8
    then():
      %t = neg %s : f32[x0, x1]  ; model.py:9
      yield %t
    else():
      yield %x
  }
  %h, %all = for %r {trip=x0} : f32[x0, x1], f32[x0, x0, x1] {
    body(%k: int, %h.1: f32[x0, x1]):
      %1 = map %h.1 : f32[x0, x1] {
        body(%e: f32[]):
          %2 = mul %e, inf : f32[]
          yield %2
      }
      yield %1, %h.1
  }
  return %h, %all, true
"""


def wrapped(text):
    """The header on several lines reads as the same."""
    return (
        text.replace("(%x", "(\n    %x")
        .replace(", %w", ",\n    %w")
        .replace("]) where", "]\n) where")
    )


def test_everything_is_read():
    function = parse(WHOLE)
    assert function.name == "Model.forward"
    assert [(p.name, p.path, str(p.type)) for p in function.params] == [
        ("x", "x", "f32[x0, x1]"),
        ("w", "d['a:b, c'][0]", "f32[w0] @cuda:0"),
        ("c", "c", "bool[]"),
    ]
    assert function.assumed[0] == Predicate("==", Sym("x1"), Sym("w0"))
    total, sort, branch, loop = function.body.nodes
    assert total.fields == {"dim": (1,), "keepdim": False, "dtype": F64}
    assert total.location == Location("dir with space/model.py", 12)
    assert sort.fields["template"] == ((Slot(0), Slot(1)), {})
    assert sort.fields["types"] == tuple(r.type for r in sort.results)
    assert sort.operands == (function.params[0], Literal(2))
    assert [r.name for r in sort.results] == ["s", "i"]
    assert branch.location == Location("model.py", 8)
    assert [len(r.nodes) for r in branch.regions] == [1, 0]
    (body,) = loop.regions
    assert [p.path for p in body.params] == ["", ""]
    assert body.params[1].name == "h"
    assert body.results == [body.nodes[0].result, body.params[1]]
    assert function.results == [*loop.results, Literal(True)]


@pytest.mark.parametrize("text", [WHOLE, wrapped(WHOLE), "; note\n\n" + WHOLE + "\n; end\n"])
def test_layout_and_comments_do_not_matter(text):
    assert function_text(parse(text)) == function_text(parse(WHOLE))
    assert wrapped(WHOLE) != WHOLE


def test_types_left_out_are_inferred():
    function = parse("fn f(%x: f32[4, 1], %y: f32[5]):\n  %0 = add %x, %y\n  return %0")
    assert str(function.results[0].type) == "f32[4, 5]"


def test_a_path_that_is_the_name_is_not_repeated():
    assert "%x: f32[4]" in function_text(parse("fn f(%x = x: f32[4]):\n  return %x"))


def parse_error(text, file="f.ssa"):
    with pytest.raises(ParseError) as caught:
        parse(textwrap.dedent(text).strip(), file)
    return str(caught.value)


def test_an_error_has_file_line_and_caret():
    assert parse_error(
        """
        fn f(%x: f32[4]):
          %y = neg %x : f32[4]
          %z = add %y, %w : f32[4]
          return %z
        """
    ) == (
        "f.ssa:3: no value is called %w here\n      %z = add %y, %w : f32[4]\n                   ^^"
    )


BODY_ERRORS = [
    ("%y = addd %x, 1", "no op is called 'addd'; is it add?", "addd"),
    ("%y = add %x : f32[4]", "add takes 2 operands, not 1", "%x "),
    ("%y = add none, %x : f32[4]", "operand 'input' is absent", "none, %x "),
    ("%y = neg %x : f3[4]", "not a type: f3[4]", "f3[4]"),
    ("%y = sum %x {axis=[0]} : f32[]", "op sum has no field 'axis'", "axis"),
    ("%y = sum %x {dim=[q]} : f32[]", "not of kind axes: [q]", "[q]"),
    ("%y = softmax %x : f32[4]", "op softmax needs field 'dim'", "%y = softmax %x : f32[4]"),
    ("%y, %z = neg %x : f32[4]", "neg has 1 results, 2 are named", "%y, %z = neg %x : f32[4]"),
    ("%x = neg %x : f32[4]", "%x is defined twice", "%x"),
    ("%y = add %x, 'a' : f32[4]", "not a number: 'a'", "'a'"),
    ("%y = add %x, %b", "add(f32[4], f32[5]): sizes 4 and 5 do not fit (shapes [4] and [5])", None),
    ("%y = neg %x : f32[4] ; here", "expected a location, such as model.py:5", "here"),
    ("%y = neg %x : f32[4] }", "not a type: f32[4] }", "f32[4] }"),
    ("%y %z = neg %x", "expected '='", None),
    ("%y = library %x {target='a} : f32[4]", "a quote is not closed", "'"),
]


@pytest.mark.parametrize(("line", "problem", "under"), BODY_ERRORS)
def test_errors_in_nodes(line, problem, under):
    text = f"fn f(%x: f32[4], %b: f32[5]):\n  {line}\n  return %x"
    with pytest.raises(ParseError) as caught:
        parse(text)
    message, source, caret = str(caught.value).splitlines()
    assert problem in message
    assert message.startswith("<text>:2: ")
    if under is not None:
        place = source[caret.index("^") :][: caret.count("^")]
        assert place == under.rstrip() or under.startswith(place)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected 'fn '"),
        ("fn (%x: f32[4]):\n  return %x", "expected the function's name"),
        ("fn f(x: f32[4]):\n  return", "expected a parameter, such as %x"),
        ("fn f(%x: f32[4], %x: f32[4]):\n  return", "%x is defined twice"),
        (
            "fn f(%x: f32[a]) where a > 1:\n  return %x",
            "not a comparison with ==, !=, < or <=: a > 1",
        ),
        ("fn f(%x: f32[4])\n  return %x", "expected ':'"),
        ("fn f(%x: f32[4]):\n  %y = neg %x", "expected `return`"),
        ("fn f(%x: f32[4]):\n  return none", "a result cannot be none"),
        ("fn f(%x: f32[4]):\n  return %x\n  %y = neg %x", "expected nothing after `return`"),
        ("fn f(%x: f32[a // 0]):\n  return %x", "integer division or modulo by zero"),
    ],
)
def test_errors_around_nodes(text, problem):
    with pytest.raises(ParseError, match=r"<text>:\d+: ") as caught:
        parse(text)
    assert problem in str(caught.value)


def test_a_value_of_a_region_is_unknown_outside():
    text = WHOLE.replace("return %h,", "return %t,")
    assert "no value is called %t here" in parse_error(text)
