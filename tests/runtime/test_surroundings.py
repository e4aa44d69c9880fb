"""Which tests ask nothing but functions and namespaces, and that a memory notices each change."""

import enum
import types
from typing import ClassVar

import pytest

from astjit.frontend.reads import Guard
from astjit.runtime import kept
from astjit.runtime.kept import Classes
from astjit.runtime.places import Places
from astjit.runtime.surroundings import Surroundings


class Color(enum.Enum):
    RED = 1


class Lookup:
    names: ClassVar = {"a": 1}

    def run(self):
        return 1

    @property
    def size(self):
        return 2


class Config:
    pass


def made(scale=2.0):
    """A module with functions, a cell and an object of the user's."""
    module = types.ModuleType("made")
    text = """
def inner(x, eps=1e-6, *, flag=None):
    return x

def closed(function, text):
    def outer(x):
        return function(x), text
    return outer

outer = closed(inner, 'sum')
NAMES = (1, 2)
"""
    module.Lookup, module.Color, module.config, module.scale = Lookup, Color, Config(), scale
    module.config.eps = 1
    exec(text, vars(module))
    return module


def constants_of(module):
    found = {"outer": module.outer, "fn_globals": vars(module), "made": module, "Lookup": Lookup}
    found.update(inner=module.inner, inner_code=module.inner.__code__, Color=Color)
    found.update(run_code=Lookup.run.__code__, size_code=Lookup.size.fget.__code__, RED=Color.RED)
    return found


STEADY = (
    "outer.__code__ is outer_code",
    "outer.__closure__[0].cell_contents is inner",
    "outer.__closure__[1].cell_contents == 'sum'",
    "type(outer.__closure__[1].cell_contents) is str",
    "inner.__code__ is inner_code",
    "len(inner.__defaults__) == 1",
    "inner.__globals__['NAMES'][1] is two",
    "'sum' not in inner.__globals__",
    "'NAMES' in fn_globals",
    "made.scale is scale",
    "Lookup.run.__code__ is run_code",
    "Lookup.size.fget.__code__ is size_code",
    "'a' in Lookup.names",
    "not ('b' in Lookup.names)",
    "fn_globals['Color'].RED is RED",
)
ASKED = (
    "x.shape is inner",  # an argument
    "fn_globals['config'].eps == 1",  # an object of the user's
    "made.config.eps == 1",
    "'b' in made.config.__dict__",
    "inner(1) is inner",
    "hasattr(inner, '__wrapped__')",
    "fn_globals['gone'].eps is inner",
    "[*Lookup.names] == ['a']",
    "len(Lookup.names) == 1",
    "inner is inner",
    "inner.__code__ is inner_code or outer is inner",
)


def settled(module, tests):
    constants = constants_of(module)
    constants.update(outer_code=module.outer.__code__, two=2, scale=module.scale)
    places = Places(lambda wish: wish)
    guards = [Guard(test, "why") for test in tests]
    for guard in guards:
        places.ask(guard.test)
    around = Surroundings(places, constants)
    return [guard.test for guard in around.settled(guards)], around


@pytest.mark.parametrize("test", STEADY)
def test_what_functions_and_namespaces_say(test):
    assert settled(made(), [test])[0] == [test]


@pytest.mark.parametrize("test", ASKED)
def test_what_is_asked_at_each_call(test):
    assert settled(made(), [test])[0] == []


def test_a_place_that_is_a_constant_is_known_by_it():
    tests = ["fn_globals['config'].run is inner", "fn_globals['config'].run.__code__ is inner_code"]
    module = made()
    module.config.run = module.inner
    assert settled(module, tests)[0] == tests[1:]


def test_a_constant_of_the_guards_own_is_no_way():
    tests = ["Lookup.__getattribute__ is usual_lookup", "Lookup.__getattribute__.__code__ is two"]
    assert settled(made(), tests)[0] == []


class Memory:
    """The memories of all steady tests, asked as guards ask them."""

    def __init__(self, module):
        found, around = settled(module, STEADY)
        assert found == [*STEADY]
        self.functions, self.classes = around.memory(), Classes(around.classes)

    def remembers(self):
        Lookup.__eq__  # a lookup gives a class its number  # noqa: B018
        type.__eq__  # noqa: B018
        version, known = self.classes.ask()
        if known is None:
            self.classes.keep(version, ())
        version, found = self.functions.ask(version)
        if found is None:
            self.functions.keep(version, ("found",))
        return found == ("found",)


def settled_memory(module):
    memory = Memory(module)
    assert [memory.remembers() for _ in range(4)][-1]
    return memory


def set_cell(module, at, value):
    module.outer.__closure__[at].cell_contents = value


CHANGES = {
    "code": lambda m: setattr(m.outer, "__code__", m.closed(3, 4).__code__.replace(co_name="o")),
    "code of a cell": lambda m: setattr(m.inner, "__code__", (lambda x: x + 1).__code__),
    "cell": lambda m: set_cell(m, 0, lambda x: x),
    "text in a cell": lambda m: set_cell(m, 1, "mean"),
    "defaults": lambda m: setattr(m.inner, "__defaults__", (1e-5,)),
    "a global": lambda m: setattr(m, "NAMES", (1, 3)),
    "a new global": lambda m: setattr(m, "sum", 3),
    "a method": lambda m: setattr(Lookup, "run", lambda self: 2),
    "code of a method": lambda m: setattr(Lookup.run, "__code__", (lambda self: 3).__code__),
    "a property": lambda m: setattr(Lookup, "size", property(lambda self: 3)),
    "the function of a property": lambda m: vars(Lookup)["size"].__init__(lambda self: 4),
    "an item of a class's dict": lambda m: Lookup.names.update(b=2),
    "a class's dict": lambda m: setattr(Lookup, "names", {"a": 1}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed(change, monkeypatch):
    for name in ("run", "size", "names"):
        monkeypatch.setattr(Lookup, name, vars(Lookup)[name])
    monkeypatch.setattr(Lookup, "names", {"a": 1})
    monkeypatch.setattr(Lookup, "size", property(lambda self: 2))
    monkeypatch.setattr(Lookup, "run", lambda self: 1)
    module = made()
    memory = settled_memory(module)
    CHANGES[change](module)
    assert not memory.remembers()
    assert [memory.remembers() for _ in range(4)][-1]  # and kept anew


def test_what_cannot_be_reached_any_more_is_not_kept():
    module = made()
    memory = settled_memory(module)
    del module.NAMES
    assert [memory.remembers() for _ in range(3)] == [False] * 3
    module.NAMES = (1, 2)
    assert [memory.remembers() for _ in range(2)][-1]


def test_a_namespace_that_changes_at_each_call_is_given_up():
    module = made()
    memory = settled_memory(module)
    for count in range(2 * kept._MOST):
        module.count = count
        assert not memory.remembers()
    assert memory.functions.ask(None) == (None, None)
    assert not memory.remembers()


def test_nothing_is_kept_without_versions_of_dicts(monkeypatch):
    monkeypatch.setattr(kept, "_DICT_VERSION", None)
    memory = Memory(made())
    assert not any(memory.remembers() for _ in range(4))


def test_functions_that_hold_objects_are_not_held():
    module = made()
    assert kept.is_held(module.outer)
    assert not kept.is_held(module.closed(module.config, "sum"))
    assert not kept.is_held(module.closed(module.closed(module.config, 1), "sum"))
    module.inner.__defaults__ = ([],)
    assert not kept.is_held(module.outer)


def test_dicts_have_versions_here():
    assert kept._DICT_VERSION is not None
