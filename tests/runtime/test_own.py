import pytest

from astjit.frontend.reads import Guard
from astjit.runtime.expressions import _found_in, found_in, remember
from astjit.runtime.own import Own


class Plain:
    power = 2

    @property
    def doubled(self):
        return 2


class Slotted:
    __slots__ = ("scale",)


class Followed:
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


CONSTANTS = {
    "Plain": Plain,
    "Slotted": Slotted,
    "Followed": Followed,
    "find": object.__getattribute__,
}


def own(*tests):
    constants = dict(CONSTANTS)
    made = Own([Guard(test, "") for test in tests], constants, constants.setdefault)
    return made


TYPES = ("type(x) is Plain", "type(x.inner) is Plain", "type(s) is Slotted", "type(f) is Followed")


@pytest.mark.parametrize(
    ("test", "made"),
    [
        ("x.eps is None", "x.__dict__['eps'] is None"),
        (
            "x.inner.eps == 'é' or x.a",
            "x.__dict__['inner'].__dict__['eps'] == 'é' or x.__dict__['a']",
        ),
        ("x._modules['a']", "x.__dict__['_modules']['a']"),
        ("len(x.items) == 2", "len(x.__dict__['items']) == 2"),
        ("x.eps.real is None", "x.__dict__['eps'].real is None"),
        ("x.power is None", "x.power is None"),
        ("x.doubled is None", "x.doubled is None"),
        ("x.__class__ is None", "x.__class__ is None"),
        ("'a' not in x.__dict__", "'a' not in x.__dict__"),
        ("hasattr(x, 'a')", "hasattr(x, 'a')"),
        ("s.scale is None", "s.scale is None"),
        ("y.eps is None", "y.eps is None"),
        ("f.eps is None", "f.eps is None"),
        ("find(f, 'eps') is None", "f.__dict__['eps'] is None"),
        ("find(f, '__dict__') is None", "find(f, '__dict__') is None"),
        ("find(x, 'power') is None", "find(x, 'power') is None"),
        ("g(x.eps, 'a')", "g(x.__dict__['eps'], 'a')"),
    ],
)
def test_attributes_become_items(test, made):
    assert own(*TYPES).rewritten(test) == made


def test_what_classes_must_keep():
    made = own(*TYPES)
    made.rewritten("x.eps is None")
    assert list(made.needed) == ["Plain.__getattribute__ is find", "not hasattr(Plain, 'eps')"]
    assert not made.spelled


def test_lookups_in_python_are_passed_by():
    made = own(*TYPES)
    made.rewritten("find(f, 'eps') is None")
    assert list(made.needed) == ["not hasattr(Followed, 'eps')"]
    assert made.spelled == {"f.__dict__": "find({}, '__dict__')"}


def test_a_guard_keeps_its_reason():
    guard = Guard("x.eps is None", "eps is None")
    made = own(*TYPES).replaced(guard)
    assert (made.test, made.reason) == ("x.__dict__['eps'] is None", "eps is None")


def test_the_usual_lookup_gets_a_name():
    constants = {"Plain": Plain}
    made = Own([Guard("type(x) is Plain", "")], constants, lambda wish, value: wish)
    made.rewritten("x.eps is None")
    assert "Plain.__getattribute__ is usual_lookup" in made.needed


@pytest.mark.parametrize(
    "test",
    [
        "x.inner.eps == 'x.a' or x.a is x.eps.real",
        "x.inner.eps.dim() == g(x.a, k=x.inner)",
        "x.inner.run() is x.table['f'](x.a)",
    ],
)
def test_places_of_what_it_makes_are_those_in_the_text(test):
    made = own(*TYPES).rewritten(test)
    known = found_in(made)
    remember(made, _found_in(made))
    assert known == found_in(made)
    assert made != test
