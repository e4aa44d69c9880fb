"""Models of sequences in plain PyTorch: recurrent, attending, selective state spaces."""

import torch
import torch.nn.functional as F
from torch import nn


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


class Stepped(nn.Module):
    """Cells in a loop; the state of one call is where the next begins."""

    def __init__(self):
        super().__init__()
        self.cell, self.gate = nn.LSTMCell(16, 8), nn.GRUCell(8, 8)
        self.state = None

    def forward(self, x):
        if self.state is None:
            self.state = tuple(x.new_zeros(x.shape[0], 8) for _ in range(3))
        h, c, g = self.state
        out = []
        for t in range(3):
            h, c = self.cell(x[:, t], (h, c))
            g = self.gate(h, g)
            out.append(g)
        self.state = h.detach(), c.detach(), g.detach()
        return torch.stack(out, 1)


class Attention(nn.Module):
    """One attention with its weights."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)


class Transformer(nn.Module):
    """nn.Transformer: encoder and causal decoder."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.transformer = nn.Transformer(16, 4, 2, 2, 32, batch_first=True)
        self.head = nn.Linear(16, 20)

    def forward(self, ids):
        x = self.embed(ids)
        causal = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        out = self.transformer(x, x.flip(1), tgt_mask=causal, tgt_is_causal=True)
        return self.head(out)


class Selective(nn.Module):
    """A selective state space (Gu and Dao, Mamba, 2023): steps chosen by the input."""

    def __init__(self, width=16, states=4, kernel=3, rank=2):
        super().__init__()
        self.states, self.rank = states, rank
        self.enter, self.leave = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.conv = nn.Conv1d(width, width, kernel, groups=width, padding=kernel - 1)
        self.chosen = nn.Linear(width, rank + 2 * states, bias=False)
        self.step = nn.Linear(rank, width)
        decays = torch.arange(1.0, states + 1).repeat(width, 1)
        self.log_decay, self.skip = nn.Parameter(decays.log()), nn.Parameter(torch.ones(width))
        self.norm = nn.RMSNorm(width)

    def forward(self, x):
        length = x.shape[1]
        h, gate = self.enter(self.norm(x)).chunk(2, dim=-1)
        h = F.silu(self.conv(h.transpose(1, 2))[..., :length].transpose(1, 2))
        sizes = [self.rank, self.states, self.states]
        step, into, out = self.chosen(h).split(sizes, dim=-1)
        step = F.softplus(self.step(step))
        y = self.scanned(h, step, into, out) + h * self.skip
        return x + self.leave(y * F.silu(gate))

    def scanned(self, h, step, into, out):
        """The states one after the other, each read out."""
        kept = torch.exp(step[..., None] * -self.log_decay.exp())
        added = (step * h)[..., None] * into[:, :, None]
        state = torch.zeros_like(kept[:, 0])
        read = []
        for t in range(h.shape[1]):
            state = kept[:, t] * state + added[:, t]
            read.append((state * out[:, t, None]).sum(-1))
        return torch.stack(read, dim=1)


# -- arguments of a call --------------------------------------------------------------------------
def words(batch, length):
    return torch.randint(0, 20, (batch, length))


def vectors(batch, length):
    return torch.randn(batch, length, 16)
