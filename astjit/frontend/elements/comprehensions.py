"""Comprehensions: one round for each combination of their variables, all known now.

A list is made where it stands. A generator expression computes its items when it is asked for them,
so it is taken where it is made, and `any` and `all` compute no more of it than they need:

    any(n // k > 1 for k in (1, m))      if %a { yield true } else { ...the next }
"""

import ast
from collections.abc import Generator, Sequence
from contextlib import closing

from astjit.frontend.elements.containers import iterated, static, targets
from astjit.frontend.elements.environment import Once, contains_dynamic
from astjit.frontend.elements.expressions import choose, handles, lower
from astjit.frontend.elements.frames import Frame
from astjit.frontend.elements.kinds import Dynamic
from astjit.frontend.elements.names import assigned, read
from astjit.frontend.elements.operators import known, truth

_MAY_FAIL = (ast.FloorDiv, ast.Mod, ast.Subscript, ast.Call)


@handles(ast.ListComp)
def _list_of(frame: Frame, node: ast.ListComp) -> object:
    made = rounds(frame, node, node.generators)
    return [inner.kept(node.elt, lower(inner, node.elt)) for inner in made]


@handles(ast.SetComp)
def _set_of(frame: Frame, node: ast.SetComp) -> object:
    values = [lower(inner, node.elt) for inner in rounds(frame, node, node.generators)]
    if any(map(contains_dynamic, values)):
        raise frame.error("AJ103", node, "a set of elements", "a tuple")
    return known(frame, node, lambda: frozenset(values))


@handles(ast.DictComp)
def _dict_of(frame: Frame, node: ast.DictComp) -> object:
    made: dict[object, object] = {}
    for inner in rounds(frame, node, node.generators):
        key = static(inner, node.key, lower(inner, node.key))
        made[key] = inner.kept(node.value, lower(inner, node.value))
    return made


@handles(ast.GeneratorExp)
def _generator(frame: Frame, node: ast.GeneratorExp) -> object:
    items = [lower(inner, node.elt) for inner in rounds(frame, node, node.generators)]
    own = assigned(part.target for part in node.generators)
    stops = any(isinstance(n, _MAY_FAIL) for n in ast.walk(node))
    items = [frame.kept(node.elt, item) for item in items]
    return Once(tuple(items), frozenset(read([node]) - set(own)), stops)


def shortened(frame: Frame, node: ast.AST, generator: ast.GeneratorExp, stop: bool) -> object:
    """Whether any item of a generator is `stop`; what follows the first that is is not computed.

    Returns:
        `stop` or the other bool, or a bool of the element.
    """
    with closing(rounds(frame, generator, generator.generators)) as made:

        def following() -> object:
            for inner in made:
                value = truth(inner, generator.elt, lower(inner, generator.elt))
                if isinstance(value, Dynamic):
                    if stop:
                        return choose(frame, node, value, lambda: True, following)
                    return choose(frame, node, value, following, lambda: False)
                if bool(value) is stop:
                    return stop
            return not stop

        return following()


def rounds(
    frame: Frame, node: ast.AST, generators: Sequence[ast.comprehension]
) -> Generator[Frame, None, None]:
    """One round for each combination of a comprehension's variables, which are set within it.

    Yields:
        The frame in which the round is lowered: one of its own where lambdas see the variables.

    Raises:
        ElementError: if how many there are depends on elements.
    """
    nodes = list(ast.walk(node))
    walrus = any(isinstance(n, ast.NamedExpr) for n in nodes)
    delayed = any(isinstance(n, ast.Lambda) for n in nodes)
    lazy = any(isinstance(n, ast.GeneratorExp) for n in nodes)
    if walrus and (delayed or lazy):
        raise frame.error("AJ101", node, "`:=` in a generator or beside a lambda", "a loop")
    if delayed and lazy:
        raise frame.error("AJ101", node, "a lambda in a generator", "a list: [...]")
    if delayed:
        names = tuple(assigned(part.target for part in generators))
        inner = Frame(frame.lowering, frame.text, node, frame, frame.hooks, names)
        yield from _rounds(inner, generators, frame, True)
        return
    before = dict(frame.temporaries)
    try:
        yield from _rounds(frame, generators, frame, False)
    finally:
        frame.temporaries.clear()
        frame.temporaries.update(before)


def _rounds(
    frame: Frame, generators: Sequence[ast.comprehension], around: Frame, own: bool
) -> Generator[Frame, None, None]:
    """The rounds; the first source is computed in the frame around."""
    if not generators:
        yield frame
        return
    first, *rest = generators
    if first.is_async:
        raise frame.error("AJ101", first.iter, "an async comprehension", "a loop")
    source = lower(around, first.iter)
    for value in iterated(frame, first.iter, source):
        for name, part in targets(frame, first.target, value):
            if own:
                frame.hold(name, part)
            else:
                frame.temporaries[name] = part
        holds = True
        for asked in first.ifs:
            answer = static(frame, asked, truth(frame, asked, lower(frame, asked)))
            if not answer:
                holds = False
                break
        if holds:
            yield from _rounds(frame, rest, frame, own)


def looped_over(frame: Frame, node: ast.For, source: object) -> list[object]:
    """What a loop goes over; its body changes nothing that a generator reads, nor ends it early.

    Raises:
        ElementError: for what cannot be iterated, or a generator for which it matters.
    """
    items = iterated(frame, node.iter, source)
    if isinstance(source, Once):
        seen_later = source.reads | (frame.read_by_inner if source.reads else set())
        ends = any(isinstance(n, ast.Break | ast.Return) for n in ast.walk(node))
        if seen_later & set(assigned([*node.body, node.target])) or (ends and source.stops):
            seen = "a generator whose items depend on when they are asked for"
            raise frame.error("AJ103", node.iter, seen, "a list: [...]")
    return items
