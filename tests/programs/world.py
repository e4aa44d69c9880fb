"""Running a program: once as written and once compiled, in two modules that share nothing."""

import collections
import dataclasses
import itertools
import linecache
import re
import types
import warnings
from dataclasses import dataclass, field

import torch

import astjit
from tests.programs.compare import Difference, Observed, difference, raised
from tests.programs.program import Program
from tests.programs.values import values

_COUNT = itertools.count()
_NO_COMPILER = "kernels run through PyTorch: no C++ compiler"


@dataclass(frozen=True, slots=True)
class Fault:
    """A program that differs from eager.

    Attributes:
        call: the number of the call after which it does.
        difference: the first.
    """

    call: int
    difference: Difference

    @property
    def kind(self) -> str:
        """In a word, for counting."""
        if self.difference.kind == "bug":
            return re.sub(r"\d+", "N", str(self.difference.compiled))[:90]
        root = re.split(r"[\[. ]", self.difference.place)[0]
        return f"{self.difference.kind} of {root}"


@dataclass(slots=True)
class Outcome:
    """What came of one program.

    Attributes:
        fault: if it differs from eager.
        calls: how many were made.
        captured: how many of them a compiled program answered.
        raised: how many raised, as in eager.
        programs: how often it was captured.
        reasons: why calls ran eagerly, from the warnings.
    """

    fault: Fault | None = None
    calls: int = 0
    captured: int = 0
    raised: int = 0
    programs: int = 0
    reasons: list[str] = field(default_factory=list)


class World:
    """A module of the program's text, and the caller's variables.

    Args:
        program: what runs.
        file: the name under which its text is found.
        options: for astjit.compile; None to run as written.
    """

    def __init__(self, program: Program, file: str, options: dict[str, object] | None) -> None:
        self.program, self.file = program, file
        self.module = types.ModuleType("random_program")
        self.module.__file__ = file
        exec(compile(program.text, file, "exec"), self.module.__dict__)
        function = self.module.f
        self.function = function if options is None else astjit.compile(function, **options)
        self.caller: dict[str, object] = {"torch": torch, "values": values, "m": self.module}
        self.caller["f"] = self.function
        self.setups = [compile(text, f"{file} caller", "exec") for text in _setups(program)]

    def call(self, number: int) -> Observed:
        """What is there after a call; exceptions are part of it."""
        seen = Observed()
        try:
            exec(self.setups[number], self.caller)
        except Exception as error:  # the caller's own, such as a result that is no tensor
            seen.facts["caller"] = raised(error, self.file)
            return seen
        try:
            with torch.set_grad_enabled(self.program.grad):
                result = eval(self.program.calls[number].text, self.caller)
        except Exception as error:
            result = None
            seen.facts["result"] = raised(error, self.file)
        self.caller[f"r{number}"] = result
        self.observe(seen)
        return seen

    def observe(self, seen: Observed) -> None:
        """Note the caller's variables and the module's."""
        for name, value in sorted(self.caller.items()):
            if name not in ("torch", "values", "m", "f") and not name.startswith("__"):
                place = "result" if name.startswith("r") and name[1:].isdigit() else "argument"
                seen.look(f"{place} {name}", value)
        for name, value in vars(self.module).items():
            if not name.startswith("__") and name not in ("torch", "F", "namedtuple"):
                seen.look(f"global {name}", value)


def _setups(program: Program) -> list[str]:
    found = []
    for call in program.calls:
        alone = dataclasses.replace(program, module=call.setup, calls=())
        found.append(alone.text)
    return found


def run_program(program: Program, **options: object) -> Outcome:
    """Run a program both ways and compare after each call.

    Args:
        program: what to run.
        options: for astjit.compile.
    """
    file = f"<random program {next(_COUNT)}>"
    text = program.text
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    outcome = Outcome()
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            _compare(outcome, World(program, file, None), World(program, file, options))
        outcome.reasons = [reason(w) for w in told if issubclass(w.category, astjit.AstjitWarning)]
        outcome.reasons = [text for text in outcome.reasons if text]
        if outcome.fault is None and (bug := next((r for r in outcome.reasons if _bug(r)), None)):
            outcome.fault = Fault(outcome.calls - 1, Difference("bug", "capture", "runs", bug))
    finally:
        del linecache.cache[file]
    return outcome


def _compare(outcome: Outcome, eager: World, compiled: World) -> None:
    for number in range(len(eager.program.calls)):
        wanted, got = eager.call(number), compiled.call(number)
        outcome.calls += 1
        outcome.raised += "exception" in wanted.facts.get("result", {})
        info = compiled.function.cache_info()
        outcome.programs, outcome.captured = info.programs, info.programs + info.hits
        if (found := difference(wanted, got)) is not None:
            outcome.fault = Fault(number, found)
            return


def _bug(reason: str) -> bool:
    return "a bug in astjit" in reason


def reason(warning: warnings.WarningMessage) -> str:
    """Why a call ran eagerly, without place and names."""
    text = str(warning.message).partition("\n")[0]
    if text.startswith(_NO_COMPILER):
        return ""
    return text.partition("runs eagerly")[2].lstrip(":, ") or text


def counted(outcomes: list[Outcome]) -> collections.Counter[str]:
    """How often each reason to run eagerly was given, in how many programs; numbers left out."""
    found: collections.Counter[str] = collections.Counter()
    for outcome in outcomes:
        found.update({re.sub(r"\d+", "N", text)[:90] for text in outcome.reasons})
    return found
