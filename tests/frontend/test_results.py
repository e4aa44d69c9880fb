"""Results are put together again at each call; what came from outside is fetched as it is then."""

import collections

import pytest
import torch

from astjit.frontend.stops import Stop
from tests.frontend.replay import Captured, same

Pair = collections.namedtuple("Pair", "a b")


class Thing:
    pass


def x():
    return torch.randn(3, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x + 1,
        lambda x: (x + 1,),
        lambda x: [x + 1, (x, None)],
        lambda x: {"a": x * 2, 3: [x], None: "s"},
        lambda x: Pair(x + 1, b"bytes"),
        lambda x: torch.sort(x),
        lambda x: (x.shape, x.shape[1] + 1, x.numel() // 2),
        lambda x: (float("nan"), -0.0, 1e-300, True, ..., 1 + 2j, float("-inf")),
        lambda x: ({1, 2}, range(3), slice(1, None), frozenset("a")),
        lambda x: (torch.float16, torch.device("cpu"), torch, int),
        lambda x: None,
        lambda x: (),
    ],
)
def test_every_kind_of_result(make):
    value = x()
    assert same(Captured(make, value).run(), make(value))


def test_an_input_is_returned_as_itself():
    value = x()
    captured = Captured(lambda x: (x, [x], x + 0), value)
    other = x()
    for argument in (value, other):
        one, (two,), three = captured.run(argument)
        assert one is argument
        assert two is argument
        assert three is not argument


def test_one_value_returned_twice_is_one_object():
    def function(x):
        y = x * 2
        return y, {"y": y}

    one, two = Captured(function, x()).run()
    assert two["y"] is one


def test_a_detached_input_is_another_object_of_the_same_memory():
    value = x()
    (made,) = Captured(lambda x: (x.detach(),), value).run()
    assert made is not value
    assert made.data_ptr() == value.data_ptr()


def test_objects_from_outside_are_fetched_at_each_call():
    def function(x, thing, items):
        return x * 2, thing, items, items[0]

    captured = Captured(function, x(), Thing(), [x(), 1])
    thing, items = Thing(), [x(), 2]
    _, made, same_items, first = captured.run(x(), thing, items)
    assert made is thing
    assert same_items is items
    assert first is items[0]


def test_views_share_memory_with_their_input():
    value = x()
    row, flat = Captured(lambda x: (x[1], x.view(-1)), value).run()
    value[1] = 5.0
    assert row.tolist() == [5.0] * 4
    assert flat[4] == 5.0


def test_new_containers_are_new_at_each_call():
    captured = Captured(lambda x: [x + 1], x())
    assert captured.run() is not captured.run()


def made_object(x):
    class Local:
        pass

    return Local()


def twice(x):
    items = [x]
    return items, {"a": (items, x + 1)}


def itself(x):
    items = [x]
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda x: lambda: x, "a result of type function, made during the call"),
        (made_object, "a result of type Local, made during the call"),
        (lambda x: (v for v in (x,)), "a result of type generator"),
        (itself, "a result of type list that holds itself"),
        (lambda x: iter([x]), "a result of type list_iterator"),
    ],
)
def test_results_that_cannot_be_made_again_stop(make, reason):
    with pytest.raises(Stop, match=reason):
        Captured(make, x())


def test_one_list_at_two_places_is_made_once():
    one, table = Captured(twice, x()).run()
    assert table["a"][0] is one


@pytest.mark.parametrize(
    "make",
    [
        lambda x: collections.OrderedDict(b=x, a=1),
        lambda x: collections.deque([x, 1], maxlen=2),
        lambda x: collections.deque(),
    ],
)
def test_collections_are_made_again(make):
    value = x()
    made, wanted = Captured(make, value).run(), make(value)
    assert type(made) is type(wanted)
    assert list(made) == list(wanted)
    assert getattr(made, "maxlen", None) == getattr(wanted, "maxlen", None)
