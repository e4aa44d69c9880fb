"""SSA as text, in the form that the parser reads back.

    fn rms_norm(%x: f32[x0, x1], %w: f32[w0], %eps: float) where x1 == w0:
      %0 = mul %x, %x : f32[x0, x1]  ; model.py:5
      %1 = mean %0 {dim=[1], keepdim=true} : f32[x0, 1]  ; model.py:5
      %r = if %c : f32[4] {  ; model.py:8
        then():
          yield %a
        else():
          yield %b
      }
      return %r

A value is called as the user's variable is, the second one of a name `%y.1`; others are numbered.
Fields that have their default are left out; an absent optional operand is `none`. A parameter says
how the caller reaches it where that differs from its name: `%w = state['w']: f32[x1]`.
"""

import re
from collections.abc import Iterator, Mapping

from astjit.ir.function import Block, Function, Node
from astjit.ir.notation import field_text, number_text
from astjit.ir.value import Literal, Param, Value
from astjit.ops.spec import FieldKind
from astjit.types.dtype import F32

_WIDTH = 100


def function_text(function: Function) -> str:
    """The text of a function; ends with a newline."""
    names = value_names(function.body)
    lines = [_header(function, names), *_body_lines(function.body, names, "  ", "return")]
    return "\n".join(lines) + "\n"


def block_text(block: Block, name: str = "body") -> str:
    """The text of a block that stands alone, such as a kernel's body."""
    names = value_names(block)
    params = ", ".join(_param(p, names, with_path=False) for p in block.params)
    return "\n".join([f"{name}({params}):", *_body_lines(block, names, "  ", "yield")]) + "\n"


def node_text(node: Node, names: Mapping[Value, str]) -> str:
    """One line: results, op, operands, fields, types; without location and regions."""
    text = node.op.name
    if node.operands:
        text += " " + ", ".join(value_text(v, names) for v in node.operands)
    if fields := _fields(node):
        text += f" {{{fields}}}"
    if node.results:
        text = f"{', '.join(value_text(r, names) for r in node.results)} = {text}"
        text += f" : {', '.join(str(r.type) for r in node.results)}"
    return text


def value_text(value: Value | None, names: Mapping[Value, str]) -> str:
    """An operand: `%name`, a number, or `none`."""
    if value is None:
        return "none"
    if isinstance(value, Literal):
        return number_text(value.value)
    return f"%{names.get(value, '?')}"  # undefined: the verifier's messages show it


def value_names(block: Block) -> dict[Value, str]:
    """A name for every value of the block and of its regions, each once."""
    names: dict[Value, str] = {}
    taken: dict[str, int] = {}
    count = 0
    for value in _values(block):
        if value in names:
            continue
        wanted = re.sub(r"\W", "_", value.name)
        if not wanted:
            names[value], count = str(count), count + 1
            continue
        wanted = f"_{wanted}" if wanted[0].isdigit() else wanted
        number = taken.get(wanted, 0)
        taken[wanted] = number + 1
        names[value] = f"{wanted}.{number}" if number else wanted
    return names


def _values(block: Block) -> Iterator[Value]:
    yield from block.params
    for node in block.nodes:
        yield from node.results
        for region in node.regions:
            yield from _values(region)


def _header(function: Function, names: Mapping[Value, str]) -> str:
    params = [_param(p, names, with_path=True) for p in function.params]
    facts = [str(fact) for fact in function.assumed]
    default = "" if function.default is F32 else f" default {function.default}"
    where = f" where {', '.join(facts)}" if facts else ""
    line = f"fn {function.name}({', '.join(params)}){default}{where}:"
    if len(line) <= _WIDTH:
        return line
    inside = ",\n".join(f"    {p}" for p in params)
    where = " where " + ",\n    ".join(facts) if facts else ""
    return f"fn {function.name}(\n{inside}\n){default}{where}:"


def _param(param: Param, names: Mapping[Value, str], *, with_path: bool) -> str:
    path = f" = {param.path}" if with_path and param.path and param.path != param.name else ""
    return f"%{names[param]}{path}: {param.type}"


def _body_lines(block: Block, names: Mapping[Value, str], indent: str, end: str) -> Iterator[str]:
    for node in block.nodes:
        where = f"  ; {node.location}" if node.location else ""
        opening = " {" if node.regions else ""
        yield f"{indent}{node_text(node, names)}{opening}{where}"
        labels = node.op.regions
        if len(labels) != len(node.regions):  # a broken function, shown by the verifier
            labels = tuple(f"region{i}" for i in range(len(node.regions)))
        for label, region in zip(labels, node.regions, strict=True):
            params = ", ".join(_param(p, names, with_path=False) for p in region.params)
            yield f"{indent}  {label}({params}):"
            yield from _body_lines(region, names, indent + "    ", "yield")
        if node.regions:
            yield f"{indent}}}"
    results = ", ".join(value_text(v, names) for v in block.results)
    yield f"{indent}{end} {results}".rstrip()


def _fields(node: Node) -> str:
    shown = []
    for declared in node.op.fields:
        if declared.kind is FieldKind.TYPES or declared.name not in node.fields:
            continue
        text = field_text(declared.kind, node.fields[declared.name])
        if declared.required or text != field_text(declared.kind, declared.default):
            shown.append(f"{declared.name}={text}")
    return ", ".join(shown)
