"""Readers of factories get one each."""

from astjit.fusion.apart import apart
from astjit.ir.parser import parse
from astjit.ir.printer import function_text
from astjit.ir.verifier import verify

BEFORE = """\
fn f(%x: f32[n, n]):
  %i = iota {size=n, device='cpu'}
  %a = unsqueeze %i {dim=-1}
  %m = ge %a, %i
  %b = permute %a {dims=(1, 0)}
  %k = ge %b, %a
  %o = logical_and %m, %k
  return %o
"""


def iotas(function):
    return [node for node in function.body.nodes if node.op.name == "iota"]


def test_each_use_has_one_of_its_own():
    function = parse(BEFORE)
    apart(function)
    verify(function)
    assert len(iotas(function)) == 4
    readers = [v for node in function.body.nodes for v in node.values]
    assert all(readers.count(node.result) == 1 for node in iotas(function))


def test_a_second_run_changes_nothing():
    function = parse(BEFORE)
    apart(function)
    text = function_text(function)
    apart(function)
    assert function_text(function) == text


def test_what_is_returned_or_given_to_pytorch_stays_one_tensor():
    text = BEFORE.replace("return %o", "return %o, %i")
    function = parse(text)
    apart(function)
    verify(function)
    assert iotas(function)[-1].result in function.results or any(
        node.result in function.results for node in iotas(function)
    )
    assert len(iotas(function)) == 5


def test_a_factory_and_its_views_that_are_returned_are_one_tensor():
    """Eager's views share memory with what they are views of, and with each other."""
    text = BEFORE.replace("return %o", "%v = slice %b {dim=0, start=1}\n  return %o, %v, %i")
    for returned in ("%o, %v, %i", "%o, %v, %a", "%v, %b"):
        function = parse(text.replace("%o, %v, %i", returned))
        apart(function)
        verify(function)
        views = [value for value in function.results if value.node.op.name != "logical_and"]
        assert len({_root(value) for value in views}) == 1


def _root(value):
    while value.node.op.name != "iota":
        value = value.node.operands[0]
    return value
