"""The function as it runs, for people: the user's own text with the captured part as one call.

    @astjit.compile                                   @astjit.compile
    def scale(x, *, by=2.0):                          def scale(x, *, by=2.0):
        '''x times a number.'''                =>         '''x times a number.'''
        # in one kernel                                   # in one kernel
        return x * by                                     return __astjit_segment_0__(x, by=by)

Made with libcst, so that decorators, annotations, defaults, comments and spacing stay as written.
"""

import ast
import types
from collections.abc import Mapping, Sequence

import libcst as cst

from astjit.frontend.runs import SEGMENT, Run
from astjit.frontend.source import source_of


def rewritten_source(function: types.FunctionType) -> str:
    """The text of `function` with its body as the call of segment 0.

    Raises:
        Stop: if there is no source, or it is not the text of the running code.
    """
    source = source_of(function)
    if isinstance(source.tree, ast.Lambda):
        arguments = ast.unparse(source.tree.args)
        return f"lambda {arguments}: {_call(source.tree.args)}\n"
    indented = source.text[:1] in (" ", "\t")
    module = cst.parse_module(("if 1:\n" if indented else "") + source.text)
    definition = _definition(module.body)
    body = definition.body
    assert isinstance(body, cst.IndentedBlock | cst.SimpleStatementSuite)
    statement = cst.parse_statement(f"return {_call(source.tree.args)}")
    assert isinstance(statement, cst.SimpleStatementLine)
    if isinstance(body, cst.IndentedBlock):
        kept: cst.BaseSuite = _block(body, statement)
    else:
        kept = body.with_changes(body=statement.body)
    return cst.Module([]).code_for_node(definition.with_changes(body=kept))


def _definition(body: Sequence[cst.BaseStatement | cst.BaseSmallStatement]) -> cst.FunctionDef:
    """The `def`, alone or as the body of `if 1:`."""
    match body[0]:
        case cst.FunctionDef() as found:
            return found
        case cst.If(body=cst.IndentedBlock(body=[cst.FunctionDef() as found, *_])):
            return found
    raise AssertionError("source_of returns one function")


def _block(body: cst.IndentedBlock, call: cst.SimpleStatementLine) -> cst.IndentedBlock:
    """The docstring, the comments that stand on lines of their own, and the call."""
    statements = list(body.body)
    docstring = statements[:1] if _is_docstring(statements[0]) else []
    comments = [
        line
        for statement in statements[len(docstring) :]
        for line in getattr(statement, "leading_lines", ())
        if line.comment is not None
    ]
    return body.with_changes(body=[*docstring, call.with_changes(leading_lines=comments)])


def _is_docstring(statement: cst.BaseStatement) -> bool:
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]
        ):
            return True
    return False


def _call(arguments: ast.arguments) -> str:
    """The call of the segment with every parameter passed on."""
    given = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg:
        given.append(f"*{arguments.vararg.arg}")
    given += [f"{a.arg}={a.arg}" for a in arguments.kwonlyargs]
    if arguments.kwarg:
        given.append(f"**{arguments.kwarg.arg}")
    return f"{SEGMENT.format(0)}({', '.join(given)})"


def cut_source(function: types.FunctionType, runs: Mapping[str, Run]) -> str:
    """The text of a function that is cut: each segment as its call, on the same number of lines.

    What a segment holds stays as comments; statements that stay Python, with their formatting and
    comments, are the user's.

    Args:
        function: the function.
        runs: its segments by the names that call them.

    Raises:
        Stop: if there is no source, or it is not the text of the running code.
    """
    source = source_of(function)
    lines = source.text.splitlines(keepends=True)
    for name, run in runs.items():
        first, last = run.first, run.last
        start, end = first.lineno - source.first_line, (last.end_lineno or 0) - source.first_line
        before = lines[start].encode()[: first.col_offset].decode()
        held = [line.rstrip("\n") for line in lines[start : end + 1]]
        after = lines[end].encode()[last.end_col_offset or 0 :].decode()
        alone = not before.strip() and (not after.strip() or after.lstrip().startswith("#"))
        if start == end:
            told = f"  # {held[0].strip()}" if alone and not after.strip() else ""
            lines[start] = f"{before}{_shown(name, run)}{told}{after}"
        elif alone:
            lines[start] = f"{before}{_shown(name, run)}  # {held[0].strip()}\n"
            lines[start + 1 : end + 1] = [_comment(line) for line in lines[start + 1 : end + 1]]
    return "".join(lines)


def _shown(name: str, run: Run) -> str:
    """The call of a segment as a statement, or as the expression that it is."""
    call = f"{name}({', '.join(run.reads)})"
    if run.tail is not None:
        return f"return {call}"
    return f"{', '.join(run.results)} = {call}" if run.results else call


def _comment(line: str) -> str:
    shown = line.lstrip()
    if not shown.strip() or shown.startswith("#"):
        return line
    return f"{line[: len(line) - len(shown)]}# {shown}"
