"""What users call: `elementwise`, and what it returns."""

import functools
import threading

import pytest
import torch

import astjit

pytestmark = pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")
FACTOR = 2.0
STEPS = 3
TABLE = torch.tensor([1.0, 2.0, 4.0])


@pytest.fixture(autouse=True)
def _no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


@astjit.elementwise
def scaled(x, y=1.0):
    """Docs."""
    for _ in range(STEPS):
        x = x * FACTOR + y
    return x


X = torch.tensor([[0.5], [1.5]])
Y = torch.tensor([1.0, 2.0, 3.0])


def test_it_is_called_with_tensors():
    torch.testing.assert_close(scaled(X, Y), scaled.reference(X, Y))
    assert scaled(X, Y).shape == (2, 3)
    assert scaled(X).tolist() == [[11.0], [19.0]]
    assert scaled(X, y=2).tolist() == [[18.0], [26.0]]
    assert scaled(x=X).tolist() == [[11.0], [19.0]]
    assert scaled.__name__ == "scaled"
    assert scaled.__doc__ == "Docs."
    assert scaled.__wrapped__(1.0, 0.0) == 8.0


def test_without_tensors_it_is_the_function():
    assert scaled(1.0) == 15.0
    assert type(scaled(1)) is float


def test_globals_and_cells_are_read_at_every_call(monkeypatch):
    assert scaled(X).tolist() == [[11.0], [19.0]]
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert scaled(X).tolist() == [[26.5], [53.5]]
    monkeypatch.setitem(globals(), "FACTOR", 3)
    assert scaled(X).tolist() == [[26.5], [53.5]]
    monkeypatch.setitem(globals(), "STEPS", 1)
    assert scaled(X).tolist() == [[2.5], [5.5]]
    k = 1.0

    @astjit.elementwise
    def f(x):
        return x + k

    assert f(Y).tolist() == [2.0, 3.0, 4.0]
    k = 5.0
    assert f(Y).tolist() == [6.0, 7.0, 8.0]
    k = True
    assert f(Y).tolist() == [2.0, 3.0, 4.0]


def test_a_global_function_that_is_bound_anew(monkeypatch):
    f = astjit.elementwise(lambda x: other(x))
    assert f(Y).tolist() == [2.0, 3.0, 4.0]
    monkeypatch.setitem(globals(), "other", lambda v: v * 2)
    assert f(Y).tolist() == [2.0, 4.0, 6.0]


def other(v):
    return v + 1


def test_1_and_1_0_and_true_are_three_arguments():
    f = astjit.elementwise(lambda x, k: k if x > 1 else 2)
    given = torch.tensor([0.0, 2.0])
    assert f(given, 1).dtype is torch.int64
    assert f(given, 1.0).dtype is torch.float32
    assert f(given, True).tolist() == [2, 1]
    g = astjit.elementwise(lambda x, k: k if x > 1 else False)
    assert g(given, True).dtype is torch.bool


def test_small_integers_do_not_wrap():
    f = astjit.elementwise(lambda x, y: (x + y, x * y, x - y, x << 3, -x))
    a = torch.tensor([255, 0, 100], dtype=torch.uint8)
    b = torch.tensor([1, 1, 2**31 - 1], dtype=torch.int32)
    for got, want in zip(f(a, b), f.reference(a, b), strict=True):
        assert got.dtype is torch.int64
        assert torch.equal(got, want)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_floats_of_all_widths(dtype):
    @astjit.elementwise
    def f(x, y):
        s = 0.0
        while s < x:
            s = s + y * 0.5
        return s, x * y - 1, 2

    x, y = torch.tensor([0.5, 2.0, -1.0], dtype=dtype), torch.tensor([0.25, 1.5, 1.0], dtype=dtype)
    got, want = f(x, y), f.reference(x, y)
    assert [t.dtype for t in got] == [t.dtype for t in want] == [dtype, dtype, torch.int64]
    for one, other_ in zip(got, want, strict=True):
        assert torch.equal(one, other_)


def test_layouts():
    f = astjit.elementwise(lambda x, y: x - y if x > y else y * y)
    turned = torch.randn(4, 3).t()
    for x, y in (
        (turned, turned),
        (turned, torch.randn(4)),
        (torch.randn(6)[::2], torch.randn(3)),
        (torch.randn(()), torch.randn(3, 1)),
        (torch.randn(0, 4), torch.randn(4)),
        (torch.randn(1).expand(5), torch.randn(5)),
    ):
        got = f(x, y)
        assert torch.equal(got, f.reference(x, y))
        assert got.stride() == (x + y).stride()


def test_more_kinds_of_calls_than_programs_are_kept():
    f = astjit.elementwise(lambda x, k: x + k)
    for k in range(12):
        assert f(torch.zeros((1,) * (k % 3) + (2,)), k * (1 if k % 2 else 1.0)).sum() == 2 * k
    assert f.cache_info().programs <= 8


def test_trips_are_limited():
    @astjit.elementwise(max_trips=50)
    def f(x):
        while x > 0.0:
            x = x * 1.5
        return x

    assert f(torch.tensor([-1.0, 0.0])).tolist() == [-1.0, 0.0]
    with pytest.raises(astjit.TripLimit) as caught:
        f(torch.tensor([-1.0, 1.0]))
    assert caught.value.limit == 50
    assert caught.value.location.line == f.__wrapped__.__code__.co_firstlineno + 2

    @astjit.elementwise(max_trips=3)
    def exactly(n):
        i = 0
        while i < n:
            i += 1
        return i

    assert exactly(torch.tensor([3])).tolist() == [3]
    with pytest.raises(astjit.TripLimit):
        exactly(torch.tensor([4]))


def test_gradients_are_refused():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(astjit.UsageError, match="x requires a gradient"):
        scaled(x)
    with torch.no_grad():
        assert not scaled(x).requires_grad
    assert scaled(x.detach()).tolist() == [15.0] * 3


def test_a_fault_of_one_element_is_raised_as_python_does():
    f = astjit.elementwise(lambda n: 7 // n)
    with pytest.raises(ZeroDivisionError):
        f(torch.tensor([1, 0]))
    assert f(torch.tensor([2, 7])).tolist() == [3, 1]
    g = astjit.elementwise(lambda n: TABLE[n])
    with pytest.raises(IndexError, match="index 3 is out of range"):
        g(torch.tensor([0, 3]))
    assert g(torch.tensor([0, -1])).tolist() == [1.0, 4.0]


def test_inside_a_compiled_function_it_is_one_operation():
    @astjit.compile(fullgraph=True)
    def f(x, y):
        return scaled(x * 2, y=y).relu() + other_element(x, 3)

    got = f(X, Y)
    want = scaled(X * 2, y=Y).relu() + other_element(X, 3)
    torch.testing.assert_close(got, want)
    assert f.ssa(X, Y).count("= map ") == 2


@astjit.elementwise
def other_element(x, n):
    return x if x > n else -x


def test_errors_inside_a_compiled_function_are_those_of_the_call():
    bad = astjit.elementwise(lambda x: print(x))

    @astjit.compile
    def f(x):
        return bad(x) + 1

    with pytest.raises(astjit.ElementError, match="AJ102"):
        f(X)


def test_lambdas_of_one_line_are_told_apart():
    f, g = astjit.elementwise(lambda x: x + 1), astjit.elementwise(lambda x: x * 10)
    assert (f(Y).tolist(), g(Y).tolist()) == ([2.0, 3.0, 4.0], [10.0, 20.0, 30.0])


def test_decorators_in_between_are_not_passed_over():
    def doubled(function):
        @functools.wraps(function)
        def inner(x):
            return function(x) * 2

        return inner

    @astjit.elementwise
    @doubled
    def f(x):
        return x + 1

    assert f(Y).tolist() == [4.0, 6.0, 8.0]


def test_an_edited_file_is_noticed(tmp_path):
    file = tmp_path / "edited.py"
    file.write_text("def f(x):\n    return x + 1\n")
    space = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    file.write_text("def f(x):\n    return x + 2\n")
    with pytest.raises(astjit.ElementError, match="AJ110 the source of f has changed"):
        astjit.elementwise(space["f"])(Y)


def test_methods_see_their_object():
    class Model:
        def __init__(self, k):
            self.k = k

        @astjit.elementwise
        def run(self, x):
            return x * self.k

    model = Model(2.0)
    assert model.run(Y).tolist() == [2.0, 4.0, 6.0]
    model.k = 3.0
    assert model.run(Y).tolist() == [3.0, 6.0, 9.0]


def test_texts():
    assert "= map %x" in scaled.ssa(X)
    assert "scaled_kernel(" in scaled.program_source(X)
    assert "for (" in scaled.cpp_source(X)
    assert "scaled" in str(astjit.explain(scaled, X))
    assert str(scaled.explain(X)) == str(astjit.explain(scaled, X))


def test_wrong_uses():
    with pytest.raises(astjit.UsageError, match="not a Python function"):
        astjit.elementwise(3)
    with pytest.raises(astjit.UsageError, match="max_trips"):
        astjit.elementwise(scaled, max_trips=1.5)
    with pytest.raises(TypeError, match="missing"):
        scaled()
    assert astjit.elementwise(scaled)(X).tolist() == [[11.0], [19.0]]
    assert astjit.compile(scaled)(X).tolist() == [[11.0], [19.0]]


def test_autocast_is_an_error():
    with torch.autocast("cpu"), pytest.raises(astjit.UsageError, match="autocast"):
        scaled(X)


def test_many_threads_may_call():
    f = astjit.elementwise(lambda x, y: x * y if x > y else y)
    results = []
    threads = [threading.Thread(target=lambda: results.append(f(X, Y))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(torch.equal(r, results[0]) for r in results)
