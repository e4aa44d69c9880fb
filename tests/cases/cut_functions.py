"""Functions cut in their middle, for each kind of fault that compilers of source text have had."""

import functools

import torch

SEEN = []


def note(*what):
    print(*what, file=Sink())


class Sink:
    def write(self, text):
        SEEN.append(text)


SCALE = 2.0
FUNCTIONS = []


def cut(function):
    FUNCTIONS.append(function)
    return function


one, two = (lambda x: (x * 2, note("l"), x + 1)), (lambda x: (x * 3, note("m"), x - 1))


@cut
def lambdas_on_a_line(x, y, k):
    f, g = (lambda v: v * 2 + k), (lambda v: v * 3 - k)
    a = f(x)
    note("between")
    return f(a) + g(y), two(x), one(y)


class Base:
    def __init__(self):
        self.__hidden, self.calls = 3, 0

    def step(self, x):
        y = x * self.__hidden
        note("base", self.calls)
        return y + 1


class Derived(Base):
    def __init__(self):
        super().__init__()
        self.__hidden = 5

    def step(self, x):
        a = super().step(x) * 2
        note("derived", __class__.__name__)
        self.__hidden += 1
        b = super().step(a)
        return a + b * self.__hidden


DERIVED = Derived()


@cut
def super_and_private_names(x, y, k):
    a = DERIVED.step(x)
    note("one")
    return a + Derived().step(y) * k


@cut
def closures_that_change(x, y, k):
    count = 0
    made = []

    def add(v):
        nonlocal count
        count += 1
        return v * count + k

    for i in range(3):
        made.append(lambda v: v * i + count)  # noqa: B023
        x = add(x)
        note(count)
    return [f(y) for f in made], count


@cut
def numbers_that_look_alike(x, y, k):
    a = x * k
    note(type(k).__name__)
    table = {1: "int"}
    table[k] = type(k).__name__
    b = a + k
    return b, table, k is True, [k] * 2, (y * 2 if k is True else y * 3)


@cut
def aliasing_of_arguments(x, y, k):
    x.mul_(2)
    note(float(y.sum()))
    y.add_(1)
    z = x + y
    note(x is y)
    x.sub_(z)
    return x, y, z


@cut
def views_across(x, y, k):
    v = x[1:]
    w = x.view(-1)
    note("v")
    v.add_(1)
    w[0] = 9
    note(float(w.sum()))
    v *= 2
    return v, w, x


@cut
def identity_then_in_place(x, y, k):
    a = x.contiguous()
    b = x.to(torch.float32)
    note(a is x)
    a.add_(1)
    b.mul_(2)
    return a, b, x.reshape(x.shape)


@cut
def loop_else(x, y, k):
    for i in range(3):
        x = x * 0.5
        note(i)
        if i == k:
            x = x + 10
            break
    else:
        x = x - 10
    n = 0
    while n < 2:
        n += 1
        y = y + n
        if y.sum() > 1000:
            break
        note("w")
    else:
        y = y * 2
    return x, y, i, n


@cut
def matching(x, y, k):
    match (k, x.dim()):
        case (int(a), 2) if a > 1:
            z = x * a
            note("first")
            z = z + 1
        case (1 | 1.0 as b, d):
            z = x - b
            note("second", d)
            z = z * d
        case _:
            z = y
    match {"k": k, "x": x}:
        case {"k": c, **rest}:
            note(sorted(rest))
            z = z * rest["x"]
    return z, c


@cut
def nested_definitions(x, y, k):
    a = x * 2

    def inner(v, w=a, *, s=k):
        b = v + w
        note("inner")
        return b * s

    a = a + 1
    c = inner(y)
    a = a * c

    class Local:
        factor = k

        def __call__(self, v):
            t = v * self.factor
            note("local")
            return t + a

    return Local()(c), inner.__defaults__[0]


@cut
def walrus(x, y, k):
    if (s := (x * k).sum()) > 3 or (note("w") or (t := y.sum()) > 0):  # noqa: SIM108
        a = x * s
    else:
        a = x - t
    note(float(s))
    parts = [(last := v * 2) for v in (x, y)]
    return a, parts, last


@cut
def try_finally(x, y, k):
    a = x
    try:
        a = x * 2
        note("try")
        b = a.view(7, 3)
        a = b + 1
    except RuntimeError as error:
        note(type(error).__name__)
        a = a + 5
    else:
        a = a * 100
    finally:
        a = a - 1
        note("finally")
        y = y * a
    return a, y


@cut
def return_in_finally(x, y, k):
    def f(v):
        try:
            w = v * 2
            note("in")
            return w + 1
        finally:
            v.add_(1)
            note("out")

    a = f(x)
    for i in range(2):
        try:
            a = a * 2
            if i == 1:
                raise KeyError(i)
            note("continue")
            continue
        except KeyError as e:
            note(repr(e))
            a = a + 1
        finally:
            y = y + a
    return a, y, x


@cut
def outcome_of_a_branch(x, y, k):
    n = int(x.sum().item())
    a = y * n
    if n % 2:
        a = a + 1
        note("odd")
    b = x[: max(1, n % 3)]
    note(b.shape[0])
    return a, b * 2, [n] * 2


@cut
def data_dependent_shape(x, y, k):
    m = x[x > 0]
    note(m.numel())
    a = m * 2
    i = (x > 1).nonzero()
    return a.sum(), a, i, i.shape[0]


@cut
def globals_that_change(x, y, k):
    global SCALE
    a = x * SCALE
    note(SCALE)
    SCALE = SCALE + 1
    b = a * SCALE
    note("x")
    return b + SCALE


@cut
def defaults_and_mutable_defaults(x, y, k, kept=[]):  # noqa: B006
    a = x + len(kept)
    note(len(kept))
    kept.append(len(kept))
    return a * len(kept), list(kept)


@cut
def exception_with_effects(x, y, k):
    x.add_(1)
    note("before")
    SEEN.append(float(x.sum()))
    y.mul_(2)
    z = x @ y.unsqueeze(0).expand(5, 2, 3)[0, :, :].t().contiguous().view(7)
    return z


@cut
def shared_lists(x, y, k):
    a = [x, y]
    b = a
    b.append(x * 2)
    note(len(a))
    a[0] = a[0] + 1
    c = (a, b)
    note(a is b)
    b[1].add_(1)
    return c, a[0] is b[0]


@cut
def deleted_names(x, y, k):
    a = x * 2
    note("a")
    del a
    try:
        a = a + 1  # noqa: F821
    except UnboundLocalError:
        note("unbound")
        a = y
    return a * 3


@cut
def integers(x, y, k):
    n = (x * 3).to(torch.int64)
    u = n.to(torch.uint8)
    note(int(n.sum()))
    w = u + 255
    v = n // 3 + n % 4 - (n >> 1)
    note("i")
    return w, v, n.to(torch.int32) * 2**30, u - 1


@cut
def zeros(x, y, k):
    z = x * 0.0
    note("z")
    return z + 0.0, -z, z - z, x - x, torch.isnan(z / z), (-z).signbit()


@cut
def dictionaries(x, y, k):
    d = {"x": x}
    d["y"] = d["x"] + y
    note(list(d))
    d |= {"z": d["y"] * 2}
    e = {**d, "x": 1}
    note(sorted(e))
    return d.pop("z"), d, e, d.get("q", k)


@cut
def generators(x, y, k):
    def values():
        for i in range(3):
            v = x * i
            note("yield", i)
            yield v + 1

    g = values()
    a = next(g) + y
    note("took one")
    return a + sum(g)


@cut
@functools.wraps(matching)
def wrapped(x, y, k):
    a = x * 5
    note("wrapper")
    return a + y


@cut
def conditional_expression_with_effects(x, y, k):
    a = x * 2 if x.sum() > 0 else note("neg") or y
    note("c")
    b = (a, note("tuple"), a + 1)[0] * (note("again") or 2)
    return b if b.mean() > k else b - 1


@cut
def chained_comparison(x, y, k):
    s = x.sum()
    ok = -1 < s < (note("third") or 100)
    note(bool(ok))
    return x * 2 if ok else y


@cut
def assertion(x, y, k):
    a = x + 1
    note("a")
    assert a.sum() > -1000, "small"
    assert k != 3, f"k is {k}"
    return a * y


@cut
def formatted(x, y, k):
    s = f"{x.shape[0]}-{k!r:>4}-{x.sum().item():.2f}"
    note(s)
    return x * len(s), s
