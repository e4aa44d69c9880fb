import inspect

import pytest
import torch
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

from astjit.runtime.entry import Entry
from astjit.runtime.words import MISS


def make(original, *programs):
    """(entry, what was missed, calls)"""
    missed, calls = [], [0]

    def miss(*values):
        missed.append(values)
        return "missed"

    return Entry(original, list(programs), miss, calls), missed, calls


def everything(a, b=2, /, c=3, *rest, d, e=5, **more):
    return a, b, c, rest, d, e, more


def test_python_binds_the_arguments():
    entry, missed, _ = make(everything)
    assert entry.parameters == ("a", "b", "c", "rest", "d", "e", "more")
    assert entry.call(1, d=4) == "missed"
    assert entry.call(1, 0, 0, 7, 8, d=4, e=6, f=9) == "missed"
    assert missed == [(1, 2, 3, (), 4, 5, {}), (1, 0, 0, (7, 8), 4, 6, {"f": 9})]
    assert entry.bind(1, d=4) == missed[0]
    assert entry.run(*missed[1]) == everything(1, 0, 0, 7, 8, d=4, e=6, f=9)


@pytest.mark.parametrize(
    "original",
    [
        everything,
        lambda: 0,
        lambda x: x,
        lambda *, k: k,
        lambda *a: a,
        lambda a, /: a,
        lambda program, result, MISS, calls: program,
    ],
)
def test_the_signature_is_the_users(original):
    entry, _, _ = make(original)
    shown = inspect.signature(original).parameters.values()
    ours = inspect.signature(entry.call).parameters.values()
    empty = inspect.Parameter.empty
    assert [(p.name, p.kind, p.default is empty) for p in ours] == [
        (p.name, p.kind, p.default is empty) for p in shown
    ]


def test_defaults_are_those_of_the_moment():
    def original(a, b=2, c=3, *, d=4):
        return a, b, c, d

    entry, missed, _ = make(original)
    assert entry.bind(1) == (1, 2, 3, 4)
    original.__defaults__ = (20, 30)
    original.__kwdefaults__["d"] = 40
    entry.call(1)
    entry.call(1, c=7)
    assert missed == [(1, 20, 30, 40), (1, 20, 7, 40)]
    original.__defaults__ = (300,)
    entry.call(1, 2)
    assert missed[-1] == (1, 2, 300, 40)
    with pytest.raises(TypeError, match=r"original\(\) missing 1 required .* argument: 'b'"):
        entry.call(1)
    original.__defaults__ = None
    with pytest.raises(TypeError, match=r"missing 2 required positional arguments: 'b' and 'c'"):
        entry.call(1)
    assert entry.call(1, 2, 3) == "missed"
    del original.__kwdefaults__["d"]
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'd'"):
        entry.call(1, 2, 3)
    assert entry.call(1, 2, 3, d=5) == "missed"


def test_defaults_in_the_signature_have_a_readable_text():
    entry, _, _ = make(lambda x, eps=1e-6: x)
    assert str(inspect.signature(entry.call)) == "(x, eps=<the default>)"


def test_wrong_arguments_are_pythons_to_refuse():
    entry, missed, _ = make(everything)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'd'"):
        entry.call(1)
    with pytest.raises(TypeError, match=r"^everything\(\) missing 1 required keyword-only"):
        entry.bind(1)
    assert missed == []


def test_programs_are_tried_in_turn():
    entry, missed, calls = make(lambda x: "eager", lambda x: MISS, lambda x: x + 1, lambda x: 0)
    assert entry.call(1) == 2
    assert (missed, calls) == ([], [1])


def test_none_is_a_result():
    entry, missed, _ = make(lambda x: "eager", lambda x: None)
    assert entry.call(1) is None
    assert missed == []


def test_after_an_exception_the_original_runs():
    def fails(x):
        raise RuntimeError("in a library call")

    def original(x):
        raise ValueError("the user's")

    entry, _, _ = make(original, fails)
    with pytest.raises(ValueError, match="the user's") as caught:
        entry.call(1)
    assert caught.value.__context__ is None


class Watch(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def test_under_a_mode_the_original_runs():
    entry, _, _ = make(lambda x: "eager", lambda x: "program")
    assert entry.call(1) == "program"
    modes = [torch.device("cpu"), Watch(), torch.autocast("cpu", torch.bfloat16)]
    for mode in (*modes, forward_ad.dual_level()):
        with mode:
            assert entry.call(1) == "eager"
    assert entry.call(1) == "program"


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*TorchScript.*")
def test_while_torch_traces_the_original_runs():
    entry, _, _ = make(lambda x: x + 1, lambda x: torch.zeros(3))
    traced = torch.jit.trace(lambda x: entry.call(x), torch.ones(3), check_trace=False)
    assert traced(torch.ones(3)).tolist() == [2, 2, 2]
