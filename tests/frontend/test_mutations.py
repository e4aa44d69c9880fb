"""Methods that change their owner: those of outside containers are noted and come last."""

import collections

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured


def stores(function, owner):
    """The stores of a call, each as one text."""
    captured = Captured(function, owner, torch.ones(2))
    return captured, [f"{s.how} {s.owner}{s.place}" for s in captured.reads.stores]


def test_appends_guard_nothing_about_the_list():
    def function(v, x):
        v.append(x)
        v += [x + 1]
        return v[-1]

    captured, found = stores(function, [1, 2])
    assert found == ["call v.extend"]
    assert not any("len(" in test or "v[" in test for test in captured.tests)


def test_what_is_looked_at_is_guarded():
    def function(v, x):
        v.append(x)
        return x if len(v) == 3 and v[0] == 1 else -x

    value = [1, 2]
    captured, found = stores(function, value)
    assert found == ["call v.append"]
    assert "len(v) == 2" in captured.tests
    assert value == [1, 2]
    assert not any("v[1]" in test for test in captured.tests)


def test_keys():
    def function(d, x):
        d["a"] = x
        d[("b", 1)] = x
        del d["c"]
        return "a" in d, d.setdefault("e", 5), d.pop("zz", None)

    captured, found = stores(function, {"c": 1})
    assert found == ["set d['a']", "set d[('b', 1,)]", "delete d['c']", "set d['e']"]
    assert "'c' in d" in captured.tests
    assert "not ('zz' in d)" in captured.tests
    assert not any(test.startswith("[*d]") for test in captured.tests)

    def odd(d, x):
        d[x] = 1

    with pytest.raises(Stop, match="a store under a key of type Tensor"):
        stores(odd, {})


def test_what_cannot_come_last_stops():
    def appends(v, x):
        v.append(x)

    def pops(v, x):
        return v.pop()

    def fails(v, x):
        v.extend(1 // n for n in (1, 0))

    for function, owner, reason in [
        (appends, collections.deque(), "changes what was there before"),
        (pops, {1, 2}, "takes any item"),
        (fails, [], "an iteration that fails with ZeroDivisionError"),
        (lambda v, x: v.add(x), {1}, "other things than numbers and strings"),
    ]:
        with pytest.raises(Stop, match=reason):
            stores(function, owner)


def test_what_was_made_during_capture_changes_at_once():
    def function(v, x):
        made, table, seen = [*v], {}, set()
        made.append(x)
        made += (x,)
        table["a"] = made.pop()
        table |= {"b": 1}
        seen.add(1)
        seen |= {2}
        return made, table, seen

    captured, found = stores(function, [1])
    assert found == []
    made, table, seen = captured.run()
    assert (len(made), list(table), seen) == (2, ["a", "b"], {1, 2})
