"""Losses of numbers of classes: one kernel from scores to the mean, eager's answers and errors."""

import itertools

import pytest
import torch
import torch.nn.functional as F

import astjit
from tests.cases.test_gathers import cast, compare
from tests.cases.test_gathers_cuda import launched
from tests.emulator.machine import EmulatedDriver, posing


def scores(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)


def classes(number, *shape, ignored=None):
    made = torch.randint(0, number, shape, generator=torch.Generator().manual_seed(1))
    if ignored is not None:
        made.view(-1)[1] = ignored
    return made


def language_model(x, t):
    return F.cross_entropy(x.view(-1, x.shape[-1]), t.view(-1))


def classes_last_in_memory(x, t):
    return F.cross_entropy(x.transpose(1, 2), t)


def of_logarithms(x, t):
    return F.nll_loss(torch.log_softmax(x, -1), t)


def weighted(x, t, w):
    return F.cross_entropy(x, t, w, ignore_index=2)


def smoothed(x, t, w):
    return F.cross_entropy(x, t, w, label_smoothing=0.1)


def each(x, t, w):
    return F.cross_entropy(x, t, w, reduction="none", label_smoothing=0.2) * 2


def total(x, t):
    return F.cross_entropy(x * 2, t, reduction="sum")


def one_row(x, t):
    return F.cross_entropy(x, t, label_smoothing=0.1)


W = torch.rand(33, generator=torch.Generator().manual_seed(2))
CASES = {
    language_model: (scores(2, 3, 50), classes(50, 2, 3, ignored=-100)),
    classes_last_in_memory: (scores(2, 3, 50), classes(50, 2, 3)),
    of_logarithms: (scores(5, 33), classes(33, 5, ignored=-100)),
    weighted: (scores(5, 33), classes(33, 5, ignored=2), W),
    smoothed: (scores(5, 33), classes(33, 5, ignored=-100), W),
    each: (scores(5, 33), classes(33, 5, ignored=-100), W),
    total: (scores(5, 33), classes(33, 5)),
    one_row: (scores(33), classes(33)),
}


WHOLE = [function for function in CASES if function is not one_row]  # one block cannot wait


def all_cases(a, b, c, d, e, f, g, h):
    return [
        *(language_model(*a), classes_last_in_memory(*b), of_logarithms(*c), weighted(*d)),
        *(smoothed(*e), each(*f), total(*g), one_row(*h)),
    ]


def test_one_kernel_each():
    dtypes = itertools.cycle([torch.float32, torch.bfloat16])
    inputs = [tuple(cast(given, next(dtypes))) for given in CASES.values()]
    compiled = astjit.compile(all_cases, fullgraph=True)
    for found, function, given in zip(compiled(*inputs), CASES, inputs, strict=True):
        compare(found, function, given)
    report = astjit.explain(compiled, *inputs)
    assert [k.kind for k in report.kernels] == ["full" if f is one_row else "row" for f in CASES]
    assert not report.library_calls
    assert not report.unfused


@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_one_launch(function):
    compare(launched(function, CASES[function]), function, CASES[function])


def every(x, y, t, w):
    """All arguments of both losses; y are logarithms, with the classes in the middle."""
    return [
        loss(given, t[: given.shape[0]], weight, reduction=reduction, ignore_index=ignored, **more)
        for reduction, ignored, weight in itertools.product(
            ("none", "sum", "mean"), (-100, 1), (None, w)
        )
        for loss, given, more in (
            (F.nll_loss, x, {}),
            (F.cross_entropy, x, {}),
            (F.cross_entropy, x, {"label_smoothing": 0.3}),
            (F.cross_entropy, y, {"label_smoothing": 0.3}),
        )
    ]


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_every_argument(dtype, monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")  # by the interpreter: what the rows are
    x, w = scores(4, 7, dtype=dtype), W[:7].to(dtype)
    y, t = scores(4, 7, dtype=dtype), classes(7, 4, ignored=1)
    found = astjit.compile(every, fullgraph=True)(x, y, t, w)
    exact = every(x.double(), y.double(), t, w.double())
    for mine, theirs, want in zip(found, every(x, y, t, w), exact, strict=True):
        assert (mine.dtype, mine.shape, mine.stride()) == (dtype, theirs.shape, theirs.stride())
        allowed = 1.5 * (theirs.double() - want).abs() + 2 * torch.finfo(dtype).eps * want.abs()
        assert ((mine.double() - want).abs() <= allowed).all()


@pytest.mark.parametrize(
    ("shape", "fill"), [((0, 5), 0), ((3, 5), -100), ((1, 5), 4), ((0,), -100)], ids=str
)
def test_nothing_to_count(shape, fill):
    x, t = scores(*shape), torch.full(shape[:-1], fill)
    compiled = astjit.compile(lambda x, t: F.cross_entropy(x, t), fullgraph=True)
    torch.testing.assert_close(compiled(x, t), F.cross_entropy(x, t), equal_nan=True)


@pytest.mark.parametrize("bad", [33, -1, 2**40])
def test_out_of_range_raises_as_eager_does(bad):
    x, t, w = CASES[weighted]
    compiled = astjit.compile(weighted, fullgraph=True)
    for _ in range(2):
        wrong = t.clone()
        wrong[3] = bad
        with pytest.raises(IndexError, match=f"Target {bad} is out of bounds"):
            compiled(x, wrong, w)
        compare(compiled(x, t, w), weighted, (x, t, w))
    assert compiled.cache_info().programs == 1


def test_out_of_range_traps_on_cuda():
    with posing(EmulatedDriver()) as driver:
        compiled = astjit.compile(of_logarithms, fullgraph=True, target="cuda")
        compiled(scores(3, 5), torch.tensor([0, 5, 1]))
    (launch,) = driver.launches
    assert any("a thread trapped" in error for error in launch.errors)


def test_no_class_and_a_target_that_does_not_count_is_eager():
    with pytest.raises(IndexError, match="Target 0 is out of bounds"):
        astjit.compile(lambda x, t: F.cross_entropy(x, t))(scores(3, 0), classes(1, 3))


def test_what_eager_refuses():
    for x, t, w in (
        (scores(3, 5), classes(5, 4), None),
        (scores(3, 5), classes(5, 3).int(), None),
        (scores(3, 5), classes(5, 3), W),
        (scores(3, 5), classes(5, 3), W[:5].double()),
        (scores(3, 5), classes(5, 3, 2), None),
    ):
        with pytest.raises((ValueError, RuntimeError)) as wanted:
            F.cross_entropy(x, t, w)
        with pytest.raises(wanted.type) as raised:
            astjit.compile(lambda x, t, w: F.cross_entropy(x, t, w))(x, t, w)
        assert str(raised.value) == str(wanted.value)
