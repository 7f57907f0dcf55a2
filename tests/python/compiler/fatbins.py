"""Fatbins, as far as who imports a kernel reads them: NVIDIA's fatbinary writes such files."""

from __future__ import annotations

import struct

PTX, CUBIN, LZ4, ZSTD = 1, 2, 0x2000, 0x8000


def make_image(kind: int, data: bytes, flags: int = 0, size: int = 0) -> bytes:
    """size: bytes of what `data` is compressed from."""
    padded = -(-len(data) // 8) * 8
    packed = len(data) if flags else 0
    head = struct.pack("<HHIQIIIIQQQQ", kind, 0x101, 64, padded, packed, 0, 0x10008, 80, 0, 0x11 | flags, 0, size)
    return head + data.ljust(padded, b"\0")


def make_fatbin(*images: bytes) -> bytes:
    body = b"".join(images)
    return struct.pack("<4sHHQ", bytes.fromhex("50ed55ba"), 1, 16, len(body)) + body


def compress_lz4(data: bytes) -> bytes:
    """A block of LZ4 of data that has its first half twice: literals, a copy, and literals of the last bytes."""
    half, last = data[: len(data) // 2], data[len(data) // 2 * 2 - 8 :]
    return _sequence(half, len(half) - 8, len(half)) + _sequence(last, 0, 0)


def _sequence(literals: bytes, copied: int, back: int) -> bytes:
    token = min(len(literals), 15) << 4 | (min(copied - 4, 15) if back else 0)
    made = bytes([token]) + _rest(len(literals)) + literals
    return made + struct.pack("<H", back) + _rest(copied - 4) if back else made


def _rest(count: int) -> bytes:
    return b"" if count < 15 else b"\xff" * ((count - 15) // 255) + bytes([(count - 15) % 255])
