"""Fat binaries in nvcc's layout, and shared objects that hold them as nvcc's do: nothing of CUDA is needed to make them."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

PTX, CUBIN, OTHER = 1, 2, 8
ARCH_SPECIFIC, FAMILY = 0x100000, 0x200000


def entry(
    kind: int,
    architecture: int,
    content: bytes,
    *,
    flags: int = 0x11,
    unpacked: int = 0,
    version: tuple[int, int] | None = None,
) -> bytes:
    packed = len(content) if unpacked else 0
    major, minor = version or ((1, 7) if kind == CUBIN else (7, 0))
    head = struct.pack(
        "<HHIQIIHHIQQQQ", kind, 257, 64, len(content), packed, 0, minor, major, architecture, 0, flags, 0, unpacked
    )
    return head + content


def fatbin(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


_HOST = """\
struct wrapper { int magic, version; const void* data; void* more; };
WRAPPERS
int answer(int x) { return x * 2 + 2; }
const void* place(int i) { return wrappers[i].data; }
"""


def shared_object(folder: Path, fatbins: Sequence[bytes], *options: str, section: str = ".nv_fatbin") -> Path:
    """folder/x.so with the fat binaries, reached through pointers in .nvFatBinSegment. place(i) is the address of one at run time."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f'.section {section},"a"']
    for i, content in enumerate(fatbins):
        (folder / f"{i}.fatbin").write_bytes(content)
        name = f"fatbin_{i}"
        lines += [f".balign 8\n.globl {name}\n.hidden {name}\n{name}:", f'.incbin "{folder}/{i}.fatbin"']
    (folder / "fatbins.s").write_text("\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""]))
    declared = "".join(
        f'extern const char fatbin_{i}[] __attribute__((visibility("hidden")));\n' for i in range(len(fatbins))
    )
    rows = ", ".join(f"{{0x466243b1, 1, fatbin_{i}, 0}}" for i in range(len(fatbins)))
    wrappers = f'{declared}__attribute__((section(".nvFatBinSegment"))) struct wrapper wrappers[] = {{{rows}}};'
    (folder / "host.c").write_text(_HOST.replace("WRAPPERS", wrappers))
    command = ["gcc", "-O1", "-fPIC", "-shared", "host.c", "fatbins.s", *options, "-o", "x.so"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "x.so"
