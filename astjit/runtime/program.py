"""What a specialisation runs: a readable host function, and the kernels it launches (decision D9).

A Program is text and plain records, so that it can be shown, compared and kept. It depends neither
on alignment nor on row lengths: CUDA variants do, and are chosen at each launch.
"""

from dataclasses import dataclass

from astjit.codegen.signature import Text
from astjit.frontend.reads import Reads
from astjit.fusion.kernel import Group, LibraryCall, Parts, is_free
from astjit.ir.function import Function
from astjit.runtime.host import HostText
from astjit.targets.table import TARGETS
from astjit.types.tensor import TensorType


@dataclass(frozen=True, slots=True)
class Program:
    """One specialisation of a function.

    Attributes:
        function: the SSA after all passes.
        parts: what it is cut into.
        reads: what capture read, and how results return.
        target: the name of the target of its kernels.
        host: the host function.
        unit: on the CPU the C++ text of all kernels; None when there are none.
    """

    function: Function
    parts: Parts
    reads: Reads
    target: str
    host: HostText
    unit: Text | None

    @property
    def groups(self) -> list[Group]:
        """The parts that are kernels."""
        return [part for part in self.parts.parts if isinstance(part, Group)]

    def cpp(self) -> str:
        """The C++ text of the kernels, "" when there are none."""
        return "" if self.unit is None else str(self.unit.source)

    @property
    def worthless(self) -> bool:
        """Whether all that it does to tensors costs nothing: there is no kernel and no call."""
        return all(isinstance(p, LibraryCall) and is_free(p.node) for p in self.parts.parts)

    @property
    def misplaced(self) -> str:
        """A tensor that kernels are given and cannot reach, "" when there is none."""
        device = TARGETS[self.target].device
        for group in self.groups:
            for value in (*group.inputs, *group.outputs):
                kind = value.type
                if isinstance(kind, TensorType) and kind.device.partition(":")[0] != device:
                    name = value.name or "a tensor"
                    return f"{name} is on {kind.device}, the kernels are for {self.target}"
        return ""


@dataclass(frozen=True, slots=True)
class Texts:
    """One kernel in both languages.

    Attributes:
        cpp: its C++.
        cuda: a CUDA text that compiles alone, in the variant that a call takes.
        variant: that variant in words.
    """

    cpp: str
    cuda: str
    variant: str
