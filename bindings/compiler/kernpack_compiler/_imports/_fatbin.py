"""Takes the codes out of a fatbin, which NVIDIA doesn't describe: a header, then images of one architecture each, of which each may be
compressed by LZ4 or Zstandard.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator

MAGIC = bytes.fromhex("50ed55ba")
_KINDS = {1: "PTX", 2: "a cubin"}
_LZ4 = 0x2000
_ZSTD = 0x8000
_MOST = 1 << 30  # bytes of one image


def images(data: bytes, where: str) -> Iterator[bytes]:
    """PTX and cubins, as they were before they were put together."""
    try:
        size, length = struct.unpack_from("<6xHQ", data)
        end = size + length
        if end > len(data):
            raise struct.error(f"its header says {end} bytes, but it has {len(data)}")
        at = size
        while at < end:
            kind, head, padded, packed = struct.unpack_from("<H2xIQI", data, at)
            flags, plain = struct.unpack_from("<40xQ8xQ", data, at)
            if not head or at + head + padded > end or packed > padded or plain > _MOST:
                raise struct.error("an image lies beyond its end")
            body = data[at + head : at + head + (packed or padded)]
            if kind not in _KINDS:
                raise ValueError(
                    f"{where}: the fatbin has an image of kind {kind}, which is neither PTX nor a cubin (link-time code?)"
                )
            yield _unpacked(body, plain, flags, where)
            at += head + padded
    except (struct.error, IndexError) as error:
        raise ValueError(f"{where}: the fatbin is truncated or damaged: {error}") from error


def _unpacked(body: bytes, size: int, flags: int, where: str) -> bytes:
    if flags & _ZSTD:
        return _zstd(body, size, where)
    return _lz4(body, size) if flags & _LZ4 else body


def _zstd(body: bytes, size: int, where: str) -> bytes:
    """By the system's library: Python has Zstandard from 3.14 on."""
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError as error:
        raise ValueError(
            f"{where}: the fatbin is compressed by Zstandard, and this machine has no libzstd.so.1; make it with "
            "`-Xfatbin -compress=false`"
        ) from error
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    plain = ctypes.create_string_buffer(size)
    if library.ZSTD_decompress(plain, size, body, len(body)) != size:
        raise struct.error("an image can't be decompressed")
    return plain.raw


def _lz4(body: bytes, size: int) -> bytes:
    """A block of LZ4: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md. IndexError behind its end."""
    made = bytearray()
    at = 0
    while len(made) < size:
        token = body[at]
        count, at = _length(body, at + 1, token >> 4)
        made += body[at : at + count]
        at += count
        if at >= len(body):
            break
        back = body[at] | body[at + 1] << 8
        count, at = _length(body, at + 2, token & 15)
        if not 0 < back <= len(made):
            raise struct.error("an image can't be decompressed")
        for _ in range(count + 4):  # what is copied may be what this loop has written
            made.append(made[-back])
    if len(made) != size:
        raise struct.error("an image can't be decompressed")
    return bytes(made)


def _length(body: bytes, at: int, first: int) -> tuple[int, int]:
    """A length of which the token has the first 4 bits, and where the bytes behind it begin."""
    count = first
    more = 255 if first == 15 else 0
    while more == 255:
        more = body[at]
        count += more
        at += 1
    return count, at
