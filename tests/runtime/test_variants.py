import contextlib
import struct
from dataclasses import replace

import pytest
import torch

from astjit.errors import AstjitWarning, KernelBuildError
from astjit.fusion.schedule import schedule
from astjit.runtime.load import load, source_line
from astjit.runtime.machine import Machine
from astjit.runtime.texts import cuda_text
from astjit.runtime.variants import CudaKernel, alignment, call_variants
from astjit.runtime.workspace import COUNTERS
from astjit.targets.driver import Launcher
from tests.codegen import records
from tests.runtime.made import RMS_NORM, made


class Notes:
    """A driver that writes down launches."""

    def __init__(self):
        self.kernels, self.launches, self.streams = [], [], []

    def use_device(self, device):
        self.device = device

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
        self.streams.append(stream)


@pytest.fixture
def notes():
    return Notes()


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [((), 16), ((64, 32), 16), ((64, 8), 8), ((20,), 4), ((6, 16), 2), ((0,), 16)],
)
def test_alignment(numbers, wanted):
    assert alignment(*numbers) == wanted


def machine(notes, **changes):
    """This machine as if it had a GPU, and torch worked on device 0 and stream 0x50 of each."""
    plain = Machine(
        Launcher(notes),
        arch=lambda device: "sm_90",
        current_device=lambda: 0,
        current_stream=lambda device: 0x50 + device,
    )
    return replace(plain, **changes)


def rms_kernel(notes, device=0, **changes):
    (group,) = made(RMS_NORM, "cuda").groups
    return CudaKernel(group.kernel, source_line, device, machine(notes, **changes)), group.kernel


ALIGNED = (0x100, 0x200, 0x300, 0x400, 0x500)


def test_arguments_grid_and_block_follow_the_text_and_the_sizes(notes):
    run, kernel = rms_kernel(notes)
    run(*ALIGNED, 7, 2048, 1e-6)
    ((config, name, arguments),) = notes.launches
    chosen = schedule(kernel, "cuda", {"rows": 7, "cols": 2048}, 16)
    assert (config, name) == (((7, 1), (chosen.threads, 1), 0), ("rms_norm", 1))
    assert arguments[:6] == [*ALIGNED, 2048]
    # a float parameter takes the low half of the bits of an int
    assert arguments[6] == int.from_bytes(struct.pack("<f", 1e-6), "little")
    assert len(arguments) == 7


def test_a_variant_is_built_once_and_chosen_by_sizes_and_alignment(notes):
    run, kernel = rms_kernel(notes)
    for pointers, rows, cols in (
        (ALIGNED, 7, 1024),
        (ALIGNED, 9, 1024),
        (ALIGNED, 9, 512),
        ((0x104, *ALIGNED[1:]), 9, 1024),
        (ALIGNED, 9, 1024),
        (ALIGNED, 9, 20_000),
    ):
        run(*pointers, rows, cols, 1e-6)
    sizes = [(1024, 16), (512, 16), (1024, 4), (20_000, 16)]
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


def test_a_launch_goes_to_torchs_current_stream(notes):
    run, _ = rms_kernel(notes)
    run(*ALIGNED, 7, 1024, 1e-6)
    assert notes.streams == [0x50]


def test_on_another_device_torch_is_moved_there_and_back(notes):
    """Also while a variant is built: loading makes the device current."""
    torch_device = [0]

    @contextlib.contextmanager
    def on_device(device):
        before, torch_device[0] = torch_device[0], device
        yield
        torch_device[0] = before

    class Moves(Notes):
        def kernel(self, cubin, name):
            assert torch_device == [self.device] == [1]
            return super().kernel(cubin, name)

        def launch(self, *what):
            assert torch_device == [self.device] == [1]
            super().launch(*what)

    moves = Moves()
    run, _ = rms_kernel(moves, 1, on_device=on_device, current_device=lambda: torch_device[0])
    run(*ALIGNED, 7, 1024, 1e-6)
    run(*ALIGNED, 7, 1024, 1e-6)
    assert torch_device == [0]
    assert moves.streams == [0x51] * 2


def test_a_variant_that_does_not_compile_is_told_of_and_tried_once(notes, caplog):
    tried = []

    def image(text, arch):
        tried.append(arch)
        raise KernelBuildError("nvrtc", "", "no such thing")

    run, _ = rms_kernel(notes, image=image)
    with (
        pytest.warns(AstjitWarning, match="rms_norm for these sizes run eagerly"),
        pytest.raises(KernelBuildError, match="no such thing"),
    ):
        run(*ALIGNED, 7, 1024, 1e-6)
    with pytest.raises(KernelBuildError, match="no such thing"):
        run(*ALIGNED, 8, 1024, 1e-6)
    assert tried == ["sm_90"]
    assert notes.launches == []
    assert caplog.text.count("no such thing") == 1


def test_a_program_launches_through_the_driver(notes):
    # the types say "cpu", so that CPU tensors pose as the device's
    loaded = load(made(RMS_NORM, "cuda"), machine(notes))
    x, residual, w = torch.randn(5, 64), torch.randn(5, 64), torch.randn(64)
    h, y = loaded.run(x, residual, w, 1e-6)
    ((_, name, arguments),) = notes.launches
    assert name == ("rms_norm", 1)
    assert arguments[:7] == [t.data_ptr() for t in (x, residual, w, h, y)] + [5, 64]
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


def test_a_workspace_is_given_to_kernels_whose_blocks_meet(notes):
    kernel = records.sin_cos_sum()
    asked = []

    def workspace(*given):
        asked.append(given)
        return 0x8000

    run = CudaKernel(kernel, source_line, 0, machine(notes, workspace=workspace))
    run(0x100, 0x200, 10_000)
    run(0x100, 0x200, 5_000_000)
    (small, _, first), (large, _, second) = notes.launches
    assert (small[0], large[0]) == ((3, 1), (512, 1))
    assert first[:3] == [0x100, 0x200, 10_000]
    assert second[:3] == [0x100, 0x200, 5_000_000]
    assert asked == [(0, 0x50, 3 * 8), (0, 0x50, 512 * 8)]  # device, stream, bytes
    assert first[3:] == second[3:] == [0x8000 + COUNTERS, 0x8000]


def test_rows_that_blocks_share_are_launched_pass_by_pass(notes):
    asked = []

    def workspace(*given):
        asked.append(given)
        return 0x8000

    run = CudaKernel(records.softmax(), source_line, 0, machine(notes, workspace=workspace))
    for _ in range(2):
        run(0x100, 0x200, 4, 1_000_000)
    assert asked == [(0, 0x50, 2 * 264 * 8)] * 2
    assert notes.kernels == ["softmax_pass1", "softmax_pass2", "softmax_pass3"]
    row_max, row_sum = 0x8000 + COUNTERS, 0x8000 + COUNTERS + 264 * 8
    given = [(name, *arguments) for _, (name, _), arguments in notes.launches]
    assert given[:3] == given[3:]
    assert given[:3] == [
        ("softmax_pass1", 0x100, 1_000_000, row_max),
        ("softmax_pass2", 0x100, 1_000_000, row_max, row_sum),
        ("softmax_pass3", 0x100, 0x200, 1_000_000, row_max, row_sum),
    ]
    assert {config for config, _, _ in notes.launches} == {((4, 66), (512, 1), 0)}


def test_columns_leave_what_a_tile_holds(notes):
    asked = []

    def workspace(*given):
        asked.append(given)
        return 0x8000

    run = CudaKernel(records.square_sum0(), source_line, 0, machine(notes, workspace=workspace))
    run(0x100, 0x200, 8, 1_000_000)
    ((config, _, arguments),) = notes.launches
    assert config == ((1, 264), (2, 128), 0)
    assert arguments == [0x100, 0x200, 8, 1_000_000, 0x8000 + COUNTERS, 0x8000]
    assert asked == [(0, 0x50, 264 * 2 * 4 * 8)]  # blocks, vectors of a tile, lanes, bytes


def test_a_launch_that_fails_is_told_of_once(notes, caplog):
    class Broken(Notes):
        def launch(self, *what):
            raise RuntimeError("an illegal address")

    run, _ = rms_kernel(Broken())
    told = "runs eagerly: rms_norm cannot run: RuntimeError: an illegal address"
    with (
        pytest.warns(AstjitWarning, match=told),
        pytest.raises(RuntimeError, match="illegal address"),
    ):
        run(*ALIGNED, 7, 1024, 1e-6)
    with pytest.raises(RuntimeError, match="illegal address"):  # and no second warning
        run(*ALIGNED, 7, 1024, 1e-6)
    assert caplog.text.count("illegal address") == 1


def test_more_rows_than_fit_are_told_of(notes):
    run, _ = rms_kernel(notes)
    with (
        pytest.warns(AstjitWarning, match="rms_norm counts at most"),
        pytest.raises(OverflowError),
    ):
        run(*ALIGNED, 2**31, 64, 1e-6)
