"""Models of images in plain PyTorch and einops."""

import itertools
import math

import einops
import torch
import torch.nn.functional as F
from einops.layers.torch import Rearrange, Reduce
from torch import nn


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


class Inverted(nn.Module):
    """Wide inside: a convolution of each channel by itself, the channels squeezed and weighed."""

    def __init__(self, wide, out, stride, factor):
        super().__init__()
        inner = wide * factor
        self.residual = stride == 1 and wide == out
        self.expand = self.layer(wide, inner, 1, 1) if factor != 1 else nn.Identity()
        self.each = self.layer(inner, inner, 3, stride, groups=inner)
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(inner, inner // 4, 1),
            nn.ReLU(),
            nn.Conv2d(inner // 4, inner, 1),
            nn.Hardsigmoid(),
        )
        self.project = nn.Sequential(nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out))

    @staticmethod
    def layer(wide, out, size, stride, groups=1):
        """A convolution, normalized."""
        conv = nn.Conv2d(wide, out, size, stride, size // 2, groups=groups, bias=False)
        return nn.Sequential(conv, nn.BatchNorm2d(out), nn.ReLU6(inplace=True))

    def forward(self, x):
        h = self.each(self.expand(x))
        h = self.project(h * self.squeeze(h))
        return x + h if self.residual else h


class MobileNet(nn.Module):
    """Blocks given as a table."""

    ROWS = ((8, 1, 1), (12, 2, 2), (12, 1, 4), (16, 2, 2))

    def __init__(self):
        super().__init__()
        wide, layers = 8, [Inverted.layer(3, 8, 3, 2)]
        for out, stride, factor in self.ROWS:
            layers.append(Inverted(wide, out, stride, factor))
            wide = out
        self.features = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Linear(wide, 32), nn.Hardswish(), nn.Dropout(0.2))
        self.classes = nn.Linear(32, 10)

    def forward(self, x):
        return self.classes(self.head(self.features(x).mean([2, 3])))


class Attention(nn.Module):
    """Attention as einops writes it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = einops.rearrange(
            self.qkv(x), "b n (three h d) -> three b h n d", three=3, h=self.heads
        )
        scores = torch.einsum("bhnd,bhmd->bhnm", q, k) * self.scale
        return self.out(einops.rearrange(scores.softmax(-1) @ v, "b h n d -> b n (h d)"))


class Layer(nn.Module):
    """Attention and two linear layers, each normalized before and added."""

    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class VisionTransformer(nn.Module):
    """Patches, a token of the class, layers."""

    def __init__(self, width=32, depth=2):
        super().__init__()
        self.patches = nn.Sequential(
            nn.Conv2d(3, width, 4, stride=4), Rearrange("b c h w -> b (h w) c")
        )
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.blocks = nn.ModuleList(Layer(width, 4) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, images):
        x = self.patches(images)
        x = torch.cat([einops.repeat(self.token, "1 1 d -> b 1 d", b=x.shape[0]), x], 1)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 0]))


class Rearranged(nn.Module):
    """Every function of einops."""

    def __init__(self):
        super().__init__()
        self.grid, self.pool = (
            Rearrange("b (h w) c -> b c h w", h=4),
            Reduce("b c h w -> b c", "max"),
        )
        self.linear = nn.Linear(6, 6)

    def forward(self, x):
        q, k = einops.rearrange(self.linear(x), "b n (k h d) -> k h b n d", k=2, h=3)
        scores = einops.einsum(q, k, "h b n d, h b m d -> h b n m").softmax(-1)
        image = self.grid(x)
        pooled = einops.reduce(image, "b c (h p) w -> b h w", "mean", p=2)
        return pooled, self.pool(image), einops.repeat(scores.mean(0), "b n m -> b r n m", r=2)


def waves(times, width, longest=10000.0):
    """Sines and cosines of times, as diffusion models give them to their layers."""
    rates = torch.exp(-math.log(longest) * torch.arange(width // 2, device=times.device) / width)
    angles = times[:, None].float() * rates[None]
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class TimedBlock(nn.Module):
    """Two convolutions; the time scales and shifts between them."""

    def __init__(self, width, timed):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, width), nn.GroupNorm(4, width)
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.film = nn.Linear(timed, 2 * width)

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.film(F.silu(time))[:, :, None, None].chunk(2, dim=1)
        h = self.norm2(h) * (1 + scale) + shift
        return x + self.conv2(F.silu(h))


class PixelAttention(nn.Module):
    """Attention among the pixels of an image."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm = heads, nn.GroupNorm(4, width)
        self.qkv, self.out = nn.Conv1d(width, 3 * width, 1), nn.Conv1d(width, width, 1)

    def forward(self, x):
        batch, width, *size = x.shape
        h = self.norm(x).reshape(batch, width, -1)
        q, k, v = self.qkv(h).reshape(batch * self.heads, -1, h.shape[-1]).chunk(3, dim=1)
        scale = 1 / math.sqrt(math.sqrt(q.shape[1]))
        weights = torch.einsum("bct,bcs->bts", q * scale, k * scale)
        weights = weights.float().softmax(dim=-1).type(weights.dtype)
        a = torch.einsum("bts,bcs->bct", weights, v).reshape(batch, width, -1)
        return x + self.out(a).reshape(batch, width, *size)


class Diffusion(nn.Module):
    """A denoiser, and two steps from noise towards an image."""

    def __init__(self, width=8, steps=2):
        super().__init__()
        self.width, self.steps = width, steps
        self.time = nn.Sequential(nn.Linear(width, 16), nn.SiLU(), nn.Linear(16, 16))
        self.enter, self.leave = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 1)
        self.blocks = nn.ModuleList([TimedBlock(width, 16), TimedBlock(width, 16)])
        self.attention = PixelAttention(width, 2)
        self.register_buffer("kept", torch.linspace(0.99, 0.1, 10).cumprod(0))

    def noise(self, x, times):
        """The noise in an image at a time."""
        time = self.time(waves(times, self.width))
        h = self.blocks[0](self.enter(x), time)
        return self.leave(self.blocks[1](self.attention(h), time))

    def forward(self, x):
        for step in reversed(range(1, self.steps + 1)):
            times = torch.full((x.shape[0],), step, device=x.device)
            noise = self.noise(x, times)
            kept, before = self.kept[step], self.kept[step - 1]
            clean = ((x - (1 - kept).sqrt() * noise) / kept.sqrt()).clamp(-1, 1)
            x = before.sqrt() * clean + (1 - before).sqrt() * noise
        return x


# -- arguments of a call --------------------------------------------------------------------------
def squares(batch, size):
    return torch.randn(batch, 3, size, size)


def images(batch, height):
    return torch.randn(batch, 3, 4 * height, 16)


def rows(batch, length):
    return torch.randn(batch, 4 * length, 6)
