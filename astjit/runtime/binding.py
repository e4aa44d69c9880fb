"""Entry points of a CPU text as Python functions, without the cost of ctypes.

f(x.data_ptr(), y.data_ptr(), rows, cols, threads)  takes 0.2 us, through ctypes 2 us

The few functions of Python's C interface are declared by hand, so that no header is needed where
Python was installed without them. Python's lock is released while a kernel runs; one whose loops
may run for ever ends when Ctrl-C arrives.
"""

import ctypes
from collections.abc import Callable, Iterable
from typing import Any

from astjit.codegen.signature import Entry

PRELUDE = """
// What Python calls: takes the arguments apart and runs the kernel.
extern "C" {
struct PyObject;
extern PyObject _Py_NoneStruct;
void* PyLong_AsVoidPtr(PyObject*);
long PyLong_AsLong(PyObject*);
double PyFloat_AsDouble(PyObject*);
int PyErr_BadArgument();
void PyErr_SetString(PyObject*, const char*);
extern PyObject* PyExc_IndexError;
PyObject* PyErr_Occurred();
void* PyEval_SaveThread();
void PyEval_RestoreThread(void*);
void Py_IncRef(PyObject*);
struct PyMethodDef { const char* name; void* call; int flags; const char* doc; };
}
enum { METH_FASTCALL = 0x80 };
struct Pointer {
  void* address;
  template <class T> operator T*() const { return (T*)address; }
};
"""
# Python's own handler only notes the signal until Python runs again, which a kernel that does not
# end would never let it do.
WATCH = """
#include <signal.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
static bool in_main_thread() { return syscall(SYS_gettid) == getpid(); }
#else
#include <pthread.h>
static bool in_main_thread() { return pthread_main_np() != 0; }
#endif
extern "C" int PyErr_CheckSignals();
// While it lives, Ctrl-C also sets the status word of the kernel that the main thread runs.
enum { INTERRUPTED = 9 };
static int* watched;
static struct sigaction handled;
static void interrupted(int number) {
  __atomic_store_n(watched, INTERRUPTED, __ATOMIC_RELAXED);
  handled.sa_handler(number);
}
struct Watch {
  bool on;
  explicit Watch(int* status) : on(in_main_thread() && !sigaction(SIGINT, nullptr, &handled)) {
    on = on && !(handled.sa_flags & SA_SIGINFO);
    on = on && handled.sa_handler != SIG_DFL && handled.sa_handler != SIG_IGN;
    if (!on) return;
    watched = status;
    struct sigaction ours = handled;
    ours.sa_handler = interrupted;
    sigaction(SIGINT, &ours, nullptr);
  }
  ~Watch() {
    if (on) sigaction(SIGINT, &handled, nullptr);
  }
};
"""
_TAKE = {
    "pointer": "const Pointer a{at} = {{PyLong_AsVoidPtr(given[{at}])}};",
    "long": "const long a{at} = PyLong_AsLong(given[{at}]);",
    "int": "const int a{at} = (int)PyLong_AsLong(given[{at}]);",
    "bool": "const bool a{at} = PyLong_AsLong(given[{at}]) != 0;",
    "double": "const double a{at} = PyFloat_AsDouble(given[{at}]);",
    "float": "const float a{at} = (float)PyFloat_AsDouble(given[{at}]);",
}
_STATUS = "int a{at} = 0;  // not 0 where the results are none"
_LOOKS = '  if (a{at}) return PyErr_SetString(PyExc_IndexError, "index out of range"), nullptr;\n'
_BOUND = """
static PyObject* {name}_from_python(PyObject*, PyObject* const* given, long count) {{
  if (count != {count}) return PyErr_BadArgument(), nullptr;
  {takes}
  if (PyErr_Occurred()) return nullptr;
{run}{looks}  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}}
extern "C" {{
PyMethodDef {name}_method = {{"{name}", (void*){name}_from_python, METH_FASTCALL, nullptr}};
}}
"""


_RUN = """\
  void* const state = PyEval_SaveThread();
  {name}({names});
  PyEval_RestoreThread(state);
"""
# A handler that raises nothing lets the call go on: it begins again, since its results are none.
_RUN_WATCHED = """\
  do {{
    a{at} = 0;
    Watch watch(&a{at});
    if (PyErr_CheckSignals()) return nullptr;  // came before we watched
    void* const state = PyEval_SaveThread();
    {name}({names});
    PyEval_RestoreThread(state);
    if (a{at} == INTERRUPTED && PyErr_CheckSignals()) return nullptr;
  }} while (a{at} == INTERRUPTED);
"""


def binding_text(entries: Iterable[Entry]) -> str:
    """C++ text that goes after the kernels'."""
    bound_texts = [_bound(entry) for entry in entries]
    watches = any("Watch watch(" in text for text in bound_texts)
    return PRELUDE + WATCH * watches + "".join(bound_texts)


def _bound(entry: Entry) -> str:
    takes, names, looks, run, count = [], [], "", _RUN, 0
    for at, argument in enumerate(entry.arguments):
        if argument.role == "status":
            takes.append(_STATUS.format(at=at))
            names.append(f"&a{at}")
            looks = _LOOKS.format(at=at)
            run = _RUN_WATCHED.replace("{at}", str(at)) if argument.ctype == "watched" else run
            continue
        take = _TAKE[argument.ctype].replace("given[{at}]", f"given[{count}]")
        takes.append(take.format(at=at))
        names.append(f"a{at}")
        count += 1
    return _BOUND.format(
        name=entry.name,
        count=count,
        takes="\n  ".join(takes),
        run=run.format(name=entry.name, names=", ".join(names)),
        looks=looks,
    )


def bound(library: ctypes.CDLL, entry: Entry) -> Callable[..., Any]:
    """The Python function of an entry point of a loaded library."""
    return python_function(library, entry.name)


def python_function(library: ctypes.CDLL, name: str) -> Callable[..., Any]:
    """The Python function that a loaded library describes as `name`_method."""
    method = ctypes.c_char.in_dll(library, f"{name}_method")
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    made: Callable[..., Any] = make(ctypes.addressof(method), None, None)
    return made
