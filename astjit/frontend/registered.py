"""Operators that libraries register with torch.library: `torch.ops.library.name(x)`.

Such a call is a library call if its author says that compilers may take it for a function of its
arguments (torch.Tag.pt2_compliant_tag, which torch.library.custom_op sets), and it writes nothing,
returns no view and draws no random numbers. Its fake implementation gives the types of its results
(decision D13); programs hold the results against them, since it is written by hand.
"""

from collections.abc import Callable, Mapping, Sequence

import torch

from astjit.frontend.capture import Capture
from astjit.frontend.library import library_call
from astjit.frontend.stops import Failed, Stop, forget
from astjit.frontend.symbolic import refuse_gradients

_OF_TORCH = ("aten", "prim", "prims")  # spelt as functions of torch, which have rows


def registered_call(
    capture: Capture,
    dotted: str,
    overloads: Sequence["torch._ops.OpOverload[..., object]"],
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> object:
    """Append a call of an operator; its results as user code gets them.

    Args:
        capture: where to.
        dotted: how a program writes the operator.
        overloads: those that it may call.
        function: the operator.
        args: of the call.
        kwargs: of the call.

    Raises:
        Stop: if it may be more than a function of its arguments, or its result's type is not known.
        NeedsGrad: if an operand requires a gradient.
    """
    for overload in overloads:
        if why := _why_not(overload):
            raise Stop(f"a call of the operator {dotted}, which {why}")
    refuse_gradients(capture.wants_grad, (*args, *kwargs.values()))
    try:
        return library_call(capture, dotted, function, args, kwargs)
    except Failed as failed:  # where there is no fake implementation as well
        forget(failed)
        raise Stop(f"the operator {dotted} fails on meta tensors: {failed.error}") from None


def _why_not(overload: "torch._ops.OpOverload[..., object]") -> str:
    """Why calls cannot be library calls, "" where they can."""
    schema = overload._schema
    if overload.namespace in _OF_TORCH:
        return "is called directly"
    if overload.namespace.startswith("_") or torch.Tag.pt2_compliant_tag not in overload.tags:
        return "is not known to be without effect"
    if schema.is_mutable:
        return "writes to its arguments"
    if torch.Tag.nondeterministic_seeded in overload.tags:
        return "draws random numbers"
    if any(result.alias_info is not None for result in schema.returns):
        return "returns its arguments' memory"
    return ""
