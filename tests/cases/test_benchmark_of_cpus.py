"""benchmarks/cpu.py runs, quickly, on every function, and tells what it should."""

import math
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import cpu
from breadth import FUNCTIONS
from workloads import WORKLOADS, Workload


@pytest.fixture(autouse=True)
def one_thread():
    """Small sizes: waking threads would take longer than the work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def pool(monkeypatch):
    """In place of the process's pool: what is asked of it."""

    class Asked(list):
        started = False

        def prepare(self, largest):
            self.append(largest)
            return self

        def join(self):
            self.append("joined")

    asked = Asked()
    monkeypatch.setattr(cpu, "POOL", asked)
    return asked


@pytest.fixture
def added(monkeypatch):
    """Adds a function of one tensor to the table, under a name."""

    def add(name, function, inputs=lambda r, c, d: (torch.randn(r, c).to(d),)):
        monkeypatch.setitem(FUNCTIONS, name, Workload(function, inputs))

    return add


def rows_of(text):
    """The cells of the first table."""
    lines = text.split("\n| function")[1].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@pytest.mark.filterwarnings("ignore:kernels run through PyTorch")
def test_every_function_runs_and_equals_eager(monkeypatch, capsys):
    monkeypatch.setenv("CXX", "/nonexistent")
    assert cpu.main(["--quick"]) == 0
    *rows, mean = rows_of(capsys.readouterr().out)
    assert [name for name, *_ in rows] == list(FUNCTIONS)
    assert mean[0] == f"geometric mean of {len(FUNCTIONS)}"
    assert all(float(row[2]) > 0 and float(row[5]) > 0 for row in rows)
    assert not [row[-1] for row in rows if "runs eagerly" in row[-1]]
    assert [row[-1] for row in rows if row[0] in WORKLOADS] == ["1"] * len(WORKLOADS)


def test_enough_functions():
    assert len(FUNCTIONS) >= 30


@pytest.mark.parametrize("size", cpu.SHAPES)
def test_the_largest_tensor_holds_the_elements_of_the_size(size):
    wanted = math.prod(cpu.SHAPES[size])
    for name, work in FUNCTIONS.items():
        with torch.device("meta"):
            _, shape = cpu.moved(work.function, work.inputs(*cpu.SHAPES[size], torch.float32))
        assert 0.96 * wanted <= math.prod(shape) <= wanted, name


def test_a_compiled_run_names_what_is_asked_for(capsys, pool):
    assert cpu.main(["--quick", "swiglu"]) == 0
    assert pool == [1 << 30, "joined"]
    text = capsys.readouterr().out
    assert [row[0] for row in rows_of(text)] == ["swiglu", "geometric mean of 1"]
    assert "Not one kernel alone: none." in text


def test_a_wrong_answer_is_a_fault():
    x = torch.randn(4, 8)
    assert not cpu.differs(torch.exp, torch.exp, (x,))
    assert cpu.differs(torch.exp, lambda t: t.exp() * 1.001, (x,))
    assert cpu.differs(torch.exp, lambda t: t.exp_().clone(), (x,))  # writes to its input


def test_what_runs_eagerly_is_said(added, capsys):
    def branches(x):
        return x + 1 if bool((x > 100).any()) else x - 1

    added("branches", branches)
    assert cpu.main(["--quick", "branches"]) == 0
    assert "runs eagerly: " in rows_of(capsys.readouterr().out)[0][-1]


def test_more_than_one_program_is_a_fault(added, capsys, monkeypatch):
    numbers, differs = [0], cpu.differs

    def grows(*given):
        numbers.append(0)
        return differs(*given)

    added("counts", lambda x: x * len(numbers))
    monkeypatch.setattr(cpu, "differs", grows)
    assert cpu.main(["--quick", "counts"]) == 1
    assert "2 PROGRAMS" in rows_of(capsys.readouterr().out)[0][-1]


def test_bytes_of_inputs_results_and_what_is_written_to():
    x, y = torch.zeros(4, 8), torch.zeros(8)
    assert cpu.moved(torch.add, (x, y)) == (128 + 32 + 128, (4, 8))
    assert cpu.moved(lambda a: a.__iadd__(1).sum(), (x,)) == (128 + 128 + 4, (4, 8))


def row(name, astjit_, eager, kernels=1, library=()):
    took = {"astjit": astjit_, "eager": eager, "torch.compile": 2 * eager}
    return cpu.Row(name, (1,), took, 1e-6, kernels, library, ())


def test_means_and_slowest():
    rows = [row("a", 1e-6, 4e-6), row("b", 4e-6, 2e-6), row("c", 1e-6, 1e-6, 0, ("sort",))]
    text = cpu.summary(rows, ("astjit", "eager", "torch.compile"))
    assert text[0] == "| geometric mean of 3 |  |  |  |  | 1.3 | 2.5 |  |  |"
    assert "Below 0.9 x eager: b (0.50)." in text
    assert "Not one kernel alone: c." in text
    at = text.index("Slowest against eager:")
    assert [line.split()[1] for line in text[at + 4 : at + 7]] == ["b", "c", "a"]
    assert text[at + 4] == "| b | 4.0 | 1.0 | 4.0 | 0.50 | 1.0 |  |"


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        cpu.main(["--quick", "nothing"])
    assert "no function or size is called nothing" in capsys.readouterr().err
