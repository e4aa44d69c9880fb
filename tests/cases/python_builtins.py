# ruff: noqa: C408, C416, C417, RUF005, RUF017, UP031 -- every way to write Python is a row, the unusual ones as well
"""What comes with Python: containers, text, numbers, the standard library; one row a function."""

import bisect
import collections
import functools
import heapq
import itertools
import math
import operator
import string
import textwrap
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque

import torch

WORDS = {"a": 1, "b": 2.5}
NUMBERS = [3, 1, 2]


# --- containers ---


def list_methods(x):
    made = [1, 2]
    made.append(3)
    made.extend((4, 5))
    made.insert(0, 9)
    made.remove(2)
    last = made.pop()
    made.reverse()
    made.sort(key=lambda v: -v)
    made[1:2] = [7, 7]
    return x * last, made, made.index(7), made.count(7), made + [1], made * 2, made[::-1]


def list_of_tensors(x, y):
    made = [x]
    made += [y]
    made.insert(0, x + y)
    return torch.stack(made), torch.cat([*made[1:]]), len(made)


def dict_methods(x):
    table = dict(a=1, b=2)
    table.update(c=3)
    table |= {"d": 4}
    first = table.pop("a")
    table.setdefault("e", []).append(5)
    table.setdefault("b", 10)
    return (
        x * first,
        table,
        [*table.items()],
        table.get("no"),
        table.get("no", 7),
        list(reversed(table)),
        table.popitem(),
        {**table, "z": 1} | {"y": 2},
        dict.fromkeys("ab", 0),
        dict(zip("ab", (1, 2), strict=True)),
        table.keys() & {"b", "q"} == {"b"},
    )


def dict_of_tensors(x, y):
    table = {"x": x, 3: y}
    return {str(k): v * 2 for k, v in table.items()}, sum(table.values()), 3 in table


def set_methods(x):
    s, t = {1, 2, 3}, {3, 4}
    s.add(9)
    s.discard(1)
    return (
        x,
        sorted(s | t),
        sorted(s & t),
        sorted(s - t),
        sorted(s ^ t),
        s > {2},
        s.isdisjoint({100}),
        frozenset(t) == t,
        len(s),
    )


def outside_containers(x, config, sizes):
    total = sum(WORDS.values()) + max(NUMBERS) + len(config)
    return x * total, sorted(NUMBERS), [k for k in WORDS], {**WORDS, "c": 3}, NUMBERS[1:], sizes[-1]


def sorting(x):
    words = ["bb", "a", "ccc"]
    return (
        x,
        sorted(words, key=len, reverse=True),
        min(words, key=len),
        max(words, key=lambda w: (len(w), w)),
        max(3, 1),
        min([], default=0),
        sorted({"k": 2, "j": 1}.items(), key=lambda kv: kv[1]),
        sorted([(2, "a"), (1, "b")], key=operator.itemgetter(1)),
    )


def functional(x):
    return (
        [*map(lambda t: t * 2, [x, x + 1])],
        list(filter(None, [0, 1, 2])),
        list(filter(lambda v: v > 1, range(4))),
        functools.reduce(lambda a, b: a + b, [x, x, x]),
        functools.reduce(operator.mul, [1, 2, 3], 4),
        all(v > 0 for v in (1, 2)),
        any([]),
        sum([[1], [2]], []),
        [*map(operator.add, (1, 2), (3, 4))],
        list(map(str, range(3))),
    )


def zips(x, y):
    pairs = list(zip([x, y], "ab", strict=False))
    turned = list(zip(*[(1, 2), (3, 4)], strict=True))
    return (
        pairs[0][0] * 2,
        turned,
        list(enumerate("ab", 1)),
        list(reversed([1, 2])),
        dict(pairs and {}),
    )


def iterators(x):
    it = iter([1, 2, 3])
    first = next(it)
    rest = [*it]
    chunks = list(zip(*[iter(range(4))] * 2, strict=True))
    sentinel = list(iter(lambda left=[1, 2, 0]: left.pop(0), 0))
    return x * first, rest, chunks, sentinel, next(iter({"k": 1}))


def itertools_functions(x):
    return (
        list(itertools.chain([1], (2, 3))),
        list(itertools.chain.from_iterable([[x], [x + 1]])),
        list(itertools.product([1, 2], "a")),
        list(itertools.islice(itertools.count(5), 2)),
        list(itertools.accumulate([1, 2, 3])),
        list(itertools.accumulate([x, x], operator.mul)),
        list(itertools.combinations("abc", 2)),
        list(itertools.permutations([1, 2])),
        list(itertools.zip_longest([1], [2, 3], fillvalue=0)),
        [(k, len(list(g))) for k, g in itertools.groupby("aab")],
        list(itertools.takewhile(lambda v: v < 2, [1, 2, 1])),
        list(itertools.dropwhile(lambda v: v < 2, [1, 2, 1])),
        list(itertools.starmap(pow, [(2, 3)])),
        list(itertools.repeat("a", 2)),
        list(itertools.pairwise([1, 2, 3])),
        list(itertools.compress("ab", [0, 1])),
    )


def cycle_and_tee(x):
    turning = itertools.cycle([1, 2])
    a, b = itertools.tee([1, 2])
    return x * next(turning) * next(turning), list(a), list(b)


# --- functools, operator, collections ---


def partials(x):
    add = functools.partial(torch.add, alpha=2)
    power = functools.partial(pow, 2)
    own = functools.partial(lambda a, b, *, c: a * b + c, 3, c=1)
    return add(x, x), power(3), own(x)


@functools.cache
def cached(n):
    return [n * 2][0]


@functools.cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.singledispatch
def kind_of(value):
    return "other"


@kind_of.register
def _(value: int):
    return "int"


@kind_of.register(str)
def _(value):
    return "str" + value


def caches(x):
    return x * cached(3) + fibonacci(6), cached(3)


def single_dispatch(x):
    return x, kind_of(3), kind_of("a"), kind_of(2.5), kind_of(x)


def cache_made_inside(x):
    @functools.lru_cache
    def slow(k):
        return k + 1

    return x * slow(2) * slow(2)


def operators_as_functions(x, y):
    return (
        operator.add(x, y),
        operator.itemgetter(1)([1, x]),
        operator.itemgetter(0, 2)("abc"),
        operator.attrgetter("shape")(x)[1],
        operator.methodcaller("mul", 2)(x),
        operator.neg(x),
        operator.getitem([1, 2], 0),
        operator.contains([1], 1),
        operator.not_([]),
        operator.truediv(1, 2),
        operator.is_(x, x),
    )


def deques(x):
    d = deque([1, 2], maxlen=3)
    d.append(3)
    d.appendleft(0)
    d.rotate(1)
    d.extend([8])
    return x * d[0], list(d), d.maxlen, len(d), d.pop(), d.popleft()


def default_dicts(x):
    d = defaultdict(list)
    d["a"].append(1)
    d["b"].extend([2, 3])
    n = defaultdict(int)
    for c in "hello":
        n[c] += 1
    made = defaultdict(lambda: x)
    return dict(d), dict(n), made["q"] * 2, len(made)


def counters(x):
    c = Counter("hello")
    c.update("l")
    return x, c["l"], c["q"], c.most_common(1), sorted(c.elements())[:2], (c + Counter("h"))["h"]


def ordered_and_chained(x):
    o = OrderedDict(a=1, b=2)
    o.move_to_end("a")
    o["c"] = x
    chain = ChainMap({"a": 1}, {"a": 2, "b": 3})
    return list(o), o["c"] * 2, chain["a"], chain["b"], sorted(chain), chain.get("z", 0)


def user_containers(x):
    class Names(collections.UserDict):
        pass

    class Numbers(collections.UserList):
        pass

    return x, Names(a=1)["a"], Numbers([1, 2])[1], len(Numbers([1]))


def heaps_and_bisection(x):
    heap = [3, 1, 2]
    heapq.heapify(heap)
    heapq.heappush(heap, 0)
    return x, heapq.heappop(heap), heapq.nlargest(2, [1, 3, 2]), bisect.bisect([1, 3, 5], 4)


# --- text ---


def format_strings(x, n, scale):
    width = 6
    return (
        x,
        f"{n}",
        f"{n:03d}",
        f"{scale:.2f}",
        f"{n=}",
        f"{scale=:.1f}",
        f"{n!r:>{width}}",
        f"{'a'}{{}}",
        f"{x.shape[1]}x{len('abc')}",
        f"{None} {True} {[1, n]} { {'a': 1}['a'] }",
        f"{1000000:,} {255:#x} {0.5:%}",
    )


def other_formats(x, n, scale):
    return (
        x,
        "%d %5.2f %s %r" % (n, scale, "a", "b"),
        "%(a)s" % {"a": n},
        "%s" % n,
        f"{n} {scale}",
        f"{[n][0]} {scale.real}",
        f"{n} {n}",
        format(scale, ".3f"),
        format(n, "b"),
        str(n) + repr(scale),
        string.Template("$a").substitute(a=n),
    )


def string_methods(x, word):
    return (
        x if word.startswith("re") else -x,
        word.upper(),
        word.split("l"),
        "-".join([word, "b"]),
        ",".join(str(i) for i in range(3)),
        word.replace("r", "R"),
        " a ".strip(),
        word[1:],
        word in ("relu", "gelu"),
        "el" in word,
        word == "relu",
        word.isdigit(),
        "a,b".partition(","),
        word.encode(),
        "é".encode().decode(),
        "abc".translate(str.maketrans("a", "b")),
        textwrap.dedent("  a"),
        word * 2,
        len(word),
        sorted(word),
        ord("a"),
        chr(98),
        "%s" % word,
    )


def is_none(x, nothing):
    return x if nothing is None else -x, nothing is not None, nothing == None  # noqa: E711


# --- numbers ---


def numbers(x, n, scale):
    return (
        x * (n // 2) * (n % 2),
        n**2,
        -n,
        +n,
        abs(-n),
        divmod(n, 2),
        round(scale, 1),
        round(2.5),
        int(scale),
        float(n),
        bool(n),
        complex(n, 1),
        int("12"),
        int("ff", 16),
        float("1e3"),
        n & 1,
        n | 4,
        n ^ 1,
        n << 2,
        n >> 1,
        ~n,
        n / 2,
        pow(n, 2, 5),
        min(n, 2),
        max(n, 2, scale),
        hex(n),
        bin(n),
        n.bit_length(),
        scale.is_integer(),
        (1 + 2j).imag,
        10**20 + n,
    )


def math_functions(x, n, scale):
    return (
        x * math.sqrt(scale),
        math.pi,
        math.floor(scale),
        math.ceil(scale),
        math.prod([n, 2]),
        math.gcd(n, 6),
        math.log2(8),
        math.isclose(scale, 0.5),
        math.inf > 1,
        math.isnan(math.nan),
        math.exp(0),
        math.factorial(3),
        math.hypot(3, 4),
        math.copysign(1, -2),
        math.fsum([0.1] * 3),
    )


def ranges_and_slices(x):
    r = range(2, 10, 3)
    s = slice(1, None, 2)
    return (
        x,
        list(r),
        len(r),
        r[1],
        5 in r,
        r.stop,
        [0, 1, 2, 3][s],
        s.indices(4),
        list(range(3, 0, -1)),
        "abc"[s],
        r == range(2, 11, 3),
    )


def sizes(x):
    rows, width = x.shape
    return x.view(rows * width), x.reshape(-1, rows), rows * 2 + 1, list(x.shape), x.numel(), len(x)


def bytes_and_complex(x):
    return x, b"ab"[0], bytes([1, 2]), bytes(bytearray(b"a") + b"b"), (1j * 1j).real, b"a".hex()


def tuples(x):
    t = (1, x, "a")
    return (
        t[0],
        t[1:],
        ("b", "a").index("a"),
        (1, 2) < (1, 3),
        (1,) + (2,),
        t[-1],
        len(t),
        (1, 2) == (1, 2),
    )


def none_ellipsis_notimplemented(x):
    return x[None, ..., None], ... is Ellipsis, type(None) is type(None), NotImplemented is None
