import subprocess
import sys
import threading
import uuid

import pytest
import torch

from astjit.codegen.signature import Argument, Entry
from astjit.runtime.binding import binding_text, bound
from astjit.runtime.units import cpu_library
from astjit.targets.cxx import find_compiler

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C++ compiler")

ENTRY = Entry(
    "mixed",
    (
        Argument("buffer", "x", "pointer"),
        Argument("buffer", "y", "pointer"),
        Argument("size", "n", "long"),
        Argument("number", "a", "double"),
        Argument("number", "b", "float"),
        Argument("number", "flag", "bool"),
        Argument("threads", "threads", "int"),
    ),
)
TEXT = """
extern "C" void mixed(const float* x, double* y, long n, double a, float b, bool flag,
                      int threads) {
  for (long i = 0; i < n; ++i) y[i] = x[i] * a + b + (flag ? 100 : 0) + 1000 * threads;
}
"""


@pytest.fixture(scope="module")
def mixed():
    return bound(cpu_library(TEXT + binding_text([ENTRY])).code, ENTRY)


def test_every_kind_of_argument_arrives(mixed):
    x, y = torch.tensor([1.0, 2.0]), torch.zeros(2, dtype=torch.float64)
    assert mixed(x.data_ptr(), y.data_ptr(), 2, 0.5, 0.25, True, 3) is None
    assert y.tolist() == [3100.75, 3101.25]
    mixed(x.data_ptr(), y.data_ptr(), 1, 2, 0, False, 0)
    assert y.tolist() == [2.0, 3101.25]


@pytest.mark.parametrize("wrong", [(0, 0, 1.5, 1.0, 1.0, True, 1), (0, 0, 0, "a", 1.0, True, 1)])
def test_a_wrong_type_raises_and_runs_nothing(mixed, wrong):
    with pytest.raises(TypeError):
        mixed(*wrong)


def test_a_wrong_number_raises(mixed):
    with pytest.raises(TypeError):
        mixed(0, 0, 0)


def test_other_threads_run_meanwhile():
    name = f"waits_{uuid.uuid4().hex}"
    entry = Entry(name, (Argument("buffer", "flag", "pointer"), Argument("threads", "t", "int")))
    text = f"""
    extern "C" void {name}(volatile int* flag, int t) {{ while (!*flag) {{}} }}
    """
    wait = bound(cpu_library(text + binding_text([entry])).code, entry)
    flag = torch.zeros(1, dtype=torch.int32)
    waiting = threading.Thread(target=wait, args=(flag.data_ptr(), 1))
    waiting.start()
    flag.fill_(1)  # reached only if the lock is released
    waiting.join()
    assert flag.item() == 1


WATCHED = """
import os, signal, sys, threading, time
from astjit.codegen.signature import Argument, Entry
from astjit.runtime.binding import binding_text, bound
from astjit.runtime.units import cpu_library

entry = Entry("runs", (Argument("status", "status", "watched"), Argument("size", "most", "long")))
text = '''
extern "C" void runs(int* status, long most) {
  for (long i = 0; i < most && !__atomic_load_n(status, __ATOMIC_RELAXED); ++i) {}
}
'''
runs = bound(cpu_library(text + binding_text([entry])).code, entry)
interrupt = lambda: (time.sleep(0.3), os.kill(os.getpid(), signal.SIGINT))


def interrupted():
    threading.Thread(target=interrupt).start()
    try:
        runs(2**62)
    except KeyboardInterrupt:
        return True


before = signal.getsignal(signal.SIGINT)
assert interrupted() and interrupted()
assert signal.getsignal(signal.SIGINT) is before
assert runs(10) is None
signal.signal(signal.SIGINT, lambda number, frame: sys.exit(7))
interrupted()
"""


def test_ctrl_c_ends_a_kernel_that_does_not_end():
    ran = subprocess.run([sys.executable, "-c", WATCHED], timeout=100, capture_output=True)
    assert (ran.returncode, ran.stderr) == (7, b"")  # the last signal went to the user's handler
