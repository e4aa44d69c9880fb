"""Compiled functions among processes, threads, signals and the garbage collector."""

import copy
import functools
import gc
import linecache
import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref

import pytest
import torch

import astjit
from astjit.frontend.torch_api import state_is_plain


@pytest.fixture(autouse=True)
def without_a_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")


pytestmark = pytest.mark.filterwarnings("ignore:kernels run through PyTorch")


@astjit.compile
def scaled(x, by=2.0):
    return torch.tanh(x) * by


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return torch.tanh(x) * self.by

    @astjit.compile
    def method(self, x):
        return torch.tanh(x) * self.by


# --- copies --------------------------------------------------------------------------------------


def test_pickle_and_copies():
    x = torch.randn(3)
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    assert copy.copy(scaled) is copy.deepcopy(scaled) is scaled
    partial = pickle.loads(pickle.dumps(functools.partial(scaled, by=3.0)))
    assert torch.equal(partial(x), torch.tanh(x) * 3)
    thing = Scale(3.0)
    made = astjit.compile(thing)
    made(x)
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        thing.by = 5.0
        assert torch.equal(other(x), torch.tanh(x) * 3)
        thing.by = 3.0
    method = pickle.loads(pickle.dumps(thing.method))
    assert torch.equal(method(x), torch.tanh(x) * 3)
    assert copy.deepcopy([scaled, thing])[0] is scaled


# --- threads -------------------------------------------------------------------------------------


def in_threads(works):
    """Run all at once; the first exception of any."""
    start, failed = threading.Barrier(len(works)), []

    def run(work):
        try:
            start.wait()
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    if failed:
        raise failed[0]


def test_many_threads_compile_and_call_at_once():
    def softmax(x):
        return torch.softmax(x, -1) + 1

    def shift(x):
        return x - x.mean(0)

    functions = [astjit.compile(f) for f in (softmax, shift, lambda x: inner(x) * 2)]
    inner = functions[0]
    shapes = [(4, 7), (1, 7), (5, 3), (0, 3), (6, 1)]

    def work(seed):
        generator = torch.Generator().manual_seed(seed)
        for turn in range(6):
            for shape in shapes[seed % 5 :] + shapes[: seed % 5]:
                x = torch.randn(shape, generator=generator)
                made = functions[(seed + turn) % 3]
                wanted = made.__wrapped__(x) if turn % 2 else None
                got = made(x)
                if wanted is not None:
                    torch.testing.assert_close(got, wanted, equal_nan=True)

    in_threads([lambda seed=seed: work(seed) for seed in range(6)])
    kinds = [made.cache_info().programs for made in functions]
    for shape in shapes:
        for made in functions:
            made(torch.zeros(shape))
    assert [made.cache_info().programs for made in functions] == kinds
    assert all(1 <= count <= len(shapes) for count in kinds)


def test_one_program_though_all_threads_miss_at_once():
    made = astjit.compile(lambda x: torch.exp(x) - 1)
    x = torch.randn(5)
    in_threads([lambda: torch.testing.assert_close(made(x), torch.exp(x) - 1)] * 8)
    info = made.cache_info()
    assert info.programs == 1
    assert info.hits + info.misses == 8


def steps(x):
    for _ in range(40):
        x = torch.tanh(x) * 1.5 + x.mean()
    return x


def test_capture_leaves_other_threads_alone():
    """While one thread captures under no_grad, another runs eager torch and sees nothing of it."""
    done, seen = threading.Event(), set()

    def eager():
        while not done.is_set():
            x = torch.ones(3).add_(1)
            seen.add((type(x * 2), float((x * 2).sum()), torch.is_grad_enabled(), state_is_plain()))

    def capturing():
        x = torch.randn(2, 3)
        try:
            with torch.no_grad():
                for _ in range(5):
                    torch.testing.assert_close(astjit.compile(steps)(x), steps(x))
        finally:
            done.set()

    in_threads([capturing, eager])
    assert seen == {(torch.Tensor, 12.0, True, True)}


# --- one inside another --------------------------------------------------------------------------


def test_recursion_and_calls_of_one_another():
    @astjit.compile
    def power(x, n):
        return x if n == 0 else power(x, n - 1) * x

    @astjit.compile
    def outer(x):
        return scaled(scaled(x)) + power(x, 2)

    x = torch.randn(4)
    torch.testing.assert_close(power(x, 3), x**4)
    torch.testing.assert_close(outer(x), outer.__wrapped__(x))


def test_a_program_made_while_another_is_captured():
    """Code that is not rewritten, such as a sort key in C, may call compiled functions."""

    @astjit.compile
    def sorts(x, rows):
        return x + len(sorted(rows, key=lambda row: float(row[0])))

    rows = [(2.0, "b"), (1.0, "a")]
    x = torch.randn(3)
    assert torch.equal(sorts(x, rows), x + 2)
    assert state_is_plain()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers")
def test_an_interrupt_during_capture_leaves_nothing_behind():
    class Interrupted(BaseException):
        pass

    def interrupt(number, frame):
        raise Interrupted

    x = torch.randn(4, 5)
    wanted, hits = steps(x), 0
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for turn in range(12):
            made = astjit.compile(steps)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.002 + 0.004 * turn)
                made(x)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupted:
                hits += 1
            assert state_is_plain()
            assert torch.is_grad_enabled()
            torch.testing.assert_close(made(x), wanted)
            assert made.cache_info().programs == 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert hits > 0


# --- what is kept --------------------------------------------------------------------------------


def living():
    gc.collect()
    gc.collect()
    return len(gc.get_objects())


def test_ten_thousand_calls_keep_nothing():
    x = torch.randn(3)
    for _ in range(10):
        scaled(x)
    before = living()
    for _ in range(10_000):
        scaled(x)
    assert living() - before < 100


def test_a_program_keeps_no_argument():
    class Config:
        by = 2.0

    @astjit.compile
    def weighted(x, config, table):
        return x * config.by + table["w"]

    x, config, table = torch.randn(3), Config(), {"w": torch.randn(3)}
    gone = [weakref.ref(value) for value in (x, config, table["w"])]
    weighted(x, config, table)
    weighted(x, config, table)
    assert weighted.cache_info().programs == 1
    del x, config, table
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


def test_a_function_goes_with_what_it_closes_over():
    def make():
        weight = torch.randn(3)

        def helper(x):
            return x + weight

        @astjit.compile
        def made(x):
            return helper(x) * 2

        made(torch.ones(3))
        assert made.cache_info().programs == 1
        return [weakref.ref(value) for value in (weight, helper, made, made.__wrapped__)]

    gone = make()
    gc.collect()
    assert [ref() for ref in gone] == [None] * 4


def define(number):
    """A function of its own text, called once; references to it and to its code."""
    text, file = f"def f(x):\n    return x * {number}.0 + {number}\n", f"<cell {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {}
    exec(compile(text, file, "exec"), names)
    made = astjit.compile(names["f"])
    assert made(torch.ones(2)).tolist() == [2.0 * number] * 2
    assert made.cache_info().programs == 1
    del linecache.cache[file]
    return [weakref.ref(value) for value in (made, names["f"], names["f"].__code__)]


MANY = pytest.mark.parametrize("count", [30, pytest.param(200, marks=pytest.mark.slow)])


@MANY
def test_functions_come_and_go(count):
    define(0)
    before = living()
    gone = [ref for number in range(count) for ref in define(number)]
    gc.collect()
    assert [ref for ref in gone if ref() is not None] == []
    del gone
    assert living() - before < 100


@MANY
def test_recompilations_keep_one_program(count):
    x = torch.ones(3)
    scaled(x)
    before = living()
    for _ in range(count):
        scaled.cache_clear()
        scaled(x)
    assert scaled.cache_info().programs == 1
    assert living() - before < 100


def test_a_module_goes_with_its_compiled_one():
    def make():
        module = torch.nn.Linear(3, 3)
        made = astjit.compile(module)
        with torch.no_grad():
            made(torch.ones(2, 3))
        return [weakref.ref(value) for value in (module, made, module.weight)]

    gone = make()
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


# --- processes -----------------------------------------------------------------------------------

FORK = """
import os, threading, torch, astjit
from astjit.runtime import locks

@astjit.compile
def f(x):
    return torch.tanh(x) + 1

@astjit.compile
def fresh(x):
    return x * 3 - 1

x = torch.ones(400, 900)
before = f(x).numpy().tobytes()
held, done = threading.Event(), threading.Event()

def hold():  # another thread compiles at the moment of the fork
    for lock in list(locks._ALL):
        lock._lock.acquire()
    held.set()
    done.wait()

threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if not child:
    assert f(x).numpy().tobytes() == before  # on one thread; torch.equal would wait for its own
    assert fresh(x[:2, :3]).tolist() == [[2.0] * 3] * 2  # compiled here
    os._exit(7)
done.set()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print("equal")
"""

SPAWN = """
import multiprocessing, torch, astjit

@astjit.compile
def f(x):
    return torch.tanh(x) + 1

def work(function):
    assert function is f
    assert function(torch.zeros(3)).tolist() == [1.0] * 3
    assert function.cache_info().programs == 1

if __name__ == "__main__":
    f(torch.ones(3))
    worker = multiprocessing.get_context("spawn").Process(target=work, args=(f,))
    worker.start()
    worker.join()
    assert worker.exitcode == 0
    print("equal")
"""


@pytest.mark.slow
@pytest.mark.parametrize("text", [FORK, SPAWN], ids=["fork", "spawn"])
def test_other_processes(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(text)
    environment = {**os.environ, "ASTJIT_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop(
        "CXX", None
    )  # where PyTorch runs the kernels a forked child waits for its threads
    ran = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=300,
    )
    assert (ran.stdout, ran.returncode) == ("equal\n", 0), ran.stderr
