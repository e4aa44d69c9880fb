"""Writes, views and shared memory: a program leaves what eager leaves, and returns what it does."""

import contextlib
import warnings

import pytest
import torch
import torch.nn.functional as F

import astjit
from tests.programs.compare import Observed, difference

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def interpreted(monkeypatch):
    """Programs run through PyTorch: what is tested is their meaning."""
    monkeypatch.setenv("CXX", "/nonexistent")
    warnings.filterwarnings("ignore", message="kernels run through PyTorch")


def observed(function, arguments):
    """What a call returns and leaves, or what it raises."""
    seen = Observed()
    try:
        with torch.no_grad():
            result = function(*arguments)
    except Exception as error:
        seen.facts["exception"] = {"exception": (type(error).__name__, str(error))}
    else:
        seen.look("result", result)
    seen.look("arguments", list(arguments))
    return seen


def compare(function, make, *, programs=1, calls=2):
    """Call a function and what is compiled of it alike, and compare all that can be seen."""
    compiled = astjit.compile(function)
    told = []
    for _ in range(calls):
        torch.manual_seed(0)
        eager = observed(function, make())
        torch.manual_seed(0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ours = observed(compiled, make())
        told += [str(w.message) for w in caught if "no C++ compiler" not in str(w.message)]
        assert difference(eager, ours) is None
    assert compiled.cache_info().programs == programs, told
    assert bool(told) is (programs == 0), told


def square():
    return (torch.randn(4, 4),)


def two():
    return torch.randn(4, 4), torch.randn(4, 4)


def methods(x, y):
    x.add_(y, alpha=2)
    x.sub_(1).clamp_(-1, 1)
    torch.exp_(x)
    x /= 3
    x **= 2
    x.neg_().abs_().mul_(x)
    x.addcmul_(y, y, value=0.5).lerp_(y, 0.25)
    return x


def out_argument(x, y):
    z = torch.empty_like(x)
    torch.add(x, y, out=z)
    torch.exp(z, out=z)
    return torch.mul(z, 2, out=x), z


def inplace_argument(x, y):
    a = x + 1
    b = F.relu(a, inplace=True)
    c = F.leaky_relu(b, 0.1, True)
    return a, b, c, F.hardtanh(y, inplace=True)


def masks(x, y):
    x[x > 0] = 0
    x.masked_fill_(y < 0, 2.0)
    return x


def basic_indices(x, y):
    x[0] = 5.0
    x[1, :] = y[0]
    x[:, None, 2] = 1
    x[..., -1] += 2
    x[1:, :2] = y[1:, 2:]
    x[0, 0] = True
    x[:0] = 3
    return x


def advanced_indices(x, y):
    x[torch.tensor([0, 1])] = 5.0
    y[[1, 0]] = x[:2]
    return x.index_put_((torch.tensor([2]),), y[0])


def chunks(x):
    a, b = x.chunk(2, 1)
    a += 1
    b *= 2
    c, d = x.split([1, 3])
    c.zero_()
    for row in d.unbind(0):
        row.sub_(1)
    return a, b, c, d


def every_view(x):
    x.t().mul_(2)
    x.view(-1)[3] = 1
    x.diagonal().zero_()
    x.unflatten(1, (2, -1))[:, 0, 0] = 3
    x.unsqueeze(0).squeeze(0).add_(1)
    x.permute(1, 0)[0].neg_()
    x.narrow(0, 1, 2).fill_(4)
    x.select(1, 3).copy_(x.select(1, 0))
    x.transpose(0, 1).view_as(x.t()).add_(0.5)
    x.movedim(0, 1).reshape(4, 4).mul_(2)
    x.flatten()[-1] = 9
    x.expand(4, 4).add_(1)
    return x, x.t(), x.view(2, 8)[1]


def views_without_rows(x):
    a = x.tensor_split(2, dim=1)
    a[0].mul_(2)
    b = x.unfold(1, 2, 2)
    b[0, 0, 0] = 9
    return a[1], b


def fresh_memory(x):
    y = torch.empty_like(x)
    y.copy_(x)
    z = y[0]
    y.add_(1)
    w = torch.zeros(4, 4)
    w[1:3] = x[:2]
    return y, z, w, w[2]


def two_copies(x):
    y, z = torch.empty_like(x), torch.empty_like(x)
    y.copy_(x)
    z.copy_(y)
    return y, z, y.copy_(x) is y


def transposed_copy(x, y):
    x.t().copy_(y.t())
    y.fill_(1)
    return x


def running_statistics(x, mean, var):
    y = F.batch_norm(x, mean, var, training=True, momentum=0.5)
    return y, mean + 1


def identities(x):
    y = F.dropout(x, 0.5, False)
    y.add_(1)
    z = x.contiguous()
    z *= 2
    w = x.to(torch.float32)
    return w, y, z is x, w is x, y is x


def narrow_types(x, h, i):
    h.add_(x)
    x.add_(h)
    h.mul_(0.3)
    i.add_(2)
    i.floor_divide_(3)
    i[0] = 7.9
    return h.clamp_(0, 1)


def exchange(x, y):
    t = x.clone()
    x.copy_(y)
    y.copy_(t)


def scans(x):
    x.cumsum_(0)
    return torch.cumsum(x, 1, out=x)


def several_outputs(x):
    values, indices = torch.empty_like(x), torch.empty(x.shape, dtype=torch.int64)
    torch.sort(x, out=(values, indices))
    return values, indices


def loops(x):
    for row in x:
        row.mul_(2)
    for at, column in enumerate(x.unbind(1)):
        column += at
    return x


def read_after_write(x, y):
    v = x[0]
    before = v + 1
    x.add_(y)
    after = v + 1
    v.zero_()
    return before, after, x * 2, v


def same_object(x, y):
    z = x
    z += 1
    a, b = x[0], x[0]
    return z, x, [z, {"x": x}], a, b, a is b


def detached(x):
    y = x.detach()
    y.add_(1)
    return x, y, x.data, y is x


def lists(x, y):
    torch._foreach_add_([x, y], 1.0)
    torch._foreach_mul_([x], [y])
    return x


def numbers(x, y):
    n = x.shape[0]
    x[n - 1] = n
    x.add_(n).mul_(1 / n)
    y[: n // 2].fill_(n)
    return n


def bad_shape(x, y):
    x.add_(1)
    x.add_(y[:, :3])
    return x


def bad_type(x, y):
    x.add_(1)
    i = x.to(torch.int64)
    i.add_(1.5)
    return i


def to_an_expanded_tensor(x):
    x.mul_(2)
    y = x[0].expand(4, 4)
    y.add_(1)
    return y


CASES = [
    (methods, two),
    (out_argument, two),
    (inplace_argument, two),
    (masks, two),
    (basic_indices, two),
    (advanced_indices, two),
    (chunks, square),
    (every_view, square),
    (views_without_rows, square),
    (fresh_memory, square),
    (two_copies, square),
    (transposed_copy, two),
    (running_statistics, lambda: (torch.randn(4, 3), torch.zeros(3), torch.ones(3))),
    (identities, square),
    (
        narrow_types,
        lambda: (torch.randn(4), torch.randn(4).half(), torch.arange(4)),
    ),
    (exchange, two),
    (scans, square),
    (several_outputs, square),
    (loops, square),
    (read_after_write, two),
    (same_object, two),
    (detached, square),
    (lists, two),
    (numbers, two),
]


@pytest.mark.parametrize(("function", "make"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_captured_whole(function, make):
    compare(function, make)


@pytest.mark.parametrize(("function", "make"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_arguments_that_are_views_in_another_layout(function, make):
    """Transposed and strided arguments; where memory order matters eager refuses as well."""

    def odd():
        torch.manual_seed(0)
        return tuple(torch.stack([t, t], -1)[..., 1] if t.dim() == 2 else t for t in make())

    compiled = astjit.compile(function)
    eager = observed(function, odd())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ours = observed(compiled, odd())
    assert difference(eager, ours) is None
    assert len(told) <= 1


@pytest.mark.parametrize(
    ("function", "make"), [(bad_shape, two), (bad_type, two), (to_an_expanded_tensor, square)]
)
def test_a_failure_half_way_leaves_what_eager_leaves(function, make):
    compiled = astjit.compile(function)
    eager = observed(function, make_seeded(make))
    with contextlib.suppress(UserWarning), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = observed(compiled, make_seeded(make))
    assert difference(eager, ours) is None
    assert "exception" in eager.facts


def make_seeded(make):
    torch.manual_seed(0)
    return make()


def shifts(x, y):
    x.add_(1)
    return y * 2


def apart():
    return torch.arange(6.0), torch.arange(6.0)


def one_twice():
    x = torch.arange(6.0)
    return x, x


def overlapping():
    base = torch.arange(10.0)
    return base[:6], base[4:]


def beside():
    base = torch.arange(12.0)
    return base[:6], base[6:]


def same_memory():
    x = torch.arange(6.0)
    return x, x.view(6)


@pytest.mark.parametrize("first", [apart, one_twice, overlapping, beside, same_memory])
@pytest.mark.parametrize("later", [apart, one_twice, overlapping, beside, same_memory])
def test_inputs_that_share_memory(first, later):
    compiled = astjit.compile(shifts)
    for make in (first, later, first):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", astjit.AstjitWarning)
            assert difference(observed(shifts, make()), observed(compiled, make())) is None


def test_only_calls_whose_inputs_overlap_run_eagerly():
    compiled = astjit.compile(shifts)
    compiled(*apart())
    with pytest.warns(astjit.AstjitWarning, match="x is written and shares memory"):
        compiled(*overlapping())
    compiled(*beside())
    compiled(*apart())
    assert compiled.cache_info().programs == 1


def test_operands_that_overlap_what_is_written_are_left_to_python():
    def function(x):
        x[:, 1:] = x[:, :-1] * 1
        x[:, 1:].add_(x[:, :-1])
        return x

    compare(function, square, programs=1, calls=1)


def test_an_expanded_input_is_refused_as_eager_does():
    def function(x):
        x.mul_(2)

    make = lambda: (torch.ones(1, 4).expand(4, 4),)  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", astjit.AstjitWarning)
        ours = observed(astjit.compile(function), make())
    assert difference(observed(function, make()), ours) is None


def test_an_input_of_inference_mode_is_refused_as_eager_does():
    def function(x, y):
        y.add_(1)
        x.mul_(2)

    def make():
        with torch.inference_mode():
            return torch.ones(3), torch.ones(3)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", astjit.AstjitWarning)
        ours = observed(astjit.compile(function), make())
    assert difference(observed(function, make()), ours) is None


def test_versions_rise_so_that_a_saved_tensor_is_known_to_have_changed():
    compiled = astjit.compile(shifts)
    x, y = apart()
    compiled(x, y)
    assert compiled.cache_info().programs == 1
    assert x._version > 0
