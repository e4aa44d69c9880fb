"""What the language does not have, each with its code, its caret and what to write instead."""

import dataclasses
import math
import random
from typing import NamedTuple

import pytest
import torch

import astjit
from astjit.frontend.elements.refusals import CODES
from tests.frontend.elements.lowered import N, X, refused

TABLE = torch.arange(4.0)


def with_(x):
    with torch.no_grad():
        return x


def try_(x):
    try:
        return x
    finally:
        pass


def raise_(x):
    if x > 0:
        raise ValueError
    return x


def yield_(x):
    return (yield x)


def import_(x):
    import math as m

    return m.sin(x)


def nonlocal_(x):
    k = 0

    def inner():
        nonlocal k
        k = 1

    inner()
    return x + k


def global_(x):
    global FACTOR
    FACTOR = x
    return x


def delete(x):
    y = x
    del y
    return x


def class_(x):
    class A:
        pass

    return x


def store(x):
    t = [x, x]
    t[0] = 1.0
    return t[0]


def append(x):
    t = [x]
    t.append(x)
    return t[1]


def assert_(x):
    assert x > 0
    return x


def printed(x):
    print(x)
    return x


def keywords(x):
    return dict(**{"a": x})["a"]


def method(x):
    return x.abs()


def power_of_ints(x, n):
    return n**n + x


def unbound(x):
    if x > 0:
        y = 1.0
    return y


def unbound_after_a_loop(x, n):
    for i in range(n):
        last = x
    return last


def undefined(x):
    return x + nothing_is_called_so  # noqa: F821


def conflict(x):
    y = None
    if x > 0:
        y = x
    return y


def conflict_in_a_loop(x):
    y = (x,)
    while x > 0:
        y = x
        x = x - 1
    return y


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def recursion(x):
    return factorial(x)


def no_value(x):
    if x > 0:
        return x


def nothing(x):
    x + 1


def dynamic_item(x, n):
    return (1.0, 2.0)[n]


def dynamic_length(x, n):
    return sum([x for i in range(n)])


def two_arguments(x):
    return math.sqrt(x, x)


def helper(a):
    return a


def too_many(x):
    return helper(x, x)


def divides_by_zero(x):
    return 1 / 0 + x


def wrong_unpacking(x):
    a, b = x, 1, 2
    return a + b


def beyond(n):
    return n + 2**63


def whole_tensor(x):
    return x + TABLE


def rank(x, n):
    return TABLE[n, n] + x


def matmul(x):
    return x @ x


def complex_(x):
    return x + 1j


def lambda_in_a_generator(x):
    return sum(f(x) for f in (lambda v: v * i for i in range(2)))


def kept_generator(x):
    k = 1.0
    made = (x * k for _ in range(2))
    k = 3.0
    return sum(made)


def kept_zip(x):
    z = zip((x, 1.0), (2.0, x), strict=True)
    return sum([a * b for a, b in z]) + sum([a * b for a, b in z])


def generator_of_a_loop(x):
    k, total = 1.0, 0.0
    for v in (x * k for _ in range(3)):
        total += v
        k += 1
    return total


def walrus_in_a_generator(x):
    found = any((last := x * w) > 1 for w in (1.0, 2.0))
    return last if found else x


@dataclasses.dataclass(frozen=True)
class Empty:
    a: float

    def __bool__(self):
        return False


def truth_of_its_own(x):
    return 1 if Empty(x) else 2


class Odd(NamedTuple):
    a: float
    b: float

    def __iter__(self):
        return iter((1.0, 2.0, 3.0))


def no_plain_tuple(x):
    return sum(Odd(x, x))


def count_of_elements(x):
    return (x, 1.0).count(1.0)


def key_of_max(x):
    return max(x, 1.0, key=abs)


def unequal_lengths(x):
    return sum([a * b for a, b in zip((x, x), (1.0,), strict=True)])


def mapping_pattern(x):
    match {"a": x}:
        case {"a": v}:
            return v
    return x


def drawn(x):
    return random.random() * x


def text_of_an_element(x):
    return len(f"{x}")


def starred_keyword(x):
    return helper(**{"a": x})


def two_digits(x):
    return round(x, 2)


def endless(x):
    while True:
        x = x + 1


def decorated_inner(x):
    @helper
    def inner(v):
        return v

    return inner(x)


def unknown_torch(x):
    return torch.cumsum(x, 0)


def known_append(x):
    t = []
    if x > 0:
        t.append(1)
    return x + len(t)


def iterator(x):
    it = iter((1, 2))
    return x + next(it)


class Counter:
    def __init__(self):
        self.count = 0

    def step(self, by):
        self.count += 1
        return by

    def __call__(self, by):
        self.count += 1
        return by


COUNTER = Counter()


def stores_in_a_method(x):
    return x + COUNTER.step(1)


def stores_in_a_call(x):
    return x + COUNTER(1)


def float_range(x):
    return sum(range(x))


CASES = [
    (with_, "AJ101", "with torch.no_grad():"),
    (try_, "AJ101", "try:"),
    (raise_, "AJ101", "raise ValueError"),
    (yield_, "AJ101", "yield x"),
    (import_, "AJ101", "import math as m"),
    (nonlocal_, "AJ101", "nonlocal k"),
    (global_, "AJ101", "global FACTOR"),
    (delete, "AJ101", "del y"),
    (class_, "AJ101", "class A:"),
    (store, "AJ101", "t[0]"),
    (append, "AJ101", "t.append(x)"),
    (assert_, "AJ101", "assert x > 0"),
    (printed, "AJ102", "print(x)"),
    (keywords, "AJ101", '{"a": x}'),
    (method, "AJ103", "x.abs"),
    (power_of_ints, "AJ103", "n**n"),
    (unbound, "AJ104", "y"),
    (unbound_after_a_loop, "AJ104", "last"),
    (undefined, "AJ104", "nothing_is_called_so"),
    (conflict, "AJ105", "y"),
    (conflict_in_a_loop, "AJ105", "y"),
    (recursion, "AJ106", "factorial(n - 1)"),
    (no_value, "AJ107", "def no_value(x):"),
    (nothing, "AJ107", "def nothing(x):"),
    (dynamic_item, "AJ108", "n"),
    (dynamic_length, "AJ103", "range(n)"),
    (two_arguments, "AJ109", "math.sqrt(x, x)"),
    (too_many, "AJ109", "helper(x, x)"),
    (divides_by_zero, "AJ111", "1 / 0"),
    (wrong_unpacking, "AJ111", "a, b"),
    (beyond, "AJ112", "n + 2**63"),
    (whole_tensor, "AJ103", "x + TABLE"),
    (rank, "AJ103", "TABLE[n, n]"),
    (matmul, "AJ101", "x @ x"),
    (complex_, "AJ103", "1j"),
    (lambda_in_a_generator, "AJ101", "(f(x) for f in (lambda v: v * i for i in range(2)))"),
    (kept_generator, "AJ103", "made"),
    (kept_zip, "AJ103", "z"),
    (generator_of_a_loop, "AJ103", "(x * k for _ in range(3))"),
    (walrus_in_a_generator, "AJ101", "((last := x * w) > 1 for w in (1.0, 2.0))"),
    (truth_of_its_own, "AJ103", "Empty(x)"),
    (no_plain_tuple, "AJ103", "Odd(x, x)"),
    (count_of_elements, "AJ101", "(x, 1.0).count(1.0)"),
    (key_of_max, "AJ109", "max(x, 1.0, key=abs)"),
    (unequal_lengths, "AJ111", "zip((x, x), (1.0,), strict=True)"),
    (mapping_pattern, "AJ101", '{"a": v}'),
    (drawn, "AJ102", "random.random()"),
    (text_of_an_element, "AJ108", "x"),
    (starred_keyword, "AJ101", '{"a": x}'),
    (two_digits, "AJ103", "round(x, 2)"),
    (endless, "AJ101", "while True:"),
    (decorated_inner, "AJ101", "helper"),
    (unknown_torch, "AJ103", "torch.cumsum(x, 0)"),
    (float_range, "AJ103", "range(x)"),
    (known_append, "AJ101", "t.append(1)"),
    (iterator, "AJ103", "iter((1, 2))"),
    (stores_in_a_method, "AJ101", "self.count += 1"),
    (stores_in_a_call, "AJ101", "self.count += 1"),
]


UNSAID = ("AJ104", "AJ109", "AJ111", "AJ112")  # what was seen says it


@pytest.mark.parametrize(
    ("function", "code", "caret"), CASES, ids=lambda v: getattr(v, "__name__", "")
)
def test_refused(function, code, caret):
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = [N if name == "n" else X for name in names]
    found, shown, error = refused(function, *given)
    assert (found, shown) == (code, caret), str(error)
    assert error.instead or code in UNSAID, str(error)
    assert str(error).startswith(f"{error.location}: {code} ")
    assert error.location.file == __file__


def test_the_chain_of_calls_is_told():
    _, _, error = refused(recursion)
    assert "recursion -> factorial -> factorial" in str(error)
    assert "instead: a loop" in str(error)
    assert any("factorial is called at" in note for note in error.__notes__)


def test_where_a_name_is_left_out_is_told():
    _, _, error = refused(unbound)
    assert "`y` may have no value here: where the condition in line" in str(error)
    assert "does not hold, nothing is assigned" in str(error)
    assert "instead: give `y` a value before that" in str(error)


def test_every_code_is_listed():
    assert {code for _, code, _ in CASES} | {"AJ110"} == set(CODES)


def test_a_source_that_cannot_be_had():
    space = {}
    exec("def made(x):\n    return x", space)
    with pytest.raises(astjit.ElementError, match="AJ110 no source for made") as caught:
        astjit.elementwise(space["made"])(X)
    assert caught.value.code == "AJ110"


def test_columns_count_characters():
    def f(x):
        größe = x
        return größe + größe @ 1

    code, caret, _ = refused(f)
    assert (code, caret) == ("AJ101", "größe @ 1")
