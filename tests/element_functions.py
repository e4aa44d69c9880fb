"""Small element functions, one for each feature of Python that the language has, and their inputs.

Parameters called n and m are given ints, all others floats.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch

FACTOR = 2.0
COUNT = 3
WEIGHTS = (1.0, 2.0, 3.0)
CASES = []


class Pair(NamedTuple):
    a: float
    b: float = 2.0


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 1.5


def case(function):
    CASES.append(function)
    return function


def helper(a, b=1.0, *rest, k=2.0):
    if a > b:
        return a * k
    return a - b + sum(rest)


@case
def chained_assignment(x):
    a = b = x
    return a + b


@case
def annotations(x):
    a: float = x
    b: float
    b = a * 2
    return b


@case
def swap(x, y):
    x, y = y, x
    return x - 2 * y


@case
def nested_unpacking(x, y):
    (a, b), c = (x, y), 3.0
    return a * b + c


@case
def starred_unpacking(x, y):
    a, *r = x, y, 1.0
    return a + r[0] * r[-1]


@case
def augmented_assignment(x):
    y = x
    y += 1
    y *= 2
    y -= 3
    y /= 2
    y **= 2
    return y


@case
def walrus(x):
    if (y := x * 2) > 1:
        return y
    return -y


@case
def branches_of_int_and_float(x):
    if x > 1:
        y = 1
    elif x > 0:
        y = 2.5
    else:
        y = x
    return y


@case
def ternary(x):
    return x if x > 0 else -x * 3


@case
def or_gives_its_operand(x):
    return x or 2.0


@case
def and_gives_its_operand(x, y):
    return x and y


@case
def chained_comparison(x, y):
    return 0 < x <= y < 3


@case
def not_of_a_number(x):
    return not x


@case
def while_continue_break_else(x):
    s = 0.0
    i = 0
    while i < 5:
        i += 1
        if i == 2:
            continue
        if s > x * 3:
            break
        s += x
    else:
        s = -1.0
    return s


@case
def range_that_counts_down(x):
    for i in range(10, 0, -3):
        x = x + i
    return x + i


@case
def range_of_data(n):
    s = 0
    for i in range(n):
        s += i
    return s


@case
def zip_and_enumerate(x):
    s = 0.0
    for a, b in zip((1.0, 2.0), (3.0, x)):
        s += a * b
    for i, c in enumerate(WEIGHTS):
        s += i * c
    return s


@case
def return_in_a_loop(x):
    for i in range(10):
        if x * i > 3:
            return i
    return -1


@case
def closure_and_lambda(x):
    def g(a, b=3.0):
        return a * b * FACTOR

    h = lambda t: t + x
    return g(h(x))


@case
def helper_with_defaults(x):
    return helper(x) + helper(x, 2.0, 3.0, x, k=5.0)


@case
def namedtuple_and_dataclass(x):
    p = Pair(x)
    q = p.a * p.b
    d = Point(q, y=x)
    return d.x - d.y


@case
def comprehension_with_condition(x):
    return sum([c * x**i for i, c in enumerate(WEIGHTS) if c > 1])


@case
def text_and_undefined_in_a_dead_branch(x):
    mode = "a" + f"{COUNT}"
    if mode == "a3":
        return x
    return undefined


@case
def math_functions(x):
    return math.sin(x) + math.sqrt(abs(x)) + math.floor(x) + math.pi


@case
def torch_functions(x):
    return torch.sigmoid(x) + torch.clamp(x, -1, 1)


@case
def integer_division(n, m):
    return n // m, n % m, n / m, -n // m


@case
def float_division(x, y):
    return x // y, x % y


@case
def max_and_min(x, y):
    return max(x, y, 0.5), min(x, y)


@case
def conversions(x):
    return int(x), float(int(x)), bool(x)


@case
def bits(n):
    return n << 2, n >> 1, n & 3, n | 8, n ^ 5, ~n, -n, n**3


@case
def while_true(x):
    t = x
    while True:
        t = t * 0.5
        if abs(t) < 0.1:
            break
    return t


@case
def nested_loops_with_else(x):
    for i in range(3):
        for j in range(4):
            if x > j + i:
                break
        else:
            x += 1
    return x


@case
def match_of_ints(n):
    match n:
        case 0:
            return 10
        case 1 | 2:
            return 20
        case _:
            return 30


@case
def walrus_in_a_while_test(x):
    y = 0.0
    while (y := y + x * x + 1) < 10:
        pass
    return y


@case
def kinds_that_travel_through_names(x):
    a, b = 0.0, 1.0
    for _ in range(5):
        a, b = b, a + b * x
    return a, b


@case
def tuple_carried_by_a_loop(x):
    t = (x, 1)
    for i in range(3):
        t = (t[0] + 1, t[1] * 2)
    return t


@case
def loop_that_indexes_a_tuple(x):
    s = 0.0
    for i in range(3):
        s += WEIGHTS[i] * x
    return s


@case
def any_and_all(x):
    return any(x > c for c in WEIGHTS), all((x > 0, x < 2))


@case
def dead_branch_of_a_constant(x):
    if COUNT > 2:
        return x
    else:
        return nothing(x)


@case
def membership_and_none(x):
    return x in (1, 2), x is None


@case
def one_path_after_another(x, y):
    z = 0.0
    if x > 0:
        if y > 0:
            return 1.0
        z = x
    else:
        z = -x
    return z + y


@case
def break_with_values_on_some_paths(x, y):
    s = 0.0
    for i in range(6):
        if x > y:
            if s > 2:
                break
            t = 1.0
        else:
            t = x
        s += t
    return s


@case
def short_circuit_guards(n, m):
    if m != 0 and n // m > 1:
        return n % m
    return -1 if m == 0 or n // m < 0 else 0


@case
def bool_arithmetic(n, m):
    return (n > 0) + (m > 0), (n > 0) * 3, -(n > m), (n > 0) & (m > 0), (n > 0) ^ True


@case
def none_of_a_helper(x):
    def nothing(v):
        v + 1

    return x if nothing(x) is None else 0.0


@case
def collatz(n):
    steps = 0
    n = abs(n) + 1
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@case
def newton(x):
    a = abs(x) + 0.5
    r = a
    while abs(r * r - a) > 1e-4 * a:
        r = 0.5 * (r + a / r)
    return r


@case
def horner(x):
    total = 0.0
    for c in reversed(WEIGHTS):
        total = total * x + c
    return total


@case
def gcd(n, m):
    a, b = abs(n), abs(m)
    while b:
        a, b = b, a % b
    return a


@case
def continue_in_a_range(n):
    total = 0
    for i in range(12):
        if i % 3 == 0:
            continue
        if i > n + 5:
            break
        total += i
    else:
        return -total
    return total


@case
def loop_over_a_span_with_step(n, m):
    total = 0
    for i in range(n, n + 20, abs(m) + 1):
        total += i * i
    return total


@case
def early_return_of_a_tuple(x, y):
    for i in range(4):
        if x + i > y:
            return i, x
    return -1, y


@case
def closures_see_later_values(x):
    k = 1.0

    def scaled(v):
        return v * k

    k = 3.0
    return scaled(x)


@case
def nested_functions_return_early(x):
    def sign(v):
        if v > 0:
            return 1
        if v < 0:
            return -1
        return 0

    return sign(x) * sign(x - 1) + sign(-x)


@case
def string_modes(x):
    def smooth(v, kind="linear"):
        if kind == "cubic":
            return v * v * (3 - 2 * v)
        return v

    return smooth(x, kind="cubic") + smooth(x)


@case
def loops_in_branches(x, n):
    s = 0.0
    if x > 0:
        for i in range(n):
            s += x
    else:
        while s > x:
            s -= 0.25
    return s


@case
def branches_in_loops(x):
    up = down = 0
    for i in range(8):
        if i * 0.5 > x:
            up += 1
        elif i * 0.3 < x:
            down += 1
        else:
            pass
    return up, down


@case
def named_like_c(max_, exp, tmp0, n, i=3, sum_=1.0):
    int_ = max_ + exp
    float_ = int_ * tmp0
    return float_ + n + i + sum_


@case
def literals_are_weak(x):
    return x * 0.1 + 1, 2**0.5 * x, x / 3, 0.98 / (abs(x) + 0.3)


@case
def division_of_a_literal(n):
    return 7 // (n * n + 1), 7 % (n * n + 1), -7 % (n * n + 1)


@case
def powers(x, n):
    return x**2, (abs(x) + 0.1) ** 0.5, n**0, n**5, 2.0**x


@case
def comparisons_of_tuples(x, y):
    return (x, 1) == (y, 1), (x, y) != (x, y), (x,) == (x, y)


@case
def unrolled_break(x):
    last = -1.0
    for w in WEIGHTS:
        if x > w:
            continue
        last = w
        break
    else:
        last = 9.0
    return last


@case
def a_dict_of_constants(x):
    table = {"a": 2.0, "b": x}
    return table["a"] * table["b"] + {k: v for k, v in (("p", x), ("q", 2.0))}["q"]


@case
def divmod_and_round(x, n):
    q, r = divmod(n, 3)
    return q, r, math.ceil(x), int(x), int(x * 2) // 2


@case
def while_on_two_conditions(x, y):
    count = 0
    while (x < 5 and count < 20) or count < 2:
        x += abs(y) + 0.25
        count += 1
    return x, count


@case
def classification(x):
    return math.isnan(x), math.isinf(x * 1e300 * 1e300), math.copysign(1.0, x), isinstance(x, str)


@case
def slices_of_tuples(x, y):
    t = (x, y, 1.0, 2)
    a, *b = t[1:]
    return a + t[-1] + len(b) + sum(t[::2])


@case
def a_break_in_the_else_of_an_inner_loop(x, n):
    count = 0
    for i in range(6):
        for w in WEIGHTS:
            if x > w + i:
                break
            count += 1
        else:
            if n > 0:
                break
        count += 100
    return count


@case
def match_of_tuples(x, n):
    a = -1.0
    match (x, n):
        case (a, 1):
            return a * 2
        case (_, 2 | 3) if x > 1:
            return 5.0
        case (b, c):
            return a + b + c


@case
def none_in_a_match(x):
    match None if COUNT > 2 else x:
        case None:
            return x * 3
        case _:
            return x


def inputs(function, dtype):
    """A tensor for each parameter of a case, with values that take its different ways."""
    made = []
    for at, name in enumerate(function.__code__.co_varnames[: function.__code__.co_argcount]):
        if name in ("n", "m"):
            values = [-3, -2, -1, 0, 1, 2, 3, 5] if name == "n" else [1, 2, 3, -2, 4, 0, -7, 2]
            made.append(torch.tensor(values))
        elif at == 0 or name == "x":
            made.append(torch.tensor([-1.5, -0.3, 0.0, 0.4, 1.0, 1.7, 2.5, 3.2], dtype=dtype))
        else:
            made.append(torch.tensor([0.5, -2.0, 1.5, 2.5, 1.0, -0.7, 2.9, 0.1], dtype=dtype))
    return made
