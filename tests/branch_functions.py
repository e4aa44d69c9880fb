"""Functions with an `if` on a tensor of one element, and arguments for both answers."""

import torch

R = torch.randn


def scaled(x, w):
    y = x * w
    if x.sum() > 0:
        y = y * 2
        z = y + 1
    else:
        z = torch.exp(y) - x
    return z * 2


def clipped(x, limit):
    norm = x.square().sum().sqrt()
    if norm > limit:
        x = x * (limit / norm)
    return x * 1


def swapped(a, b, flag):
    if flag:
        a, b = b, a
    return a - b


def chained(x, t):
    if t > 1:
        y = x + 1
    elif t > 0:
        y = x * 2
    elif t > -1:
        y = torch.zeros_like(x)
    else:
        y = torch.where(x > 0, x, -x)
    return y * 3


def nested(x, s, t):
    if s:
        u = x * 2
        if t:
            u = u + s
        y = u - 1
    else:
        y = x
    return y.abs()


def two_results(x, t):
    a = b = x * 0.5
    if t:
        a = x.relu()
        b = x - a
    else:
        b = x.sigmoid()
    return a + 1, b * 2, a * b


def temporary(x, t):
    if t:
        u = x * 3
        y = u + 1
    else:
        y = x - 1
    return y.t().contiguous() if y.dim() == 2 else y


def number(x, t, k):
    rest = 1 - k
    if t:
        y = x * rest + k * 2
    else:
        y = x / k - rest
    return y * (rest + 1)


def viewed(x, t):
    first = x[0]
    if t:
        y = first * x
    else:
        y = x + x[1]
    return y - x[1], first * 2


def constant(x, t):
    scale = 1
    if t:
        scale = 1
        y = x * scale
    else:
        y = -x
    return y * scale


def called(x, t):
    return _chosen(x, t) + _chosen(-x, t)


def _chosen(x, t):
    if t:
        x = x * 2
    return x + 1


def in_place_on_own(x, t):
    if t:
        y = x * 2
        y += 1
        y.clamp_(-1, 1)
    else:
        y = x.clone()
    return y - 1


def after_the_other(x, s, t):
    if s:
        x = x * 2
    if t:
        x = x + 1
    return x / 3


def reduced(x):
    if x.max() > 1:
        x = x / 2
    x = x - x.mean(-1, keepdim=True)
    if x.min() < -0.5:
        x = x * 0.5
    return x.softmax(-1)


def ternaries(x, s, t):
    y = x * 2 if s else x - 1
    z = (y if t else x.abs()) + 1
    return [u + (1 if i else z if s else y) for i, u in enumerate((y, z))]


def advantages(rewards, values, dones, gamma):
    out, last = torch.zeros_like(rewards), torch.zeros_like(rewards[0])
    for t in reversed(range(rewards.shape[0])):
        if dones[t]:
            last = rewards[t] - values[t]
        else:
            last = rewards[t] + gamma * values[t + 1] - values[t] + gamma * last
        out[t] = last
    return out


def gated(x, h, gates, decay):
    ys = []
    for t in range(x.shape[0]):
        h = h * decay if gates[t] > 0 else h + x[t] * t
        if gates[t]:
            h = h.clamp(-2, 2)
        ys.append(h)
    return torch.stack(ys), h + 1


def _flags():
    yield torch.tensor(True)
    yield torch.tensor(False)
    yield torch.tensor([[2]])
    yield torch.tensor(float("nan"))


def several(n=7):
    """Each function with arguments."""
    for sign in (1, -1):
        x = (torch.rand(5, n) + 0.1) * sign
        yield scaled, (x, 0.5)
        yield clipped, (x * 3, 1.0 + sign * 20)
        yield reduced, (x + 0.5,)
        yield advantages, (R(6, n), R(7, n), R(6) * sign > 0, 0.9)
        yield gated, (R(6, n), R(n), R(6) * sign, 0.5)
    for level in (2.0, 0.5, -0.5, -2.0):
        yield chained, (R(5, n), torch.tensor(level))
    for flag in _flags():
        x = R(5, n)
        yield swapped, (x, R(5, n), flag)
        yield two_results, (x, flag)
        yield temporary, (x, flag)
        yield number, (x, flag, 0.3)
        yield viewed, (x, flag)
        yield constant, (x, flag)
        yield called, (x, flag)
        yield in_place_on_own, (x, flag)
        yield nested, (x, flag.reshape(()), ~flag.bool())
        yield after_the_other, (x, flag, ~flag.bool())
        yield ternaries, (x, flag, ~flag.bool())


LOG = []


def returns_itself(x, t):
    if t:
        x = x * 2
    return x


def returns_a_view(x, t):
    y = x[0] if x.dim() else x
    if t:
        y = y * 2
    return y.unsqueeze(0)


def written_after(x, y, t):
    if t:
        z = x
    else:
        z = y * 2
    z += 1
    return z * 1


def writes_what_it_may_be(x, y, t):
    if t:
        z = x
    else:
        z = y * 2
    x += 1
    return z * 1


def asks_which(x, t):
    y = x
    if t:
        y = x + 0
    return x * 3 if y is x else x * 5


def writes_in_an_arm(x, t):
    if t:
        x += 1
    else:
        x.mul_(2)
    return x * 2


def logs(x, t):
    if t:
        LOG.append("yes")
        x = x + 1
    else:
        LOG.append("no")
        x = x - 1
    LOG.append("after")
    return x


def unbound(x, t):
    if t:
        z = x * 2
    return z + 1


def unbound_and_caught(x, t):
    if t:
        z = x * 2
    try:
        return z + 1
    except NameError:
        return x - 1


def reads_the_other_arms_name(x, t):
    if t:
        z = x * 2
        y = z
    else:
        y = z + 1
    return y


def two_numbers(x, t):
    if t:
        k = 2
    else:
        k = 3
    return x * k


def two_types(x, t):
    y = x.double() if t else x
    if t:
        z = x > 0
    else:
        z = x
    return z * y


def two_types_at_once(x, t):
    return x.double() if t else x


def itself_or_new(x, t):
    return x if t else x * 2


def picks_for_a_call(x, t):
    return (torch.exp if t else torch.sin)(x)


def two_sizes(x, t):
    if t:
        y = x[0] * 1
    else:
        y = x * 1
    return y + 1


def two_layouts(x, t):
    if t:
        y = x.t() * 2
    else:
        y = x[:5, :5] * 2
    return y * 1


def reduces(x, t):
    if t:
        x = x - x.mean()
    else:
        x = x.softmax(-1)
    return x * 2


def draws(x, t):
    if t:
        x = x + torch.rand(3)[0] * 0
    else:
        x = x * 2
    return x + 1


def fits_in_one_arm(x, y, t):
    if t:
        z = x @ y
    else:
        z = x + 1
    return z + 1


def fails_in_one_arm(x, t):
    if t:
        z = x + torch.ones(3, 11)
    else:
        z = x + 1
    return z + 1


def returns_early(x, t):
    if t:
        return x * 2
    return x + 1


def closes_over(x, t):
    y = x

    def seen():
        return y * 2

    if t:
        y = x + 1
    return seen()


def loops_and_breaks(x):
    for i in range(6):
        if x[i, 0] > 0:
            x = x + 1
            break
        x = x * 2
    return x * 1


def keeps_in_a_loop(x, t):
    h = x
    for _ in range(6):
        if t:
            h = h * 0.5
    return h


def asks_often(x, t):
    for _ in range(40):
        x = x - x.mean()
        if t:
            x = x * 0.5
    return x


def several_elements(x, t):
    if x > 0:
        x = x + 1
    else:
        x = x * 2
    return x


class Held:
    scale = 2.0


HELD = Held()


def reads_attributes(x, t):
    if t:
        x = x * HELD.scale
    else:
        x = x * HELD.missing
    return x + 1


def stores_attributes(x, t):
    if t:
        HELD.scale = 3.0
    x = x * 2
    return x + 1


OTHERS = [
    *(returns_itself, returns_a_view, writes_in_an_arm, logs, unbound, unbound_and_caught),
    *(reads_the_other_arms_name, two_numbers, two_types, two_sizes, reduces, draws, returns_early),
    *(asks_which, two_layouts, fails_in_one_arm, closes_over, several_elements, reads_attributes),
    *(
        keeps_in_a_loop,
        asks_often,
        stores_attributes,
        two_types_at_once,
        itself_or_new,
        picks_for_a_call,
    ),
]
