"""What rules of meta functions are written with: empty results, and two ways to decline.

need(a.dim() == 2)              =>  Other, unless it holds: PyTorch's meta function is asked
raise Refused("they differ")    =>  PyTorch's own function would refuse the operands
"""

import torch


class Other(Exception):
    """A use of a function that its rule does not know."""


class Refused(RuntimeError):
    """Sizes that the function does not take."""


def need(known: bool) -> None:
    """Decline a use that is not known to be plain.

    Raises:
        Other: if it is not.
    """
    if not known:
        raise Other


def plain(*tensors: torch.Tensor | None) -> bool:
    """Whether tensors, or None, lie in the order of their axes."""
    return all(t is None or t.is_contiguous() for t in tensors)


def empty(
    shape: tuple[int, ...], dtype: torch.dtype, strides: tuple[int, ...] | None = None
) -> torch.Tensor:
    """A meta tensor, its axes in order unless it has strides of its own."""
    if strides is not None:
        return torch.empty_strided(shape, strides, dtype=dtype, device="meta")
    return torch.empty(shape, dtype=dtype, device="meta")


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape.

    Raises:
        Refused: if there is none.
    """
    rank = max(map(len, shapes))
    made = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1 and made[axis] not in (1, size):
                raise Refused("shapes that do not broadcast")
            made[axis] = size if size != 1 else made[axis]
    return tuple(made)
