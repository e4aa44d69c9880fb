import pytest

from astjit.ir.cost import bytes_moved, flops, value_bytes
from astjit.ir.notation import parse_dim
from astjit.ir.parser import parse


def nodes(body, params="%x: f32[a, b], %w: bf16[b]"):
    function = parse(f"fn f({params}):\n  {body}\n  return")
    return function, function.body.nodes[-1]


def test_bytes_of_values():
    function, node = nodes("%0 = size {value=a} : int")
    x, w = function.params
    assert value_bytes(x) == parse_dim("4*a*b")
    assert value_bytes(w) == parse_dim("2*b")
    assert value_bytes(node.result) == 0


@pytest.mark.parametrize(
    ("body", "moved", "count"),
    [
        ("%0 = add %x, %w", "8*a*b + 2*b", "a*b"),
        ("%0 = mul %x, %x", "8*a*b", "a*b"),
        ("%0 = add %x, 1.0", "8*a*b", "a*b"),
        ("%0 = sum %x {dim=[1]}", "4*a*b + 4*a", "a*b"),
        ("%0 = squeeze %x {dim=[]}", "0", "0"),
        ("%0 = size {value=a}", "0", "0"),
        ("%0 = softmax %w {dim=0}", "4*b", None),
        ("%0 = mean %x {dim=[1]}", "4*a*b + 4*a", "a*b + a"),
    ],
)
def test_bytes_and_operations(body, moved, count):
    _, node = nodes(body)
    assert bytes_moved(node) == parse_dim(moved)
    if count is not None:
        assert flops(node) == parse_dim(count)


def test_a_composite_counts_its_expansion():
    _, node = nodes("%0 = softmax %x {dim=-1}")
    work = flops(node)
    # maximum, subtraction, exp, sum and division, each over all elements
    assert work == parse_dim("5*a*b")


def test_a_library_call_does_not_say():
    _, node = nodes("%0 = matmul %x, %y", "%x: f32[a, b], %y: f32[b, c]")
    assert flops(node) is None
    assert bytes_moved(node) == parse_dim("4*a*b + 4*b*c + 4*a*c")
