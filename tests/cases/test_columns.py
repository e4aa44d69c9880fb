"""Reductions over rows, lanes running along the columns: one kernel, eager's answer."""

import pytest
import torch
import torch.nn.functional as F

import astjit


def square_sum(x):
    return (x * x).sum(0)


def softmax(x):
    return torch.softmax(x, 0)


def log_softmax(x):
    return F.log_softmax(x, dim=0)


def mean_and_variance(x):
    return x.mean(0), x.var(0)


def deviation(x):
    return x.std(0)


def batch_statistics(x):
    variance, mean = x.var(0, correction=0), x.mean(0)
    return (x - mean) * torch.rsqrt(variance + 1e-5), mean, variance


def extremes(x):
    return x.amax(0), x.amin(0), (x > 1).any(0), x.sum(0, keepdim=True)


def norms(x):
    return torch.linalg.vector_norm(x, dim=0), x.abs().sum(0), torch.logsumexp(x, 0)


def softmax_middle(x):
    return torch.softmax(x, 1)


def log_softmax_middle(x):
    return torch.log_softmax(x, 1)


def unit_length(x):
    return x / (x * x).sum(1, keepdim=True).sqrt().clamp_min(1e-12)


SIZES = (1, 2, 31, 33, 1000)
DTYPES = {torch.float32: 2.0**-24, torch.bfloat16: 2.0**-9, torch.float64: 2.0**-53}


def flat(a, b, c, d, e, f, g, h):
    return (
        (square_sum(a), softmax(b), log_softmax(c), mean_and_variance(d)),
        (deviation(e), batch_statistics(f), extremes(g), norms(h)),
    )


def middle(a, b, c):
    return softmax_middle(a), log_softmax_middle(b), unit_length(c)


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [leaf for part in value for leaf in leaves(part)]


def classes(x):
    """0 of a finite number, else which infinity or NaN."""
    return x.isnan() * 3 + x.isposinf() + x.isneginf() * 2


def differences(function, compiled, *inputs):
    """What a compiled function's results do wrong against eager's and float64."""
    got, eager = leaves(compiled(*inputs)), leaves(function(*inputs))
    exact = leaves(function(*(t.double() for t in inputs)))
    unit = DTYPES[inputs[0].dtype]
    for at, (mine, theirs, true) in enumerate(zip(got, eager, exact, strict=True)):
        where = f"result {at} of {tuple(inputs[0].shape)} {inputs[0].dtype}"
        assert mine.dtype == theirs.dtype, where
        assert (mine.shape, mine.stride()) == (theirs.shape, theirs.stride()), where
        if mine.dtype == torch.bool:
            if not torch.equal(mine, theirs):
                yield f"{where}: not equal"
            continue
        if not torch.equal(classes(mine), classes(theirs)):
            yield f"{where}: infinities or NaN"
        finite = mine.isfinite() & theirs.isfinite()
        if not finite.any():
            continue
        a, b, c = (t.double()[finite] for t in (mine, theirs, true))
        if inputs[0].dtype == torch.float64:  # nothing exact: both have rounded alike
            error, bound = (a - b).abs().max(), 64 * unit * b.abs().max()
        else:
            error = (a - c).abs().max()
            bound = 1.5 * (b - c).abs().max() + 3 * unit * c.abs().max()
        if error > bound:
            yield f"{where}: {error:.3g} > {bound:.3g}"


@pytest.fixture(scope="module")
def compiled():
    return {f: astjit.compile(f, fullgraph=True) for f in (flat, middle)}


def random(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(sum(shape))
    return (torch.randn(shape, dtype=torch.float64, generator=generator) + 0.5).to(dtype)


def copies(count, x):
    return [x.clone() for _ in range(count)]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_columns_of_every_size(dtype):
    compiled = astjit.compile(flat, fullgraph=True)
    sizes = SIZES if dtype == torch.float32 else SIZES[1:]  # a size of 1 has programs of its own
    shapes = [(rows, cols) for rows in sizes for cols in sizes]
    shapes += [(129, 100), (100, 129), (4100, 3), (3, 4100), (5, 0)]
    wrong = []
    for shape in shapes:
        inputs = copies(8, random(*shape, dtype=dtype))
        wrong += differences(flat, compiled, *inputs)
    assert wrong == []
    report = astjit.explain(compiled, *copies(8, random(33, 31, dtype=dtype)))
    assert [kernel.kind for kernel in report.kernels] == ["column"] * 8
    assert not report.unfused


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_middle_axis(dtype):
    compiled = astjit.compile(middle, fullgraph=True)
    wrong = []
    shapes = [(2, 3, 5), (1, 33, 31), (4, 31, 33), (3, 2, 1000), (31, 130, 2), (0, 3, 4)]
    for shape in [*shapes, (3, 7, 4, 5)]:
        inputs = copies(3, random(*shape, dtype=dtype))
        wrong += differences(middle, compiled, *inputs)
    assert wrong == []
    report = astjit.explain(compiled, *copies(3, random(3, 33, 31, dtype=dtype)))
    assert [kernel.kind for kernel in report.kernels] == ["column"] * 3


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_or_one(compiled, rows):
    """Sums of nothing are zero, means of nothing NaN; extremes of nothing raise as eager's do."""
    x = random(rows, 5)
    got = astjit.compile(lambda x: ((x * x).sum(0), x.mean(0), torch.softmax(x, 0)))(x)
    eager = (x * x).sum(0), x.mean(0), torch.softmax(x, 0)
    for mine, theirs in zip(got, eager, strict=True):
        torch.testing.assert_close(mine, theirs, equal_nan=True)
    if not rows:
        with pytest.raises(IndexError, match="amax"):
            compiled[flat](*copies(8, x))


def test_strides_and_offsets(compiled):
    wrong = []
    whole = random(70, 140)
    for part in (whole[3:40, 5:105], whole[1::2], whole[:, 1:], whole[:, ::3], whole.t()):
        wrong += differences(flat, compiled[flat], part, *copies(7, part))
        wrong += differences(flat, compiled[flat], *[whole.clone()[3:40, 5:105] for _ in range(8)])
    cube = random(6, 40, 50)
    for part in (cube[:, 1:, 2:], cube[::2], cube.transpose(0, 1)):
        wrong += differences(middle, compiled[middle], part, part.clone(), part.clone())
    assert wrong == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_columns_that_hold_infinities_and_nan(compiled, value):
    wrong = []
    for rows, cols in ((3, 8), (33, 31), (100, 5)):
        for at in (0, rows // 2):
            x = random(rows, cols)
            x[at, 1] = value
            x[:, cols - 1] = value
            wrong += differences(flat, compiled[flat], *copies(8, x))
    x = random(3, 33, 5)
    x[1, 7, 2], x[2, :, 3] = value, value
    assert [*wrong, *differences(middle, compiled[middle], *copies(3, x))] == []


def moments(x, y):
    return torch.var_mean(x, 0)[0], torch.std_mean(y, 1)[0], torch.var(x, 1), torch.std(y, 0)


@pytest.mark.parametrize("shape", [(2, 5), (40, 40), (33, 1000), (1000, 33)])
def test_an_infinity_makes_variances_nan_along_rows_and_columns(shape):
    compiled = astjit.compile(moments, fullgraph=True)
    for value in (float("inf"), float("-inf"), float("nan")):
        x = random(*shape)
        x[0, 0] = value
        x[shape[0] // 2 - 1, 2] = value
        got, eager = leaves(compiled(x, x.clone())), leaves(moments(x, x.clone()))
        for mine, theirs in zip(got, eager, strict=True):
            assert torch.equal(classes(mine), classes(theirs))


def spreads(x):
    return x.var(0), x.std(0)


@pytest.mark.parametrize("rows", [33, 100, 1000])
def test_variance_is_within_the_bound_element_by_element(rows):
    compiled = astjit.compile(spreads, fullgraph=True)
    for seed in range(6):
        x = torch.randn(rows, 129, generator=torch.Generator().manual_seed(seed))
        for mine, theirs, true in zip(compiled(x), spreads(x), spreads(x.double()), strict=True):
            unit = true.abs() * 2.0**-23
            error, eager = (mine.double() - true) / unit, (theirs.double() - true) / unit
            assert error.abs().max() <= 1.5 * eager.abs().max() + 1
