"""Reads CUDA text just closely enough to name its parts: definitions, kernels, parameters."""

import re
from dataclasses import dataclass

_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_ATTRIBUTE = re.compile(r"\b(?:alignas|__align__|__launch_bounds__|__attribute__)\s*\(")
_TEMPLATE = re.compile(r"\btemplate\s*<")

# A declarator list, or an initialiser, does not match: CUDA has no use for the latter.
_SHARED = re.compile(
    r"(?P<extern>extern\s+)?__shared__\s+"
    r"(?:(?:alignas|__align__)\s*\((?P<alignment>[^()]*)\)\s*)?"
    r"(?P<type>[\w:][^;{}()\[\]=]*?)\s*\b(?P<name>\w+)\s*"
    r"(?P<extents>(?:\[[^\];]*\]\s*)*);"
)

_KERNEL = re.compile(
    r"__global__\s+(?:void\s+)?"
    r"(?:__launch_bounds__\s*\((?P<bounds>[^()]*)\)\s*)?"
    r"(?:void\s+)?(?P<name>\w+)\s*\("
)


@dataclass(frozen=True, slots=True)
class Definition:
    """One top-level definition of a helper section, and the line it begins on (from 1)."""

    name: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel: `const float* __restrict__ x`."""

    name: str
    pointer: bool
    writable: bool


@dataclass(frozen=True, slots=True)
class Kernel:
    """A `__global__` function: its parameters, and the most threads it may be launched with."""

    name: str
    parameters: tuple[Parameter, ...]
    most_threads: int | None


def without_comments(text):
    """Returns the text with comments and strings blanked; every other character stays in place."""
    return _COMMENT_OR_STRING.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def closing(code, opening):
    """Returns the index of the bracket that closes the one at index `opening`."""
    depth = 0
    for index in range(opening, len(code)):
        if code[index] in "([{":
            depth += 1
        elif code[index] in ")]}":
            depth -= 1
            if depth == 0:
                if code[index] != _CLOSING[code[opening]]:
                    break
                return index
    raise ValueError(f"unbalanced brackets after {code[opening : opening + 40]!r}")


def split_definitions(helpers):
    """Splits a helper section at the blank lines that stand outside all brackets."""
    code_lines = without_comments(helpers).split("\n")
    definitions = []
    lines = []
    first = 1
    depth = 0
    for number, line in enumerate([*helpers.split("\n"), ""], start=1):
        code = code_lines[number - 1] if number <= len(code_lines) else ""
        if not line.strip() and depth == 0:
            if lines:
                text = "\n".join(lines)
                definitions.append(Definition(_defined_name(text), text, first))
            lines = []
            continue
        if not lines:
            first = number
        lines.append(line)
        depth += sum(code.count(bracket) for bracket in "([{")
        depth -= sum(code.count(bracket) for bracket in ")]}")
    return definitions


def _defined_name(text):
    """Returns the name that a definition gives, or "" for a comment, pragma or the like."""
    code = _without_attributes(without_comments(text))
    for pattern in (
        r"\A\s*#\s*define\s+(\w+)",
        r"\A[\s\w]*?\b(?:struct|class|union|enum(?:\s+class)?)\s+(\w+)\s*(?:final\s*)?[:{;]",
        r"\A\s*using\s+(\w+)\s*=",
        r"\A\s*typedef\b[^;]*?(\w+)\s*;",
        r"\A[^(=]*?(\w+|operator\s*[^\w\s(]+)\s*\(",
        r"\A[^(;]*?(\w+)\s*(?:\[[^\]]*\]\s*)*[={;]",
    ):
        match = re.search(pattern, code)
        if match:
            return match[1]
    return ""


def _without_attributes(code):
    """Blanks `template <...>` and attributes with arguments, whose brackets would mislead."""
    while match := _ATTRIBUTE.search(code):
        end = closing(code, match.end() - 1) + 1
        code = code[: match.start()] + " " + code[end:]
    while match := _TEMPLATE.search(code):
        depth, end = 1, match.end()
        while depth:
            depth += {"<": 1, ">": -1}.get(code[end], 0)
            end += 1
        code = code[: match.start()] + " " + code[end:]
    return code


def parameter_list(code, opening):
    """Returns the texts of the parameters between the bracket at `opening` and its partner."""
    inside = code[opening + 1 : closing(code, opening)]
    parts = []
    depth = start = 0
    for index, character in enumerate(inside):
        depth += {"<": 1, "(": 1, "[": 1, ">": -1, ")": -1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(inside[start:index])
            start = index + 1
    parts.append(inside[start:])
    return [part.strip() for part in parts if part.strip()]


def parse_parameter(text):
    """Returns the Parameter that a C declaration such as `const float* x` declares."""
    name = re.search(r"(\w+)\s*(?:\[\s*\])?$", text.strip())[1]
    before_pointer, star, _ = text.partition("*")
    is_const = re.search(r"\bconst\b", before_pointer) is not None
    return Parameter(name, pointer=bool(star), writable=bool(star) and not is_const)


def parse_kernels(kernels):
    """Returns the `__global__` functions of a text by name. Templates are passed over."""
    code = without_comments(kernels)
    found = {}
    for match in _KERNEL.finditer(code):
        line_start = max(code.rfind(mark, 0, match.start()) for mark in ";}")
        if re.search(r"\btemplate\b", code[line_start + 1 : match.start()]):
            continue
        parameters = tuple(map(parse_parameter, parameter_list(code, match.end() - 1)))
        bounds = (match["bounds"] or "").split(",")[0].strip()
        most_threads = int(bounds) if bounds.isdigit() else None
        found[match["name"]] = Kernel(match["name"], parameters, most_threads)
    return found


def defined_macros(text):
    """Returns the names that `#define` lines define."""
    return re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", without_comments(text), re.MULTILINE)


def place_shared_variables(text):
    """Gives every `__shared__` declaration storage that belongs to the running block.

    `__shared__ float slots[2][8];` becomes
    `auto& slots = emulator::static_shared<float [2][8], 0>(__PRETTY_FUNCTION__, 0, "slots");`,
    on the same line, so that lines keep their numbers.
    """
    code = without_comments(text)
    pieces = []
    done = 0
    for index, match in enumerate(_SHARED.finditer(code)):
        pieces += [text[done : match.start()], _placed(match, index)]
        done = match.end()
    pieces.append(text[done:])
    rewritten = "".join(pieces)
    left = re.search(r"__shared__[^;]*;", without_comments(rewritten))
    if left:
        raise ValueError(f"one __shared__ variable per declaration, please: {left[0]}")
    return rewritten


def _placed(match, index):
    element, name = match["type"], match["name"]
    newlines = "\n" * match[0].count("\n")
    if match["extern"]:
        return f"{element}* const {name} = emulator::dynamic_shared<{element}>();{newlines}"
    extents = " ".join(match["extents"].split())
    alignment = match["alignment"] or "0"
    return (
        f"auto& {name} = emulator::static_shared<{element} {extents}, {alignment}>"
        f'(__PRETTY_FUNCTION__, {index}, "{name}");{newlines}'
    )
