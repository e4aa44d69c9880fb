"""Every feature of the element language as kernels: all cases in one unit a dtype (D27)."""

import pytest
import torch

import astjit
from tests.element_functions import CASES, inputs


def results(function, arguments):
    """The tensors; None where Python raises for some element."""
    try:
        made = function(*arguments)
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
    return made if isinstance(made, tuple) else (made,)


@pytest.fixture(scope="module", params=[torch.float64, torch.float32], ids=["f64", "f32"])
def compiled(request):
    """What the kernels give and what Python gives, by name, for all cases that raise nothing."""
    wanted, given = {}, []
    for function in CASES:
        arguments = inputs(function, request.param)
        want = results(astjit.elementwise(function).reference, arguments)
        if want is not None:
            wanted[function.__name__] = want
            given.append(arguments)
    elements = [astjit.elementwise(f) for f in CASES if f.__name__ in wanted]

    @astjit.compile(fullgraph=True)
    def everything(arguments):
        return [f(*own) for f, own in zip(elements, arguments, strict=True)]

    got = everything(given)
    assert everything.cpp_source(given).count("_kernel(") > 1
    made = [one if isinstance(one, tuple) else (one,) for one in got]
    return dict(zip(wanted, zip(made, wanted.values(), strict=True), strict=True))


def test_most_cases_are_there(compiled):
    assert len(compiled) > len(CASES) * 0.9


@pytest.mark.parametrize("name", [f.__name__ for f in CASES])
def test_as_python(compiled, name):
    if name not in compiled:
        return  # raises; tests/cases/test_elements.py
    got, want = compiled[name]
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        torch.testing.assert_close(one, other, equal_nan=True)


@astjit.elementwise
def root(a):
    x = a
    while abs(x * x - a) > 1e-6 * a:
        x = 0.5 * (x + a / x)
    return x


def test_a_loop_and_rows_that_threads_share_are_one_unit():
    """A loop looks for Ctrl-C with system headers; threads that share rows call the system."""

    @astjit.compile(fullgraph=True)
    def both(x):
        return root(x), x.softmax(-1)

    x = torch.rand(1, 100) + 0.5
    assert "wake_all" in both.cpp_source(x)
    first, second = both(x)
    torch.testing.assert_close(first, x.sqrt())
    torch.testing.assert_close(second, x.softmax(-1))
