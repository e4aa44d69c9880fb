import ast
import traceback

import pytest
import torch

from astjit.frontend.hooks import rewritten_code
from astjit.frontend.runs import CALLEE, Marks, place
from astjit.frontend.source import source_of
from astjit.frontend.twins import linked, segment_function, twin_of

SEEN = []
TOTAL = 1.0


def straight(x, y, *rest, scale=2.0):
    a = x * scale
    b = a + y
    SEEN.append(float(b.sum()))
    return b * a, rest


def looped(x, n):
    global TOTAL
    for i in range(n):
        x = x + i
        SEEN.append(i)
        TOTAL = TOTAL * 2
        x = x * TOTAL
    return x


def maker(k):
    def inner(x):
        nonlocal k
        a = x * k
        SEEN.append(k)
        k = k + 1
        return a * k

    return inner


class Base:
    def forward(self, x):
        return x + 1


class Child(Base):
    def forward(self, x):
        self.__seen = x * 2
        SEEN.append("forward")
        y = super().forward(x) * 3
        return y + self.__seen


def unbound(x):
    SEEN.append("before")
    y = z * 2  # noqa: F821
    SEEN.append("after")
    z = x  # noqa: F841
    return y


def cut(function):
    """The function cut at its statements about SEEN; its segments run as they are."""
    marks = Marks()
    for node in statements(source_of(function).tree.body):
        if "SEEN" in ast.unparse(node) and not hasattr(node, "body"):
            marks.python[place(node)] = "it is noted"
    twin = twin_of(function, marks)
    parts = {
        name: segment_function(function, tree, f"segment_{i}")
        for i, (name, tree) in enumerate(twin.trees.items())
    }
    return linked(twin, function, {CALLEE: lambda f: f, **parts}), parts


def statements(body):
    for node in body:
        yield node
        for name in ("body", "orelse"):
            yield from statements(getattr(node, name, []))


def both(function, other, *args, **kwargs):
    global TOTAL
    results = []
    for each in (function, other):
        SEEN.clear()
        TOTAL = 1.0
        results.append((each(*args, **kwargs), list(SEEN), TOTAL))
    return results


@pytest.mark.parametrize(
    ("function", "args", "count"),
    [(straight, (torch.ones(3), torch.ones(3), 5), 2), (looped, (torch.ones(3), 3), 2)],
)
def test_a_twin_does_what_the_function_does(function, args, count):
    twin, parts = cut(function)
    assert len(parts) == count
    (result, seen, total), (ours, noted, after) = both(function, twin, *args)
    assert torch.equal(torch.as_tensor(result[0]), torch.as_tensor(ours[0]))
    assert (seen, total) == (noted, after)
    assert seen


def test_defaults_names_and_places_are_the_functions_own():
    twin, parts = cut(straight)
    assert twin.__kwdefaults__ == {"scale": 2.0}
    assert twin.__code__.co_firstlineno == straight.__code__.co_firstlineno
    assert twin.__code__.co_filename == __file__
    assert twin.__code__.co_varnames[:4] == ("x", "y", "scale", "rest")
    first = next(iter(parts.values()))
    assert first.__code__.co_name == "straight"
    assert first.__qualname__ == "straight.segment_0"
    rewritten_code(first)  # its source is known to capture


def test_cells_are_shared():
    plain, other = maker(2), maker(2)
    twin, _ = cut(other)
    for _ in range(2):
        (result, seen, _), (ours, noted, _) = both(plain, twin, torch.ones(2))
        assert torch.equal(result, ours)
        assert seen == noted
    assert other.__closure__[0].cell_contents == 4


def test_super_and_private_names():
    twin, _ = cut(Child.forward)
    one, other = Child(), Child()
    assert torch.equal(twin(one, torch.ones(2)), other.forward(torch.ones(2)))
    assert vars(one).keys() == {"_Child__seen"}


def test_a_variable_that_only_a_segment_would_bind_stays_local():
    twin, _ = cut(unbound)
    with pytest.raises(UnboundLocalError, match="variable 'z'") as caught:
        twin(torch.ones(2))
    line = traceback.extract_tb(caught.value.__traceback__)[-1].lineno
    assert line == unbound.__code__.co_firstlineno + 2
