"""A shadow follows what is done to it, leaves the real object alone, and says what changed."""

import random
from collections import OrderedDict

import pytest

from astjit.frontend.shadows import GONE, UNTOUCHED, DictShadow, ListShadow, SetShadow, Unread


class Reader:
    """Reads give the value itself."""

    def __init__(self):
        self.reads, self.guards = {}, []

    def read(self, value, path):
        return self.reads.setdefault(path, value)

    def known(self, path):
        return self.reads.get(path, UNTOUCHED)

    def key(self, key):
        return repr(key)

    def require(self, test, reason):
        self.guards.append(test)


def replay(real, writes, path="v"):
    """What a program would do."""
    names = {path: real}
    for at, write in enumerate(writes):
        value = write.value
        shown = "" if value is UNTOUCHED else f"value{at}"
        if isinstance(value, list | dict):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            made = {k: v.value if isinstance(v, Unread) else v for k, v in parts}
            value = made if isinstance(value, dict) else list(made.values())
        names[shown] = value.value if isinstance(value, Unread) else value
        place = write.owner + write.place
        text = {
            "set": f"{place} = {shown}",
            "delete": f"del {place}",
            "call": f"{place}({shown})",
            "do": place,
        }[write.how]
        exec(text, names)


def test_appends_ask_for_nothing():
    reader, real = Reader(), [1, 2]
    shadow = ListShadow(reader, real, "v")
    shadow.append([3])
    assert shadow.at(-1) == 3
    assert reader.guards == []
    assert [(w.place, w.how, w.value) for w in shadow.writes()] == [(".append", "call", 3)]
    shadow.append([4])
    assert [(w.place, w.value) for w in shadow.writes()] == [(".extend", [3, 4])]
    assert real == [1, 2]


def test_items_that_come_back_are_not_written():
    reader = Reader()
    shadow = ListShadow(reader, ["a", "b"], "v")
    one = shadow.at(0)
    shadow.opened()[0] = "z"
    shadow.opened()[0] = one
    shadow.opened().append("c")
    assert shadow.opened().pop() == "c"
    assert list(shadow.writes()) == []
    assert reader.guards == ["len(v) == 2"]
    assert list(reader.reads) == ["v[0]"]


@pytest.mark.parametrize("seed", range(40))
def test_random_changes_of_a_list(seed):
    draw = random.Random(seed)
    real = [object() for _ in range(draw.randrange(6))]
    wanted, left = list(real), list(real)
    shadow = ListShadow(Reader(), left, "v")
    for _ in range(draw.randrange(8)):
        which, at, new = draw.randrange(7), draw.randrange(-8, 8), object()
        items = shadow.opened() if which else []
        for values in (wanted, items):
            match which:
                case 1:
                    values.insert(at, new)
                case 2:
                    values.reverse()
                case 3 if values:
                    values.pop(at % len(values))
                case 4:
                    values[at : at + 2] = [new]
                case 5 if values:
                    values[at % len(values)] = new
                case 6:
                    del values[at:]
        if which == 0:
            wanted.append(new)
            shadow.append([new])
        if draw.random() < 0.1:
            wanted.clear()
            shadow.clear()
    assert left == real
    replay(left, list(shadow.writes()))
    assert left == wanted


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_random_changes_of_a_dict(kind, seed):
    draw = random.Random(seed)
    keys = "abcde"
    real = kind((k, object()) for k in keys[: draw.randrange(6)])
    wanted, left = kind(real), kind(real)
    shadow = DictShadow(Reader(), left, "v")
    for _ in range(draw.randrange(8)):
        key, new = draw.choice(keys), object()
        match draw.randrange(8):
            case 0 | 1 | 2:
                wanted[key] = new
                shadow.set(key, new)
            case 3 | 4 if key in wanted:
                del wanted[key]
                shadow.delete(key)
                assert shadow.get(key) is GONE
            case 5:
                assert list(shadow.read().items()) == list(wanted.items())
            case 6 if draw.random() < 0.2:
                wanted.clear()
                shadow.clear()
            case 7:
                state = shadow.get(key)
                assert state is UNTOUCHED or (state is GONE) is (key not in wanted)
    assert left == real
    replay(left, list(shadow.writes()))
    assert list(left.items()) == list(wanted.items())


def test_a_value_that_comes_back_to_a_key_is_not_written():
    reader, real = Reader(), {"a": "x", "b": 1}
    shadow = DictShadow(reader, real, "v")
    old = reader.read(real["a"], "v['a']")
    shadow.set("a", 3)
    shadow.set("a", old)
    assert list(shadow.writes()) == []
    shadow.set("b", old)
    assert [(w.place, w.how) for w in shadow.writes()] == [("['b']", "set")]
    assert reader.guards == []


def test_attributes_are_written_as_such():
    shadow = DictShadow(Reader(), {"h": 1, "k": 2}, "o.__dict__", owner="o")
    shadow.set("h", 5)
    shadow.delete("k")
    shown = [(w.owner, w.place, w.how) for w in shadow.writes()]
    assert shown == [("o", ".h", "set"), ("o", ".k", "delete")]


def test_sets():
    shadow = SetShadow({1, 2}, "v", {1, 2})
    shadow.items -= {1}
    shadow.items |= {3}
    shown = [(w.place, w.value) for w in shadow.writes()]
    assert shown == [(".discard", 1), (".add", 3)]
