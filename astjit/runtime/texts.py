"""The text of each kernel of a program alone, for people who ask about one."""

from collections.abc import Mapping

from astjit.codegen.emit import cpu_unit, cuda_unit
from astjit.codegen.signature import Text
from astjit.fusion.schedule import schedule
from astjit.fusion.split import launches
from astjit.ir.value import Value
from astjit.runtime.load import source_line
from astjit.runtime.program import Program, Texts
from astjit.runtime.variants import call_variants
from astjit.targets.cxx import flags


def cuda_text(
    program: Program, sizes: Mapping[str, int], pointers: Mapping[Value, int], arch: str
) -> Text:
    """All kernels of a call in the variants that it takes, as one text."""
    variants = call_variants(program.groups, sizes, pointers)
    return cuda_unit([one for v in variants for one in launches(*v)], source_line, arch)


def kernel_texts(
    program: Program, sizes: Mapping[str, int], pointers: Mapping[Value, int], arch: str
) -> dict[str, Texts]:
    """The text of each kernel for a call, by the kernel's name."""
    found = {}
    for kernel, chosen in call_variants(program.groups, sizes, pointers):
        cpp = cpu_unit([(kernel, schedule(kernel, "cpu", {}, 1))], source_line, " ".join(flags()))
        cuda = cuda_unit(launches(kernel, chosen), source_line, arch)
        words = [chosen.variant, f"{chosen.threads * chosen.rows} threads", f"x{chosen.vector}"]
        found[kernel.name] = Texts(cpp.kernels, cuda.source, ", ".join(words))
    return found
