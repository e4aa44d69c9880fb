"""Builtins that go through items."""

import pytest
import torch

from tests.frontend.replay import Captured


class Money:
    def __init__(self, n):
        self.n = n

    def __radd__(self, other):
        return Money(other + self.n)

    def __add__(self, other):
        return Money(self.n + other.n)

    def __bool__(self):
        return self.n > 1

    def __reversed__(self):
        return iter((self.n, 0))


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (lambda: sum([Money(1), Money(2)]).n, 3),
        (lambda: sum([0.1] * 3), sum([0.1] * 3)),
        (lambda: (any([Money(1)]), all(map(Money, [2, 3]))), (False, True)),
        (lambda: [m.n for m in filter(None, [Money(1), Money(2)])], [2]),
        (lambda: max(Money(1), Money(5), key=lambda m: m.n).n, 5),
        (lambda: sorted([3, 1, 2], key=lambda v: -v, reverse=True), [1, 2, 3]),
        (lambda: [*reversed(Money(4))], [4, 0]),
        (lambda: dict([("a", 1), ["b", 2]], c=3), {"a": 1, "b": 2, "c": 3}),
        (lambda: list(map(len, ["a", "bb"])), [1, 2]),
        (lambda: min([], default=7), 7),
    ],
)
def test_answers(function, answer):
    captured = Captured(lambda x, f: (x, f()), torch.ones(2), function)
    made = captured.run(torch.ones(2), function)[1]
    assert made == answer
    assert type(made) is type(answer)


def test_sum_of_text_is_an_error():
    with pytest.raises(TypeError, match="can't sum strings"):
        Captured(lambda x: sum(["a"], ""), torch.ones(2))
