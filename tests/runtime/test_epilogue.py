"""The end of a program: all is made before anything is written."""

import itertools

from astjit.frontend.reads import Container, Fetched, Leaf, Reads, Shared, Store
from astjit.runtime.epilogue import epilogue


def ending(output, stores=(), shared=()):
    """The statements of an end, with names as they come."""
    reads = Reads(parameters=("self", "x"), output=output, stores=[*stores], shared=[*shared])
    count = itertools.count()
    taken = set()

    def name(wish, *others):
        made = wish if wish and wish not in taken else f"{wish or others[0]}{next(count)}"
        taken.add(made)
        return made

    end = epilogue(reads, ["y", "z"], name)
    return [*end.made, "---", *end.stored, f"return {end.returned}"]


def test_without_stores_the_result_is_an_expression():
    output = Container("tuple", (Leaf(0), Fetched("self.h")))
    assert ending(output) == ["---", "return (y, self.h)"]


def test_what_is_written_is_looked_up_first():
    stores = [
        Store("self", ".a", "set", Fetched("self.b")),
        Store("self", ".b", "set", Fetched("self.a")),
        Store("self.cache", ".append", "call", Leaf(1)),
        Store("self.cache", "['k']", "delete"),
        Store("self.cache", ".clear()", "do"),
    ]
    assert ending(Fetched("self.a"), stores) == [
        "cache = self.cache",
        "a = self.b",
        "b = self.a",
        "result = self.a",
        "---",
        "self.a = a",
        "self.b = b",
        "cache.append(z)",
        "del cache['k']",
        "cache.clear()",
        "return result",
    ]


def test_shared_parts_are_made_once():
    pair = Container("list", (Leaf(0), Fetched("None")))
    output = Container("Output", (Shared(0), Shared(0)))
    stores = [Store("self", ".kept", "set", Shared(0))]
    assert ending(output, stores, [pair]) == [
        "shared = [y, None]",
        "result = Output(shared, shared)",
        "---",
        "self.kept = shared",
        "return result",
    ]
