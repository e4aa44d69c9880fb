"""The overlay finds what was stored to an object whichever way it is asked for."""

import types

import pytest

from astjit.frontend.overlay import Overlay, apart
from astjit.frontend.shadows import GONE, UNTOUCHED
from astjit.frontend.stops import Stop
from tests.frontend.test_shadows import Reader


class Plain:
    pass


class Slotted:
    __slots__ = ("h",)


def test_attributes_and_the_dict_are_one():
    overlay, owner = Overlay(Reader()), Plain()
    assert overlay.attribute(owner, "h") is UNTOUCHED
    overlay.attributes(owner, "o").set("h", 1)
    assert overlay.attribute(owner, "h") == 1
    assert overlay.of_dict(vars(owner), "other").get("h") == 1
    overlay.of_dict(vars(owner), "other").delete("h")
    assert overlay.attribute(owner, "h") is GONE
    assert not hasattr(owner, "h")


def test_slots_have_a_namespace_of_their_own():
    overlay, one, other = Overlay(Reader()), Slotted(), Slotted()
    overlay.attributes(one, "o").set("h", 1)
    assert (overlay.attribute(one, "h"), overlay.attribute(other, "h")) == (1, UNTOUCHED)
    assert [(w.owner, w.place) for w in overlay.writes()] == [("o", ".h")]
    shadow = overlay.attributes(one, "o")
    shadow.delete("h")
    with pytest.raises(Stop, match=r"o\.h is stored and deleted"):
        overlay.writes()


def test_a_module_and_its_globals_are_one():
    overlay, module = Overlay(Reader()), types.ModuleType("m")
    overlay.of_dict(vars(module), "fn_globals").set("n", 3)
    assert overlay.attribute(module, "n") == 3


def test_what_changed():
    overlay, owner = Overlay(Reader()), Plain()
    items, table = [1], {}
    overlay.attributes(owner, "o").set("h", 1)
    overlay.of_list(items, "v").opened()
    overlay.of_dict(table, "t").set("k", 1)
    assert overlay.changed() == [(owner, "o"), (table, "t")]
    assert overlay.found(items).real is items
    assert overlay.found([]) is None


def test_a_dict_made_when_asked_for_stops():
    with pytest.raises(Stop, match="a store to o, a Made"):
        Overlay(Reader()).attributes(Made(), "o")


class Made:
    __dict__ = property(lambda self: {})


def test_apart():
    a, b, c = [], [], []
    assert apart((a, b), (c,))
    assert not apart((a, a), ())
    assert not apart((a,), (c, a))
