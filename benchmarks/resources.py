"""What NVRTC makes of the CUDA kernels, without a GPU: registers, spills, shared memory, accesses.

    python benchmarks/resources.py [--out benchmarks/results/resources.md] [name ...]

Each workload in the variants of some row lengths (the shortest of each), float32 and bfloat16, for
every architecture that generated kernels are checked for. Accesses to global memory are counted in
the machine code by nvdisasm (`pip install nvidia-cuda-nvdisasm`), without which those columns stay
empty: "4 x 128" is four instructions of 128 bits. Calls are the slow paths of IEEE divisions and
the like.
"""

import argparse
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from workloads import WORKLOADS

import astjit
from astjit.targets.nvrtc import ARCHES, Resources, compile_cuda, nvrtc_version

LENGTHS = (64, 512, 4096, 8192, 50256)
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
NAMES = ("bias_gelu", "swiglu", "softmax", "log_softmax", "layer_norm", "rms_norm")
HEAD = (
    *("kernel", "dtype", "variant", "arch", "registers", "stack", "spills", "shared"),
    *("loads", "stores", "local", "calls"),
)


@dataclass(frozen=True, slots=True)
class Code:
    """Instructions of a kernel.

    Attributes:
        loads: of global memory, how many by bits.
        stores: likewise.
        local: accesses to local memory.
        calls: of subroutines.
    """

    loads: Counter[int]
    stores: Counter[int]
    local: int
    calls: int


def disassembler() -> str | None:
    """nvdisasm of the PATH, or of the package that pip installs."""
    beside = Path(torch.__file__).parents[1] / "nvidia" / "cu13" / "bin" / "nvdisasm"
    return shutil.which("nvdisasm") or (str(beside) if beside.exists() else None)


def disassembled(cubin: bytes, tool: str) -> dict[str, list[str]]:
    """The instructions of each kernel of an image, without predicates."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run([tool, "-c", file.name], capture_output=True, text=True, check=True)
    sections = re.split(r"^\.text\.(\w+):$", done.stdout, flags=re.MULTILINE)
    instruction = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(.*?) ;", re.MULTILINE)
    return {
        name: instruction.findall(code)
        for name, code in zip(sections[1::2], sections[2::2], strict=True)
    }


def code_of(instructions: list[str]) -> Code:
    """What is counted of them."""
    return Code(
        Counter(bits(i) for i in instructions if i.startswith("LDG")),
        Counter(bits(i) for i in instructions if i.startswith("STG")),
        sum(i.startswith(("LDL", "STL")) for i in instructions),
        sum(i.startswith("CALL") for i in instructions),
    )


def bits(instruction: str) -> int:
    """The width of an access: `LDG.E.128.CONSTANT` moves 128 bits, `LDG.E.U16` 16, `LDG.E` 32."""
    widths = re.findall(r"\.(?:U|S)?(8|16|64|128|256)\b", instruction.split()[0])
    return int(widths[-1]) if widths else 32


def widths(counted: Counter[int]) -> str:
    return ", ".join(f"{n} x {width}" for width, n in sorted(counted.items(), reverse=True))


def rows(names: Sequence[str], arches: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Lines of the table: kernels in the variants of LENGTHS, each variant once."""
    tool = disassembler()
    for name in names:
        for dtype, torch_dtype in DTYPES.items():
            done = set()
            function = astjit.compile(WORKLOADS[name].function, target="cuda", fullgraph=True)
            for cols in LENGTHS:
                inputs = WORKLOADS[name].inputs(8, cols, torch_dtype)
                (kernel,) = astjit.explain(function, *inputs).kernels
                if kernel.variant in done:
                    continue
                done.add(kernel.variant)
                for arch in arches:
                    built = compile_cuda(kernel.cuda, arch)
                    used = built.resources[kernel.name]
                    code = code_of(disassembled(built.cubin, tool)[kernel.name]) if tool else None
                    yield (name, dtype, kernel.variant, arch, *shown(used, code))


def shown(used: Resources, code: Code | None) -> tuple[str, ...]:
    """The cells of what was found."""
    spills = used.spill_stores + used.spill_loads
    cells = (str(used.registers), str(used.stack), str(spills), str(used.shared))
    if code is None:
        return (*cells, "", "", "", "")
    return (*cells, widths(code.loads), widths(code.stores), str(code.local), str(code.calls))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="name")
    parser.add_argument("--out", type=Path, help="a file besides the screen")
    options = parser.parse_args()
    lines = ["# What NVRTC makes of the CUDA kernels", ""]
    lines += [f"By benchmarks/resources.py with {nvrtc_version()}; aligned buffers.", ""]
    lines += [f"| {' | '.join(HEAD)} |", f"|{'|'.join(' --- ' for _ in HEAD)}|"]
    lines += [f"| {' | '.join(row)} |" for row in rows(options.names, ARCHES)]
    print("\n".join(lines))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
