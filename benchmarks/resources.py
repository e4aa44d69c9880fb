"""What NVRTC makes of the CUDA kernels, without a GPU: registers, spills, shared memory, accesses.

    python benchmarks/resources.py [--out benchmarks/results/resources.md] [name ...]

Each workload in the variants of some row lengths (the shortest of each), float32 and bfloat16, for
every architecture that generated kernels are checked for; those of OTHERS, which reduce columns or
everything or read at computed indices, at sizes of their own. Accesses to global memory are counted
in the machine code by nvdisasm (`pip install nvidia-cuda-nvdisasm`), without which those columns
stay empty: "4 x 128" is four instructions of 128 bits. Calls are the slow paths of IEEE divisions
and the like.
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
import torch.nn.functional as F
from workloads import WORKLOADS, Workload

import astjit
from astjit.targets.nvrtc import ARCHES, Resources, compile_cuda, nvrtc_version

LENGTHS = (64, 512, 4096, 8192, 50256)
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
NAMES = ("bias_gelu", "swiglu", "softmax", "log_softmax", "layer_norm", "rms_norm")
HEAD = (
    *("kernel", "kind", "dtype", "variant", "arch", "registers", "stack", "spills", "shared"),
    *("loads", "stores", "local", "calls"),
)


def square_sum0(x: torch.Tensor) -> torch.Tensor:
    return (x * x).sum(0)


def softmax0(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, 0)


def sin_cos_sum(x: torch.Tensor) -> torch.Tensor:
    return (torch.sin(x) * torch.cos(x)).sum()


def logsumexp_mean(x: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(x, -1).mean()


def embedding_norm(
    index: torch.Tensor, table: torch.Tensor, position: torch.Tensor, weight: torch.Tensor
) -> torch.Tensor:
    h = F.embedding(index, table) + position
    return F.layer_norm(h, (h.shape[-1],), weight)


def whole(rows: int, cols: int, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    return (torch.zeros(rows, cols, dtype=dtype),)


def tables(rows: int, cols: int, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    index = torch.zeros(rows, dtype=torch.int64)
    return (
        index,
        *(torch.zeros(n, cols, dtype=dtype) for n in (16, rows)),
        torch.zeros(cols, dtype=dtype),
    )


COLUMNS = ((64, 4096), (4096, 4096), (1 << 20, 8))
OTHERS = {
    "square_sum0": (Workload(square_sum0, whole), COLUMNS),
    "softmax0": (Workload(softmax0, whole), COLUMNS),
    "sin_cos_sum": (Workload(sin_cos_sum, whole), ((64, 4096),)),
    "logsumexp_mean": (Workload(logsumexp_mean, whole), ((64, 4096), (64, 50256))),
    "softmax_shared": (WORKLOADS["softmax"], ((4, 1 << 20),)),
    "embedding_norm": (Workload(embedding_norm, tables), ((64, 512), (64, 4096))),
}


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
        sizes = tuple((8, cols) for cols in LENGTHS)
        workload, sizes = OTHERS.get(name) or (WORKLOADS[name], sizes)
        for dtype, torch_dtype in DTYPES.items():
            done = set()
            function = astjit.compile(workload.function, target="cuda", fullgraph=True)
            for extents in sizes:
                inputs = workload.inputs(*extents, torch_dtype)
                (kernel,) = astjit.explain(function, *inputs).kernels
                if kernel.variant in done:
                    continue
                done.add(kernel.variant)
                for arch in arches:
                    built = compile_cuda(kernel.cuda, arch)
                    codes = disassembled(built.cubin, tool) if tool else {}
                    for one in sorted(built.resources):  # a launch for each pass of shared rows
                        shown_as = name + one.removeprefix(kernel.name)
                        code = code_of(codes[one]) if tool else None
                        cells = shown(built.resources[one], code)
                        yield (shown_as, kernel.kind, dtype, kernel.variant, arch, *cells)


def shown(used: Resources, code: Code | None) -> tuple[str, ...]:
    """The cells of what was found."""
    spills = used.spill_stores + used.spill_loads
    cells = (str(used.registers), str(used.stack), str(spills), str(used.shared))
    if code is None:
        return (*cells, "", "", "", "")
    return (*cells, widths(code.loads), widths(code.stores), str(code.local), str(code.calls))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=[*NAMES, *OTHERS], metavar="name")
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
