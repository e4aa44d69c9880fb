"""Functions that read at indices that are values, or by pieces: one kernel each, eager's answer."""

import pytest
import torch
import torch.nn.functional as F

import astjit


def rotate_half(x):
    x1, x2 = x.chunk(2, -1)
    return torch.cat((-x2, x1), -1)


def rope(x, cos, sin):
    return x * cos + rotate_half(x) * sin


def rope_by_shape(x, cos, sin):
    half = x.shape[-1] // 2
    rotated = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + rotated * sin


def rope_interleaved(x, cos, sin):
    x1, x2 = x[..., ::2], x[..., 1::2]
    rotated = torch.stack((-x2, x1), -1).flatten(-2)
    return x * cos + rotated * sin


def normed_rope(x, cos, sin):
    x = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)
    return x * cos + rotate_half(x) * sin


def swiglu_of_a_sum(x, bias):
    gate, up = (x + bias).chunk(2, -1)
    return F.silu(gate) * up


def stencil(x, w):
    h = F.relu(x)
    return h[:, :-2] * w + h[:, 1:-1] + h[:, 2:] * w


def embeddings(index, segment, table, places, segments, weight, bias):
    h = F.embedding(index, table) + places[: index.shape[1]] + F.embedding(segment, segments)
    return F.layer_norm(h, (h.shape[-1],), weight, bias, 1e-12)


def indexed(x, index, b):
    return x[:, index] * 2 + b


def indexed_between(x, index, b):
    return (x[1:, index, ::2] + b).tanh()


def indexed_by_a_number(x, index, b):
    return x[index] * b


def selected(x, index, b):
    return torch.index_select(x, 1, index) + b


def gathered(x, index):
    return x.gather(1, index).exp()


def nll(x, target):
    picked = F.log_softmax(x, -1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -picked


def along(x, index):
    return torch.take_along_dim(x, index, 1) * 2


def hot(index, y):
    return F.one_hot(index, 5).float() * y


def padded(x, y):
    return F.pad(x, (1, 2), value=3.0) + y


def padded_twice(x, y):
    return F.pad(x.sin(), (0, 1, 2, 0)) * y


def flipped(x, y):
    return x.flip(0, 1) * y


def rolled(x, y):
    return x.roll(2, 1) + y


def three(x, y, z):
    return torch.cat((x, y * 2, z), 1).sigmoid()


R = torch.randn
ROPE = (R(2, 3, 5, 64), R(5, 64), R(5, 64))
CASES = {
    rope: ROPE,
    rope_by_shape: ROPE,
    rope_interleaved: ROPE,
    normed_rope: ROPE,
    swiglu_of_a_sum: (R(3, 74), R(74)),
    stencil: (R(3, 41), R(39)),
    embeddings: (
        torch.randint(0, 11, (2, 7)),
        torch.randint(0, 2, (2, 7)),
        R(11, 64),
        R(16, 64),
        R(2, 64),
        R(64),
        R(64),
    ),
    indexed: (R(3, 6, 4), torch.tensor([-1, 2, 0]), R(4)),
    indexed_between: (R(4, 6, 5), torch.tensor([[5, 0], [-6, 1]], dtype=torch.int32), R(3)),
    indexed_by_a_number: (R(4, 6), torch.tensor(-2), R(6)),
    selected: (R(3, 6, 4), torch.tensor([1, 1, 5, 0], dtype=torch.int32), R(4)),
    gathered: (R(3, 6), torch.randint(0, 6, (2, 4))),
    nll: (R(5, 33), torch.randint(0, 33, (5,))),
    along: (R(3, 6), torch.randint(-6, 6, (3, 4))),
    hot: (torch.randint(0, 5, (3, 4)), R(4, 5)),
    padded: (R(3, 4), R(3, 7)),
    padded_twice: (R(3, 4), R(5, 5)),
    flipped: (R(3, 4), R(3, 4)),
    rolled: (R(3, 4), R(3, 4)),
    three: (R(3, 4), R(3, 2), R(3, 9)),
}
EACH = pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)


def cast(values, dtype):
    return [v.to(dtype) if v.is_floating_point() else v for v in values]


def compare(got, function, inputs):
    """Equal to eager but for what D8 allows: no worse than 1.5 times its error and a few ulp."""
    eager = function(*inputs)
    exact = function(*cast(inputs, torch.float64)).double()
    assert got.dtype == eager.dtype
    assert got.shape == eager.shape
    sizes = zip(got.shape, got.stride(), eager.stride(), strict=True)
    assert all(size == 1 or a == b for size, a, b in sizes)
    if got.numel():
        error, allowed = (got.double() - exact).abs().max(), (eager.double() - exact).abs().max()
        assert error <= 1.5 * allowed + 4 * torch.finfo(got.dtype).eps * exact.abs().max()


@EACH
def test_one_kernel(function):
    inputs = CASES[function]
    compiled = astjit.compile(function, fullgraph=True)
    compare(compiled(*inputs), function, inputs)
    report = astjit.explain(compiled, *inputs)
    assert len(report.kernels) == 1
    assert not report.unfused
    assert not report.fallbacks


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("function", [rope, embeddings, indexed, padded])
def test_dtypes(function, dtype):
    inputs = cast(CASES[function], dtype)
    compare(astjit.compile(function, fullgraph=True)(*inputs), function, inputs)


def test_tables_that_do_not_lie_in_order():
    compiled = astjit.compile(selected, fullgraph=True)
    for x in (R(6, 3, 4).transpose(0, 1), R(3, 12, 8)[:, ::2, 1::2], R(1, 6, 1).expand(3, 6, 4)):
        inputs = (x, *CASES[selected][1:])
        compare(compiled(*inputs), selected, inputs)


def test_no_indices_and_no_rows():
    empty = torch.zeros(0, dtype=torch.int64)
    for function, inputs in (
        (indexed, (R(3, 6, 4), empty, R(4))),
        (selected, (R(3, 6, 4), empty, R(4))),
        (selected, (R(0, 6, 4), torch.tensor([1]), R(4))),
        (three, (R(3, 0), R(3, 2), R(3, 0))),
        (three, (R(3, 0), R(3, 0), R(3, 1))),
        (padded, (R(3, 0), R(3, 3))),
        (rope, (R(2, 0, 5, 64), *ROPE[1:])),
    ):
        compare(astjit.compile(function, fullgraph=True)(*inputs), function, inputs)


def written(x, index, y):
    y.mul_(2)
    h = x[index] + y
    y.add_(h)
    return h


def unused(x, index, y):
    x.index_select(0, index)
    x.gather(0, index[:, None])
    return y * 2


def unused_loss(x, target):
    F.cross_entropy(x, target)
    return x.exp()


def first_of_many(x, index):
    return x + x.gather(0, index)[0]


def rest_of_rows(x, index, y):
    return (x[index] * 2)[1:] + y


def looked_up_twice(x, index, at):
    return x[index][at] + 1


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (indexed_by_a_number, (R(4, 6), torch.tensor(4), R(6))),
        (unused, (R(0, 4), torch.tensor([0, 0]), R(3))),
        (unused, (R(3, 4), torch.tensor([2, 3]), R(3))),
        (unused_loss, (R(3, 4), torch.tensor([2, 3, 4]))),
        (first_of_many, (R(6), torch.tensor([0, 1, 6]))),
        (rest_of_rows, (R(6, 4), torch.tensor([6, 1, 5]), R(4))),
        (looked_up_twice, (R(6, 4), torch.tensor([5, -7, 3]), torch.tensor([2, 0]))),
        (indexed, (R(3, 6, 4), torch.tensor([0, -7, 1]), R(4))),
        (selected, (R(3, 6, 4), torch.tensor([0, 6]), R(4))),
        (selected, (R(3, 6, 4), torch.tensor([-1]), R(4))),
        (selected, (R(3, 0, 4), torch.tensor([0]), R(4))),  # no memory to read
        (indexed_by_a_number, (R(0, 6), torch.tensor(0), R(6))),
        (gathered, (R(3, 6), torch.full((2, 4), 6))),
        (hot, (torch.full((3, 4), 5), R(4, 5))),
        (embeddings, (torch.full((2, 7), 11), *CASES[embeddings][1:])),
        (written, (R(4, 6), torch.tensor([1, 9]), R(2, 6))),
    ],
)
def test_out_of_range_raises_as_eager_does(function, inputs):
    before = [v.clone() for v in inputs]
    with pytest.raises((IndexError, RuntimeError)) as wanted:
        function(*[v.clone() for v in inputs])
    compiled = astjit.compile(function, fullgraph=True)
    for _ in range(2):
        given = [v.clone() for v in before]
        with pytest.raises(wanted.type) as raised:
            compiled(*given)
        assert str(raised.value) == str(wanted.value)
        if function is not written:
            assert all(map(torch.equal, given, before))
    assert compiled.cache_info().programs == 1


def test_eager_writes_what_it_wrote_before_it_failed():
    x, index, y = R(4, 6), torch.tensor([1, 9]), R(2, 6)
    got, want = y.clone(), y.clone()
    for function, given in ((astjit.compile(written), got), (written, want)):
        with pytest.raises(IndexError):
            function(x, index, given)
    assert torch.equal(got, want)


def test_out_of_range_where_eager_takes_the_remainder():
    x, index = R(3, 6), torch.tensor([[7, -9, 0]]).expand(3, 3)
    assert torch.equal(astjit.compile(along, fullgraph=True)(x, index), along(x, index))


def cat_alone(x, y):
    return torch.cat((x, y), 1)


def test_a_copy_alone_stays_a_library_call():
    report = astjit.explain(astjit.compile(cat_alone), R(3, 4), R(3, 5))
    assert not report.kernels
