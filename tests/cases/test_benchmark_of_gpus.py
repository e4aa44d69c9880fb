"""benchmarks/gpu.py runs without a GPU: on the CPU target, and launching into the emulator."""

import sys
import time
from pathlib import Path

import pytest
import torch

from tests.emulator.machine import EmulatedDriver, posing

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import gpu
from workloads import WORKLOADS


def report(folder):
    (file,) = folder.glob("gpu-dry-*.md")
    return file.read_text(encoding="utf-8")


def rows_of(text, heading):
    """The cells of the table below a heading."""
    part = text.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_row_is_a_workload():
    assert {row.name for row in gpu.ROW_TABLE} <= set(WORKLOADS)


def test_a_dry_run_writes_a_report_without_times(tmp_path):
    bench = gpu.measure(True, 8.0, tmp_path, ("bias_gelu", "rms_norm"))
    assert (bench.failures, bench.left) == ([], [])
    text = report(tmp_path)
    kinds = {(kind, dtype) for kind, _, dtype, *_ in rows_of(text, "Values")}
    assert kinds == {(k, d) for k in ("pointwise", "row") for d in ("f32", "bf16")}
    assert sum(int(count) for *_, count, _ in rows_of(text, "Values")) == 2 * 2 * 2 * 4
    times = rows_of(text, "Bandwidth") + rows_of(text, "Host time of a call")
    assert len(times) == sum(r.name in bench.names for r in gpu.ROW_TABLE) + 2
    assert {cell for _, *cells in times for cell in cells} == {"-", ""}


def test_values_of_cuda_kernels_in_the_emulator():
    def values(driver):
        deadline = time.monotonic() + 600
        bench = gpu.Bench(("softmax",), "cpu", "cuda", True, deadline)
        with torch.no_grad(), posing(driver):
            torch.manual_seed(0)
            gpu.values(bench)
        return bench

    notes, driver = EmulatedDriver(executes=False), EmulatedDriver()
    values(notes)
    notes.compile_all()
    assert values(driver).failures == []
    assert len(driver.launches) == 2 * 2 * 4
    assert [launched.errors for launched in driver.launches if launched.errors] == []


@pytest.fixture
def clocked(monkeypatch):
    """torch.cuda as if each call took 1 ms on the device and 2 us of the host's time."""
    marks = iter(range(10**6))

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            self.at = next(marks)

        def elapsed_time(self, other):
            return other.at - self.at

    for name, value in {
        "Event": Event,
        "synchronize": lambda: None,
        "_sleep": lambda cycles: None,
        "mem_get_info": lambda: (2**30, 2**30),
    }.items():
        monkeypatch.setattr(torch.cuda, name, value)
    monkeypatch.setattr(gpu.time, "perf_counter", (i * 2e-4 for i in range(100)).__next__)


def test_times(clocked):
    calls = []
    inputs = [(torch.zeros(1),), (torch.ones(1),)]
    assert gpu.seconds_of(lambda x: calls.append(x), inputs, dry=False) == pytest.approx(1e-3)
    assert [x.item() for x in calls[:4]] == [0, 1, 0, 0]  # three to warm up, then in turn
    assert gpu.host_time(lambda: None, dry=False) == pytest.approx(2.0)
    assert gpu.fits(gpu.Row("softmax", "bf16", 32768, 1024))
    assert not gpu.fits(gpu.Row("softmax", "bf16", 32768, 4096))


def test_a_row_without_time_is_named(tmp_path):
    bench = gpu.measure(True, 0.0, tmp_path, ("softmax",))
    assert "softmax f32 3 x 33 dense" in bench.left
    assert "- softmax f32 3 x 33 dense" in report(tmp_path)


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        (lambda t: t, True),
        (lambda t: t * (1 + 1e-7), True),
        (lambda t: t * 1.001, False),
        (lambda t: t.double(), False),
        (lambda t: t.t().contiguous().t(), False),
        (lambda t: t[:2], False),
        (lambda t: t.nan_to_num(), False),
    ],
)
def test_what_counts_as_different(change, holds):
    eager = torch.randn(3, 5)
    eager[1, 1] = float("nan")
    assert (gpu.error_of(change(eager), eager, eager.double()) <= 1) is holds


@pytest.mark.parametrize("layout", gpu.LAYOUTS)
def test_layouts(layout):
    x = torch.randn(14, 10)
    made = gpu.laid(x, layout)
    if layout == "special":
        assert made.isnan().any()
        assert (made == float("inf")).any()
        return
    assert torch.equal(made, x)
    assert made.stride() == ((20, 2) if layout == "strided" else (10, 1))
    assert made.storage_offset() == (1 if layout == "offset" else 0)
