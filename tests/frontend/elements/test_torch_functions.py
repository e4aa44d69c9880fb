import torch
import torch.nn.functional as F

from tests.frontend.elements.lowered import N, X, refused, text


def test_functions_with_rows():
    assert "sigmoid %x.1 : f32[]" in text(lambda x: torch.sigmoid(x))
    assert "clamp %x.1, -1, 1 : f32[]" in text(lambda x: torch.clamp(x, -1, max=1))
    assert "gelu" in text(lambda x: F.gelu(x, approximate="tanh"))
    assert "where" in text(lambda x: torch.where(x > 0, x, 0.0))


def test_ints_stay_ints():
    assert ": i64[n0]" in text(lambda n: torch.abs(n), N)


def test_reductions_and_tensors_are_refused():
    assert refused(lambda x: torch.sum(x))[0] == "AJ103"
    assert refused(lambda x: torch.exp(X) + x)[0] == "AJ103"


def test_a_function_without_a_row_is_named_as_such():
    code, *told = refused(lambda x: torch.lgamma(x))
    assert code == "AJ103"
    assert "torch.lgamma with these operands is no row of docs/ops.md" in str(told)
