"""Puts parts into an order in which each runs after what it needs."""

import heapq
from collections.abc import Iterable, Mapping, Sequence

from astjit.fusion.graph import Graph, operands
from astjit.fusion.kernel import Group, LibraryCall, Part
from astjit.ir.function import Node
from astjit.ir.value import Result, Value
from astjit.ir.walk import may_raise


def arranged(
    graph: Graph, made: Mapping[Node, Group], hosts: Mapping[int, Sequence[Node]]
) -> tuple[Part, ...]:
    """The parts that are needed, in execution order: the function's where there is a choice.

    Args:
        graph: of the function.
        made: the group of every node that a kernel computes.
        hosts: by identity of a group, size nodes to run before it that are not in the function.
    """
    singles = {node: LibraryCall(node) for node in graph.nodes if node not in made}

    def part(value: Value) -> Part | None:
        if not isinstance(value, Result) or value.node not in graph.position:
            return None
        assert isinstance(value.node, Node)
        return made.get(value.node) or singles[value.node]

    needs: dict[int, list[Part]] = {}
    parts: dict[int, Part] = {}
    wanted = [*graph.results, *(r for n in graph.nodes if may_raise(n) for r in n.results)]
    todo = [p for v in wanted if (p := part(v)) is not None]
    while todo:
        here = todo.pop()
        if id(here) in parts:
            continue
        parts[id(here)] = here
        read = (*here.inputs, *here.numbers) if isinstance(here, Group) else operands(here.node)
        needs[id(here)] = list({id(p): p for v in read if (p := part(v)) is not None}.values())
        todo += needs[id(here)]
    ends: dict[int, int] = {}
    for node, at in graph.position.items():
        ends[id(made.get(node) or singles[node])] = at
    return tuple(_sorted(parts, needs, ends, hosts))


def _sorted(
    parts: Mapping[int, Part],
    needs: Mapping[int, list[Part]],
    ends: Mapping[int, int],
    hosts: Mapping[int, Sequence[Node]],
) -> Iterable[Part]:
    """Kahn's algorithm; of the parts that are ready the one that ends first in the function."""
    waiting = {key: len(wanted) for key, wanted in needs.items()}
    users: dict[int, list[int]] = {}
    for key, wanted in needs.items():
        for needed in wanted:
            users.setdefault(id(needed), []).append(key)
    ready = [(ends[key], key) for key, count in waiting.items() if not count]
    heapq.heapify(ready)
    while ready:
        _, key = heapq.heappop(ready)
        here = parts[key]
        if isinstance(here, Group):
            yield from (LibraryCall(node) for node in hosts.get(key, ()))
        yield here
        for user in users.get(key, ()):
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (ends[user], user))
