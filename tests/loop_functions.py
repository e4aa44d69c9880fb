"""Functions with counted loops, and arguments for a number of iterations."""

import torch

R = torch.randn


def ema(x, h, decay):
    for t in range(x.shape[0]):
        h = h * decay + x[t]
    return h


def gae(rewards, values, dones, gamma, lam):
    advantages = torch.zeros_like(rewards)
    last = 0
    for t in reversed(range(rewards.shape[0])):
        going = 1.0 - dones[t]
        delta = rewards[t] + gamma * values[t + 1] * going - values[t]
        advantages[t] = last = delta + gamma * lam * going * last
    return advantages, advantages + values[:-1]


def gae_with_a_last_value(rewards, values, value, gamma):
    advantages = torch.zeros_like(rewards)
    last = 0
    for t in reversed(range(rewards.shape[0])):
        following = value if t == rewards.shape[0] - 1 else values[t + 1]
        last = rewards[t] + gamma * following - values[t] + gamma * last
        advantages[t] = last
    return advantages


def returns(rewards, gamma):
    total = torch.zeros_like(rewards[0])
    totals = []
    for t in reversed(range(rewards.shape[0])):
        total = rewards[t] + gamma * total
        totals.append(total)
    return torch.stack(totals).flip(0)


def state_space(x, a, b, c):
    h = torch.zeros(x.shape[0], a.shape[0])
    ys = []
    for t in range(x.shape[1]):
        h = a * h + b * x[:, t].unsqueeze(-1)
        ys.append(h * c)
    return torch.stack(ys, dim=1), h


def filtered(x, b0, b1, a1):
    y = torch.empty_like(x)
    before = torch.zeros_like(x[:, 0])
    out = torch.zeros_like(before)
    for t in range(x.shape[1]):
        out = b0 * x[:, t] + b1 * before - a1 * out
        before = x[:, t] * 1.0
        y[:, t] = out
    return y


def euler(x, v, dt, count):
    for _ in range(count):
        x, v = x + dt * v, v - dt * x
    return x, v


def runge_kutta(y, dt):
    for i in range(9):
        t = i * dt
        k1 = -y + t
        k2 = -(y + 0.5 * dt * k1) + (t + 0.5 * dt)
        k3 = -(y + 0.5 * dt * k2) + (t + 0.5 * dt)
        k4 = -(y + dt * k3) + (t + dt)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def horner(x, coefficients):
    p = torch.zeros_like(x)
    for i in range(coefficients.shape[0]):
        p = p * x + coefficients[i]
    return p


def newton(a):
    x = a
    for _ in range(8):
        x = 0.5 * (x + a / x)
    return x


def in_place(x, total):
    for t in range(x.shape[0]):
        total += x[t]
    return total


def by_twos(x):
    h = x[0] * 0
    t = None
    for t in range(0, x.shape[0], 2):
        h = h + x[t] * t
    return h, t


def with_else(x, h):
    for t in range(x.shape[0]):
        h = h + x[t]
    else:
        h = h * 2
    return h


def swapped(a, b):
    for _ in range(12):
        a, b = b, a + b
    return a, b


def nested(x):
    h = x[0, 0] * 0
    for i in range(3):
        for t in range(x.shape[1]):
            h = h * 0.5 + x[i, t]
    return h


def named_after(x, h):
    for t in range(x.shape[0]):
        u = x[t] * 2
        h = h + u
    return h, u


def one_before(x, h):
    before = h
    for t in range(x.shape[0]):
        before = h
        h = h * 0.5 + x[t]
    return before, h


def chosen(x, h):
    for t in range(x.shape[0]):
        h = torch.where(x[t] > 0, h * 0.5, h.clamp(-1, 1) + torch.relu(x[t]))
    return h


def several(count, n=7):
    """Each function with arguments, `count` iterations where it takes them."""
    least = max(count, 1)
    yield ema, (R(count, n), R(n), 0.9)
    yield gae, (R(count, n), R(count + 1, n), (R(count, n) > 1).float(), 0.99, 0.95)
    yield gae_with_a_last_value, (R(count, n), R(count, n), R(n), 0.99)
    yield state_space, (R(3, count), R(n) / 4, R(n), R(n))
    yield euler, (R(n), R(n), 0.01, count)
    yield runge_kutta, (R(n), 0.01)
    yield horner, (R(n), R(count))
    yield newton, (torch.rand(n) + 0.5,)
    yield in_place, (R(count, n), R(n))
    yield with_else, (R(count, n), R(n))
    yield swapped, (R(n), R(n))
    yield nested, (R(3, least, n),)
    yield one_before, (R(count, n), R(n))
    yield chosen, (R(count, n), R(n))
    yield returns, (R(least, n), 0.9)
    yield filtered, (R(3, least), 0.5, 0.2, 0.1)
    yield by_twos, (R(least, n),)
    yield named_after, (R(least, n), R(n))
