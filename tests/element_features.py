"""More element functions: the rows of the table of Python's features, and their combinations.

Each is run as an element function and, on one-element tensors, as a function of tensors.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from tests.element_functions import CASES as FIRST
from tests.element_functions import inputs

WEIGHTS = (1.0, 2.0, 3.0)
SHIFTS = ((1.0, (2, 3)), (0.5, (4, 5)))
NAMES = {"low": 0.5, "high": 2.0}
COUNT = 3
MODE = "soft"
CASES = []


class Settings:
    """An object that functions read."""

    slope = 0.25

    def __init__(self):
        self.scale, self.bounds = 2.0, (-1.0, 1.0)

    @property
    def half(self):
        return self.scale / 2

    @staticmethod
    def doubled(v):
        return v * 2

    @classmethod
    def tilted(cls, v):
        return v * cls.slope

    def limited(self, v):
        low, high = self.bounds
        return low if v < low else high if v > high else v


SETTINGS = Settings()


class Interval(NamedTuple):
    low: float
    high: float = 1.0

    def middle(self):
        return (self.low + self.high) / 2


@dataclass(frozen=True)
class Line:
    slope: float
    offset: float = 0.5

    def at(self, v):
        return self.slope * v + self.offset


def case(function):
    CASES.append(function)
    return function


def keywords_only(a, /, b=2.0, *, c, d=0.25):
    return a * b + c / d


def twice(function, v):
    return function(function(v))


# --- assignments -----------------------------------------------------------------------------


@case
def augmented_ints(n, m):
    a, b, c = n, n, abs(m)
    a //= 3
    a *= 5
    b %= 4
    b <<= 2
    b |= 1
    c >>= 1
    c ^= 6
    c &= 7
    c **= 2
    return a, b, c


@case
def augmented_floats(x, y):
    a, b = x, y
    a //= 0.5
    b %= 0.75
    a -= -b
    return a, b


@case
def augmented_to_another_kind(n):
    n /= 2
    n += 1
    return n


@case
def unpacking_inside_unpacking(x, y):
    a, (b, *c), d = x, (y, 1.0, x), 3
    *e, f = c
    return a - b * d + e[0] - f


@case
def targets_in_a_chain(x, y):
    (a, b) = c = (x, y)
    a = c[1] - a
    return a, b, c[0]


@case
def rotation_of_three(x, y):
    z = x * y
    x, y, z = y, z, x
    x, y = y, x
    return x - y, z


@case
def an_operand_is_read_before_the_walrus(x):
    y = x
    return y + (y := y * 2) * y


@case
def walrus_that_may_not_run(x, y):
    z = 1.0
    if x > 0 and (z := y) > 1:
        return z * 2
    return z


@case
def walrus_in_a_comprehension(x):
    total = sum([(last := x * w) for w in WEIGHTS])
    return total, last


@case
def names_like_builtins(x, y):
    max = x
    sum = max + y
    return abs(sum) - max


@case
def statements_that_do_nothing(x):
    """Text, names and dots."""
    ...
    x  # noqa: B018
    pass
    0  # noqa: B018
    return +x


# --- conditions ------------------------------------------------------------------------------


@case
def nested_ternaries(x, y):
    return 1 if x > 1 else 2 if y > 1 else 3 if x > y else x if x < 0 else 4


@case
def precedence_of_words(x, y):
    return not x > 0 or (y > 0 and x > y) or not (x != 0 and y < 1)


@case
def operands_of_mixed_words(x, y):
    return (x and y) or 3, x or (y and 2.0), (x > 0 and x) or -1


@case
def the_middle_once(x, y):
    return 0 < (z := x * y) < 2, z, 1 == 1 != y >= -2


@case
def membership_of_elements(x, y):
    return x in (y, 1.0, 2.5), y not in (1.0, x), "oft" in MODE, "low" in NAMES


@case
def arms_that_all_return(x):
    if x > 1:
        return 1
    else:
        if x < 0:
            return -x
        else:
            return x * 2


@case
def arms_that_bind_in_turn(x, y):
    if x > 0:
        a, b = x, 1
    elif y > 0:
        b, a = 2, y
    else:
        a = b = 0
    return a * b


@case
def truth_of_numbers(x, n):
    count = 0
    if x:
        count += 1
    if not n:
        count += 2
    while n and count < 5:
        n -= 1 if n > 0 else -1
        count += 1
    return count, n


@case
def a_static_condition_among_others(x):
    if MODE == "hard" or x > 1:
        return 1.0
    if f"{MODE}er" == "softer" and x < 0:
        return 2.0
    return x


# --- loops -----------------------------------------------------------------------------------


@case
def the_variable_after_a_break(x):
    for i in range(10):
        if i > x * 2:
            break
    return i


@case
def the_variable_of_no_iteration(x, n):
    i = -7
    for i in range(n):
        x += i
    return x, i


@case
def bounds_are_read_once(x, n):
    n = abs(n)
    for i in range(n):
        n = 0
        i += 1
        x += i
    return x + n


@case
def else_of_both_loops(x):
    count = 0
    for i in range(3):
        for j in range(3):
            if i + j > x:
                break
            count += 1
        else:
            count += 10
            continue
        if i == 2:
            break
    else:
        count += 100
    return count


@case
def else_of_a_while_with_continue(x):
    i = total = 0
    while i < 6:
        i += 1
        if i % 2:
            continue
        if total > x * 4:
            break
        total += i
    else:
        return -total
    return total


@case
def return_from_the_inner_loop(x, n):
    for i in range(4):
        for j in range(n):
            if i * j > x:
                return i, j
        else:
            if x > 3:
                return i, -1
    return -1, -1


@case
def while_with_a_negated_condition(x, y):
    i = 0
    while not (x > 4 or (i > 3 and y < 1)) and i < 9:
        x += 0.5
        i += 1
    return x, i


@case
def unpacking_targets_of_a_loop(x):
    for i, (w, (a, b)) in enumerate(SHIFTS, 1):
        x = x * w + a - b * i
    for w, v in zip(WEIGHTS, reversed(WEIGHTS), strict=True):
        x += w * v
    return x


@case
def loops_over_items_and_letters(x):
    for _, factor in NAMES.items():
        x *= factor
    for name in NAMES:
        x += len(name)
    for letter in "abca":
        x += 2 if letter == "a" else 1
    return x


@case
def ranges_of_ranges(n, m):
    total = 0
    for i in range(-2, abs(n), 2):
        for j in range(i, -4, -1):
            total += i * j
        total -= m
    return total


@case
def a_counter_becomes_a_float(x):
    total = 0
    for i in range(4):
        total += i if i < 2 else x
    return total


@case
def names_bound_in_every_iteration(x):
    best, place = x, -1
    for i in range(5):
        value = (x - i) * (x - i)
        if i == 0 or value < best:
            best, place = value, i
    return best, place, value


# --- functions -------------------------------------------------------------------------------


@case
def late_binding(x):
    made = [lambda v: v * i for i in range(3)]  # noqa: B023
    return made[0](x) + made[2](1.0)


@case
def early_binding(x):
    made = [lambda v, i=i: v * i for i in range(3)]
    return made[0](x) + made[1](x) * made[2](1.0)


@case
def names_of_inner_functions(x, y):
    def inner(y, k=2):
        x = y * k
        return x + 1

    return inner(y) - x + inner(x, k=y)


@case
def functions_as_arguments(x):
    def up(v):
        return v * 1.5 + 1

    return twice(up, x), twice(lambda v: -v, x), twice(SETTINGS.doubled, x)


@case
def kinds_of_arguments(x, y):
    rest = (y, 3.0)
    named = keywords_only(x, c=y)
    return named + keywords_only(x, *rest[:1], d=0.5, c=1) + keywords_only(x, b=rest[1], c=x)


@case
def a_chosen_function(x):
    f = math.sin if MODE == "soft" else math.cos
    g = (abs, math.exp)[COUNT - 2]
    return f(x) * g(x)


@case
def inner_functions_of_inner_functions(x):
    def outer(v):
        k = v + 1

        def inner(w):
            if w > k:
                return w
            return k * w

        return inner(v * 2) + inner(k)

    return outer(x) + outer(-x)


@case
def return_inside_a_loop_of_a_helper(x, y):
    def first(limit):
        for i in range(6):
            if i * 0.5 > limit:
                return i
        return -1

    return first(x) * 10 + first(y)


# --- containers and objects --------------------------------------------------------------------


@case
def tuples_put_together(x, y):
    t = (x, y) + (1,) * 2 + ((x - y),)
    return t[::-1][0], t[-2:][0] + len(t), sum(t[1:4:2])


@case
def lists_and_dicts_of_elements(x, y):
    parts = [x, [y, 2.0], {"k": x * y}]
    return parts[1][0] - parts[0] * parts[-1]["k"]


@case
def nested_comprehensions(x):
    table = [[x * i - j for j in range(2)] for i in range(3)]
    return sum(v for line in table for v in line if line is not table[0]), max(table[2])


@case
def a_comprehension_of_a_dict(x):
    table = {name: x * factor for name, factor in NAMES.items() if name != "low"}
    return table["high"] + len(table)


@case
def the_variable_of_a_comprehension(x):
    i = 5
    parts = [x + i for i in range(2)]
    return parts[1] * i


@case
def attributes_and_methods(x):
    low, high = SETTINGS.bounds
    a = SETTINGS.limited(x * SETTINGS.scale) + SETTINGS.half
    return a + low * high, Settings.tilted(x), SETTINGS.doubled(x) * Settings.slope


@case
def methods_of_records(x, y):
    span = Interval(x, high=y)
    line = Line(span.middle())
    low, high = span
    return line.at(low), line.at(high), span[1] - span.low


@case
def questions_about_objects(x):
    a = x if hasattr(SETTINGS, "scale") and not hasattr(SETTINGS, "other") else 0.0
    b = getattr(SETTINGS, "missing", 3.0) * getattr(SETTINGS, "scale")  # noqa: B009
    return a * b, isinstance(x, (int, str)), isinstance(SETTINGS, Settings), callable(twice)


@case
def patterns_with_guards(x, n):
    match n:
        case 0 | 1 if x > 0:
            return x
        case 2:
            return -x
        case k if k > 2:
            return k * 2
        case _:
            return 0.5


@case
def patterns_of_what_is_known(x):
    match (MODE, WEIGHTS, Line(2.0)):
        case ("hard", _, _):
            return 0.0
        case (str(), (first, *rest), Line(slope=2.0 as s)):
            return x * s + first + len(rest)
    return -1.0


# --- numbers ---------------------------------------------------------------------------------


@case
def ints_beyond_32_bits(n, m):
    big = n * 3_000_000_000 + 2**40
    return big, big * 1000 + m, big // 7, big % 1_000_003, big > 2**35, -big >> 3


@case
def a_product_beyond_32_bits(n):
    total = 1
    for i in range(1, 18):
        total *= i
    return total * n, (total + n) % 1000


@case
def floors_of_negative_numbers(x, n):
    return math.floor(x), math.ceil(-x), int(-x), x // 1, -x % 2, n // -2, n % -3, -n // 2


@case
def halves_to_even(x, n):
    return round(x), round(n / 2), round(-n - 0.5), int(n / 2), math.trunc(x * 1.5)


@case
def quotient_and_rest(x, y):
    q, r = divmod(x, abs(y) + 0.25)
    return q, r, x // (abs(y) + 0.25) == q


@case
def comparisons_with_nan(x):
    nan = math.nan * x
    return nan == nan, nan != nan, nan < x, not nan < x, max(x, nan), min(x, nan), bool(nan)


@case
def infinite_numbers(x):
    big = math.inf
    return x < big, -big < x, max(x, -big), min(big, x), math.isinf(big * (abs(x) + 1))


@case
def zeros_have_signs(x):
    zero = x * 0.0
    return math.copysign(1.0, zero), math.copysign(2.0, -0.0), -zero, abs(-zero), 0.0 == -0.0


@case
def truth_values_are_ints(x, n):
    a, b = x > 0, n > 0
    return a + b + True, a * 3, -a, a & b, a | (n > 1), a ^ b, abs(a), a == 1, int(b) << 2


@case
def powers_of_all_kinds(x, n):
    return n**2, (-n) ** 3, 2**-1 * x, (x * x) ** 0.5, (abs(x) + 1) ** -1.5, pow(x, 3), x**0


@case
def bits_of_negative_numbers(n, m):
    return n & 6, n | 9, n ^ m, ~m, n >> 1, (n << 4) >> 2, -1 & m, n & -n


@case
def largest_and_smallest(x, y, n):
    return max(x, y, 1), min((x, y, -0.5)), max(n, 2), min(n, 2.5), max(x, n)


@case
def functions_of_math(x, y):
    a = abs(x) + 0.5
    return (
        math.log(a),
        math.log2(a),
        math.hypot(x, y),
        math.hypot(x, 1.0),
        math.atan2(x, y),
        math.exp(-a) + math.tanh(y),
        math.fabs(x) + math.pi * math.e - math.tau,
        math.degrees(x),
    )


@case
def kinds_of_several_results(x, n):
    if x > 1:
        return 1, x, n > 0
    return 2.5, n, True


EVERY = (*FIRST, *CASES)


def elements(function, dtype):
    """The inputs of a case as tensors of one element each, one call after another."""
    given = inputs(function, dtype)
    return [[t[k].clone() for t in given] for k in range(len(given[0]))]
