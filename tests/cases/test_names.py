"""Names of the user's that mean something elsewhere: to C, to a helper, to the generated text."""

import pytest
import torch

import astjit

SOURCE = """
def {name}({x}, mask):
    row = {x} * 2 + mask
    return row - row.mean(-1, keepdim=True)
"""


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("sincos", "exp"),
        ("free", "col"),
        ("exp", "threads"),
        ("main", "double"),
        ("rows", "cols"),
        ("MISS", "row_sum"),
        ("softmax", "n"),
        ("größe", "λ"),
    ],
)
def test_names_that_mean_something_in_the_generated_text(tmp_path, name, x):
    path = tmp_path / "named.py"
    path.write_text(SOURCE.format(name=name, x=x), encoding="utf-8")
    scope = {"torch": torch}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    function = astjit.compile(scope[name], fullgraph=True)
    given = torch.randn(5, 33), torch.randn(5, 33)
    torch.testing.assert_close(function(*given), scope[name](*given))
    assert 'extern "C" __global__' in function.cuda_source(*given)
