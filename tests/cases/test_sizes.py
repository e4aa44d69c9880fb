"""Sizes are numbers of a call: one program serves them all, unless Python needs one as a value."""

import math
import warnings

import pytest
import torch

import astjit


def check(function, *calls, programs=1, **options):
    """Compiled and eager agree on all calls, and they take so many programs."""
    compiled = astjit.compile(function, fullgraph=True, **options)
    for given in calls:
        same(compiled(*given), function(*given))
    assert compiled.cache_info().programs == programs, compiled.cache_info().reasons
    return compiled


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        assert [*map(type, one)] == [*map(type, other)]
        same([*one.values()], [*other.values()])
    elif isinstance(one, torch.Tensor):
        assert one.stride() == other.stride()
        torch.testing.assert_close(one, other)
    else:
        assert one == other


def grids(*shapes):
    return [(torch.arange(math.prod(s), dtype=torch.float32).reshape(s) / 7,) for s in shapes]


ANY = grids((4, 6), (6, 4), (2, 2), (9, 8), (0, 6))


def flattened(x):
    b, n = x.shape
    return x.view(b * n), x.reshape(n, -1) if n else x, x.view(b, -1)


def arithmetic(x):
    b, n = x.shape
    return x + b, x * (n - 1), x + b // 2, x + n % 3, x * (b * n + 1), (b + n) / 2, -n


def returned(x):
    b, n = x.shape
    return x + 1, b, n * 2, x.shape, x.size(), x.numel(), len(x), b + 0.5


def compared(x):
    b, n = x.shape
    return x.shape == (b, n), b == n + 0 * b or b != n, x


def least(x):
    b, n = x.shape
    return x[:, : min(b, 2)], x[: max(n - 3, 0)]


def scaled(x):
    return x * x.shape[-1] ** -0.5, x / math.sqrt(x.shape[-1]), x.shape[-1] ** 0.5


def made(x):
    b, n = x.shape
    return torch.zeros(b, n) + x, torch.ones(n), torch.arange(b), x.new_full((n, b), 2.0)


def broadcast(x):
    return x + torch.ones(x.shape[1]), x.expand(3, *x.shape), x[None].repeat(2, 1, 1)


@pytest.mark.parametrize(
    "function", [arithmetic, returned, made, broadcast], ids=lambda f: f.__name__
)
def test_any_sizes_are_one_program(function):
    check(function, *ANY)


def test_views_of_any_size():
    check(flattened, *grids((4, 6), (6, 4), (2, 2), (9, 8)))


@pytest.mark.parametrize("function", [compared, least], ids=lambda f: f.__name__)
def test_questions_about_sizes_are_followed(function):
    compiled = astjit.compile(function, fullgraph=True)
    for given in (*ANY, *grids((4, 4), (1, 6), (4, 6), (3, 3))):
        same(compiled(*given), function(*given))


def test_the_root_of_a_size_is_a_number_of_the_program():
    compiled = check(scaled, *grids((4, 6), (3, 6), (2, 5), (4, 9)))
    assert type(compiled(torch.ones(4, 6))[2]) is float
    nothing = torch.ones(4, 0)
    for function in (compiled, scaled):  # 0 ** -0.5
        with pytest.raises(ZeroDivisionError):
            function(nothing)


def rooted_less(x):
    return x * math.sqrt(x.shape[0] - 3), (x.shape[0] - 3) ** 0.5


def test_the_root_of_what_may_be_negative_is_that_of_its_value():
    compiled = astjit.compile(rooted_less)
    for given in grids((7, 2), (4, 2), (7, 3)):
        same(compiled(*given), rooted_less(*given))
    for function in (compiled, rooted_less):
        with pytest.raises(ValueError, match="domain"):
            function(torch.ones(2, 2))


def root_compared(x):
    return x + 1 if math.sqrt(x.shape[0] * x.shape[1]) > 3.5 else x - 1


def test_a_branch_on_a_root_is_guarded():
    check(root_compared, *grids((4, 6), (2, 2), (5, 5), (3, 4), (6, 2)), programs=2)


def branch(x):
    return x + 1 if x.shape[0] > 4 else x - 1


def test_a_branch_on_a_size_has_one_program_a_side():
    compiled = check(branch, *grids((5, 3), (9, 2), (70, 4)))
    check(branch, *grids((5, 3), (4, 3), (9, 2), (2, 2), (3, 5)), programs=2)
    text = compiled.guards(torch.ones(5, 3))
    assert "not 4 < x0" in text


def ranged(x):
    for i in list(range(x.shape[0])):  # no counted loop, which would serve all sizes
        x = x + i
    return x


def named(x):
    table = {x.shape[0]: x, "b": x.shape[1]}
    return table, f"{x.shape[0]}x{x.shape[1]:03}", str(x.shape[1])


def indexed(x):
    return [x, x + 1, x + 2][x.shape[1] - 2], [0] * x.shape[1]


@pytest.mark.parametrize("function", [ranged, named, indexed], ids=lambda f: f.__name__)
def test_what_needs_a_value_is_pinned_with_the_line(function):
    compiled = check(function, *grids((3, 2), (4, 3), (3, 2), (2, 4)), programs=3)
    reasons = compiled.cache_info().reasons
    assert len(reasons) == 2
    assert all("is not" in r and "took its value" in r and "test_sizes.py:" in r for r in reasons)


def test_one_and_many_and_back():
    compiled = check(flattened, *grids((1, 6), (4, 6), (1, 6), (4, 1), (3, 1), (1, 7)), programs=3)
    assert compiled.cache_info().hits == 3


def normed(x, w):
    scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
    return (x * scale * w).view(x.shape[0] * x.shape[1], -1)


def test_fifty_batches_and_twenty_lengths_are_one_program():
    compiled = astjit.compile(normed, fullgraph=True)
    w = torch.linspace(0, 1, 8)
    for batch in range(2, 52):
        for length in range(2, 22):
            x = torch.full((batch, length, 8), 0.5 + batch)
            made = compiled(x, w)
            if length in (2, 21):
                torch.testing.assert_close(made, normed(x, w))
            assert made.shape == (batch * length, 8)
    assert compiled.cache_info()[:3] == (1, 999, 1)


def test_dynamic_false_pins_every_size():
    compiled = check(normed_one, *grids((4, 6), (3, 6), (4, 6)), programs=2, dynamic=False)
    assert "x0" not in compiled.ssa(torch.ones(4, 6))
    assert compiled.cache_info().reasons == ("size 0 of x is not 4",)


def normed_one(x):
    return x / x.sum(-1, keepdim=True)


def test_dynamic_true_never_pins():
    check(normed_one, *grids((4, 6), (3, 6)), dynamic=True)
    x = torch.ones(3, 2)
    compiled = astjit.compile(ranged, fullgraph=True, dynamic=True)
    with pytest.raises(astjit.UnsupportedOp, match=r"dynamic=True, but the size x.shape\[0\]"):
        compiled(x)
    compiled = astjit.compile(ranged, dynamic=True)
    for rows in (3, 5, 4):
        same(compiled(torch.ones(rows, 2)), ranged(torch.ones(rows, 2)))
    assert compiled.cache_info().programs == 1  # the loop stays Python, its body is compiled


def test_a_number_that_is_another_at_each_call_is_named_when_it_is_given_up():
    compiled = astjit.compile(ranged)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for n in range(2, 14):
            x = torch.ones(n, 2)
            same(compiled(x), ranged(x))
    texts = [str(w.message) for w in told if "through PyTorch" not in str(w.message)]
    assert len(texts) == 1
    assert "ranged has 8 programs; other calls run eagerly. 8 of them do not fit" in texts[0]
    assert "size 0 of x is not 9: " in texts[0]
    assert "test_sizes.py:" in texts[0]
    for n in range(2, 10):  # what there is still serves
        x = torch.ones(n, 2)
        same(compiled(x), ranged(x))
    assert compiled.cache_info()[:3] == (8, 8, 12)


def test_a_computed_size_of_one_takes_a_program_of_its_own():
    def halved(x):
        part = x[::2]
        return part, part.is_contiguous(), part.squeeze(), part + x[1:2]

    check(halved, *grids((4, 6), (6, 4), (9, 8), (3, 6)))
    check(halved, *grids((4, 6), (2, 4), (9, 8), (2, 6)), programs=2)
