import pytest
import torch

from astjit.errors import InternalError, ShapeMismatch, UsageError
from astjit.ir.builder import Builder
from astjit.ir.function import Function
from astjit.ir.notation import parse_type
from astjit.ir.parser import parse
from astjit.ir.verifier import verify
from astjit.ops.spec import FieldKind, Kind
from astjit.ops.table import OPS
from astjit.runtime.interpret import bind_sizes, interpret
from astjit.types.dtype import BOOL, F64
from astjit.types.shape import Sizes
from astjit.types.tensor import PY_INT, TensorType
from tests.check import assert_same

RMS_NORM = parse("""
fn rms_norm(%x: bf16[a, b], %w: bf16[c], %eps: float) where b == c:
  %0 = mul %x, %x : bf16[a, b]
  %1 = mean %0 {dim=[-1], keepdim=true} : bf16[a, 1]
  %2 = add %1, %eps : bf16[a, 1]
  %3 = rsqrt %2 : bf16[a, 1]
  %4 = mul %x, %3 : bf16[a, b]
  %5 = mul %4, %w : bf16[a, b]
  %n = size {value=2*a + b} : int
  %m = add %n, 1 : int
  return %5, %m, 2.5, %x
""")


def test_a_function_does_what_eager_does():
    x, w = torch.randn(3, 5).bfloat16(), torch.randn(5).bfloat16()
    verify(RMS_NORM)
    expected = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w
    found = interpret(RMS_NORM, [x, w, 1e-6], check=True)
    assert_same(found, [expected, 12, 2.5, x])
    assert found[-1] is x


def test_several_results_and_library_calls():
    function = parse("""
    fn f(%x: f32[a, b]):
      %v, %m = var_mean %x {dim=[1]} : f32[a], f32[a]
      %s, %i = library %x {target='torch.sort', template=(($0,), {'dim': 0})} : f32[a, b], i64[a, b]
      %t = library %x {target='Tensor.trace', template=(($0,), {})} : f32[]
      return %v, %m, %s, %i, %t
    """)
    x = torch.randn(4, 6)
    expected = [*torch.var_mean(x, (1,)), *x.sort(dim=0), x.trace()]
    assert_same(interpret(function, [x]), expected)


def test_a_library_call_outside_of_torch_is_imported():
    function = parse("""
    fn f(%n: int):
      %0 = library %n {target='math.factorial', template=(($0,), {})} : int
      return %0
    """)
    assert interpret(function, [5]) == [120]


def test_numbers_are_computed_by_python_or_by_the_row():
    function = parse("""
    fn f(%n: int, %x: float):
      %0 = div %n, 2 : float
      %1 = sub %0, %x : float
      %2 = where true, %1, %x : float
      %3 = exp %2 : float
      %4 = lt %3, %x : bool
      return %2, %3, %4
    """)
    assert interpret(function, [7, 0.5]) == [3.0, 20.085536923187668, False]


def test_no_gradient_is_recorded():
    x = torch.ones(3, requires_grad=True)
    function = parse("fn f(%x: f32[a]):\n  %0 = exp %x : f32[a]\n  return %0")
    assert not interpret(function, [x])[0].requires_grad


def test_what_a_loop_hands_on_is_in_memory_of_its_own():
    function = parse("""fn f(%h: f32[n], %g: f32[n]):
  %k = mul %h, 2.0 : f32[n]
  %a, %b, %c = for %h, %g, %h {trip=7, index='t'} : f32[n], f32[n], f32[n] {
    body(%t: int, %x: f32[n], %y: f32[n], %z: f32[n]):
      yield %k, %x, %z
  }
  return %a, %b, %c
""")
    h, g = torch.randn(3), torch.randn(3)
    results = interpret(function, [h, g])
    for result, want in zip(results, (h * 2, h * 2, h), strict=True):
        assert torch.equal(result, want)
    assert len({t.data_ptr() for t in (*results, h, g)}) == 5


def test_one_arm_of_an_if_runs():
    function = parse("""
    fn f(%x: f32[4], %c: bool[]):
      %0 = if %c : f32[4] {
        then():
          yield %x
        else():
          %1 = neg %x : f32[4]
          yield %1
      }
      return %0
    """)
    x = torch.ones(4)
    for flag, wanted in ((True, x), (False, -x)):
        (result,) = interpret(function, [x, torch.tensor(flag)], check=True)
        assert torch.equal(result, wanted)
        assert result is not x


def test_other_control_flow_is_refused():
    function = parse("""
    fn f(%x: i64[]):
      %0 = while %x : i64[] {
        test(%a: i64[]):
          %1 = lt %a, 10 : bool[]
          yield %1
        body(%b: i64[]):
          %2 = add %b, 1 : i64[]
          yield %2
      }
      return %0
    """)
    with pytest.raises(InternalError, match=r"does not run while \(of kind control\)"):
        interpret(function, [torch.tensor(3)])


def test_sizes_are_bound_by_dims_and_strides():
    function = parse("fn f(%x: f32[a, 4] strides(s,1), %y: f32[2*a]):\n  return %x")
    x = torch.randn(3, 8)[:, :4]
    assert bind_sizes(function.params, [x, torch.ones(6)]) == {"a": 3, "s": 8}
    with pytest.raises(UsageError, match=r"argument 'y': 2\*a is 6, and here 7"):
        bind_sizes(function.params, [x, torch.ones(7)])


def test_strides_of_axes_of_size_1_may_be_any():
    function = parse("fn f(%x: f32[1, a] strides(1,2)):\n  %y = neg %x : f32[1, a]\n  return %y")
    x = torch.ones(1, 12)[:, ::2]
    assert x.stride() == (12, 2)
    assert bind_sizes(function.params, [x]) == {"a": 6}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([torch.ones(3, 4)], "takes 2 arguments, not 1"),
        ([torch.ones(3), 1], r"argument 'x' is not f32\[a, 4\]"),
        ([2.0, 1], r"argument 'x' is not f32\[a, 4\]"),
        ([torch.ones(3, 4), torch.ones(3)], "argument 'n' is a tensor, not a Python int"),
        ([torch.ones(3, 5), 1], "argument 'x': 4 is 4, and here 5"),
    ],
)
def test_arguments_that_do_not_fit(arguments, said):
    function = parse("fn f(%x: f32[a, 4], %n: int):\n  return %x")
    with pytest.raises(UsageError, match=said):
        interpret(function, arguments)


@pytest.mark.parametrize(
    ("types", "said"),
    [
        ("f64[a, b]", "torch gives torch.float32"),
        ("f32[b, a]", r"torch gives torch.float32\[3, 5\]"),
        (
            "f32[a, b] order(1,0)",
            r"torch gives .* strides\(5, 1\), the row infers .* strides\(1, 3\)",
        ),
    ],
)
def test_check_compares_with_the_types(types, said):
    function = parse(f"fn f(%x: f32[a, b]):\n  %0 = exp %x : {types}  ; m.py:7\n  return %0")
    interpret(function, [torch.ones(3, 5)])
    with pytest.raises(InternalError, match=rf"exp at m.py:7: {said}"):
        interpret(function, [torch.ones(3, 5)], check=True)


# --- every row -----------------------------------------------------------------------------------

FIELDS = (
    {},
    {"dim": (0,)},
    {"dim": (-1,), "keepdim": True},
    {"dim": 0},
    {"dim": -1},
    {"dim": (0,), "dtype": F64},
    {"dtype": F64},
)
RUN = [op for op in OPS.values() if op.kind not in (Kind.CONTROL, Kind.BODY) and op.rule.samples]


def uses(op):
    """A function for each sample of the row and each of FIELDS that it takes."""
    kinds = {f.name: f.kind for f in op.fields}
    for sample in op.rule.samples:
        for fields in FIELDS:
            if any(
                name not in kinds or isinstance(value, tuple) != (kinds[name] is FieldKind.AXES)
                for name, value in fields.items()
                if name != "dtype" or name not in kinds
            ):
                continue
            function = Function(f"{op.name} of {', '.join(sample)} with {fields}")
            builder = Builder(function.body, Sizes(hints=True))
            operands = [
                None if text == "none" else builder.param(f"p{i}", parse_type(text))
                for i, text in enumerate(sample)
            ]
            try:
                node = builder.node(op, tuple(operands), fields)
            except (ShapeMismatch, KeyError):
                continue
            function.results.extend(node.results)
            yield function


def argument(kind, op):
    """A tensor of this type, layout included, or a number, from the row's domain."""
    if not isinstance(kind, TensorType):
        return 2 if kind == PY_INT else True if kind.category == BOOL.category else 1.5
    low, high = op.domain
    count = 1 + sum((d - 1) * s for d, s in zip(kind.dims, kind.element_strides(), strict=True))
    values = torch.rand(max(count, 0)) * (high - low) + low
    if not kind.dtype.is_float:
        values = torch.randint(0, 2, (max(count, 0),))
    values = values.to(getattr(torch, kind.dtype.torch))
    return values.as_strided(kind.dims, kind.element_strides())


@pytest.mark.parametrize("op", RUN, ids=str)
@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")
def test_torch_gives_what_the_row_infers(op):
    torch.manual_seed(0)
    functions = list(uses(op))
    problems = []
    for function in functions:
        verify(function)
        try:
            interpret(function, [argument(p.type, op) for p in function.params], check=True)
        except (InternalError, TypeError, RuntimeError, ValueError) as error:
            problems.append(f"{function.name}: {str(error).splitlines()[0]}")
    assert problems == []
    assert functions or any(f.required for f in op.fields)
