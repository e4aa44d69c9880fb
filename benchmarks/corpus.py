"""Models of transformers and of plain PyTorch, compiled without edits, against eager.

    python benchmarks/corpus.py [--quick] [--compile] [--write] [NAME ...]

Each model of benchmarks/zoo is called at several sizes, decoders also again and again with the
cache that they fill. Results, their classes, caches and the state of the module are compared with
eager's; the exit status is 1 where they differ. The columns:

    statements   those that touch tensors, and how many of them are compiled (statements.py)
    segments     programs of a function that is cut; 1 is a model captured whole
    programs     made for all sizes
    kernels      of the latest program of every segment; calls: what PyTorch's own kernels run
    first        seconds of the processor for the first call, in which the model is captured
    guards       microseconds to find out that a program fits, of a model captured whole
    x eager      how many times faster than eager; --compile adds torch.compile

`--quick` leaves times out and runs programs as they are then, without a C++ compiler where CXX
names none. `--write` puts the table into benchmarks/results/corpus.md.
"""

import argparse
import copy
import datetime
import re
import statistics
import sys
import time
import timeit
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import reference
import torch
from gpu import table
from statements import Statement, run_by_python, touching
from torch import nn
from zoo.language import cached
from zoo.table import MODELS, Model

import astjit
from astjit.fusion.kernel import LibraryCall, is_free

RESULTS = Path(__file__).resolve().parent / "results" / "corpus.md"
WANTED = 0.9  # of the statements that touch tensors
DECODED = 3  # calls with one cache
HEAD = ("model", "statements", "segments", "programs", "kernels", "calls", "first")
TIMED = ("guards", "x eager")


@dataclass(frozen=True, slots=True)
class Row:
    """What was found for one model.

    Attributes:
        name: of the model.
        touching: statements that touch tensors.
        left: those of them that Python still runs.
        segments: that have a program.
        programs: of all of them.
        kernels: of the latest program of each.
        calls: operations that PyTorch's own kernels run, likewise.
        first: seconds of the first call.
        guards: seconds to find out that the program fits, None where there are several.
        took: seconds of a call by contender.
        faults: what is not as it should be.
    """

    name: str
    touching: frozenset[Statement]
    left: frozenset[Statement]
    segments: int
    programs: int
    kernels: int
    calls: int
    first: float
    guards: float | None
    took: Mapping[str, float]
    faults: tuple[str, ...]

    @property
    def compiled(self) -> float:
        """The part of the statements that is compiled."""
        return 1 - len(self.left) / max(1, len(self.touching))


# -- what a call gives ----------------------------------------------------------------------------
def leaves(value: object) -> list[torch.Tensor]:
    """The tensors in results, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    inner: Sequence[object] = ()
    if isinstance(value, Mapping):
        inner = list(value.values())
    elif isinstance(value, list | tuple):
        inner = value
    else:
        inner = cached(value)
    return [leaf for part in inner for leaf in leaves(part)]


def differs(ours: object, eager: object) -> str:
    """How results differ from eager's, "" where they do not."""
    if type(ours) is not type(eager):
        return f"{type(ours).__name__} instead of {type(eager).__name__}"
    if isinstance(eager, Mapping) and list(ours) != list(eager):  # type: ignore[call-overload]
        return f"{list(ours)} instead of {list(eager)}"  # type: ignore[call-overload]
    mine, right = leaves(ours), leaves(eager)
    if len(mine) != len(right) or not right:
        return f"{len(mine)} tensors instead of {len(right)}"
    for one, other in zip(mine, right, strict=True):
        if one.stride() != other.stride():
            return f"strides {one.stride()} instead of {other.stride()}"
        try:
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
        except AssertionError as error:
            return " ".join(str(error).split())[:100]
    return ""


def decoded(call: Callable[..., Any], given: Mapping[str, object]) -> list[object]:
    """Results of calls, each given the likeliest word and the cache of the one before."""
    out = call(**given)
    made = [out]
    for _ in range(DECODED):
        word = out.logits[:, -1:].argmax(-1)
        out = call(input_ids=word, past_key_values=out.past_key_values)
        made.append(out.logits)
    return [*made, out.past_key_values]


@contextmanager
def told() -> Iterator[list[str]]:
    """Gradients off as in serving; the warnings of astjit."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught, torch.no_grad():
        warnings.simplefilter("always")
        yield messages
    for each in caught:
        text = str(each.message)
        if issubclass(each.category, astjit.AstjitWarning) and "kernels run thr" not in text:
            messages.append(text)


def compare(model: Model, ours: Any, eager: nn.Module) -> list[str]:
    """What differs from eager in calls of all sizes, with caches and in the module's own state."""
    faults = []
    for size in model.sizes:
        given = model.data(*size)
        faults.append(differs(model.call(ours, given), model.call(eager, copy.deepcopy(given))))
    if model.decodes:
        given = model.data(*model.sizes[0])
        assert isinstance(given, dict)
        given.pop("attention_mask", None)
        faults.append(differs(decoded(ours, given), decoded(eager, given)))
    mine, right = list(ours.state_dict().values()), list(eager.state_dict().values())
    if right:
        faults.append(differs(mine, right))
    return [fault for fault in dict.fromkeys(faults) if fault]


# -- one model ------------------------------------------------------------------------------------
def dispatchers(ours: Any) -> list[Any]:
    """Those of the compiled model, its segments and the functions that its statements call."""
    record = ours.resolved((), {})[0].__astjit__
    return [record.dispatcher, *record.split.family.dispatchers()]


def guards_of(ours: Any, given: object) -> float | None:
    """Seconds of the guards of a model that is captured whole."""
    args, kwargs = ((), given) if isinstance(given, dict) else ((given,), {})
    function, args, kwargs = ours.resolved(args, kwargs)
    made = function.__astjit__.dispatcher.made
    if not made:
        return None
    namespace: dict[str, Any] = dict(made[-1].host.namespace)
    exec(made[-1].host.guards, namespace)
    fits = namespace[re.findall(r"def (\w+)", made[-1].host.guards)[0]]
    values = function.__astjit__.dispatcher.entry.bind(*args, **kwargs)
    if not fits(*values):
        return None
    return min(timeit.repeat(lambda: fits(*values), number=200, repeat=7)) / 200


def measure(name: str, seconds: float, compiled: bool) -> Row:
    """Compile a model and compare it; time it for so many seconds, if any."""
    torch.manual_seed(0)
    model = MODELS[name]
    module = model.make()
    eager, ours = copy.deepcopy(module), astjit.compile(module)
    given = model.data(*model.sizes[0])
    with told() as messages:
        start = time.process_time()
        model.call(ours, given)
        first = time.process_time() - start
        model.call(eager, given)
        faults = compare(model, ours, eager)
        given = model.data(*model.sizes[0])
        model.call(ours, given)
        found = touching(partial(model.call, copy.deepcopy(eager), given))
        left = found & run_by_python(partial(model.call, ours, given))
        took: dict[str, float] = {}
        if seconds:
            took = times(model, {"astjit": ours, "eager": eager}, seconds, compiled)
        guards = guards_of(ours, given) if seconds else None
    made = [each.made for each in dispatchers(ours) if each.made]
    parts = [part for programs in made for part in programs[-1].parts.parts]
    calls = [p for p in parts if isinstance(p, LibraryCall) and not is_free(p.node)]
    kernels = sum(len(programs[-1].groups) for programs in made)
    sums = (len(made), sum(map(len, made)), kernels, len(calls))
    if not made:
        faults.append("runs eagerly")
    told_too = tuple(message.partition("\n")[0] for message in messages)
    return Row(
        name, frozenset(found), frozenset(left), *sums, first, guards, took, (*faults, *told_too)
    )


def times(
    model: Model, contenders: dict[str, Any], seconds: float, compiled: bool
) -> dict[str, float]:
    """Median seconds of a call by contender, called in turn."""
    given = model.data(*model.large)
    runs: dict[str, Callable[[], object]] = {
        name: partial(model.call, module, given) for name, module in contenders.items()
    }
    if compiled:
        torch._dynamo.reset()
        other = torch.compile(copy.deepcopy(contenders["eager"]))
        runs["torch.compile"] = partial(model.call, other, given)
    return reference.times_of(runs, seconds, statistics.median)


# -- the table ------------------------------------------------------------------------------------
def line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def body(row: Row, timed: bool, compiled: bool) -> str:
    total = len(row.touching)
    done = f"{total - len(row.left)} of {total} ({row.compiled:.0%})"
    cells: list[object] = [row.name, done, row.segments, row.programs, row.kernels, row.calls]
    cells.append(f"{row.first:.1f}")
    if timed:
        cells.append("-" if row.guards is None else f"{row.guards * 1e6:.0f}")
        others = ("eager", "torch.compile") if compiled else ("eager",)
        cells += [f"{row.took[other] / row.took['astjit']:.2f}" for other in others]
    return line(*cells, "; ".join(row.faults).replace("|", "\\|"))


def head(timed: bool, compiled: bool) -> tuple[str, str]:
    columns = [*HEAD, *(TIMED if timed else ()), *(["x torch.compile"] if compiled else [])]
    return table(*columns, "faults")


def summary(rows: Sequence[Row]) -> list[str]:
    """How much is compiled in all, and which models are not whole."""
    touched = sum(len(row.touching) for row in rows)
    left = sum(len(row.left) for row in rows)
    cut = [row.name for row in rows if row.segments != 1]
    low = [row.name for row in rows if row.compiled < WANTED]
    return [
        "",
        f"{len(rows)} models; {touched - left} of {touched} statements that touch tensors are "
        f"compiled ({(1 - left / max(1, touched)):.1%}).",
        f"Not captured whole: {', '.join(cut) or 'none'}.",
        f"Below {WANTED:.0%}: {', '.join(low) or 'none'}.",
    ]


def shown(row: Row) -> list[str]:
    """The statements of a model that Python runs."""
    library = re.compile(r".*/(site-packages|benchmarks)/")
    places = sorted((library.sub("", file), at) for file, at in row.left)
    return [f"    {row.name}: {file}:{at}" for file, at in places]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(MODELS), metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="no times")
    parser.add_argument("--seconds", type=float, default=1.0, help="to time a model for")
    parser.add_argument("--compile", action="store_true", help="torch.compile too")
    parser.add_argument("--left", action="store_true", help="the statements that Python runs")
    parser.add_argument("--write", action="store_true", help=f"into {RESULTS.name}")
    asked = parser.parse_args(arguments)
    if wrong := set(asked.names) - set(MODELS):
        parser.error(f"no model is called {', '.join(sorted(wrong))}")
    timed, compiled = not asked.quick, asked.compile and not asked.quick
    lines = list(head(timed, compiled))
    print(*lines, sep="\n", flush=True)
    rows = []
    for name in asked.names:
        rows.append(measure(name, asked.seconds if timed else 0.0, compiled))
        lines.append(body(rows[-1], timed, compiled))
        print(lines[-1], flush=True)
    lines += summary(rows)
    print(*summary(rows), sep="\n", flush=True)
    if asked.left:
        print("", *(text for row in rows for text in shown(row)), sep="\n")
    if asked.write:
        write(lines)
    return int(any(row.faults for row in rows))


def write(lines: Sequence[str]) -> None:
    """The results, with when and where they were found."""
    today = datetime.date.today().isoformat()
    title = "# Models of transformers and plain PyTorch, compiled without edits"
    where = f"`python benchmarks/corpus.py --write`, {today}; {reference.machine()}."
    RESULTS.write_text("\n".join([title, "", where, "", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
