"""Compiles many chains at once: every kernel of all of them in one C++ unit (decision D27)."""

import ctypes
import linecache
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from astjit.codegen.emit import cpu_unit
from astjit.compiler import Segment, build_call
from astjit.config import Config
from astjit.fusion.schedule import schedule
from astjit.runtime import load
from astjit.runtime.binding import binding_text, bound
from astjit.runtime.host import HostWriter
from astjit.runtime.program import Program
from astjit.runtime.units import build_apart, cpu_library
from astjit.targets import cxx
from tests.chains.draw import NAMES, Chain


@dataclass(slots=True)
class Made:
    """A chain and what is compiled of it.

    Attributes:
        some: the function that returns its results, and later its program.
        every: the one that returns the value of every statement.
    """

    chain: Chain
    some: Any = None
    every: Any = None


def functions(chains: Sequence[Chain], both: bool) -> list[Made]:
    """The functions of chains; of an exact one its results do, of another every value, or both."""
    wanted = {}
    for chain in chains:
        if both or chain.exact:
            wanted[chain.name] = chain.source(chain.name, chain.results)
        if both or not chain.exact:
            every = tuple(each.target for each in chain.statements)
            wanted[f"{chain.name}_all"] = chain.source(f"{chain.name}_all", every)
    source, file = "\n\n".join(wanted.values()), f"<{chains[0].name} to {chains[-1].name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    world = dict(NAMES)
    exec(compile(source, file, "exec"), world)
    return [Made(c, world.get(c.name), world.get(f"{c.name}_all")) for c in chains]


def built(function: Callable, chain: Chain) -> Program:
    """The program for a chain's first arguments."""
    arguments = dict(zip(chain.parameters, chain.inputs[0], strict=True))
    return build_call(Segment(function, arguments), Config(target="cpu"))


def loaded(programs: Sequence[Program], options: Sequence[str] = ()) -> list[Callable[..., object]]:
    """The host functions of programs whose kernels lie in one unit, built with more options."""
    kernels = [group.kernel for made in programs for group in made.groups]
    unit = cpu_unit([(k, schedule(k, "cpu", {}, 1)) for k in kernels], load.source_line, "")
    entries = list(unit.entries.values())
    assert len(entries) == len(kernels), "two kernels of one name"
    code = _library(unit.source + binding_text(entries), options) if entries else None
    found = []
    for made in programs:
        host = HostWriter(made.function, made.reads, load.source_line).write(
            made.parts, unit.entries
        )
        callables = {
            name: bound(code, unit.entries[group.kernel.name])
            for name, group in host.kernels.items()
        }
        found.append(load._made(made, host, callables, lambda: ()).run)
    return found


def _library(text: str, options: Sequence[str]) -> ctypes.CDLL:
    """The library of a text that is far larger than that of one program."""
    usual, cxx.LIMIT = cxx.LIMIT, 900.0
    try:
        return build_apart(text, options) if options else cpu_library(text).code
    finally:
        cxx.LIMIT = usual
