"""Every exception and warning of astjit.

Catch the root to catch all of them:

    AstjitError
    +-- UserError               the user's code or call; carries a location
    |   +-- UnsupportedSyntax   source that cannot be captured (raised with fullgraph=True)
    |   +-- UnsupportedOp       an operation that cannot be captured (raised with fullgraph=True)
    |   +-- ShapeMismatch       sizes that do not fit (IR builder, element language, command line)
    |   +-- ElementError        what the element language does not have, or finds wrong
    |   +-- TripLimit           a loop of an element function ran longer than `max_trips`
    |   +-- UsageError          a wrong argument to astjit itself
    |   +-- ParseError          SSA text that cannot be read
    +-- InternalError           a bug in astjit
        +-- InvalidIR           the verifier found a broken invariant; names the pass
        +-- KernelBuildError    a generated text did not compile; names the command and the text

    AstjitWarning               a call runs without compilation, and why
"""

from astjit.location import Location, excerpt


class AstjitError(Exception):
    """Base of everything astjit raises of its own."""


class UserError(AstjitError):
    """Something in the user's code or call, shown with the source line and a caret.

    Args:
        seen: what was found, in the user's words.
        location: where, if known.
        source_line: the text of that line, for the caret.
        instead: what to write instead.
    """

    def __init__(
        self,
        seen: str,
        *,
        location: Location | None = None,
        source_line: str = "",
        instead: str = "",
    ) -> None:
        self.seen, self.location, self.instead = seen, location, instead
        parts = [f"{location}: {seen}" if location else seen]
        if location and (shown := excerpt(location, source_line)):
            parts.append(shown)
        if instead:
            parts.append(f"  instead: {instead}")
        super().__init__("\n".join(parts))


class UnsupportedSyntax(UserError):
    """A statement that this version cannot capture; without fullgraph=True the call runs eagerly.

    Example: `while x.sum() > 0:` on a tensor. Fix: leave fullgraph=False, or move the loop out.
    """


class UnsupportedOp(UserError):
    """An operation that cannot be captured; without fullgraph=True the call runs eagerly.

    Example: `x.add_(1)` on an argument. Fix: leave fullgraph=False, or write `x = x + 1`.
    """


class ShapeMismatch(UserError):
    """Sizes that do not fit together, in the IR builder or on the command line.

    Example: adding `f32[4, 3]` to `f32[5]`. Fix: make the sizes equal or 1.
    """


class ElementError(UserError):
    """A function of the element language that cannot be compiled; it never runs another way.

    Args:
        code: which rule, such as "AJ104"; docs/elements.md lists them.
        seen: what was found.
        location: where.
        source_line: the text of that line.
        instead: what to write instead.

    Example: `while` around a `try`. Fix: what `instead` says.
    """

    def __init__(
        self,
        code: str,
        seen: str,
        *,
        location: Location | None = None,
        source_line: str = "",
        instead: str = "",
    ) -> None:
        self.code = code
        super().__init__(
            f"{code} {seen}", location=location, source_line=source_line, instead=instead
        )


class TripLimit(UserError):
    """A loop of an element function ran more than `max_trips` times for some element.

    Args:
        limit: how often it may run.
        location: the loop.
        source_line: the text of that line.
    """

    def __init__(self, limit: int, location: Location | None, source_line: str = "") -> None:
        self.limit = limit
        super().__init__(
            f"the loop runs more than max_trips={limit} times",
            location=location,
            source_line=source_line,
        )


class UsageError(UserError):
    """A wrong argument to astjit's own interface, such as an unknown target or architecture."""


class ParseError(UserError):
    """SSA text that cannot be read; the caret is under the place.

    Example: `%1 = add %0 : f32[4]` lacks an operand. Fix: write the text as the printer does.
    """


class InternalError(AstjitError):
    """A bug in astjit. The message says where; the user's call still runs, in Python."""


class InvalidIR(InternalError):
    """The verifier found a broken invariant.

    Args:
        problem: which invariant, with the two things that disagree.
        after: the pass that ran last, if any.
        text: the function's text.
    """

    def __init__(self, problem: str, *, after: str = "", text: str = "") -> None:
        self.problem, self.after, self.text = problem, after, text
        where = f" after pass {after!r}" if after else ""
        shown = f"\n{text}" if text else ""
        super().__init__(f"invalid IR{where} (a bug in astjit): {problem}{shown}")


class KernelBuildError(InternalError):
    """A generated text did not compile.

    Args:
        command: the compiler command or the options.
        source_path: where the text lies, "" when it was never written to disk.
        output: what the compiler said.
    """

    def __init__(self, command: str, source_path: str, output: str) -> None:
        self.command, self.source_path, self.output = command, source_path, output
        where = f" of {source_path}" if source_path else ""
        super().__init__(f"compilation{where} failed (a bug in astjit)\n  {command}\n{output}")


class AstjitWarning(UserWarning):
    """A call runs without compilation: names file, line and reason; issued once per site."""
