import itertools
import re

import pytest

from astjit.runtime.places import Places, readable


def places():
    """Places whose names get a number where they are taken."""
    taken = set()

    def name(wish):
        for number in itertools.count(1):
            made = wish if number == 1 else f"{wish}{number}"
            if made not in taken:
                taken.add(made)
                return made

    return Places(name)


def lines(*tests):
    """Tests with the statements before them, as guards write them."""
    made, found = places(), []
    for test in tests:
        made.ask(test)
    for test in tests:
        found += [statement for _, statement in made.binds(test)]
        found.append(made.shown(test))
    return found


def test_what_is_asked_once_is_looked_up_in_place():
    assert lines("fn_globals['cfg'].inner.eps is None") == ["fn_globals['cfg'].inner.eps is None"]


def test_an_object_that_is_asked_twice_gets_a_name():
    assert lines("type(g['cfg']) is Cfg", "g['cfg'].eps == 2", "g['cfg'].on is True") == [
        "cfg = g['cfg']",
        "type(cfg) is Cfg",
        "cfg.eps == 2",
        "cfg.on is True",
    ]


def test_only_the_longest_common_beginning_gets_a_name():
    assert lines("a.b.c.d is None", "a.b.c.e is None") == [
        "c = a.b.c",
        "c.d is None",
        "c.e is None",
    ]


def test_names_inside_names():
    assert lines("type(a.b) is B", "type(a.b.c) is C", "a.b.c.d == 1") == [
        "b = a.b",
        "type(b) is B",
        "c = b.c",
        "type(c) is C",
        "c.d == 1",
    ]


def test_a_place_that_is_a_constant_is_called_like_it():
    assert lines("g['torch'] is torch", "g['torch'].exp is exp", "g['torch'].log is log") == [
        "g['torch'] is torch",
        "torch.exp is exp",
        "torch.log is log",
    ]


def test_a_place_that_is_not_a_constant_keeps_its_own_text():
    assert lines("a.b is not c", "a.b.d is None")[-1] == "b.d is None"


def test_parameters_and_functions_need_no_name():
    assert lines("type(x) is X", "len(x) == 2", "x.y is None") == [
        "type(x) is X",
        "len(x) == 2",
        "x.y is None",
    ]


def test_a_name_of_an_input():
    made = places()
    for text in ("self.w", "self.w.eps == 2"):
        made.ask(text)
    assert [s for _, s in made.bind("self.w", "weight")] == ["weight = self.w"]
    assert made.shown("self.w.eps == 2") == "weight.eps == 2"


@pytest.mark.parametrize(
    ("test", "owner"),
    [
        ("o.a is True", "o"),
        ("o.a.b == 1", "o.a"),
        ("type(o.a) is A", "o.a"),
        ("len(o.a) == 2", "o.a"),
        ("'k' in o.a", "o.a"),
        ("o[0] is None", "o"),
        ("x is None", "x"),
        ("not (o.a < 2)", "o.a"),
        ("enabled() is True", None),
    ],
)
def test_what_a_test_is_about(test, owner):
    found = places().owner(test)
    assert (found and found.text) == owner


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("fn_globals['cfg'].eps", "cfg.eps"),
        ("cell_model.cell_contents.eps", "model.eps"),
        ("self._modules['layer']._modules['0']._parameters['w']", "self.layer.0.w"),
        ("builtins['abs']", "abs"),
        ("x['k']", "x['k']"),
    ],
)
def test_places_as_users_write_them(place, shown):
    assert readable(place) == shown


def test_wishes_are_names():
    texts = ["a[0]", "g['a']['b'][1]", "a._modules['3']", "h.__defaults__", "o.__dict__", "a[-1]"]
    for text in texts:
        (statement, *_) = lines(f"{text}.x is None", f"{text}.y is None")
        assert re.fullmatch(r"[a-z]\w* = .*", statement), statement
