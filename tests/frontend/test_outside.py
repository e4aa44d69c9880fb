"""What is read from outside: carriers, inputs and guards, each by its path."""

import collections
import enum
import functools
import types

import pytest
import torch

from astjit.config import Config
from astjit.frontend.capture import Capture
from astjit.frontend.carriers import Float, Int
from astjit.frontend.outside import Outside, is_container, is_mapping, is_sequence
from astjit.frontend.reads import Reads
from astjit.frontend.stops import RAISED, Stop
from astjit.frontend.symbolic import SymbolicTensor


class Colour(enum.Enum):
    RED = 1


class Plain:
    pass


class Named(str, enum.Enum):  # noqa: UP042 (not quite a StrEnum)
    RELU = "relu"


class Level(enum.IntEnum):
    LOW = 1


Pair = collections.namedtuple("Pair", "a b")


class Loud(list):
    pass


@pytest.fixture
def outside():
    yield Outside(Capture("f", Reads(parameters=("p", "q")), Config()))
    RAISED.first = None


def guards_of(outside):
    return [guard.test for guard in outside.capture.reads.guards]


def holds(outside, **paths):
    names = {**outside.capture.reads.constants, **paths}
    return [bool(eval(test, dict(names))) for test in guards_of(outside)]


def function(x):
    return x


@pytest.mark.parametrize(
    ("value", "other", "test"),
    [
        (True, False, "p is True"),
        (None, 1, "p is None"),
        ("relu", "gelu", "p == 'relu'"),
        (b"a", b"b", "p == b'a'"),
        ("relu", Named.RELU, "p == 'relu'"),
        ((), (1,), "p == ()"),
        (range(3), range(4), "repr(p) == 'range(0, 3)'"),
        (range(0), range(1, 1), "repr(p) == 'range(0, 0)'"),
        (1 + 0j, 1, "repr(p) == '(1+0j)'"),
        (0j, -0j, "repr(p) == '0j'"),
        (torch.Size([2]), torch.Size([3]), "p == value"),
        (torch.Size([2]), (2,), "p == value"),
        (Colour.RED, None, "p is Colour_RED"),
        (Level.LOW, 1, "p is Level_LOW"),
        (torch.float32, torch.float16, "p is torch_float32"),
        (torch.device("cpu"), torch.device("meta"), "p == value"),
        (2**70, 2**71, f"p == {2**70}"),
        (2**70, 2.0**70, f"p == {2**70}"),
        ({"a", "b"}, {"a", "c"}, "p == items"),
        ({"a"}, frozenset("a"), "p == items"),
        ({1, 2}, {1, 3}, "sorted(map(repr, p)) == ['1', '2']"),
        ({1}, {True}, "sorted(map(repr, p)) == ['1']"),
        (function, lambda x: x, "p.__code__ is function_code"),
        (torch.exp, torch.sin, "p is exp"),
        (Plain, Colour, "p is Plain"),
        (torch, types, "p is torch"),
        (Plain(), Colour.RED, "type(p) is Plain"),
        ([1], (1,), "type(p) is list"),
        ({}, [], "type(p) is dict"),
        (1.5, 2, "type(p) is float"),
        (1, 2.0, "type(p) is int"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_value_is_guarded_by_what_it_is(outside, value, other, test):
    read = outside.read(value, "p")
    assert guards_of(outside)[-1] == test
    assert all(holds(outside, p=value))
    assert not all(holds(outside, p=other))
    assert type(read) in (Int, Float) or read is value


def test_numbers_are_not_guarded_by_value(outside):
    outside.read(1.5, "p")
    outside.read(3, "q")
    assert holds(outside, p=2.5, q=4) == [True, True]


def test_a_tensor_is_an_input_once(outside):
    x = torch.randn(2, 3)
    first, second = outside.read(x, "p"), outside.read(x, "q['w']")
    assert isinstance(first, SymbolicTensor)
    assert second is first
    assert [p.path for p in outside.capture.function.params] == ["p"]
    assert guards_of(outside) == ["q['w'] is p"]
    assert holds(outside, p=x, q={"w": x}) == [True]
    assert holds(outside, p=x, q={"w": x.clone()}) == [False]


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (torch.randn(2, dtype=torch.complex64), "p has dtype torch.complex64"),
        (torch.eye(2).to_sparse(), "p is a tensor of layout torch.sparse_coo"),
        (torch.empty(2, device="meta"), "p is on device meta"),
        (torch.nn.Buffer(torch.ones(2)), None),
        (torch.nn.Parameter(torch.ones(2), requires_grad=False), None),
    ],
)
def test_tensors_that_are_no_inputs(outside, tensor, reason):
    if reason is None:
        assert outside.read(tensor, "p").kind.rank == 1
        return
    with pytest.raises(Stop, match=reason):
        outside.read(tensor, "p")


def test_numbers_of_other_types_stop(outside):
    numpy = pytest.importorskip("numpy")
    with pytest.raises(Stop, match="p is a number of type float64"):
        outside.read(numpy.float64(1.0), "p")


def test_one_object_at_two_paths_is_guarded_as_one(outside):
    thing = Plain()
    outside.read(thing, "p")
    assert outside.read(thing, "q.a") is thing
    assert guards_of(outside) == ["type(p) is Plain", "q.a is p"]
    assert outside.path(thing) == "p"


def test_a_bound_method_is_its_function_and_its_object(outside):
    made = outside.read(types.MethodType(function, Plain()), "p")
    assert made.__func__ is function
    assert guards_of(outside) == [
        "type(p.__self__) is Plain",
        "p.__func__.__code__ is function_code",
    ]


def test_items_are_read_with_paths(outside):
    x = torch.randn(2)
    value = {"w": x, "n": [1.0, None], 3: "s"}
    outside.read(value, "p")
    made = outside.items(value)
    assert list(made) == ["w", "n", 3]
    assert made["n"] is value["n"]
    assert isinstance(made["w"], SymbolicTensor)
    assert guards_of(outside) == [
        "type(p) is dict",
        "[*p] == ['w', 'n', 3]",
        """[*map(repr, p)] == ["'w'", "'n'", '3']""",
        "type(p['n']) is list",
        "type(p[3]) is str",
        "p[3] == 's'",
    ]
    assert outside.items([1, x])[1] is x  # not from outside: as it is


@pytest.mark.parametrize("value", [[1.0, (2.0,)], (1.0, [2.0]), Pair(1.0, {"k": 2.0})], ids=str)
def test_exposed_copies_have_no_outside_container_in_them(outside, value):
    outside.read(value, "p")
    made = outside.exposed(value)
    assert type(made) is type(value)
    assert made is not value
    assert made[1] is not value[1]
    assert isinstance(made[0], Float)
    assert outside.path(made) == "p"
    assert outside.path(made[1]) in ("p[1]", "p.b")


def test_what_capture_made_is_not_copied(outside):
    made = [1, (2, {"a": 3})]
    assert outside.exposed(made) is made
    known = [1.0]
    outside.read(known, "p")
    mixed = (known, 2)
    assert isinstance(outside.exposed(mixed)[0][0], Float)


def test_constants_have_one_readable_name_each(outside):
    assert outside.constant("torch.nn", torch.nn) == "torch_nn"
    assert outside.constant("other", torch.nn) == "torch_nn"
    assert outside.constant("p", torch) == "p_"  # a parameter is called p
    assert outside.capture.reads.constants == {"torch_nn": torch.nn, "p_": torch}


def test_keys_as_text(outside):
    assert outside.key("a") == "'a'"
    assert outside.key((1, "b")) == "(1, 'b',)"
    assert eval(outside.key((1, "b"))) == (1, "b")
    assert eval(outside.key(((), 1))) == ((), 1)
    assert outside.key(Plain) == "Plain"


def test_containers():
    assert all(map(is_sequence, ([], (), Pair(1, 2))))
    assert all(map(is_mapping, ({}, collections.OrderedDict())))
    others = (Loud(), collections.defaultdict(int), "ab", functools.partial(print))
    assert not any(map(is_container, others))


def test_after_the_end_nothing_is_kept(outside):
    thing = Plain()
    outside.read(thing, "p")
    outside.close()
    assert outside.path(thing) is None
