"""Names, imports and definitions: what a rewritten function reaches through `__astjit__`."""

import functools
import types

import pytest
import torch

from astjit.frontend.hooks import rewritten_code
from astjit.frontend.source import is_rewritten
from astjit.frontend.stops import HOOKS, Stop
from tests.frontend.replay import Captured, same

SCALE = 2.0
MODE = "a"


def x():
    return torch.randn(3, 4)


def default(x, scale=3.0, *, offset=[1.0]):  # noqa: B006
    return x * scale + offset[0]


def follows_globals(x):
    return default(x) * SCALE if MODE == "a" else x


def test_globals_are_followed(monkeypatch):
    argument = x()
    captured = Captured(follows_globals, argument)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert captured.failing(argument) == []
    assert same(captured.run(), follows_globals(argument))
    monkeypatch.setitem(globals(), "MODE", "b")
    assert captured.failing(argument) == ["fn_globals['MODE'] == 'a'"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SCALE", 5),
        ("SCALE", torch.ones(4)),
        ("default", lambda x: x),
        ("default", torch.exp),
        ("default", None),
    ],
)
def test_a_global_of_another_kind_fails_a_guard(name, value, monkeypatch):
    captured = Captured(follows_globals, x())
    monkeypatch.setitem(globals(), name, value)
    assert captured.failing(x()) != []


def test_defaults_of_helpers_are_followed(monkeypatch):
    argument = x()
    captured = Captured(follows_globals, argument)
    monkeypatch.setattr(default, "__defaults__", (7.0,))
    monkeypatch.setitem(default.__kwdefaults__, "offset", [2.5])
    assert captured.failing(argument) == []
    assert same(captured.run(), follows_globals(argument))
    monkeypatch.setattr(default, "__defaults__", (None,))
    assert captured.failing(argument) != []


def test_code_replaced_in_place_fails_a_guard(monkeypatch):
    captured = Captured(follows_globals, x())
    monkeypatch.setattr(default, "__code__", (lambda x, scale=1, *, offset=1: x).__code__)
    assert captured.failing(x()) == ["fn_globals['default'].__code__ is default_code"]


def make_counter():
    scale, weight = 2.0, torch.ones(4)

    def function(x):
        return x * scale + weight

    def change(a, b):
        nonlocal scale, weight
        scale, weight = a, b

    return function, change


def test_closure_cells_are_followed():
    function, change = make_counter()
    argument = x()
    captured = Captured(function, argument)
    assert {p.path for p in captured.function.params} >= {
        "cell_scale.cell_contents",
        "cell_weight.cell_contents",
    }
    change(9.0, torch.zeros(4))
    assert captured.failing(argument) == []
    assert same(captured.run(), function(argument))
    change(None, torch.zeros(4))
    assert captured.failing(argument) == ["type(cell_scale.cell_contents) is float"]


def test_cells_of_a_helper_are_read_through_the_helper():
    helper, change = make_counter()
    captured = Captured(lambda x, f: f(x), x(), helper)
    change(4.0, torch.zeros(4))
    assert captured.failing(x(), helper) == []
    assert captured.run(torch.ones(1, 4), helper).tolist() == [[4.0] * 4]
    other, _ = make_counter()
    assert captured.failing(x(), other) == []  # the same code with cells of its own
    assert captured.run(torch.ones(1, 4), other).tolist() == [[3.0] * 4]


def test_builtins_that_a_module_comes_to_hide_fail_a_guard(monkeypatch):
    captured = Captured(lambda x: x * len(x.shape), x())
    monkeypatch.setitem(globals(), "len", lambda x: 1)
    assert captured.failing(x()) == ["'len' not in fn_globals"]


def test_a_patched_torch_function_fails_a_guard(monkeypatch):
    captured = Captured(lambda x: torch.exp(x), x())
    monkeypatch.setattr(torch, "exp", torch.sin)
    assert captured.failing(x()) == ["fn_globals['torch'].exp is exp"]


def test_imports_of_loaded_modules():
    def function(x):
        import os.path as p  # noqa: PLC0415
        from math import tau  # noqa: PLC0415

        from astjit.frontend import stops  # noqa: PLC0415

        return x * tau if p.sep != stops.HOOKS else x

    assert same(Captured(function, x()).run(torch.ones(1, 2)), function(torch.ones(1, 2)))


def test_an_import_that_would_run_a_module_stops():
    def function(x):
        import this  # noqa: F401, PLC0415

        return x

    with pytest.raises(Stop, match="import of this, which was not imported before"):
        Captured(function, x())


def test_definitions_and_decorators_inside():
    def function(x):
        def keep(f):
            @functools.wraps(f)
            def inner(*args, factor=2.0):
                return f(*args) * factor

            return inner

        @keep
        def add(a, b=1):
            return a + b

        class Box:
            size = 3

            def __init__(self, value):
                self.value = value

            def grown(self):
                return Box(self.value + self.size)

        return add(x) + Box(x).grown().value

    assert same(Captured(function, x()).run(torch.ones(2, 2)), function(torch.ones(2, 2)))


def test_in_place_on_what_capture_made():
    def function(x):
        class Box:
            count = 0

        box, items, table = Box(), [x], {"n": 1}
        box.count += 2
        items += [x + 1]
        items[0] *= 3
        table["n"] -= 5
        n = 1
        n <<= 3
        return items[0] * box.count + table["n"] + n

    assert [c.path for c in Captured(function, x()).reads.copies] == ["x"]

    def without(x):
        class Box:
            count = 0

        box, items, table = Box(), [x], {"n": 1}
        box.count += 2
        items += [x + 1]
        table["n"] -= 5
        n = 1
        n <<= 3
        return items[1] * box.count + table["n"] + n

    assert same(Captured(without, x()).run(torch.ones(2, 2)), without(torch.ones(2, 2)))


def test_deletions():
    def function(x, v):
        class Box:
            pass

        box, items = Box(), [1, 2, 3]
        box.a = x
        del box.a
        del items[0]
        del items[:1]
        return x * items[0] if not hasattr(box, "a") else x

    assert same(Captured(function, x(), []).run(torch.ones(1, 1), []), torch.full((1, 1), 3.0))
    value = [x()]
    assert [s.place for s in Captured(delete_outer, x(), value).reads.stores] == ["[:]"]
    assert len(value) == 1


def delete_outer(x, v):
    del v[0]
    return x


def test_operators_of_classes_defined_inside():
    def function(x):
        class Box:
            scale = 2

            @property
            def double(self):
                return self.scale * 2

            @staticmethod
            def less(x):
                return x - 1

            @classmethod
            def times(cls, x):
                return x * cls.scale

            def __add__(self, other):
                return other * self.scale

            def __getitem__(self, index):
                return index * 2

            def __len__(self):
                return 5

            def __iter__(self):
                return iter([1, 2])

            def __bool__(self):
                return False

            def __call__(self, x):
                return x + 100

        box = Box()
        total = (box + x) + box[3] + len(box) + sum(box) + (1 if box else 2) + box(x)
        return total + box.double + Box.less(x) + box.times(x)

    argument = x()
    assert same(Captured(function, argument).run(), function(argument))


def test_the_copy_is_made_once_and_marked():
    first, second = rewritten_code(default), rewritten_code(default)
    assert first is second
    assert is_rewritten(first)
    assert not is_rewritten(default.__code__)
    assert HOOKS in first.co_freevars
    assert isinstance(first, types.CodeType)
