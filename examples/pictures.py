"""Writes tensors as PNG files, with nothing but Python's own library."""

import struct
import zlib
from pathlib import Path

import torch


def palette(values: torch.Tensor, colors: list[tuple[int, int, int]]) -> torch.Tensor:
    """Colors, uint8 and [..., 3], of values in [0, 1]: between the given ones, evenly spaced."""
    table = torch.tensor(colors, dtype=torch.float64)
    place = values.double().clamp(0, 1) * (len(colors) - 1)
    below = place.floor().long().clamp(max=len(colors) - 2)
    part = (place - below).unsqueeze(-1)
    return (table[below] * (1 - part) + table[below + 1] * part).round().to(torch.uint8)


def write_png(path: Path, picture: torch.Tensor) -> None:
    """Write a picture, uint8 and [height, width, 3]."""
    height, width, _ = picture.shape
    rows = picture.cpu().contiguous().numpy().tobytes()
    lines = b"".join(b"\0" + rows[y * width * 3 : (y + 1) * width * 3] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(lines, 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + check
