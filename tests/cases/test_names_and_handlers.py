"""Names that a program needs itself, lambdas inside lambdas, errors that the function catches."""

import pytest
import torch

import astjit

DOUBLING = (lambda: lambda x: x * 2)()
BOTH = (lambda x: x + 1, lambda x: x * 3)


def caught(x):
    try:
        return x.view(5, 5)
    except RuntimeError:
        return x + 1


class len_:
    """Its name in guards must not hide Python's own, nor be hidden."""

    def __init__(self, scale):
        self.scale = scale


len_.__name__ = "len"


def called_torch(torch, fn_globals):
    return torch + fn_globals


def odd_names(x, box, items):
    return x * box.scale * len(items)


@pytest.mark.parametrize(("function", "wanted"), [(DOUBLING, 4.0), (BOTH[0], 3.0), (BOTH[1], 6.0)])
def test_lambdas_on_one_line_are_told_apart(function, wanted):
    compiled = astjit.compile(function, fullgraph=True)
    assert torch.equal(compiled(torch.full((3,), 2.0)), torch.full((3,), wanted))


def test_an_error_that_the_function_catches_is_no_bug():
    compiled, x = astjit.compile(caught), torch.ones(3, 4)
    for _ in range(3):
        assert torch.equal(compiled(x), x + 1)
    assert compiled.cache_info().programs == 1  # of what the handler does


@pytest.mark.parametrize("name", ["torch", "type", "len", "repr", "float", "int", "hasattr"])
@pytest.mark.parametrize("number", [2.0, True, "a", None])
def test_a_parameter_called_like_what_guards_call(name, number, tmp_path):
    text = f"def f({name}, x): return x + 1, {name}"
    path = tmp_path / "called.py"
    path.write_text(text)
    space = {}
    exec(compile(text, str(path), "exec"), space)
    compiled, x = astjit.compile(space["f"], fullgraph=True), torch.ones(3)
    for given in (number, x):
        y, same = compiled(given, x)
        assert torch.equal(y, x + 1)
        assert same is given or same == given
    compiled(number, x)
    assert compiled.cache_info()[:3] == (2, 1, 2)
    assert f"({name}_, x)" in compiled.program_source(number, x)


def test_a_parameter_called_fn_globals():
    compiled, x = astjit.compile(called_torch, fullgraph=True), torch.ones(3)
    assert torch.equal(compiled(x, x), x + x)


def test_globals_and_classes_called_like_what_guards_call():
    compiled, x = astjit.compile(odd_names, fullgraph=True), torch.ones(3)
    for box in (len_(2.0), len_(3.0)):
        assert torch.equal(compiled(x, box, [1, 2]), x * box.scale * 2)
    assert compiled.cache_info().programs == 1
