"""Lowers small element functions to text, for the tests of the modules that do it."""

import torch

import astjit

X = torch.tensor([0.5, 1.5])
N = torch.tensor([2, 3])


def text(function, *arguments, **options):
    """The SSA of a call, without locations."""
    made = astjit.elementwise(function, **options).ssa(*(arguments or (X,)))
    return "\n".join(line.split("  ; ")[0] for line in made.splitlines())


def refused(function, *arguments):
    """The error for a call: its code, and the caret's text."""
    try:
        astjit.elementwise(function)(*(arguments or (X,)))
    except astjit.ElementError as error:
        lines = str(error).splitlines()
        caret = lines[2]
        start, width = caret.index("^"), caret.count("^")
        assert lines[1].strip()
        return error.code, lines[1][start : start + width], error
    raise AssertionError("it was not refused")
