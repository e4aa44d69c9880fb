import struct

import pytest
import torch

from astjit.fusion.schedule import schedule
from astjit.runtime.load import load, source_line
from astjit.runtime.texts import cuda_text
from astjit.runtime.variants import CudaKernel, alignment, call_variants
from astjit.targets.driver import Launcher
from tests.runtime.made import RMS_NORM, made


class Notes:
    """A driver that writes down launches."""

    def __init__(self):
        self.kernels, self.launches = [], []

    def use_device(self, device):
        pass

    def kernel(self, cubin, name):
        assert cubin[:4] == b"\x7fELF"
        self.kernels.append(name)
        return name, len(self.kernels)

    def allow_shared(self, kernel, device, size):
        pass

    def stream(self, device, handle):
        return handle

    def config(self, grid, block, shared):
        return grid, block, shared

    def launch(self, stream, config, kernel, arguments):
        self.launches.append((config, kernel, list(arguments)))


@pytest.fixture
def notes():
    return Notes()


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [((), 16), ((64, 32), 16), ((64, 8), 8), ((20,), 4), ((6, 16), 2), ((0,), 16)],
)
def test_alignment(numbers, wanted):
    assert alignment(*numbers) == wanted


def rms_kernel(notes):
    (group,) = made(RMS_NORM, "cuda").groups
    return CudaKernel(group.kernel, source_line, 0, Launcher(notes), "sm_90"), group.kernel


def test_arguments_grid_and_block_follow_the_text_and_the_sizes(notes):
    run, kernel = rms_kernel(notes)
    run(0x100, 0x200, 0x300, 0x400, 0x500, 7, 1024, 1e-6)
    ((config, name, arguments),) = notes.launches
    chosen = schedule(kernel, "cuda", {"rows": 7, "cols": 1024}, 16)
    assert (config, name) == (((7, 1), (chosen.threads, 1), 0), ("rms_norm", 1))
    assert arguments[:6] == [0x100, 0x200, 0x300, 0x400, 0x500, 1024]
    # a float parameter takes the low half of the bits of an int
    assert arguments[6] == int.from_bytes(struct.pack("<f", 1e-6), "little")
    assert len(arguments) == 7


def test_a_variant_is_built_once_and_chosen_by_sizes_and_alignment(notes):
    run, kernel = rms_kernel(notes)
    aligned = (0x100, 0x200, 0x300, 0x400, 0x500)
    for pointers, rows, cols in (
        (aligned, 7, 1024),
        (aligned, 9, 1024),
        (aligned, 9, 512),
        ((0x104, *aligned[1:]), 9, 1024),
        (aligned, 9, 1024),
        (aligned, 9, 100_000),
    ):
        run(*pointers, rows, cols, 1e-6)
    sizes = [(1024, 16), (512, 16), (1024, 4), (100_000, 16)]
    wanted = {schedule(kernel, "cuda", {"rows": 9, "cols": n}, a) for n, a in sizes}
    assert set(run.built) == wanted
    assert len(notes.kernels) == len(run.origins) == len(wanted) >= 3
    ran = [kernel for _, kernel, _ in notes.launches]
    assert ran[0] == ran[1] == ran[4] != ran[3]
    assert len(ran) == 6


def test_no_rows_launch_nothing(notes):
    run, _ = rms_kernel(notes)
    run(0, 0, 0, 0, 0, 0, 1024, 1e-6)
    assert notes.launches == notes.kernels == []


def test_a_program_launches_through_the_driver(notes):
    # the types say "cpu", so that CPU tensors pose as the device's
    loaded = load(made(RMS_NORM, "cuda"), Launcher(notes))
    x, residual, w = torch.randn(5, 64), torch.randn(5, 64), torch.randn(64)
    h, y = loaded.run(x, residual, w, 1e-6)
    ((_, name, arguments),) = notes.launches
    assert name == ("rms_norm", 1)
    assert arguments[:6] == [t.data_ptr() for t in (x, residual, w, h, y)] + [64]
    assert [count for _, count in loaded.origins()] == [1]


def test_the_variants_of_a_call_need_no_device():
    program = made(RMS_NORM, "cuda")
    x, residual, w, _ = program.function.params
    sizes = {"x0": 7, "x1": 1024}
    ((kernel, chosen),) = call_variants(program.groups, sizes, {x: 64, residual: 128, w: 256})
    assert chosen == schedule(kernel, "cuda", {"rows": 7, "cols": 1024}, 16)
    ((_, other),) = call_variants(program.groups, sizes, {x: 64, residual: 132, w: 256})
    assert other == schedule(kernel, "cuda", {"rows": 7, "cols": 1024}, 4)
    assert "rms_norm(" in cuda_text(program, sizes, {}, "sm_80").kernels
