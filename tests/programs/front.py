"""Random programs for the front end alone: captured, passed and guarded, then run op by op.

Nothing is fused and no kernel is written, which nearly halves the time that a program takes.
"""

from functools import partial

from astjit import compiler
from astjit.config import Config
from astjit.frontend.reads import Reads
from astjit.frontend.segments import Segment, lower
from astjit.fusion.kernel import Parts
from astjit.passes.pipeline import run
from astjit.runtime.entry import Loaded
from astjit.runtime.host import HostWriter
from astjit.runtime.load import _interpret, _made, source_line
from astjit.runtime.program import Program


def front_only() -> None:
    """From now on, compilation ends after the passes in this process."""
    compiler.load_call = _loaded


def _loaded(segment: Segment, config: Config) -> Loaded:
    reads = Reads()
    function = lower(segment, reads, config)
    run(function, config)
    writer = HostWriter(function, reads, source_line)
    host = writer.write_interpreted(partial(_interpret, function))
    made = Program(function, Parts((), ()), reads, "cpu", host, None)
    return _made(made, host, {}, lambda: ())
