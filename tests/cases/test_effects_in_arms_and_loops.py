"""What an arm or an iteration changes besides tensors is changed as often as in eager."""

import bisect
import collections
import struct

import pytest
import torch

import astjit


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


X = torch.ones(3)
pytestmark = pytest.mark.filterwarnings("ignore::astjit.AstjitWarning")


def counted_in_a_loop(x, n):
    m = 0

    def bump():
        nonlocal m
        m += 1
        return m

    for _ in range(n):
        x = x * 0.5 + bump()
    return x, m


def summed_in_a_loop(x, n):
    h = torch.zeros(3)

    def step(v):
        nonlocal h
        h = h * 0.9 + v
        return h

    for _ in range(n):
        x = x * 0.5 + step(x)
    return x


def counted_in_arms(x, t):
    m = 0

    def bump():
        nonlocal m
        m += 1
        return m

    if t:  # noqa: SIM108
        y = x * bump()
    else:
        y = x + bump()
    return y, m


def counted_further_in(x, t):
    m = [1]

    def outer():
        def bump():
            nonlocal m
            m = [*m, 2]
            return len(m)

        return bump()

    y = x
    if t:
        y = x * outer()
    return y, m


def defaults_in_arms(x, t):
    d = collections.defaultdict(int)
    y = x
    if t:
        y = x * (d["a"] + 2)
    return y, dict(d)


class Filled(dict):
    def __missing__(self, key):
        self[key] = 3
        return 3


def filled_in_arms(x, t):
    d = Filled()
    y = x
    if t:
        y = x * d["a"]
    return y, dict(d)


def advanced_in_arms(x, t):
    it = iter([1, 2, 3])
    y = x
    if t:
        y = x * ((2 in it) + 1)
    return y, list(it)


def advanced_in_a_loop(x, n):
    it = iter([1, 2, 3, 4, 5, 6, 7, 8, 9, 3])
    for _ in range(n):
        x = x * 0.5 + (3 in it)
    return x


def subtracted_in_arms(x, t):
    c = collections.Counter("aab")
    y = x
    if t:
        c.subtract("a")
        y = x * 2
    return y, dict(c)


def updated_in_a_loop(x, n):
    c = collections.Counter()
    for _ in range(n):
        c.update("a")
        x = x * 0.5
    return x, dict(c)


def appended_in_arms(x, t):
    found = []
    add = found.append
    if t:
        add(x * 2)
    else:
        add(x + 1)
    return found


TRUE, FALSE = torch.tensor(1.0), torch.tensor(0.0)
ARMS = (
    *(counted_in_arms, counted_further_in, defaults_in_arms, filled_in_arms),
    *(advanced_in_arms, subtracted_in_arms, appended_in_arms),
)
LOOPS = (counted_in_a_loop, summed_in_a_loop, advanced_in_a_loop, updated_in_a_loop)


def same(one, other):
    if isinstance(one, torch.Tensor):
        return type(other) is torch.Tensor and torch.equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize("function", ARMS)
def test_only_the_arm_that_is_taken_changes_something(function):
    for flags in ((FALSE, TRUE, FALSE), (TRUE, FALSE)):
        compiled = astjit.compile(function)
        for flag in flags:
            assert same(function(X, flag), compiled(X, flag))


@pytest.mark.parametrize("function", LOOPS)
def test_each_iteration_changes_something(function):
    compiled = astjit.compile(function)
    for n in (20, 3, 20):
        assert same(function(X, n), compiled(X, n))


def unused_item(x, i, n):
    h = x.sum()
    for _ in range(n):
        x[i]
        h = h + 1
    return h


def unused_quotient(a, b, n):
    h = a * 1.0
    for _ in range(n):
        a // b
        h = h + 1
    return h


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (unused_item, (X, torch.tensor([0, 9]))),
        (unused_quotient, (torch.tensor([3]), torch.tensor([0]))),
    ],
)
def test_what_an_iteration_need_not_compute_raises(function, args):
    compiled = astjit.compile(function)
    for _ in range(2):
        with pytest.raises((IndexError, RuntimeError)):
            compiled(*args, 20)


def sorted_in(x, d):
    y = x * 2
    bisect.insort(d, 3)
    return y


def updated(x, d):
    y = x * 2
    d.update(a=4)
    return y + 1


def subtracted(x, d):
    y = x * 2
    d -= collections.Counter("a")
    return y + 1


def added(x, d):
    y = x * 2
    d += [7]
    return y + 1


def packed(x, d):
    y = x * 2
    struct.pack_into("b", d, 0, 5)
    return y


def cut_and_updated(x, d):
    if x.sum() > -9:
        d.update(a=4)
        y = x + 1
    return y * d["a"]


def cut_and_sorted(x, d):
    own = [*d, 5]
    print(end="")
    y = x * (bisect.insort(own, 3) or 2)
    return y, len(own)


@pytest.mark.parametrize(
    ("function", "made"),
    [
        (sorted_in, lambda: [1, 5]),
        (updated, lambda: collections.Counter("ab")),
        (subtracted, lambda: collections.Counter("aab")),
        (added, lambda: collections.deque([1])),
        (added, lambda: collections.UserList([1])),
        (packed, lambda: bytearray(4)),
        (cut_and_updated, lambda: collections.Counter("a")),
        (cut_and_sorted, lambda: [1]),
    ],
)
def test_objects_that_were_there_change_once_at_each_call(function, made):
    compiled, mine, theirs = astjit.compile(function), made(), made()
    for _ in range(3):
        assert same(function(X, theirs), compiled(X, mine))
        assert mine == theirs
