"""All targets by name, and the one for a device."""

from astjit.errors import UsageError
from astjit.targets.cpu import CPU
from astjit.targets.cuda import CUDA
from astjit.targets.spec import Target

TARGETS = {target.name: target for target in (CPU, CUDA)}


def target_named(name: str) -> Target:
    """The target called `name`.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in TARGETS:
        known = " or ".join(repr(known) for known in TARGETS)
        raise UsageError(f"{name!r} is not a target", instead=f"target={known}, or none")
    return TARGETS[name]


def target_of(device: str) -> Target | None:
    """The target that takes tensors of a device such as "cpu" or "cuda:0"; None when none does."""
    kind = device.partition(":")[0]
    return next((target for target in TARGETS.values() if target.device == kind), None)
