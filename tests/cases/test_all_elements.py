"""Reductions of all elements, and of what rows give: one kernel, eager's answer."""

import pytest
import torch
import torch.nn.functional as F

import astjit
from astjit.codegen.emit import cuda_unit
from astjit.fusion.launch import launch
from astjit.fusion.schedule import schedule
from tests.codegen import records
from tests.emulator import SCHEDULES, build, emulate
from tests.kernels import no_source


def mse(x, y):
    return (x - y).pow(2).mean()


def extremes(x, y):
    return x.amin(), x.amax(), x.sum(), (x * y).abs().mean()


def spread(x, y):
    return x.mean(), x.var(), (x - x.mean()) / x.std()


def norm(x, y):
    return x / (x * x).sum().sqrt(), (x > 3).any()


def row_losses(x, y):
    return torch.logsumexp(x, -1).mean(), torch.softmax(x, -1)


def divergence(x, y):
    return F.softmax(y, -1).mul(F.log_softmax(y, -1) - F.log_softmax(x, -1)).sum() / x.shape[0]


def weighted(x, y):
    w = (y > 0).float()
    return (x.abs() * w).sum() / w.sum()


def biased(x, y):
    return (x + y[0]).abs().mean()


FUNCTIONS = (mse, extremes, spread, norm, row_losses, divergence, weighted, biased)
SIZES = ((1, 1), (3, 1), (1, 33), (2, 31), (5, 4095), (3, 70_000), (300, 257), (4099, 3))


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def assert_near(got, eager, exact, unit):
    assert (got.dtype, got.shape) == (eager.dtype, eager.shape)
    assert torch.equal(got.isfinite(), eager.isfinite())
    finite = eager.isfinite()
    if got.dtype == torch.bool:
        assert torch.equal(got, eager)
    elif finite.any():
        a, b, c = (t.double()[finite] for t in (got, eager, exact))
        assert (a - c).abs().max() <= 1.5 * (b - c).abs().max() + 2 * unit * c.abs().max()


@pytest.fixture(scope="module")
def compiled():
    return {f: astjit.compile(f, fullgraph=True) for f in FUNCTIONS}


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_one_kernel_at_every_size(compiled, function):
    for rows, cols in SIZES:
        torch.manual_seed(rows + cols)
        inputs = torch.randn(rows, cols) + 0.5, torch.randn(rows, cols)
        got, eager = as_tuple(compiled[function](*inputs)), as_tuple(function(*inputs))
        exact = as_tuple(function(*(t.double() for t in inputs)))
        for mine, theirs, true in zip(got, eager, exact, strict=True):
            assert_near(mine, theirs, true, 2.0**-23)
        report = astjit.explain(compiled[function], *inputs)
        assert not report.unfused
        if rows > 1 and cols > 1:  # else some of the results have nothing in common
            assert len(report.kernels) == 1


def sums(x):
    return x.sum(), x.mean()


def test_nothing_sums_to_zero_and_has_no_mean():
    total, mean = astjit.compile(sums, fullgraph=True)(torch.ones(0, 3))
    assert total == 0
    assert mean.isnan()


def largest(x):
    return x.amax()


def test_the_largest_of_nothing_is_eagers_error():
    function = astjit.compile(largest)
    assert function(torch.tensor([1.0, 3.0])) == 3
    assert function(torch.tensor([1.0, float("nan"), 3.0])).isnan()
    with pytest.raises(RuntimeError, match="amax"):
        function(torch.ones(0))


def counts(x):
    return x.sum(), (x > 2).sum(), (x > 8).any(), (x >= 0).all(), x.amax()


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64])
def test_integers_are_exact(dtype):
    x = torch.randint(0, 9, (700, 33)).to(dtype)
    function = astjit.compile(counts, fullgraph=True)
    for got, want in zip(function(x), counts(x), strict=True):
        assert got.dtype == want.dtype
        assert torch.equal(got, want)


def accumulated(total, x):
    total += x.sum()
    return total


def test_a_sum_added_to_an_input_in_place():
    function = astjit.compile(accumulated, fullgraph=True)
    mine, theirs, x = torch.tensor(2.0), torch.tensor(2.0), torch.arange(5000.0)
    assert function(mine, x) is mine
    assert mine == accumulated(theirs, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_number_of_threads_changes_no_bit(dtype):
    function = astjit.compile(lambda x: (torch.softmax(x, -1), x.sum(), x.sum(-1)), fullgraph=True)
    x = torch.randn(3, 2**20 + 99).to(dtype)  # rows that threads share
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3, 4, 7):
            torch.set_num_threads(threads)
            found.append(function(x))
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            assert torch.equal(one, two)


# ---- on a GPU, as far as the emulator shows ----------------------------------------------------


def launched(make, sizes, wrong=("", "")):
    kernel = make()
    chosen = schedule(kernel, "cuda", sizes, 16)
    text = cuda_unit([(kernel, chosen)], no_source, "sm_90")
    return text, text.helpers.replace(*wrong), launch(kernel, chosen, sizes)


def run(make, x, sizes, order, wrong=("", "")):
    text, helpers, plan = launched(make, sizes, wrong)
    (entry,) = text.entries.values()
    out, arrived = torch.full((1,), float("nan")), torch.zeros(1, dtype=torch.int32)
    part = torch.full((plan.grid[0],), float("nan"))
    known = {"x": x, "out": out, "arrived": arrived, "all_sum_part": part, **sizes}
    args = [known[a.name] for a in entry.arguments]
    report = emulate(
        helpers, text.kernels, entry.name, None, args, plan.grid, plan.block,
        schedule=order, seed=3, uninitialised=["all_sum_part"],
    )  # fmt: skip
    return out, arrived, report


CASES = (
    (records.sin_cos_sum, {"n": 12_288}),
    (records.logsumexp_mean, {"rows": 5, "cols": 36}),
)
FENCE = "  __threadfence();\n"
WRONG = {
    "no-release": (FENCE + "  __syncthreads();\n", "  __syncthreads();\n"),
    "no-acquire": ("return false;\n" + FENCE, "return false;\n"),
}


@pytest.mark.parametrize("order", SCHEDULES)
@pytest.mark.parametrize(("make", "sizes"), CASES)
def test_the_last_block_sees_what_all_have_found(make, sizes, order):
    x = torch.rand(tuple(sizes.values())) * 1.5
    for _ in range(2):  # the counter is ready again after each launch
        out, arrived, report = run(make, x, sizes, order)
        assert report.errors == []
        assert arrived.item() == 0
        double = x.double()
        exact = (double.sin() * double.cos()).sum() if "n" in sizes else double.logsumexp(-1).mean()
        torch.testing.assert_close(out[0].double(), exact, rtol=1e-6, atol=0)


@pytest.mark.parametrize("order", SCHEDULES)
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize(("make", "sizes"), CASES)
def test_a_missing_fence_is_caught(make, sizes, wrong, order):
    x = torch.rand(tuple(sizes.values()))
    _, _, report = run(make, x, sizes, order, wrong)
    assert any("race on all_sum_part[" in error for error in report.errors), report.errors


@pytest.fixture(scope="module", autouse=True)
def built():
    pairs = []
    for make, sizes in CASES:
        for wrong in (("", ""), *WRONG.values()):
            text, helpers, _ = launched(make, sizes, wrong)
            assert (helpers != text.helpers) == (wrong != ("", ""))
            pairs.append((helpers, text.kernels))
    build(pairs)
