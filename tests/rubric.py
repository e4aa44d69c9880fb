"""What makes generated text readable (decision D24), as functions over the text.

Each gives the faults it finds, as a list of short sentences: none is what a test wants. They work
on the kernel section of a text; `kernel_section` takes it from a whole one.
"""

import re
from collections import Counter
from dataclasses import dataclass

WIDTH = 100
MOST = 1.5  # times the lines of the hand-written text
_TYPE = (
    r"(?:unsigned(?: long long| long| char| short| int)?|long long|long|signed char|char|short|int"
    r"|bool|float|double|auto|vf|vi|bf16|f16|bfloat16|float16|Vec<[^<>]*>)"
)
_DECLARED = re.compile(rf"\b{_TYPE}[ *&]+(?:__restrict__ )?(\w+) ?(?==|;|,|\)|\[|:)")
_COMMENT = re.compile(r"^\s*// (.*?)\s+\((\w[\w./-]*\.\w+):(\d+)\)$", re.MULTILINE)
_LOAD = re.compile(r"\bload(?:_strided)?(?:<\w+>)?\(")
_STORE = re.compile(r"\bstore(?:_strided)?(?:<\w+>)?\(")
_REDUCTION = re.compile(r"\b(?:block_reduce|column_reduce|reduce_each|reduce)<")
_SWEEP = re.compile(
    r"\bfor \([^;]*\b(?:j|col|i) = [^;]*;|\b(?:reduce|reduce_each|sweep)<[^;]*\[[=&]\]"
)


@dataclass(frozen=True)
class Declared:
    """A local name or parameter: what it is called and the text in which it can be used."""

    name: str
    scope: str


def kernel_section(source):
    """A text from the first kernel on, with the comment that stands over it."""
    lines = source.splitlines()
    kernels = ('extern "C" void', 'extern "C" __global__')
    first = next(i for i, line in enumerate(lines) if line.startswith(kernels))
    while first and lines[first - 1].startswith("//"):
        first -= 1
    return "\n".join(lines[first:]) + "\n"


def code(text):
    """A text without comments; pragmas stay, since they use names."""
    return re.sub(r"//[^\n]*", "", text)


def declarations(text):
    """Every parameter and local of a text, with the rest of the block it belongs to."""
    plain = code(text)
    return [
        Declared(match[1], _scope(plain, match.start(1), match.end()))
        for match in _DECLARED.finditer(plain)
    ]


def _scope(plain, start, end):
    """From a declaration to the end of its block; of the block that follows for a parameter."""
    blocks = [0]  # where what lies in each open block begins
    for at in range(start):
        if plain[at] == "{":
            blocks.append(at)
        elif plain[at] == "}":
            blocks.pop()
    before = plain[blocks[-1] : start]
    inside = before.count("(") > before.count(")")
    depth = 0
    for at in range(end, len(plain)):
        depth += (plain[at] == "{") - (plain[at] == "}")
        closes = plain[at] == "}"
        if closes and (depth < 0 or (inside and depth == 0)):
            return plain[end:at]
    return plain[end:]


def wide_lines(text):
    """At most 100 columns."""
    return [
        f"line {at} has {len(line)} columns"
        for at, line in enumerate(text.splitlines(), 1)
        if len(line) > WIDTH
    ]


def unused_names(text):
    """Nothing is declared that is not used."""
    return [
        f"{made.name} is not used"
        for made in declarations(text)
        if not re.search(rf"\b{made.name}\b", made.scope)
    ]


def hidden_names(text):
    """No name is declared again where it already means something."""
    return [
        f"{made.name} is declared again in its own scope"
        for made in declarations(text)
        if any(inner.name == made.name for inner in declarations(made.scope))
    ]


def missing_names(text, names):
    """Every variable of the user is a name: a buffer, a local, or a vector of its lanes."""
    found = {made.name for made in declarations(text)}
    return [f"{name} is not a name" for name in names if not {name, f"{name}_v"} & found]


def source_lines(text):
    """The user's lines that comments quote, as (text, line)."""
    return [(match[1], int(match[3])) for match in _COMMENT.finditer(text)]


def comment_faults(text, lines):
    """Each of the user's lines is quoted once, in order, and nothing else is.

    Args:
        text: of one kernel.
        lines: number to text.
    """
    shown = source_lines(text)
    faults = [f"line {n} is not quoted" for n in lines if n not in {at for _, at in shown}]
    faults += [
        f"line {n} is quoted as {quoted!r}"
        for quoted, n in shown
        if lines.get(n, "").strip() != quoted
    ]
    twice = [n for n, count in Counter(at for _, at in shown).items() if count > 1]
    faults += [f"line {n} is quoted more than once" for n in twice]
    order = [at for _, at in shown]
    return faults + (["lines are quoted out of order"] if order != sorted(order) else [])


def stage_faults(text):
    """A block a stage: comments first, and a blank line between sweeps that no comment divides."""
    faults, before, depth = [], "", 0
    for line in text.splitlines():
        sweep = depth == 1 and _SWEEP.search(code(line))
        if sweep and not re.search(r"//|^$", before, re.MULTILINE):
            faults.append(f"{line.strip()!r} follows another stage without a comment or blank line")
        depth += line.count("{") - line.count("}")
        if sweep or (depth == 1 and line.strip() == "}"):
            before = "{"
        before += "\n" + line.strip()
    return faults


def long_faults(text, reference):
    """At most 1.5 times the lines of the hand-written text."""
    ours, theirs = (sum(bool(x.strip()) for x in t.splitlines()) for t in (text, reference))
    return [f"{ours} lines against {theirs}"] if ours > MOST * theirs else []


def structure(text):
    """How many loads, stores and reductions stand in a text."""
    plain = code(text)
    return {
        "loads": len(_LOAD.findall(plain)),
        "stores": len(_STORE.findall(plain)),
        "reductions": len(_REDUCTION.findall(plain)),
    }


def faults(text, lines, names, reference=None):
    """Everything the rubric finds in the kernel section of one kernel."""
    found = [*wide_lines(text), *unused_names(text), *hidden_names(text), *stage_faults(text)]
    found += [*missing_names(text, names), *comment_faults(text, lines)]
    return found + (long_faults(text, reference) if reference is not None else [])
