"""Every elementwise function of PyTorch has a row, or is left to it with a reason."""

import torch

from astjit.ops.left import LEFT
from astjit.ops.table import BY_TORCH

HOMES = (torch, torch.Tensor, torch.nn.functional, torch.special)


def elementwise():
    """What PyTorch itself marks as pointwise, and what users can call."""
    found = set()
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        if name.startswith("_") or name.endswith("_") or not hasattr(packet, "overloads"):
            continue
        marked = any(torch.Tag.pointwise in getattr(packet, o).tags for o in packet.overloads())
        public = name.removeprefix("special_")
        if marked and any(hasattr(home, public) for home in HOMES):
            found.add(name)
    return found


def has_a_row(name):
    return any(torch_name.rsplit(".", 1)[1] == name for torch_name in BY_TORCH)


def test_each_has_a_row_or_a_reason():
    names = elementwise()
    assert len(names) > 150
    absent = sorted(n for n in names - LEFT.keys() if not has_a_row(n.removeprefix("special_")))
    assert absent == []


def test_what_is_left_has_no_row():
    assert [name for name in LEFT if has_a_row(name)] == []
    assert all(LEFT.values())
    assert "lgamma" in LEFT
