"""Python ints as positions, lengths and counts: a decode loop is a few programs, as eager.

Values, strides, storage sharing, writes and exceptions are compared at 0, 1, n - 1, n, beyond, and
from the end; PyTorch runs the programs, op by op, so that no compiler is needed.
"""

import pytest
import torch
import torch.nn.functional as F

import astjit

pytestmark = pytest.mark.filterwarnings(
    "ignore:kernels run through PyTorch", "ignore:.* has 8 programs", "ignore:.*overlaps what is"
)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


def outcome(function, given):
    """The result, or what was raised."""
    try:
        return function(*given)
    except Exception as error:
        return type(error), str(error)


def same(one, other):
    assert type(one) is type(other), (one, other)
    if isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, torch.Tensor):
        assert one.dtype == other.dtype
        assert (one.stride(), one.storage_offset()) == (other.stride(), other.storage_offset())
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
    else:
        assert one == other


def check(function, *calls, programs=None):
    """The compiled function gives what eager gives, and leaves what it leaves."""
    compiled = astjit.compile(function)
    for given in calls:
        own = [v.clone() if isinstance(v, torch.Tensor) else v for v in given]
        other = [v.clone() if isinstance(v, torch.Tensor) else v for v in given]
        expected, found = outcome(function, own), outcome(compiled, other)
        same(expected, found)
        same(own, other)
    if programs is not None:
        info = compiled.cache_info()
        assert info.programs <= programs, info.reasons
        assert info.hits == len(calls) - info.programs
    return compiled


def x():
    return torch.arange(72.0).reshape(6, 12) / 7


class Cache:
    def __init__(self):
        self.k, self.v, self.pos = torch.zeros(2, 3, 64, 4), torch.zeros(2, 3, 64, 4), 0


def attend(q, keys, values):
    return F.scaled_dot_product_attention(q, keys, values)


def with_argument(cache, q, k, v, p):
    n = k.shape[2]
    cache.k[:, :, p : p + n] = k
    cache.v[:, :, p : p + n] = v
    return attend(q, cache.k[:, :, : p + n], cache.v[:, :, : p + n]) * 2, p + n


def with_attribute(cache, q, k, v, p):
    cache.k[:, :, cache.pos : cache.pos + 1] = k
    cache.v[:, :, cache.pos] = v[:, :, 0]
    cache.pos += 1
    return attend(q, cache.k[:, :, : cache.pos], cache.v[:, :, : cache.pos]), cache.pos


def by_narrow(cache, q, k, v, p):
    cache.k.narrow(2, p, 1).copy_(k)
    cache.v.select(2, p).copy_(v[:, :, 0])
    places = torch.arange(p, p + q.shape[2]) * 0.5
    return attend(q, cache.k.narrow(2, 0, p + 1), cache.v[:, :, : 1 + p]) + places[:, None], p


@pytest.mark.parametrize("function", [with_argument, with_attribute, by_narrow])
@pytest.mark.parametrize("first", [0, 5])
def test_a_decode_loop_is_a_few_programs(function, first):
    def run(step):
        torch.manual_seed(0)
        cache, made = Cache(), []
        cache.pos = first
        for p in range(first, 64):
            made.append(step(cache, *torch.randn(3, 2, 3, 1, 4), p))
        return made, cache.k, cache.v, cache.pos

    compiled = astjit.compile(function)
    with torch.no_grad():
        same(run(function), run(compiled))
    info = compiled.cache_info()
    assert info.programs <= 3, info.reasons
    assert info.programs + info.hits == 64 - first
    if first and function is not with_attribute:
        assert info.programs == 1


WHERE = (0, 1, 2, 5, 10, 11, 12, 13, 20, -1, -2, -12, -13)


def window(x, p):
    return x[:, p : p + 2] + 1


def taken(x, p):
    return x[:, p] * 2, x[:, -p]


def first(x, p):
    return x[:, :p] + 1, x[:, p:], p, p + 1, x.shape[1] - p


def stepped(x, p):
    return x[:, p:12:3] - 1, x[:, :p:2]


def written(x, p):
    x[:, p : p + 2] = 7.0
    x[:, p] += 1
    return x[:, :p]


def narrowed(x, p):
    return x.narrow(1, p, 2) + 1, x.narrow(1, 0, p)


def halved(x, p):
    return x[:, : p // 2] + p % 3, x[: p * 2 - 3]


def counted(x, p):
    return torch.zeros(p, 2), torch.arange(p) + 1, torch.full((2, p), 1.5)


def repeated(x, p):
    return x.repeat(p, 1) + 1, x[:1].expand(p, 12) * 2


def shaped(x, p):
    return x.view(p, -1) + 1, x.reshape(-1, p), x.view(p, 72 // p)


def parts(x, p):
    return [t + 1 for t in x.split([p, x.shape[1] - p], 1)], x.split(p, 1)[0]


def halves(x, p):
    one, other = x.split([p, x.shape[1] - p], 1)
    return one + 1, other * 2


def padded(x, p):
    return F.pad(x, (p, 1)) + 1


def clamped(x, p):
    return x[:, min(p, 4) : max(p, 6)] + 1


@pytest.mark.parametrize(
    ("function", "programs"),
    [
        (window, 8),
        (taken, None),
        (first, 8),
        (stepped, None),
        (written, None),
        (narrowed, None),
        (halved, None),
        (counted, 2),
        (repeated, None),
        (shaped, None),
        (parts, None),
        (padded, None),
        (clamped, None),
    ],
)
def test_positions_are_as_in_eager(function, programs):
    compiled = check(function, *((x(), p) for p in WHERE))
    if programs is not None:
        assert compiled.cache_info().programs <= programs


@pytest.mark.parametrize(
    "function", [window, first, written, narrowed, repeated, padded, counted, halves]
)
def test_most_positions_are_one_program(function):
    check(function, *((x(), p) for p in range(2, 11)), programs=1)


def from_the_end(x, p):
    return x[:, p:] + 1, x[:, :p] * 2, x[p], x[p:, p]


def last(x, p):
    x[:, -p:] += 1
    return x[:, p : p + 1].sum(0), x.narrow(1, p, 1)


@pytest.mark.parametrize(("function", "programs"), [(from_the_end, 5), (last, 5)])
def test_negative_positions_are_one_program(function, programs):
    check(function, *((x(), p) for p in range(-6, -1)), programs=1)
    compiled = check(function, *((x(), p) for p in range(-6, 6)))
    assert compiled.cache_info().programs <= programs


def test_a_negative_attribute_is_a_position_once_it_varied():
    class Window:
        back = -3

        def tail(self, x):
            return x[self.back :] + self.back

    window = Window()
    tail = astjit.compile(window.tail)
    for back in (-3, -4, -2, -5, 2, 3, -4, -1, True, -5):
        window.back = back
        same(window.tail(x()), tail(x()))
    assert tail.cache_info().programs <= 5


def differences(x, a, b):
    return x[a - b] + 1, x[b - a : a + b]


def reshaped(x, a, b):
    return x.view(a - b, -1) + 1


def spread(x, a, b):
    return x[:1].expand(a - b, 12) + 1


def cut(x, a, b):
    return x.narrow(0, a - b, b) + 1


def cells(x, a, b):
    x[a] = 1.0
    x[b] = 2.0
    x[a:b] += 1
    return x, x[a]


def apart(x, a, b):
    x[a - b] += x[a - b + 1]
    x[a - b : a] += x[a : a + b].sum(0)
    return x


@pytest.mark.parametrize("function", [differences, reshaped, spread, cut, cells, apart])
def test_what_two_positions_give_may_be_negative_zero_or_one(function):
    pairs = [(5, 2), (4, 2), (3, 2), (2, 2), (2, 3), (2, 4), (8, 2), (6, 0), (0, 6), (9, 3), (3, 9)]
    for order in (pairs, pairs[::-1], [(3, 4), (2, 5), (2, 12), (5, 2)]):
        check(function, *((x(), *pair) for pair in order))


def test_an_int_that_was_a_size_is_guarded_where_it_differs():
    def rows(x, n):
        return x[:, 0] + torch.ones(n)

    check(rows, (x(), 6), (x()[:4], 4), (x(), 5), (x(), 1), (x(), True), programs=None)
    assert astjit.compile(rows).ssa(x(), 6).count("f32[x0]") > 0


def test_an_int_as_axis_and_as_number_is_what_it_is():
    def mixed(x, p):
        return x[p:] * p, x.sum(p), x / (p + 1)

    check(mixed, *((x(), p) for p in (0, 1, -1, 2, True)))


def test_views_at_a_position_share_memory():
    def views(x, p):
        return x[:, p:], x[p], x.narrow(1, p, 3)

    compiled = astjit.compile(views)
    for p in range(6):
        given = x()
        for made, expected in zip(compiled(given, p), views(given, p), strict=True):
            assert made.data_ptr() == expected.data_ptr()
            assert made._base is given


def test_kernels_at_positions():
    def kernels(x, p, n):
        return (x[:, p : p + n] * 2).sum(1), torch.sigmoid(x[p:, :n]), x[:n, p] + torch.zeros(n)

    compiled = astjit.compile(kernels)
    for p in range(5):
        for n in range(7):
            same(outcome(kernels, (x(), p, n)), outcome(compiled, (x(), p, n)))
