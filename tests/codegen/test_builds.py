"""NVRTC builds every case in every variant for every architecture: few registers, nothing spilled.

All kernels of an architecture are one text, which is how a Program's kernels are built too.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import pytest

from astjit.codegen.cuda_head import FULL
from astjit.codegen.cuda_lanes import held_dtype
from astjit.codegen.emit import cuda_unit
from astjit.config import Config
from astjit.fusion.group import groups
from astjit.fusion.kernel import Group, Kernel, is_final
from astjit.fusion.schedule import Schedule, schedule
from astjit.fusion.split import launches
from astjit.ir.parser import parse
from astjit.passes.pipeline import run
from astjit.targets.nvrtc import ARCHES
from tests.cuda_builds import machine_code, resources
from tests.fusion.cases import BY_NAME, CASES

DTYPES = ("f32", "bf16")
ROW_VARIANTS = {"warp", "resident", "looped", "split"}
FEW = ("bias_gelu_tanh", "softmax", "layer_norm")


@dataclass(frozen=True)
class Built:
    """A variant under a name of its own."""

    kernel: Kernel
    schedule: Schedule

    @property
    def limit(self):
        """Registers per thread. On sm_90, 48 let an SM hold 1280 threads and 64 hold 1024.

        A row in registers takes 32 for its lanes, and as many for what is made of them; where its
        loads are guarded as well, 128 and half the threads are better than spills.
        """
        if self.schedule.variant == "plain":  # exact division and sines of large numbers take some
            return 48
        s = self.schedule
        if s.variant in ("warp", "resident"):
            held = sum(held_dtype(self.kernel, v).itemsize for v in s.kept(self.kernel))
            tight = s.variant == "warp" or not s.aligned
            return 128 if tight and held * s.per_thread * s.vector >= FULL else 64
        return 48 if self.schedule.aligned else 56


def variants(case, dtype):
    """All launches of a case: few and many, short and long rows, aligned and other buffers."""
    function = case.function(dtype)
    run(function, Config())
    found = {}
    for group in groups(function, "cuda", Config()).parts:
        if not isinstance(group, Group):
            continue
        kernel = group.kernel
        shapes = [(3, cols) for cols in (500, 1000, 4096, 8192, 500_000)] + [(3000, 50256)]
        for (rows, cols), alignment in product(shapes, (16, kernel.buffers[0].dtype.itemsize)):
            sizes = dict.fromkeys(kernel.axes, rows) | {kernel.axes[-1]: cols}
            chosen = schedule(kernel, "cuda", sizes, alignment)
            name = f"{case.name}_{dtype}_{chosen.variant}{chosen.per_thread}x{chosen.threads}"
            name += "" if chosen.aligned else "_unaligned"
            for part, of_part in launches(replace(kernel, name=name), chosen):
                found[part.name] = Built(part, of_part)
    return found


@cache
def every_variant(names=tuple(BY_NAME)):
    """All variants of these cases by name."""
    cases = [c for c in CASES if c.name in names]
    return {n: b for c in cases for d in DTYPES for n, b in variants(c, d).items()}


def parts(names=tuple(BY_NAME)):
    """All variants as lists of pairs: those of FEW, which more tests ask for, and the others."""
    few, others = [], []
    for name, built in every_variant(names).items():
        mine = (
            few if name.startswith(tuple(f"{one}_{d}_" for one in FEW for d in DTYPES)) else others
        )
        mine.append((built.kernel, built.schedule))
    return [pairs for pairs in (few, others) if pairs]


def check(arch, names=tuple(BY_NAME)):
    found = resources(parts(names), arch)
    built = every_variant(names)
    assert set(found) == set(built)
    over = {}
    for name, used in found.items():
        if (used.stack, used.spill_stores, used.spill_loads) != (0, 0, 0):
            over[name] = used
        if used.registers > built[name].limit:
            over[name] = used
    assert not over


def narrow_accesses(code):
    """Loads and stores of global memory in machine code that move less than 16 bytes."""
    moves = [line for line in code if re.search(r"\b(LDG|STG)", line)]
    return [line for line in moves if ".128" not in line]


def partial_accesses(name):
    """Loads and stores of the one number that a block of several leaves of a row, as written."""
    built = every_variant(FEW)[name]
    text = cuda_unit([(built.kernel, built.schedule)], lambda _: "", "sm_90").kernels
    return len(re.findall(r"\bparts_reduce<", text)), len(re.findall(r"_part\[.*\] = ", text))


def local_accesses(code):
    return [line for line in code if re.search(r"\b(LDL|STL)", line)]


@pytest.fixture(scope="module")
def code():
    """The instructions of each of FEW's kernels on sm_90."""
    (few,) = parts(FEW)
    return machine_code(few, "sm_90")


def test_every_case_is_in_the_matrix():
    built = every_variant()
    for case in CASES:
        for dtype in DTYPES:
            mine = {
                n: b.schedule for n, b in built.items() if n.startswith(f"{case.name}_{dtype}_")
            }
            made = next(b.kernel for n, b in built.items() if n in mine)
            without = {"warp", "split"} if any(map(is_final, made.body.nodes)) else set()
            assert {s.variant for s in mine.values()} == (
                {"plain"} if case.kind != "row" else ROW_VARIANTS - without
            )
            assert False in {s.aligned for s in mine.values()}


@pytest.mark.slow
def test_a_few_kernels_on_one_architecture():
    check("sm_90", FEW)


def test_reductions_of_every_type():
    ops = [("any", "bool"), ("all", "bool")]
    ops += [(op, d) for op in ("amax", "amin") for d in ("bool", "u8", "i16", "i64", "f64")]
    pairs = []
    for op, dtype in ops:
        head = f"fn f(%x: {dtype}[rows, cols]):"
        text = f"{head}\n  %y = {op} %x {{dim=(1,), keepdim=False}}\n  return %y\n"
        (group,) = groups(parse(text), "cuda", Config()).parts
        kernel = replace(group.kernel, name=f"{op}_{dtype}")
        pairs.append((kernel, schedule(kernel, "cuda", {"rows": 3, "cols": 64}, 16)))
    assert set(resources([pairs], "sm_90")) == {f"{op}_{dtype}" for op, dtype in ops}


def test_a_limit_can_be_missed(monkeypatch):
    monkeypatch.setattr(Built, "limit", 16)
    with pytest.raises(AssertionError, match="Resources"):
        check("sm_90", FEW)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_every_case_in_every_variant(arch):
    check(arch)


def test_aligned_variants_move_16_bytes_at_a_time(code):
    built = every_variant(FEW)
    assert set(code) == set(built)
    whole = [n for n, b in built.items() if b.schedule.aligned]
    assert len(whole) > 15
    for name in whole:
        narrow = narrow_accesses(code[name])
        loads = [line for line in narrow if "LDG" in line]
        assert (len(loads), len(narrow) - len(loads)) == partial_accesses(name), (name, narrow)
        shared = built[name].schedule.variant == "split"
        assert shared == bool(narrow), name
    assert not [n for n in code if local_accesses(code[n])]


@pytest.mark.parametrize("dtype", ["f16", "f64"])
def test_other_dtypes_move_16_bytes_at_a_time_too(dtype):
    """One kernel of each case and variant that holds whole vectors; none keeps local memory."""
    chosen = {}
    for case in (BY_NAME[name] for name in FEW):
        for built in variants(case, dtype).values():
            if built.schedule.aligned and built.schedule.variant != "split":
                chosen.setdefault((case.name, built.schedule.variant), built)
    warps = {"warp"} if dtype == "f16" else set()  # 500 doubles are more than a warp keeps
    assert {variant for _, variant in chosen} == {"plain", "resident", "looped"} | warps
    pairs = [(built.kernel, built.schedule) for built in chosen.values()]
    assert {s.vector for _, s in pairs} == {16 // pairs[0][0].buffers[0].dtype.itemsize}
    for name, lines in machine_code(pairs, "sm_90").items():
        assert [line for line in lines if re.search(r"\b(LDG|STG)", line)], name
        assert not narrow_accesses(lines), name
        assert not local_accesses(lines), name


def test_unaligned_variants_move_single_elements(code):
    built = every_variant(FEW)
    for name in (n for n, b in built.items() if not b.schedule.aligned):
        moves = [line for line in code[name] if re.search(r"\b(LDG|STG)", line)]
        assert moves
        assert narrow_accesses(code[name]) == moves, name
