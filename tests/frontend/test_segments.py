"""Whole functions: captured, run again through PyTorch, equal to what they return themselves."""

import collections
import contextlib
import dataclasses
import enum
import functools
import gc
import math
import threading
import weakref

import pytest
import torch
import torch.nn.functional as F

from astjit.config import Config
from astjit.frontend.reads import Reads
from astjit.frontend.segments import NeedsGrad, Stop, lower
from tests.frontend.replay import Captured, same, segment

SCALE, COUNT, FLAG = 2.5, 3, True
WEIGHT = torch.arange(8.0)
SETTINGS = {"scale": 0.5, "layers": [1, 2], "w": torch.ones(8)}


def inputs():
    torch.manual_seed(7)
    return torch.randn(4, 8), torch.randn(4, 8), torch.randn(8)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Options:
    scale: float = 2.0
    kind: str = "a"
    colour: Colour = Colour.RED


Pair = collections.namedtuple("Pair", "a b")


def affine(a, b=2.0, *, c=1.0):
    return a * b + c


def power(x, n):
    return x if n == 0 else power(x * 2, n - 1)


def plus_one(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) + 1

    return inner


@plus_one
def doubled(x):
    return x * 2


def closure():
    scale, offset = 3.0, torch.ones(8)

    def inner(x):
        return x * scale + offset

    return inner


def global_number(x):
    return x * SCALE + COUNT


def global_tensor(x):
    return x * WEIGHT


def global_containers(x):
    return x * SETTINGS["scale"] + SETTINGS["w"] * SETTINGS["layers"][1]


def helpers(x):
    return affine(x) + affine(x, 3.0, c=2.0) + power(x, 3) + doubled(x)


def nested_containers(x):
    def inner(state, x):
        return state["l"][0] * state["w"] + state["l"][1][0] * state["l"][1][1] + x

    return inner({"w": x[0], "l": [x, (x + 1, 2.0)]}, x)


def comprehensions(x):
    return [x * i for i in range(3)], {i: x + i for i in (1, 2)}, tuple(x - j for j in [1.0])


def static_control_flow(x):
    z = x + 1 if FLAG else x - 1
    for i in range(COUNT):
        z = z * 2
        if i == 1:
            break
    else:
        z = z - 100
    while COUNT > 5:
        z = z + 1
    return z if COUNT != 4 else x


def shape_arithmetic(x):
    rows, cols = x.shape
    return x.reshape(rows * 2, cols // 2).sum(0) / cols + x.size(0) - len(x) + x.numel()


def chained_comparison(x):
    return x if 1 < x.shape[0] <= 4 < 10 else -x


def local_class(x):
    class Total:
        def __init__(self):
            self.items = []

        def add(self, value):
            self.items.append(value)
            return self

    total = Total()
    for i in range(2):
        total.add(x * i)
    return total.items[0] + total.items[1]


def lambdas(x):
    double = lambda t, k=2: t * k  # noqa: E731
    return double(x) + (lambda q: q - 1)(x)


def nonlocal_counter(x):
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    count()
    count()
    return x * n


def mathematics(x):
    return x * math.sqrt(2) * math.pi / math.sqrt(x.shape[-1])


def unpacking(x):
    (a, b), *c = (x, x + 1), 2, 3
    d = e = a + b
    return d * c[0] + e + (z := x * 2) * z


def matching(x):
    match {"mode": "a", "dims": x.dim()}:
        case {"mode": "a", "dims": 1}:
            return x
        case {"mode": "a", "dims": int()}:
            return x * 2


def exceptions(x):
    try:
        SETTINGS["missing"]
    except KeyError:
        return x * 2
    finally:
        x = x + 100
    return x


def no_grad(x):
    with torch.no_grad():
        y = x * 2
    return y


def library_calls(x):
    values, order = torch.sort(x, dim=-1)
    return values, order, torch.topk(x, 3).values, x.cumsum(-1), torch.einsum("ij,kj->ik", x, x)


def library_tuple(x):
    return torch.sort(x)


def products(x):
    return x @ x.T + torch.matmul(x, x.t())


def norms(x):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    by_hand = (x - mean) / torch.sqrt(var + 1e-5)
    return by_hand + F.layer_norm(x, x.shape[-1:]) + F.softmax(x, -1) + x.log_softmax(0)


def views(x):
    return x[0], x[:, 1:3], x.t(), x.view(-1), x[..., None, 0], x[-1, 2:], x[x.shape[0] - 1]


def rows(x):
    return sum(x.unbind(0)), [row * 2 for row in x], next(zip(x, x, strict=True))[0]


def factories(x):
    return torch.zeros(3), torch.ones(x.shape[0], 2) + 1, torch.zeros_like(x), torch.arange(4)


def constants(x):
    return x + 1, 3, "s", None, True, 2.5, torch.float32, x.shape, x.shape[0] * 2, -math.inf


def dictionaries(x):
    out = dict(zip("a", [x], strict=True))
    out["b"] = x + 1
    out.update(c=x * 2)
    return {**out, "d": 1}, list(out.keys()), out.get("zz", 3)


def functional(x):
    total = functools.reduce(lambda a, b: a + b, [x, x, x])
    return total + functools.partial(affine, b=3.0)(x) + sorted([3, 1], key=lambda v: -v)[0]


def introspection(x):
    good = isinstance(x, torch.Tensor) and type(x) is torch.Tensor and isinstance(COUNT, int)
    return x * 2 if good and type(SCALE) is float and hasattr(x, "sum") else x.abs()


def imports(x):
    import math as m  # noqa: PLC0415
    from math import floor  # noqa: PLC0415

    return x * m.pi + floor(2.5)


def casts(x):
    return x.double(), x.half(), x.to(torch.bfloat16), x.to("cpu") * 2, x.int() // 2, x > 0


def whether(x):
    return torch.where(x > 0, x, 0.0), x.masked_fill(x < 0, 1.0), x.clamp(min=0.5)


def quotients(x):
    q, r = divmod(x.shape[1], 3)
    return x * q + r + max(3, x.shape[0]) + min(x.shape)


FUNCTIONS = (
    global_number,
    global_tensor,
    global_containers,
    helpers,
    nested_containers,
    comprehensions,
    static_control_flow,
    shape_arithmetic,
    chained_comparison,
    local_class,
    lambdas,
    nonlocal_counter,
    mathematics,
    unpacking,
    matching,
    exceptions,
    no_grad,
    library_calls,
    library_tuple,
    products,
    norms,
    views,
    rows,
    factories,
    constants,
    dictionaries,
    functional,
    introspection,
    imports,
    casts,
    whether,
    quotients,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_captured_function_returns_what_it_returns_itself(function):
    x = inputs()[0]
    captured = Captured(function, x)
    assert captured.failing(x) == []
    assert same(captured.run(), function(x))


@pytest.mark.parametrize(
    "x",
    [
        torch.randn(5, 3).t(),
        torch.randn(4, 16)[:, ::2],
        torch.randn(0, 4),
        torch.randn(1, 4),
        torch.tensor(2.0),
        torch.randn(3, 4, dtype=torch.bfloat16),
        torch.arange(6).reshape(2, 3),
        torch.randn(2, 1).expand(2, 5),
    ],
    ids=["transposed", "strided", "empty", "one row", "0-d", "bf16", "int", "expanded"],
)
def test_layouts_and_dtypes_of_inputs(x):
    def function(x):
        return x + 1, x * 2.5, -x, x.sum(), x.sum(-1, keepdim=True), x.clone()

    assert same(Captured(function, x).run(), function(x))


def test_every_way_of_passing_arguments():
    x, y, w = inputs()

    def function(a, /, b, *rest, scale=2.0, offset, **named):
        return a * scale + b + sum(rest) + offset * named["w"] + len(named)

    captured = Captured(function, x, y, x, y, offset=1.0, w=w)
    assert same(captured.run(), function(x, y, x, y, offset=1.0, w=w))
    assert [p.path for p in captured.function.params] == ["a", "b", "named['w']", "scale", "offset"]
    assert "rest[0] is a" in captured.tests
    assert captured.failing(x, y, x.clone(), y, offset=1.0, w=w) == ["rest[0] is a"]
    assert captured.failing(x, y, x, offset=1.0, w=w) == ["len(rest) == 2", "rest[1] is b"]


def test_tensors_in_containers_are_inputs_by_path():
    x, y, w = inputs()

    def function(state, pair, options):
        layer = state["layers"][0]
        return layer["w"] * pair.a + pair.b * options.scale

    captured = Captured(function, {"layers": [{"w": w}]}, Pair(x, y), Options())
    assert [p.path for p in captured.function.params] == [
        "state['layers'][0]['w']",
        "pair.a",
        "pair.b",
        "options.scale",
    ]
    assert same(captured.run(), x * w + y * 2.0)


def test_the_ssa_of_a_norm_reads_as_the_user_wrote_it():
    x, _, w = inputs()

    def rms_norm(x, w, eps=1e-6):
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
        return x * scale * w

    captured = Captured(rms_norm, x, w)
    assert captured.text.splitlines() == [
        "fn rms_norm(%x: f32[x0, x1], %w: f32[x1], %eps: float):",
        "  %0 = mul %x, %x : f32[x0, x1]",
        "  %1 = mean %0 {dim=[-1], keepdim=true} : f32[x0, 1]",
        "  %2 = add %1, %eps : f32[x0, 1]",
        "  %scale = rsqrt %2 : f32[x0, 1]",
        "  %3 = mul %x, %scale : f32[x0, x1]",
        "  %4 = mul %3, %w : f32[x0, x1]",
        "  return %4",
    ]


def test_locations_are_the_lines_of_the_innermost_user_function():
    x = inputs()[0]

    def function(x):
        return affine(x) - 1

    nodes = Captured(function, x).function.body.nodes
    first = affine.__code__.co_firstlineno + 1
    last = function.__code__.co_firstlineno + 1
    assert [(n.location.file, n.location.line) for n in nodes] == [
        (__file__, first),
        (__file__, first),
        (__file__, last),
    ]


def test_one_capture_serves_other_sizes():
    def function(x, w):
        return (x * w).reshape(x.shape[0] * 2, -1).sum(0), x.shape[1]

    captured = Captured(function, torch.randn(4, 8), torch.randn(8))
    for rows, cols in ((2, 6), (7, 10), (33, 64)):
        x, w = torch.randn(rows, cols), torch.randn(cols)
        sizes = {"x0": rows, "x1": cols}
        assert all(fact.holds(sizes) for fact in captured.function.assumed)
        assert same(captured.run(x, w), function(x, w))


# --- what ends a capture ---


def prints(x):
    print("hello")
    return x


def reads_item(x):
    return x.sum().item()


def branches(x):
    if x.sum() > 0:
        return x
    return -x


def loops(x):
    while x.sum() > 0:
        x = x - 1
    return x


def draws(x):
    return x + torch.rand(8)


def drops(x):
    return F.dropout(x, 0.5)


def yields(x):
    yield x


def looks_at_locals(x):
    return locals()


def to_float(x):
    return float(x.sum())


def to_list(x):
    return x.tolist()


def asks_the_time(x):
    import time  # noqa: PLC0415

    return x * time.time()


def masks(x):
    return x[x > 0]


def asserts(x):
    assert (x > 0).all()
    return x


def formats(x):
    return f"{x}"


def swallows(x):
    try:  # noqa: SIM105
        print(1)
    except:  # noqa: E722
        pass
    return x


def contains(x):
    return 1.0 in x


def autocasts(x):
    with torch.autocast("cpu"):
        return x @ x.t()


def seeds(x):
    torch.manual_seed(0)
    return x


def returns_function(x):
    return lambda: x


LINEAR = torch.nn.Linear(8, 8).requires_grad_(False)
STOPS = (
    (prints, 1, "print() is an effect"),
    (reads_item, 1, "item() reads the values of a tensor"),
    (branches, 1, "a condition on the values of a tensor"),
    (loops, 1, "a condition on the values of a tensor"),
    (draws, 1, "rand() draws random numbers"),
    (drops, 1, "dropout() draws random numbers"),
    (yields, 0, "a generator or coroutine"),
    (looks_at_locals, 1, "locals()"),
    (to_float, 1, "float() reads the values of a tensor"),
    (to_list, 1, "tolist() reads the values of a tensor"),
    (asks_the_time, 3, "time.time() is not known to be without effect"),
    (masks, 1, "no shape rule for Tensor.__getitem__"),
    (asserts, 1, "a condition on the values of a tensor"),
    (formats, 1, "formatting a tensor reads its values"),
    (swallows, 2, "print() is an effect"),
    (contains, 1, "`in` reads the values of a tensor"),
    (autocasts, 1, "a call of torch.amp.autocast_mode.autocast"),
    (seeds, 1, "torch.random.manual_seed() is not known to be without effect"),
    (returns_function, 0, "a result of type function, made during the call"),
)


@pytest.mark.parametrize(
    ("function", "line", "reason"), STOPS, ids=lambda v: getattr(v, "__name__", "")
)
def test_what_cannot_be_captured_stops_at_its_line(function, line, reason, capsys):
    x = inputs()[0]
    kept = x.clone()
    with pytest.raises(Stop) as stop:
        Captured(function, x)
    assert stop.value.reason.startswith(reason)
    assert stop.value.location.file == __file__
    assert stop.value.location.line == function.__code__.co_firstlineno + line
    assert torch.equal(x, kept)
    assert capsys.readouterr().out == ""


def test_a_stop_points_at_the_columns():
    with pytest.raises(Stop) as stop:
        Captured(reads_item, inputs()[0])
    location, text = stop.value.location, stop.value.source_line
    assert text[location.column : location.end_column] == "x.sum().item()"
    assert location.function == "reads_item"


OUTSIDE = []
TOTAL = 0


class Holder:
    count = 0


HOLDER = Holder()


def appends(x):
    OUTSIDE.append(x)
    return x


def sets_global(x):
    global TOTAL
    TOTAL = 2
    return x


def sets_attribute(x):
    HOLDER.count = 1
    return x


def counts(x):
    HOLDER.count += 1
    return x


def sets_class_attribute(x):
    Holder.count = 1
    return x


def sets_key(x):
    SETTINGS["new"] = 1
    return x


def extends(x):
    items = OUTSIDE
    items += [x]
    return x


@pytest.mark.parametrize(
    "function",
    [appends, sets_global, sets_attribute, counts, sets_class_attribute, sets_key, extends],
    ids=lambda f: f.__name__,
)
def test_a_store_to_what_was_there_before_changes_nothing_yet(function):
    if function is sets_class_attribute:
        with pytest.raises(Stop, match="store to"):
            Captured(function, inputs()[0])
    else:
        (store,) = Captured(function, inputs()[0]).reads.stores
        assert store.owner.startswith("fn_globals")
    assert (OUTSIDE, TOTAL, Holder.count, "new" in SETTINGS) == ([], 0, 0, False)
    assert "count" not in vars(HOLDER)


# --- gradients, errors, state ---


def test_an_input_that_wants_a_gradient_is_told_apart():
    x = torch.randn(3, requires_grad=True)
    with pytest.raises(NeedsGrad):
        Captured(doubled, x)
    with torch.no_grad():
        captured = Captured(doubled, x)
        assert same(captured.run(), doubled(x))
        assert captured.failing(x) == []  # the guards of inputs ask for gradients


def test_exceptions_of_the_user_come_through():
    def fails(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        Captured(fails, inputs()[0])


def test_a_shape_error_is_not_caught_by_the_users_handler():
    def careful(x, y):
        try:
            return x + y
        except Exception:
            return x

    with pytest.raises(Exception, match="do not fit"):
        Captured(careful, torch.randn(3), torch.randn(4))


@pytest.mark.parametrize("function", [doubled, prints], ids=lambda f: f.__name__)
def test_the_state_of_the_thread_is_as_before(function):
    x = inputs()[0]
    grad = torch.is_grad_enabled()
    with contextlib.suppress(Stop):
        Captured(function, x)
    assert torch.is_grad_enabled() is grad
    assert torch._C._len_torch_function_stack() == 0
    assert type(torch.zeros(2)) is torch.Tensor
    assert torch.equal(x + 1, x.add(1))


def test_a_tensor_is_not_kept_alive():
    x = torch.randn(3)
    reads = Reads()
    function = lower(segment(doubled, x), reads, Config())
    gone = weakref.ref(x)
    del x
    gc.disable()
    try:
        assert gone() is None
    finally:
        gc.enable()
    assert function.name == "doubled"


def test_threads_capture_at_the_same_time():
    results = {}

    def work(index):
        x = torch.full((index + 2, 8), float(index))
        results[index] = same(Captured(norms, x).run(), norms(x))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(8), True)


def test_an_active_mode_stops():
    with torch.device("cpu"), pytest.raises(Stop, match="a mode, a function transform or autocast"):
        Captured(doubled, inputs()[0])


def test_more_operations_than_allowed_stop():
    with pytest.raises(Stop, match="more than 2 operations"):
        Captured(helpers, inputs()[0], config=Config(max_ops=2))


def test_dynamic_false_pins_every_size_and_true_none():
    def function(x):
        return x * x.shape[0]

    def ranges(x):
        return [x[i] for i in range(x.shape[0])]

    x = torch.randn(4, 1, 8)
    pinned = Captured(function, x, config=Config(dynamic=False))
    assert str(pinned.function.params[0].type) == "f32[4, 1, 8]"
    free = Captured(function, x, config=Config(dynamic=True))
    assert str(free.function.params[0].type) == "f32[x0, 1, x2]"
    with pytest.raises(Stop, match=r"dynamic=True, but the size x\.shape\[0\] is needed"):
        Captured(ranges, x, config=Config(dynamic=True))
