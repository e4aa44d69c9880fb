# ruff: noqa: B007, B015, B023, C408, PLC0415, RUF012, SIM223 -- every way to write Python is a row, the unusual ones as well
"""Python that only arranges what is computed: statements and expressions, one function a row.

Parameters are given by name: `x` and `y` are tensors, what the others are `test_python.py` says.
"""

import contextlib
import functools
import types

import torch

HALF = 0.5
POINT = types.SimpleNamespace(kind="circle", radius=2.0)


# --- comprehensions and names bound in expressions ---


def list_comprehension(x):
    return torch.stack([x * i for i in range(4) if i % 2]), [i * i for i in range(3)]


def nested_comprehension(x):
    table = [[x * i + j for j in range(2)] for i in range(3)]
    return sum(cell for row in table for cell in row)


def comprehension_with_walrus(x):
    parts = [last := x + i for i in range(3)]
    return parts[0], last


def set_and_dict_comprehension(x):
    kinds = {name[0] for name in ("up", "down", "under")}
    by_name = {name: x * len(name) for name in ("a", "bb") if name}
    return sorted(kinds), by_name


def comprehension_over_two(x, y):
    return [a * b for a in (x, y) for b in (y, x) if a is not b]


def comprehension_in_class_of_closures(x):
    return sum(f(x) for f in [lambda t, i=i: t + i for i in range(3)])


def late_binding_closures(x):
    return [f(x) for f in [lambda t: t + i for i in range(3)]]


def unpacking_comprehension(x):
    return [a + b * c for a, (b, c) in [(x, (1, 2)), (x + 1, (3, 4))]]


def comprehension_with_inner_function(x):
    return [(lambda t: t * k)(x) for k in (1, 2) if (lambda k: k > 1)(k)]


def walrus_in_condition(x, n):
    if (m := n + 1) > 2:
        return x * m
    return x


def walrus_in_while(x):
    left = [3, 2, 1]
    while (k := left.pop()) < 3:
        x = x + k
    return x, k


def walrus_in_call_and_chain(x):
    return torch.add(z := x + 1, z), 0 < (q := 3) < 5, q


# --- generators ---


def doubled(parts):
    for part in parts:
        yield part * 2


def counting(limit):
    k = 0
    while k < limit:
        sent = yield k
        k += 1 if sent is None else sent
    return "done"


def delegating(x):
    result = yield from counting(2)
    yield result
    yield from (x, x + 1)


def generator_function(x, y):
    return sum(doubled([x, y]))


def generator_inside(x):
    def steps(count):
        t = x
        for _ in range(count):
            t = t * 2
            yield t

    return list(steps(3))


def generator_half_consumed(x, y):
    found = doubled((x, y, x + y))
    first = next(found)
    return first, list(found), next(found, None)


def generator_send_and_close(x):
    running = counting(10)
    first = next(running)
    second = running.send(4)
    running.close()
    return x * first + second, next(running, "closed")


def generator_delegation(x):
    return [g if isinstance(g, (int, str)) else g * 3 for g in delegating(x)]


def generator_with_finally(x):
    log = []

    def parts():
        try:
            yield x
            yield x + 1
        finally:
            log.append("end")

    running = parts()
    first = next(running)
    running.close()
    return first, log


def generator_throw(x):
    def parts():
        try:
            yield x
        except ValueError as error:
            yield x * len(str(error))

    running = parts()
    next(running)
    return running.throw(ValueError("abc"))


def generator_expression(x, y):
    return max(t.shape[-1] for t in (x, y)), sum(t * 2 for t in (x, y) if t is not y)


def generator_return_value(x):
    def parts():
        yield x
        return 7

    running = parts()
    next(running)
    try:
        next(running)
    except StopIteration as stop:
        return x + stop.value


def recursive_generator(x):
    def leaves(tree):
        for branch in tree:
            if isinstance(branch, list):
                yield from leaves(branch)
            else:
                yield branch

    return sum(leaves([x, [x + 1, [x + 2]], x]))


def zip_of_generators(x):
    return [a * b for a, b in zip(counting(3), doubled([x, x, x]), strict=True)]


# --- match ---


def match_int_and_string(x, n, word):
    match n:
        case 0 | 1:
            x = x - 1
        case 3:
            x = x + 1
    match word:
        case "relu":
            return torch.relu(x)
        case _:
            return x


def match_sequence(x):
    match ["scale", x, 2.0]:
        case ["shift", *_]:
            return x
        case ["scale", t, float(by)] if by > 1:
            return t * by


def match_mapping(x):
    match {"op": "add", "by": 3, "more": x}:
        case {"op": "add", "by": int(by), **rest}:
            return x + by, sorted(rest)


def match_class(x):
    match types.SimpleNamespace(kind="a", size=2):
        case types.SimpleNamespace(kind="b"):
            return x
        case types.SimpleNamespace(kind="a", size=size):
            return x * size


def match_outside_object(x):
    match POINT:
        case types.SimpleNamespace(kind="square"):
            return x
        case types.SimpleNamespace(kind="circle", radius=r):
            return x * r


def match_outside_mapping(x, config):
    match config:
        case {"act": "relu", "scale": scale}:
            return torch.relu(x) * scale
        case _:
            return x


def match_star_and_capture(x, sizes):
    match sizes:
        case (first, *middle, last):
            return x * first + last, middle
        case _:
            return x


def match_none_and_bool(x):
    found = []
    for value in (None, True, 1, "a", (), [1, 2]):
        match value:
            case None:
                found.append("none")
            case True:
                found.append("true")
            case int():
                found.append("int")
            case str() as text:
                found.append(text)
            case []:
                found.append("empty")
            case [_, second]:
                found.append(second)
    return x, found


def match_shape(x):
    match x.shape:
        case (rows, 3):
            return x * 2, rows
        case _:
            return x


# --- with ---


class Scaled:
    def __init__(self, by, log):
        self.by, self.log = by, log

    def __enter__(self):
        self.log.append("enter")
        return self.by

    def __exit__(self, kind, error, trace):
        self.log.append(kind.__name__ if kind else "exit")
        return kind is KeyError


@contextlib.contextmanager
def tagged(log, tag):
    log.append(f"<{tag}>")
    try:
        yield tag
    finally:
        log.append(f"</{tag}>")


def with_user_manager(x):
    log = []
    with Scaled(2.0, log) as by:
        x = x * by
    return x, log


def with_swallowed_exception(x):
    log = []
    with Scaled(2.0, log) as by:
        x = x * by
        raise KeyError("gone")
    return x, log


def with_exception_passing(x):
    log = []
    try:
        with Scaled(2.0, log):
            raise ValueError("through")
    except ValueError as error:
        return x * len(str(error)), log


def with_two_and_return(x):
    log = []
    with Scaled(2, log) as a, Scaled(3, log) as b:
        return x * a * b, log


def with_contextmanager(x):
    log = []
    with tagged(log, "b") as tag, tagged(log, "i"):
        x = x + len(tag)
    return x, log


def with_contextmanager_and_exception(x):
    log = []
    try:
        with tagged(log, "b"):
            raise IndexError
    except IndexError:
        log.append("caught")
    return x, log


def with_exit_stack(x):
    log = []
    with contextlib.ExitStack() as stack:
        by = stack.enter_context(Scaled(3.0, log))
        stack.callback(log.append, "callback")
        x = x * by
    return x, log


def with_nullcontext_and_suppress(x):
    with contextlib.nullcontext(x + 1) as t, contextlib.suppress(KeyError, IndexError):
        x = t * 2
        [][1]
    return x


def with_closing(x):
    log = []
    with contextlib.closing(types.SimpleNamespace(close=lambda: log.append("closed"))):
        x = x + 1
    return x, log


def with_manager_made_inside(x):
    class Own:
        def __enter__(self):
            return x * 2

        def __exit__(self, *error):
            return False

    with Own() as t:
        return t + 1


def with_target_that_is_a_place(x):
    found = {}
    with contextlib.nullcontext(x * 2) as found["t"]:
        pass
    with contextlib.nullcontext((x, 1)) as (a, b):
        pass
    return found["t"], a, b


# --- try ---


def try_own_exception(x):
    try:
        raise ValueError("a")
    except (KeyError, ValueError) as error:
        x = x * len(error.args)
    else:
        x = x * 10
    finally:
        x = x + 1
    return x


def try_else_and_finally(x):
    log = []
    try:
        t = x * 2
    except ValueError:
        log.append("except")
    else:
        log.append("else")
    finally:
        log.append("finally")
    return t, log


def try_nested_and_raise_again(x):
    log = []
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            log.append("inner")
            raise
    except LookupError as error:
        log.append(str(error))
    return x, log


def try_raise_from(x):
    try:
        try:
            raise KeyError("a")
        except KeyError as error:
            raise RuntimeError("b") from error
    except RuntimeError as error:
        return x * 2, str(error), type(error.__cause__).__name__


def try_return_in_finally_order(x):
    log = []

    def inner():
        try:
            return x * 2
        finally:
            log.append("finally")

    return inner(), log


def try_missing_key_and_attribute(x, config):
    try:
        config["missing"]
    except KeyError as error:
        x = x + len(str(error))
    try:
        POINT.missing  # noqa: B018
    except AttributeError:
        x = x * 2
    return x


def try_exception_class_defined_inside(x):
    class Full(Exception):
        def __init__(self, count):
            super().__init__(f"{count} too many")
            self.count = count

    try:
        raise Full(2)
    except Full as error:
        return x * error.count, str(error)


def try_break_and_continue(x):
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 3:
                break
        finally:
            x = x + i
    return x


# --- loops ---


def for_else(x):
    for i in range(3):
        if i == 5:
            break
    else:
        x = x * 2
    for i in range(3):
        if i == 1:
            break
    else:
        x = x * 100
    return x, i


def while_else(x):
    k = 3
    while k:
        k -= 1
        x = x + k
    else:
        x = x * 2
    return x


def while_true_with_break(x):
    k = 0
    while True:
        k += 1
        if k % 2:
            continue
        if k > 5:
            break
        x = x + k
    return x


def for_target_that_is_a_place(x):
    holder, items = types.SimpleNamespace(), [None]
    for holder.step in (1, 2):
        x = x * holder.step
    for items[0], holder.more in ((1, 2), (3, 4)):
        x = x + items[0]
    return x, items, holder.more


def nested_loops_with_unpacking(x, y):
    total = 0
    for i, (a, b) in enumerate(zip((x, y), (y, x), strict=True)):
        for k in reversed(range(2)):
            total = total + a * i - b * k
    return total


def loop_variable_afterwards(x):
    for k in (1, 2, 3):
        pass
    return x * k


def early_return(x, n):
    if n > 100:
        return x
    for i in range(n):
        if i == 1:
            return x * i, "early"
    return x


# --- assignments ---


def star_unpacking(x, y):
    first, *rest = (x, y, x + y)
    *start, last = rest
    (a, *b), c = [first, 1, 2], last
    return a, b, c, start


def starred_displays_and_calls(x):
    numbers = [1, 2]
    both = [*numbers, *(n * 2 for n in numbers)]
    merged = {**{"a": 1}, "b": 2, **dict(a=3)}
    sets = sorted({*numbers, *both})

    def total(a, b, *more, scale=1, **other):
        return a + b + sum(more) * scale + len(other)

    return x * total(*numbers, *both, **{"c": 1} | {"scale": 2}), sets, merged


def several_targets(x):
    holder, items = types.SimpleNamespace(), [0, 0]
    a = holder.b = items[0] = x * 2
    (c, d) = e = (x, 1)
    return a, items[0] is holder.b, c, d, e[1]


def places_in_unpacking(x):
    holder, items = types.SimpleNamespace(), [0, 0, 0]
    items[0], holder.v = x, 2
    [items[1], (holder.w, *items[2:])] = 1, (x + 1, 5, 6)
    return items, holder.v, holder.w


def swap_items(x, y):
    items = [x, y]
    items[0], items[1] = items[1], items[0]
    return items


def unpacking_order(x):
    items, i = [1, 2, 3], 0
    i, items[i] = 1, x
    return items, i


def augmented_places(x):
    log, holder, items = [], types.SimpleNamespace(v=1), [1, 2]

    def noted(value):
        log.append(str(value))
        return value

    items[noted(0)] += noted(5)
    holder.v *= 3
    holder.t = x
    holder.t = holder.t + 1
    items[1] -= 1
    text = "a"
    text += "b"
    numbers = (1,)
    numbers += (2,)
    return items, holder.v, holder.t, log, text, numbers


def evaluation_order(x):
    log = []

    def noted(value):
        log.append(value)
        return value

    store = {}
    store[noted("key")] = noted("value")
    noted("a") + noted("b")
    noted(1) < noted(2) < noted(3)
    noted(2) < noted(1) < noted(0)
    [noted(4), noted(5)][noted(0)]
    {noted("k"): noted("v"), noted("l"): noted("w")}
    return x, log, store


def deleting(x):
    a, b, items, holder = 1, 2, [1, 2, 3, 4], types.SimpleNamespace(v=1, w=x)
    table = {"k": 1}
    del a, b, items[0], items[1:], holder.v, table["k"]
    return items, holder.w, table, hasattr(holder, "v")


def deleting_nested(x):
    a, items = 1, [1, 2]
    del (a, items[0])
    return x, items


def annotated(x):
    a: "never looked up" = x * 2  # noqa: F722
    b: undefined_name  # noqa: F821, F842
    holder = types.SimpleNamespace()
    holder.c: int = 3
    return a, holder.c


def chained_comparison(x, n):
    none = None
    return x if 1 < n <= 3 != 4 else -x, 1 < 2 > 0, none is None is not True, "a" in "ab" in ["ab"]


def identity_in_chains(x, y):
    a = b = [1]
    return x, a is b is not None, (a == b is b), x is x is not y


def boolean_operators(x):
    empty = []
    return x * (empty or 2), (0 or "" or None), (1 and "yes"), not empty, [] and x


def conditional_expressions(x, flag):
    return (x if flag else -x) * (2 if not flag else 3 if HALF > 1 else 4)


# --- functions ---


def nonlocal_counter(x):
    count = 0

    def step():
        nonlocal count
        count += 1
        return count

    step()
    return x * step() + count


def nonlocal_of_two_levels(x):
    held = x

    def outer():
        def inner():
            nonlocal held
            held = held * 2

        inner()
        inner()

    outer()
    return held


def nonlocal_through_walrus(x):
    k = 0

    def step():
        nonlocal k
        return (k := k + 1)

    return x * step() * step(), k


def defaults_made_once(x, y):
    def collect(value, into=[]):  # noqa: B006
        into.append(value)
        return into

    collect(x)
    return collect(y)


def decorated_inside(x):
    def twice(function):
        @functools.wraps(function)
        def both(*args, **kwargs):
            return function(function(*args, **kwargs))

        return both

    def by(k):
        def decorate(function):
            return lambda *args: function(*args) * k

        return decorate

    @twice
    @by(3)
    def step(t):
        return t + 1

    return step(x), step.__name__


def arguments_of_all_kinds(x):
    def f(a, /, b, *more, c=3, **rest):
        return a + b + sum(more) + c + sum(rest.values())

    return x * f(1, 2), f(1, b=2, c=4), f(1, 2, 3, 4, d=5), f(*[1, 2], **{"e": 1})


def recursion(x):
    def power(t, k):
        return t if k == 0 else power(t * 2, k - 1)

    return power(x, 3)


def recursion_on_structure(x):
    def total(tree):
        if isinstance(tree, (list, tuple)):
            return sum(total(part) for part in tree)
        if isinstance(tree, dict):
            return total(list(tree.values()))
        return tree

    return total([x, (x + 1, {"a": x * 2}), 3])


def mutual_recursion(x):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return x if even(4) else -x


def callables_in_containers(x):
    acts = {"relu": torch.relu, "twice": lambda t: t * 2, "half": doubled_back}
    return [acts[name](x) for name in ("relu", "twice", "half")]


def doubled_back(t):
    return t * HALF


def closures_in_a_list(x):
    made = []
    for k in range(3):

        def step(t, k=k):
            return t + k

        made.append(step)
    for step in made:
        x = step(x)
    return x


def lambda_with_defaults(x):
    f = lambda t, *a, k=2, **kw: t * k + len(a) + len(kw)  # noqa: E731
    return f(x, 1, 2, z=3)


def local_import(x):
    import math
    from functools import reduce

    return reduce(lambda a, b: a * b, [x, math.floor(2.5), int(math.sqrt(16))])


def asserting(x, n):
    assert n == 3, "n is three"
    assert isinstance(x, torch.Tensor)
    assert x.dim() == 2, f"{x.dim()} dimensions"
    return x * n


def global_read_through_function(x):
    return x * scale_of("half")


def scale_of(name):
    return {"half": HALF, "one": 1.0}[name]


def global_statement_read(x):
    global HALF
    return x * HALF


def slices_and_ellipsis(x):
    rows = slice(-2, None, 1)
    everything = ...
    return x[rows], x[..., 1], x[everything, None], x[0:1, :-1], x[:, [0, 2]], x[(0, slice(1))]


def unbound_local(x):
    if x.dim() == 17:
        late = 1
    try:
        return x * late
    except UnboundLocalError:
        return x


def class_body_with_logic(x):
    class Table:
        sizes = [1, 2, 3]
        total = sum(sizes)
        names = {str(s) for s in (1, 2)}
        if total > 3:
            big = True

        def of(self, t):
            return t * self.total

    return Table().of(x), Table.big, sorted(Table.names)
