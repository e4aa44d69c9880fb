import pytest
import torch

import astjit
from tests.frontend.elements.lowered import N, X, refused, text

TABLE = torch.tensor([10.0, 20.0, 30.0, 40.0])
GRID = torch.arange(6).reshape(2, 3)


def test_a_tensor_is_a_table():
    assert "element %TABLE_, %n.1 : f32[]" in text(lambda n: TABLE[n], N)
    assert "element %GRID_, 1, %n.1 : i64[]" in text(lambda n: GRID[1, n], N)


@pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
def test_tables_are_read_by_python_s_rules(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    at = torch.tensor([0, -1, 3])
    f = astjit.elementwise(lambda n: TABLE[n] + len(TABLE) + TABLE.shape[0])
    assert f(at).tolist() == [18.0, 48.0, 48.0]
    TABLE[0] = 1.0
    try:
        assert f(at).tolist() == [9.0, 48.0, 48.0]
    finally:
        TABLE[0] = 10.0
    with pytest.raises(IndexError, match="index 4 is out of range for an axis of size 4"):
        f(torch.tensor([4]))


def test_an_index_that_must_be_known_is_refused():
    def f(x, n):
        return (x, 1.0)[n]

    assert refused(f, X, N)[:2] == ("AJ108", "n")
