"""Tensors for calls of random programs: small numbers, which every dtype holds exactly."""

import torch

SPECIAL = (float("nan"), float("inf"), -float("inf"), -0.0, 0.0)


def values(
    shape: tuple[int, ...], dtype: torch.dtype, seed: int, special: bool = False
) -> torch.Tensor:
    """A contiguous tensor of multiples of 1/2 between -4 and 4 (integers from -4 to 4).

    Args:
        shape: its sizes.
        dtype: of the elements; a bool is whether the number is positive.
        seed: which numbers.
        special: a third of the elements are NaN, infinite or zeros of either sign.
    """
    source = torch.Generator().manual_seed(seed)
    drawn = torch.randint(-8, 9, shape, generator=source)
    if dtype is torch.bool:
        return drawn > 0
    if not dtype.is_floating_point:
        return (drawn // 2).abs().to(dtype) if dtype is torch.uint8 else (drawn // 2).to(dtype)
    made = drawn.to(dtype) / 2
    if special:
        which = torch.randint(0, 3 * len(SPECIAL), shape, generator=source)
        for index, value in enumerate(SPECIAL):
            made = torch.where(which == index, torch.tensor(value, dtype=dtype), made)
    return made
