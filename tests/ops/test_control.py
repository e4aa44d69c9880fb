"""Rows with regions take their types from the regions' signatures."""

import textwrap

import pytest

from astjit.errors import InvalidIR
from astjit.ir.parser import parse
from astjit.ir.printer import function_text
from astjit.ir.verifier import verify
from astjit.ops.spec import Call, Kind
from astjit.ops.table import OPS
from astjit.types.dtype import BOOL, F16, F32, F64, I64
from astjit.types.shape import Sizes, Sym
from astjit.types.tensor import PY_BOOL, PY_FLOAT, PY_INT, TensorType

X, Y, FLAG = TensorType(F32, (3,)), TensorType(F32, (4,)), TensorType(BOOL, ())
ELEMENT, HALF, COUNT = TensorType(F32, ()), TensorType(F16, ()), TensorType(I64, ())


def infer(name, types, regions, **fields):
    return OPS[name].rule.infer(Call(types, fields, Sizes(), regions=regions))


def test_both_arms_of_an_if_yield_the_result():
    assert infer("if", (FLAG,), (((), (X, Y)), ((), (X, Y)))) == (X, Y)
    with pytest.raises(TypeError, match=r"the arms yield \(f32\[3\]\) and \(f32\[4\]\)"):
        infer("if", (FLAG,), (((), (X,)), ((), (Y,))))
    with pytest.raises(TypeError, match="the condition must be bool"):
        infer("if", (X,), (((), (X,)), ((), (X,))))


def test_a_loop_carries_and_stacks():
    n = Sym("n")
    made = infer("for", (X,), (((PY_INT, X), (X, Y)),), trip=n)
    assert [str(t) for t in made] == ["f32[3]", "f32[n, 4]"]
    with pytest.raises(TypeError, match="the body takes"):
        infer("for", (X,), (((PY_INT, Y), (X,)),), trip=n)
    with pytest.raises(TypeError, match="the body yields"):
        infer("for", (X,), (((PY_INT, X), (Y,)),), trip=n)
    with pytest.raises(TypeError, match="only tensors"):
        infer("for", (X,), (((PY_INT, X), (X, PY_INT)),), trip=n)


def test_a_number_in_one_arm_is_of_the_type_of_the_other():
    arms = (((), (PY_FLOAT, ELEMENT)), ((), (ELEMENT, PY_FLOAT)))
    assert infer("if", (FLAG,), arms) == (ELEMENT, ELEMENT)
    assert infer("if", (FLAG,), (((), (PY_BOOL,)), ((), (PY_BOOL,)))) == (PY_BOOL,)
    with pytest.raises(TypeError, match="the arms yield"):
        infer("if", (FLAG,), (((), (PY_INT,)), ((), (ELEMENT,))))
    with pytest.raises(TypeError, match=r"the arms take \(f32\[\]\) and \(\), not \(\)"):
        infer("if", (FLAG,), (((ELEMENT,), (ELEMENT,)), ((), (ELEMENT,))))


def test_a_while_carries_what_its_test_and_its_body_take():
    carried = (COUNT, ELEMENT)
    regions = ((carried, (FLAG,)), (carried, (COUNT, ELEMENT)))
    assert infer("while", carried, regions, breaks=False) == carried
    assert infer("while", (PY_INT, PY_FLOAT), regions, breaks=False) == carried
    stops = ((carried, (FLAG,)), (carried, (PY_BOOL, COUNT, PY_FLOAT)))
    assert infer("while", carried, stops, breaks=True) == carried
    for wrong, said in (
        ({"types": (ELEMENT, ELEMENT)}, "carried are"),
        ({"regions": stops}, "the body yields"),
        ({"breaks": True}, "the body yields"),
        ({"regions": ((carried, (COUNT,)), regions[1])}, "the test yields"),
        ({"regions": (((COUNT,), (FLAG,)), regions[1])}, "the test takes"),
    ):
        given = {"types": carried, "regions": regions, "breaks": False, **wrong}
        with pytest.raises(TypeError, match=said):
            infer("while", given["types"], given["regions"], breaks=given["breaks"])


def test_a_range_counts_in_whole_numbers():
    bounds = (PY_INT, COUNT, PY_INT)
    body = (((COUNT, ELEMENT), (ELEMENT,)),)
    assert infer("range", (*bounds, PY_FLOAT), body, breaks=False) == (ELEMENT,)
    assert infer("range", bounds, (((COUNT,), ()),), breaks=False) == ()
    with pytest.raises(TypeError, match=r"must be i64\[\]"):
        infer("range", (PY_INT, ELEMENT, PY_INT), (((COUNT,), ()),), breaks=False)
    with pytest.raises(TypeError, match="no index"):
        infer("range", bounds, (((ELEMENT,), ()),), breaks=False)
    with pytest.raises(TypeError, match="the body yields"):
        infer("range", (*bounds, ELEMENT), body, breaks=True)


def test_a_map_has_the_shape_of_its_operands_and_the_dtypes_of_its_body():
    column = TensorType(I64, (5, 1))
    made = infer("map", (X, column), (((ELEMENT, COUNT), (HALF, COUNT)),))
    assert [str(t) for t in made] == ["f16[5, 3]", "i64[5, 3]"]
    turned = TensorType(F32, (2, 3), (1, 0), device="cuda:0")
    body = (((ELEMENT, TensorType(F64, ())), (ELEMENT, PY_FLOAT, PY_INT, PY_BOOL)),)
    made = infer("map", (turned, PY_FLOAT), body)
    layout = "[2, 3] order(1,0) @cuda:0"
    assert [str(t) for t in made] == [d + layout for d in ("f32", "f32", "i64", "bool")]
    with pytest.raises(TypeError, match="the body takes 1 values, there are 2"):
        infer("map", (X, X), (((ELEMENT,), (HALF,)),))
    with pytest.raises(TypeError, match=r"the elements are \(f32\[\]\)"):
        infer("map", (X,), (((HALF,), (HALF,)),))
    with pytest.raises(TypeError, match="which is no element"):
        infer("map", (X,), (((ELEMENT,), (Y,)),))


LOOPS = """\
fn f(%x: f32[x0], %m: i64[]):
  %y, %left = map %x, %m : f32[x0], i64[x0] {  ; model.py:4
    body(%e: f32[], %k: i64[]):
      %i, %z = while 0, %e {breaks=true, limit=100} : i64[], f32[] {  ; model.py:5
        test(%i.1: i64[], %z.1: f32[]):
          %0 = lt %i.1, %k : bool[]
          yield %0
        body(%i.2: i64[], %z.2: f32[]):
          %z.3 = mul %z.2, %z.2 : f32[]
          %1 = gt %z.3, 4.0 : bool[]
          %i.3 = add %i.2, 1 : i64[]
          yield %1, %i.3, %z.3
      }
      %s = range 0, %i, -1, 0.5 : f32[] {
        body(%j: i64[], %s.1: f32[]):
          %s.2 = add %s.1, %j : f32[]
          yield %s.2
      }
      yield %s, %i
  }
  return %y, %left
"""


def test_loops_are_printed_read_and_verified():
    function = parse(LOOPS)
    verify(function)
    assert function_text(function) == LOOPS


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("breaks=true, ", "", "the body yields"),
        ("yield %1, %i.3, %z.3", "yield %i.3, %z.3", "the body yields"),
        ("range 0, %i, -1, 0.5", "range 0, %i, -1, 1", "carried are"),
        ("range 0, %i", "range 0, %e", "must be i64"),
        ("f32[x0], i64[x0]", "f32[x0], i32[x0]", "the row infers"),
    ],
)
def test_broken_loops_are_found(right, wrong, said):
    with pytest.raises(InvalidIR, match=said):
        verify(parse(LOOPS.replace(right, wrong)))


def test_every_row_with_regions_names_them():
    for op in OPS.values():
        assert bool(op.regions) == (op.kind is Kind.CONTROL), op.name


def test_text_of_the_module_reads_back():
    loop = """
    fn f(%a: i64[]):
      %c = while %a : i64[] {
        test(%i: i64[]):
          %0 = lt %i, 10 : bool[]
          yield %0
        body(%i.1: i64[]):
          %1 = add %i.1, 1 : i64[]
          yield %1
      }
      return %c
    """
    function = parse(textwrap.dedent(loop).strip())
    verify(function)
    assert "while %a : i64[] {" in function_text(function)
