"""Tensors of two dtypes, one or both of rank 0: dtypes and bits of the results as eager's."""

import itertools

import pytest
import torch

import astjit
from tests.ops.targets import Case, on_cpu, on_cuda

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
SHAPES = (((33,), ()), ((), (33,)), ((), ()), ((33,), (1,)))
PAIRS = list(itertools.product(FLOATS, FLOATS, SHAPES))


def arithmetic(x, y):
    return x * y, x + y, x - y, x / y, y * x, torch.maximum(x, y), torch.where(x > 0, x, y)


def divisions(x, y):
    floor, trunc = (torch.div(x, y, rounding_mode=mode) for mode in ("floor", "trunc"))
    return torch.floor_divide(x, y), x // y, floor, trunc, x % y, torch.fmod(x, y)


def scaled(x, y):
    return torch.add(x, y, alpha=3), torch.sub(x, y, alpha=0.5), torch.addcmul(x, x, y)


plain = pytest.mark.filterwarnings("ignore:kernels run through PyTorch")


def drawn(seed, pair):
    first, second, shapes = pair
    generator = torch.Generator().manual_seed(seed)
    made = (torch.randn(shape, generator=generator) * 5 for shape in shapes)
    return [x.to(dtype) for x, dtype in zip(made, (first, second), strict=True)]


def copied(function):
    return lambda x, y: function(x, y)


@pytest.mark.parametrize("function", [arithmetic, divisions])
@pytest.mark.parametrize("target", [on_cpu, on_cuda], ids=["cpu", "cuda"])
def test_bits(function, target):
    pairs = PAIRS[::5] if target is on_cpu else PAIRS[1::13]
    cases = [
        Case(f"{function.__name__}_{at}", copied(function), drawn(at, pair))
        for at, pair in enumerate(pairs)
    ]
    wrong = [case.wrong(found, 0) for case, found in zip(cases, target(cases), strict=True)]
    assert not any(wrong), [w for w in wrong if w]


@pytest.fixture
def _interpreted(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


@pytest.mark.parametrize("function", [arithmetic, divisions, scaled])
@pytest.mark.usefixtures("_interpreted")
@plain
def test_without_kernels(function):
    for at, pair in enumerate(PAIRS):
        inputs = drawn(at, pair)
        found = astjit.compile(copied(function), fullgraph=True)(*inputs)
        for one, other in zip(found, function(*inputs), strict=True):
            assert one.dtype == other.dtype, pair
            assert torch.equal(one.nan_to_num(), other.nan_to_num()), pair


@pytest.mark.usefixtures("_interpreted")
@plain
def test_masked_fill_keeps_the_dtype_and_refuses_what_does_not_fit():
    def fill(x, value):
        return x.masked_fill(x > 0, value)

    dtypes = (*FLOATS, torch.int64, torch.int8, torch.bool)
    for first, second in itertools.product(dtypes, dtypes):
        fills = astjit.compile(fill)
        for shape in ((5,), ()):
            x, value = torch.ones(shape).to(first), torch.tensor(7.3).to(second)
            try:
                expected = fill(x, value)
            except RuntimeError:
                with pytest.raises(RuntimeError):
                    fills(x, value)
                continue
            found = fills(x, value)
            assert found.dtype == expected.dtype == first
            assert torch.equal(found, expected)
    with pytest.raises(RuntimeError, match="overflow"):
        fills(torch.ones(3, dtype=torch.float16), torch.tensor(1e6))


def test_the_first_operand_is_rounded_and_the_second_is_not():
    """Products of one pair of tensors differ by their order, and are not merged."""
    x, wide = torch.full((3,), 3.0, dtype=torch.float16), torch.tensor(1.0004)

    def both(x, wide):
        return wide * x, x * wide

    found, expected = astjit.compile(both, fullgraph=True)(x, wide), both(x, wide)
    assert torch.equal(found[0], expected[0])
    assert torch.equal(found[1], expected[1])
    assert not torch.equal(found[0], found[1])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.usefixtures("_interpreted")
@plain
def test_ldexp_keeps_the_dtype(dtype):
    scale = astjit.compile(lambda x, n: torch.ldexp(x, n), fullgraph=True)
    x, n = torch.tensor([6e-5, 1.5, -3.3]).to(dtype), torch.tensor([20, -20, 3])
    for one, other in ((x, n), (x[0], n[0]), (x, n[0])):
        found, expected = scale(one, other), torch.ldexp(one, other)
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected)
