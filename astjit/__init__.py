"""PyTorch functions captured as SSA, fused, and rendered as CUDA C++ that people can read.

fast = astjit.compile(function)     a function that is called as before, in fused kernels
fast.cuda_source(*args)             the CUDA text of this call, on any machine
print(astjit.explain(fast, *args))  the kernels, and what is not fused and why
"""

from astjit.api import compile, explain, reset
from astjit.elements import Elementwise, elementwise
from astjit.errors import (
    AstjitError,
    AstjitWarning,
    ElementError,
    InternalError,
    InvalidIR,
    KernelBuildError,
    ParseError,
    ShapeMismatch,
    TripLimit,
    UnsupportedOp,
    UnsupportedSyntax,
    UsageError,
    UserError,
)
from astjit.frontend.marks import disable, is_compiling
from astjit.report.explain import Report
from astjit.runtime.dispatch import CacheInfo

__version__ = "0.1.0"
__all__ = [
    "AstjitError",
    "AstjitWarning",
    "CacheInfo",
    "ElementError",
    "Elementwise",
    "InternalError",
    "InvalidIR",
    "KernelBuildError",
    "ParseError",
    "Report",
    "ShapeMismatch",
    "TripLimit",
    "UnsupportedOp",
    "UnsupportedSyntax",
    "UsageError",
    "UserError",
    "__version__",
    "compile",
    "disable",
    "elementwise",
    "explain",
    "is_compiling",
    "reset",
]
