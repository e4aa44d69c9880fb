"""Modules of torch.nn and models made of them: one program for several sizes, changes followed."""

import copy
import itertools
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import astjit


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Programs run through PyTorch; warnings about anything else are errors."""
    monkeypatch.setenv("CXX", "/nonexistent")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="kernels run through PyTorch")
        yield


class Block(nn.Module):
    """A residual block."""

    def __init__(self, wide, out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(wide, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or wide != out:
            self.down = nn.Sequential(nn.Conv2d(wide, out, 1, stride), nn.BatchNorm2d(out))

    def forward(self, x):
        identity = x if self.down is None else self.down(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    """Stem, two blocks, head."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU())
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.layers = nn.Sequential(Block(8, 8), Block(8, 16, 2))
        self.average, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(16, 10)

    def forward(self, x):
        x = self.layers(self.pool(self.stem(x)))
        return self.fc(torch.flatten(self.average(x), 1))


class UNet(nn.Module):
    """Down, up, with the halves concatenated."""

    def __init__(self, *widths):
        super().__init__()
        pairs = list(itertools.pairwise(widths))
        self.first = self.double(3, widths[0])
        self.downs = nn.ModuleList(self.double(a, b) for a, b in pairs)
        self.ups = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in reversed(pairs))
        self.convs = nn.ModuleList(self.double(2 * a, a) for a, _ in reversed(pairs))
        self.pool, self.last = nn.MaxPool2d(2), nn.Conv2d(widths[0], 2, 1)

    @staticmethod
    def double(wide, out):
        """A convolution, normalized."""
        return nn.Sequential(nn.Conv2d(wide, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU())

    def forward(self, x):
        skips = [self.first(x)]
        for down in self.downs:
            skips.append(down(self.pool(skips[-1])))
        x = skips.pop()
        for up, conv in zip(self.ups, self.convs, strict=True):
            x, skip = up(x), skips.pop()
            if x.shape[-2:] != skip.shape[-2:]:
                x = F.interpolate(x, size=skip.shape[-2:])
            x = conv(torch.cat([skip, x], 1))
        return self.last(x)


class Recurrent(nn.Module):
    """Embedding, LSTM and GRU."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 8, 2, batch_first=True)
        self.gru = nn.GRU(8, 8, bidirectional=True, batch_first=True)

    def forward(self, ids):
        x, (h, c) = self.lstm(self.embed(ids))
        return *self.gru(x), h, c


class Attention(nn.Module):
    """One attention with its weights."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)


def words(batch, length):
    return torch.randint(0, 20, (batch, length))


def vectors(batch, length):
    return torch.randn(batch, length, 16)


def images(batch, size):
    return torch.randn(batch, 3, size, size)


SEQUENCES, SQUARES = ((2, 3), (3, 4), (4, 5)), ((2, 32), (3, 48), (4, 64), (2, 35))
MODELS = {
    "mlp": (
        lambda: nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 16)),
        vectors,
        SEQUENCES,
        lambda m: setattr(m[2], "eps", 0.5),
    ),
    "encoder in training, no dropout": (
        lambda: nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True),
        vectors,
        SEQUENCES,
        lambda m: setattr(m.norm1, "eps", 0.5),
    ),
    "encoder": (
        lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval(),
        vectors,
        SEQUENCES,
        lambda m: setattr(m, "linear1", nn.Linear(16, 32)),
    ),
    "block": (
        lambda: Block(3, 8, 2).eval(),
        images,
        SQUARES,
        lambda m: setattr(m.bn1, "eps", 0.5),
    ),
    "block in training": (
        lambda: Block(3, 8, 2),
        images,
        SQUARES,
        lambda m: setattr(m, "relu", nn.Sigmoid()),
    ),
    "resnet": (
        lambda: ResNet().eval(),
        images,
        SQUARES,
        lambda m: m.layers[0].register_forward_hook(lambda m, a, y: y * 2),
    ),
    "unet": (
        lambda: UNet(4, 8, 16).eval(),
        images,
        SQUARES[:3],
        lambda m: setattr(m.downs[0][0], "weight", nn.Parameter(torch.ones(8, 4, 3, 3))),
    ),
    "recurrent": (
        lambda: Recurrent().eval(),
        words,
        SEQUENCES,
        lambda m: setattr(m.embed, "weight", nn.Parameter(torch.ones(20, 8))),
    ),
    "attention": (
        lambda: Attention().eval(),
        vectors,
        SEQUENCES,
        lambda m: setattr(m.attention, "in_proj_bias", nn.Parameter(torch.ones(48))),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("make", "data", "sizes", "change"), MODELS.values(), ids=MODELS)
def test_one_program_for_all_sizes_and_changes_are_followed(make, data, sizes, change):
    check(make, data, sizes, change)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["encoder in training, no dropout", "block", "attention"])
def test_the_same_with_compiled_kernels(monkeypatch, name):
    monkeypatch.delenv("CXX")
    check(*MODELS[name])


def check(make, data, sizes, change):
    """Values as eager's, effects on the module too; one program; a change is followed."""
    torch.manual_seed(0)
    module = make()
    other = copy.deepcopy(module)
    compiled = astjit.compile(module)
    for size in sizes:
        x = data(*size)
        torch.testing.assert_close(compiled(x), other(x), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(module.state_dict(), other.state_dict())
    assert compiled.cache_info().programs == 1, compiled.cache_info().reasons
    torch.manual_seed(1)
    change(module)
    torch.manual_seed(1)
    change(other)
    x = data(*sizes[0])
    torch.testing.assert_close(compiled(x), other(x), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_training_and_eval_in_turn():
    torch.manual_seed(0)
    module = Block(3, 8)
    other, compiled = copy.deepcopy(module), astjit.compile(module)
    for training in (True, False, True, False):
        compiled.train(training)
        other.train(training)
        x = images(2, 8)
        torch.testing.assert_close(compiled(x), other(x), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(module.state_dict(), other.state_dict())
    assert compiled.cache_info().programs == 2
