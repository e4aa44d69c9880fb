"""A random program: a module, the function of it that is tested, and the calls it gets, as text.

Statements are a tree, so that a failing program can be made smaller one statement at a time.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

INDENT = "    "
_COUNTS = re.compile(r"turns\d+ \+= ")  # without it a `while` would not end


@dataclass(frozen=True, slots=True)
class Block:
    """A compound statement: `if` with its `else`, a loop, a `try`, a function or class.

    Attributes:
        parts: header (such as "if n > 2:") and statements of each arm.
    """

    parts: tuple[tuple[str, tuple["Node", ...]], ...]


Node = str | Block


def block(header: str, *body: Node) -> Block:
    """A compound statement of one arm."""
    return Block(((header, body),))


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the function.

    Attributes:
        setup: statements of the caller before it; `m` is the module.
        text: the call.
    """

    setup: tuple[Node, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Program:
    """What is run twice, once compiled.

    Attributes:
        module: statements of the module, which bind `f`.
        calls: in order; the caller's variables live on from one to the next.
        grad: whether calls record gradients.
    """

    module: tuple[Node, ...]
    calls: tuple[Call, ...]
    grad: bool = False

    @property
    def text(self) -> str:
        """The module, as Python reads it."""
        return text_of(self.module)

    def __str__(self) -> str:
        parts = [self.text, "# --- the caller" + (", recording gradients" if self.grad else "")]
        for index, call in enumerate(self.calls):
            parts.append(f"# call {index}")
            parts += [text_of(call.setup).rstrip("\n")] if call.setup else []
            parts.append(f"r{index} = {call.text}")
        return "\n".join(parts)


def text_of(nodes: Sequence[Node]) -> str:
    """Statements as lines."""
    return "".join(f"{line}\n" for line in _lines(nodes, ""))


def _lines(nodes: Sequence[Node], indent: str) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield from (indent + line for line in node.splitlines())
            continue
        for header, body in node.parts:
            yield from (indent + line for line in header.splitlines())
            yield from _lines(body or ("pass",), indent + INDENT)


# --- making a program smaller --------------------------------------------------------------------


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one thing less, the largest things first."""
    calls = program.calls
    for index in reversed(range(len(calls))):
        yield replace(program, calls=calls[:index] + calls[index + 1 :])
    for module in _without_one(program.module):
        yield replace(program, module=module)
    for index, call in enumerate(calls):
        for setup in _without_one(call.setup):
            fewer = replace(call, setup=setup)
            yield replace(program, calls=(*calls[:index], fewer, *calls[index + 1 :]))


def _without_one(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    for index in reversed(range(len(nodes))):
        node = nodes[index]
        if not (isinstance(node, str) and _COUNTS.match(node)):
            yield nodes[:index] + nodes[index + 1 :]
    for index, node in enumerate(nodes):
        if isinstance(node, Block):
            for fewer in _smaller_block(node):
                yield (*nodes[:index], *fewer, *nodes[index + 1 :])


def _smaller_block(node: Block) -> Iterator[tuple[Node, ...]]:
    """An arm in place of the whole, or one statement of an arm less."""
    header = node.parts[0][0]
    if not header.startswith(("def ", "class ", "@")):
        for _, body in node.parts:
            yield body
    for index, (header, body) in enumerate(node.parts):
        for fewer in _without_one(body):
            yield (Block((*node.parts[:index], (header, fewer), *node.parts[index + 1 :])),)
