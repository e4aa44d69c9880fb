"""What capture costs in a warm process: the first call, and the same call captured again.

    python benchmarks/capture.py [--repeat 5] [--profile N] [lines bert]

`lines` is a function of 100 lines with its helpers: arithmetic, attributes, a branch, a loop.
`bert` is a BERT of two layers with random weights; it needs transformers. The table shows
milliseconds of the processor, so that other processes count little:

    source   reading the text, checking it against the running code, rewriting and compiling it
    run      running the rewritten code, which builds the SSA and the guards
    passes   the passes and the verifier
    fusion   the cutting into kernels
    text     the host function with its guards, and the C++ of the kernels; nothing is built

Each row is a process of its own, in which a small function was captured before. `first` is the
first capture of the case; `again` the least of several later ones, when every source is known;
`torch` what the first call of eager takes in the same process. `loop` is what a million rounds of a
Python loop take, the less of before and after: on another machine, or one with other work to do,
all figures of a row grow as it does.
"""

import argparse
import cProfile
import gc
import importlib
import importlib.util
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from astjit import api, compiler
from astjit.config import Config
from astjit.frontend import hooks
from astjit.frontend.reads import Reads
from astjit.frontend.segments import Segment, lower
from astjit.fusion.group import groups
from astjit.fusion.inplace import in_place
from astjit.passes.pipeline import run
from astjit.runtime.load import program

STAGES = ("source", "run", "passes", "fusion", "text")
HEAD = """
import torch
import torch.nn.functional as F


class Settings:
    def __init__(self):
        self.eps, self.scale, self.cap, self.steps = 1e-6, 0.5, 30.0, 3
        self.gated = True


SETTINGS = Settings()


def norm(x, weight, eps=1e-6):
    mean = x.square().mean(-1, keepdim=True)
    return x * torch.rsqrt(mean + eps) * weight


def capped(x, cap):
    return torch.tanh(x / cap) * cap


def work(x, y, weight):
    cols = x.shape[-1]
    h = x
"""
ROUND = """
    a = h * SETTINGS.scale + y
    b = norm(a, weight, eps=SETTINGS.eps)
    if SETTINGS.gated:
        b = b * torch.sigmoid(a)
    else:
        b = F.gelu(b)
    c = capped(b, cap=SETTINGS.cap)
    for step in range(SETTINGS.steps):
        c = c + y / (step + 1)
    d = torch.where(c > 0, c, -c).clamp(max=float(cols))
    e = (d - d.mean(-1, keepdim=True)).to(torch.float32)
    f, g = torch.exp(-e.abs()), F.silu(e)
    h = (f * g + a).view(x.shape)
"""


def lines() -> tuple[Callable[..., object], tuple[object, ...]]:
    """A function of 100 lines in a file of its own, and its arguments."""
    text = HEAD + ROUND.replace("\n\n", "\n") * 7
    text += "    result = h + x\n    return result * weight\n"
    path = Path(tempfile.mkdtemp()) / "worked.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("worked", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.work, (torch.randn(4, 32), torch.randn(4, 32), torch.randn(32))


def bert() -> tuple[Callable[..., object], tuple[object, ...]]:
    """A BERT of two layers, and token numbers."""
    transformers: Any = importlib.import_module("transformers")  # slow, and not for `lines`
    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
    )
    return transformers.BertModel(config).eval(), (torch.randint(0, 99, (2, 7)),)


def other(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """What is captured before, so that nothing is counted that a process does once."""
    return torch.softmax(x + y, -1) * 2


CASES = {"lines": lines, "bert": bert}


class Clock:
    """Milliseconds of the processor by stage; time in one stage is not time in another."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(STAGES, 0.0)
        self._rewritten_code = hooks.rewritten_code

    def timed(self, stage: str, work: Callable[[], Any], within: str = "") -> Any:
        """What `work` returns; its time is counted, and taken from the stage it lies in."""
        start = time.process_time()
        try:
            return work()
        finally:
            took = (time.process_time() - start) * 1e3
            self.spent[stage] += took
            if within:
                self.spent[within] -= took

    def rewritten_code(self, *given: Any) -> Any:
        """In place of the one of hooks.py."""
        return self.timed("source", lambda: self._rewritten_code(*given), "run")


def capture(segment: Segment, config: Config) -> dict[str, float]:
    """Milliseconds by stage of one capture."""
    clock, reads = Clock(), Reads()
    gc.collect()  # what was there before counts for no stage
    hooks.rewritten_code = clock.rewritten_code
    try:
        function = clock.timed("run", lambda: lower(segment, reads, config))
    finally:
        hooks.rewritten_code = clock._rewritten_code
    clock.timed("passes", lambda: run(function, config))
    target = compiler.own_target(function)
    parts = clock.timed("fusion", lambda: groups(function, target.name, config))
    parts = clock.timed("fusion", lambda: in_place(parts, reads.written(function)))
    clock.timed("text", lambda: program(function, parts, reads, target))
    return clock.spent


def loop() -> float:
    """Milliseconds of a fixed amount of work."""
    start, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number * number
    return (time.process_time() - start) * 1e3


def prepared(function: Callable[..., object], given: tuple[object, ...]) -> tuple[Segment, Config]:
    """What is captured of a call."""
    compiled: Any = api.compile(function)
    if isinstance(function, torch.nn.Module):
        compiled, given, _ = compiled.resolved(given, {})
    record = compiled.__astjit__
    return record.segment(given, {}), record.config


def measure(name: str, repeat: int, profiled: int) -> None:
    """Print the rows of one case."""
    function, given = CASES[name]()
    with torch.no_grad():
        start = time.process_time()
        function(*given)
        eager = (time.process_time() - start) * 1e3
        capture(*prepared(other, (torch.ones(4, 8), torch.ones(4, 8))))
        segment, config = prepared(function, given)
        profile, loops, taken = cProfile.Profile(), [loop()], []
        for at in range(repeat + 1):
            if profiled and not at:
                profile.enable()
            taken.append(capture(segment, config))
            profile.disable()
            loops.append(loop())
    fixed_of = list(map(min, pairwise(loops)))
    again = min(range(1, repeat + 1), key=lambda at: sum(taken[at].values()) / fixed_of[at])
    rows = ((title, taken[at], fixed_of[at]) for title, at in (("first", 0), ("again", again)))
    for title, spent, fixed in rows:
        shown = "".join(f"{spent[stage]:9.1f}" for stage in STAGES)
        total = sum(spent.values())
        captured = spent["source"] + spent["run"]
        print(
            f"{name:8}{title:8}{shown}{captured:9.1f}{total:9.1f}{eager:9.1f}{fixed:9.1f}",
            flush=True,
        )
    if profiled:
        pstats.Stats(profile).sort_stats("tottime").print_stats(profiled)
        pstats.Stats(profile).sort_stats("cumulative").print_stats(profiled)


def main() -> None:
    """Print the table; every case in a fresh process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(CASES), help="which: lines, bert")
    parser.add_argument("--repeat", type=int, default=5, help="captures after the first")
    parser.add_argument("--profile", type=int, default=0, help="show so many costs of the first")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        measure(given.names[0], given.repeat, given.profile)
        return
    head = "".join(f"{h:>9}" for h in (*STAGES, "capture", "total", "torch", "loop"))
    print(f"{'':16}{head}", flush=True)
    for name in given.names:
        options = ["--inside", f"--repeat={given.repeat}", f"--profile={given.profile}", name]
        subprocess.run([sys.executable, __file__, *options], check=True)


if __name__ == "__main__":
    main()
