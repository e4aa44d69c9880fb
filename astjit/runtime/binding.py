"""Entry points of a CPU text as Python functions, without the cost of ctypes.

f(x.data_ptr(), y.data_ptr(), rows, cols, threads)  takes 0.2 us, through ctypes 2 us

The few functions of Python's C interface are declared by hand, so that no header is needed where
Python was installed without them. Python's lock is released while a kernel runs.
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
_TAKE = {
    "pointer": "const Pointer a{at} = {{PyLong_AsVoidPtr(given[{at}])}};",
    "long": "const long a{at} = PyLong_AsLong(given[{at}]);",
    "int": "const int a{at} = (int)PyLong_AsLong(given[{at}]);",
    "bool": "const bool a{at} = PyLong_AsLong(given[{at}]) != 0;",
    "double": "const double a{at} = PyFloat_AsDouble(given[{at}]);",
    "float": "const float a{at} = (float)PyFloat_AsDouble(given[{at}]);",
}
_STATUS = "int a{at} = 0;  // an index was out of range"
_LOOKS = '  if (a{at}) return PyErr_SetString(PyExc_IndexError, "index out of range"), nullptr;\n'
_BOUND = """
static PyObject* {name}_from_python(PyObject*, PyObject* const* given, long count) {{
  if (count != {count}) return PyErr_BadArgument(), nullptr;
  {takes}
  if (PyErr_Occurred()) return nullptr;
  void* const state = PyEval_SaveThread();
  {name}({names});
  PyEval_RestoreThread(state);
{looks}  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}}
extern "C" {{
PyMethodDef {name}_method = {{"{name}", (void*){name}_from_python, METH_FASTCALL, nullptr}};
}}
"""


def binding_text(entries: Iterable[Entry]) -> str:
    """C++ text that goes after the kernels'."""
    return PRELUDE + "".join(_bound(entry) for entry in entries)


def _bound(entry: Entry) -> str:
    takes, names, looks, count = [], [], "", 0
    for at, argument in enumerate(entry.arguments):
        if argument.role == "status":
            takes.append(_STATUS.format(at=at))
            names.append(f"&a{at}")
            looks = _LOOKS.format(at=at)
            continue
        take = _TAKE[argument.ctype].replace("given[{at}]", f"given[{count}]")
        takes.append(take.format(at=at))
        names.append(f"a{at}")
        count += 1
    return _BOUND.format(
        name=entry.name,
        count=count,
        takes="\n  ".join(takes),
        names=", ".join(names),
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
