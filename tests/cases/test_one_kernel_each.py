"""What every model is made of, by name: one kernel each, eager's answers, for both targets."""

import itertools

import pytest
import torch
import torch.nn.functional as F

import astjit
from tests.emulator.machine import EmulatedDriver, posing


def normal(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def classes(number, *shape):
    return torch.randint(0, number, shape, generator=torch.Generator().manual_seed(1))


def mean_and_var(x):
    return x.mean(-1), x.var(-1)


def var_mean(x):
    return torch.var_mean(x, -1)


def group_norm(x):
    return F.group_norm(x, 2)


def group_norm_of_what_is_computed(x, y):
    return F.silu(F.group_norm(x + y, 4))


def group_norm_with_weights(x, w, b):
    return F.group_norm(x, 2, w, b)


def block_of_a_unet(x, e, w, b):
    return F.silu(F.group_norm(x + e[:, :, None, None], 2, w, b))


def instance_norm(x, w, b):
    return F.instance_norm(x, weight=w, bias=b)


def l2_normalize(x):
    return F.normalize(x, dim=-1)


def cosine_similarity(x, y):
    return F.cosine_similarity(x, y)


def logsumexp(x):
    return torch.logsumexp(x, -1)


def cross_entropy(x, t):
    return F.cross_entropy(x, t)


def masked_softmax(x, mask):
    return torch.softmax((x * 0.125).masked_fill(mask, float("-inf")), -1)


def softmax_over_rows(x):
    return torch.softmax(x, 0)


def softmax_in_the_middle(x):
    return torch.softmax(x, 1)


def rope(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)
    return x * cos + turned * sin


def rope_of_neighbours(x, cos, sin):
    pairs = (x * 2).float().reshape(*x.shape[:-1], -1, 2)
    a, b = pairs.unbind(-1)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2).type_as(x)


def batch_norm_relu(x, mean, var, w, b):
    return F.relu(F.batch_norm(x, mean, var, w, b))


def squares_of_columns(x):
    return (x * x).sum(0)


def sum_of_all(x):
    return (torch.sin(x) * torch.cos(x)).sum()


def argmax(x):
    return x.argmax(-1)


def embedding_norm(i, table, places, w, b):
    return F.layer_norm(F.embedding(i, table) + places, (table.shape[1],), w, b)


def causal_loss(x, t):
    scores, wanted = x[:, :-1].float(), t[:, 1:]
    return F.cross_entropy(scores.reshape(-1, x.shape[-1]), wanted.reshape(-1))


def heads(x, w):
    h = x * torch.sigmoid(x)
    h = h.view(x.shape[0], x.shape[1], 4, -1)
    return F.rms_norm(h, (h.shape[-1],)).flatten(2) * w


def shuffled(x):
    b, c, h, w = x.shape
    y = F.relu(x).view(b, c // 4, 2, 2, h, w).permute(0, 1, 4, 2, 5, 3)
    return y.reshape(b, c // 4, h * 2, w * 2)


IMAGE, TALL = (2, 8, 5, 6), (12, 40)
CASES = {
    mean_and_var: (normal(*TALL),),
    var_mean: (normal(*TALL),),
    group_norm: (normal(*IMAGE),),
    group_norm_of_what_is_computed: (normal(*IMAGE), normal(*IMAGE) + 1),
    group_norm_with_weights: (normal(*IMAGE), normal(8), normal(8)),
    block_of_a_unet: (normal(2, 8, 5, 7), normal(2, 8), normal(8), normal(8)),
    instance_norm: (normal(*IMAGE), normal(8), normal(8)),
    l2_normalize: (normal(*TALL),),
    cosine_similarity: (normal(*TALL), normal(12, 40) + 1),
    logsumexp: (normal(*TALL),),
    cross_entropy: (normal(*TALL), classes(40, 12)),
    masked_softmax: (normal(2, 3, 7, 9), normal(2, 1, 7, 9) > 1),
    softmax_over_rows: (normal(*TALL),),
    softmax_in_the_middle: (normal(3, 12, 10),),
    rope: (normal(2, 3, 8), normal(3, 8), normal(3, 8)),
    rope_of_neighbours: (normal(2, 3, 8), normal(3, 4), normal(3, 4)),
    batch_norm_relu: (normal(*IMAGE), normal(8), normal(8).abs(), normal(8), normal(8)),
    squares_of_columns: (normal(*TALL),),
    sum_of_all: (normal(*TALL).abs(),),
    argmax: (normal(*TALL),),
    embedding_norm: (classes(5, 2, 3), normal(5, 8), normal(3, 8), normal(8), normal(8)),
    causal_loss: (normal(2, 7, 11), classes(11, 2, 7)),
    heads: (normal(2, 3, 24), normal(24)),
    shuffled: (normal(*IMAGE),),
}
FUNCTIONS = tuple(CASES)


THIRDS = [FUNCTIONS[at::3] for at in range(3)]  # of which each is one unit for the compiler


def first(*given):
    return [function(*inputs) for function, inputs in zip(THIRDS[0], given, strict=True)]


def second(*given):
    return [function(*inputs) for function, inputs in zip(THIRDS[1], given, strict=True)]


def third(*given):
    return [function(*inputs) for function, inputs in zip(THIRDS[2], given, strict=True)]


def compare(found, eager):
    if isinstance(eager, tuple):
        assert len(found) == len(eager)
        for mine, theirs in zip(found, eager, strict=True):
            compare(mine, theirs)
        return
    assert (found.dtype, found.shape, found.stride()) == (eager.dtype, eager.shape, eager.stride())
    torch.testing.assert_close(found, eager, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("every", "functions"), [(first, THIRDS[0]), (second, THIRDS[1]), (third, THIRDS[2])]
)
def test_on_the_cpu(every, functions):
    compiled = astjit.compile(every, fullgraph=True)
    inputs = [CASES[function] for function in functions]
    for found, function, given in zip(compiled(*inputs), functions, inputs, strict=True):
        compare(found, function(*given))
    report = astjit.explain(compiled, *inputs)
    assert not report.library_calls
    assert not report.unfused
    assert len(report.kernels) == len(functions)


@pytest.fixture(scope="module")
def launches():
    """What each function returns and launches on CUDA, all texts compiled at once before."""

    def run(driver):
        made = {}
        with torch.no_grad(), posing(driver):
            for function, given in CASES.items():
                before = len(driver.launches)
                found = astjit.compile(function, target="cuda", fullgraph=True)(*given)
                made[function] = found, len(driver.launches) - before
        return made

    notes = EmulatedDriver(executes=False)
    run(notes)
    notes.compile_all()
    return run(EmulatedDriver())


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_on_cuda(function, launches):
    found, count = launches[function]
    compare(found, function(*CASES[function]))
    assert count == 1


def test_channels_of_every_size():
    """A vector holds a part of a channel, or several whole ones and the ends of two more."""
    compiled = astjit.compile(block_of_a_unet, fullgraph=True)
    for dtype in (torch.float32, torch.bfloat16):
        for channels, size in itertools.product((2, 6), (1, 2, 5, 8, 11, 16, 33)):
            x, e = normal(3, channels, size, 3).to(dtype), normal(3, channels).to(dtype)
            w, b = normal(channels).to(dtype), (normal(channels) + 1).to(dtype)
            exact = block_of_a_unet(*(t.double() for t in (x, e, w, b)))
            near = {"rtol": 2e-5, "atol": 2e-5} if dtype is torch.float32 else {"rtol": 1e-2}
            near.setdefault("atol", 3e-2)
            torch.testing.assert_close(compiled(x, e, w, b).double(), exact, **near)
    report = astjit.explain(compiled, x, e, w, b)
    assert [k.kind for k in report.kernels] == ["row"]
    assert "load(in_runs(" in report.kernels[0].source
