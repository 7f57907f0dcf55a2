"""mma of every kind of float on tiles at random, of ordinary sizes and at the ends of the range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ptx_driver import Driver

BLOCKS = 64  # a tile each
_BYTES = {"f64": 8}
_PER_WORD = {"f16": 2, "bf16": 2, "tf32": 1, "e4m3": 4, "e5m2": 4, "f64": 1, "f32": 1}


@dataclass(frozen=True)
class Product:
    shape: str  # m16n8k16
    of: str  # A and B
    to: str  # C and D
    registers: tuple[int, int, int]  # of A, B, and C as of D

    @property
    def name(self) -> str:
        return f"mma.sync.aligned.{self.shape}.row.col.{self.to}.{self.of}.{self.of}.{self.to}"


PRODUCTS = (
    Product("m16n8k16", "f16", "f32", (4, 2, 4)),
    Product("m16n8k8", "f16", "f32", (2, 1, 4)),
    Product("m16n8k16", "bf16", "f32", (4, 2, 4)),
    Product("m16n8k8", "bf16", "f32", (2, 1, 4)),
    Product("m16n8k8", "tf32", "f32", (4, 2, 4)),
    Product("m16n8k4", "tf32", "f32", (2, 1, 4)),
    Product("m16n8k16", "f16", "f16", (4, 2, 2)),
    Product("m16n8k8", "f16", "f16", (2, 1, 2)),
    Product("m16n8k32", "e4m3", "f32", (4, 2, 4)),
    Product("m16n8k32", "e5m2", "f32", (4, 2, 4)),
    Product("m16n8k16", "e4m3", "f32", (2, 1, 4)),
    Product("m8n8k4", "f64", "f64", (1, 1, 2)),
)
# Powers of two that rows of A and B, and of C, are multiplied with: what is beyond a type's range becomes an infinity or zero.
SCALES = {
    "ordinary": ((-6, 7), (-8, 9)),
    "small": ((-75, -60), (-149, -120)),
    "tiny": ((-24, -12), (-140, -126)),
    "zero": ((-80, -72), (-300, -299)),
    "large": ((55, 66), (110, 128)),
    "mixed": ((-70, 66), (-140, 127)),
    "halves": ((6, 15), (10, 16)),
}


def _drawn(bits: np.random.PCG64, of: str, registers: int, powers: tuple[int, int]) -> np.ndarray:
    """A row per lane."""
    count = registers * _PER_WORD[of]
    if of in ("e4m3", "e5m2"):
        codes = bits.random_raw((32 * BLOCKS, count)).astype(np.uint8)
        codes[(codes & 0x7F) >= 0x78] &= 0x3F  # no NaN, no infinity
        return codes.view(np.uint32)
    whole = bits.random_raw((32 * BLOCKS, count)) % 2**27 - 2.0**26
    low, high = powers
    values = np.ldexp(whole, (bits.random_raw((32 * BLOCKS, 1)) % (high - low)).astype(np.int64) + low - 25)
    with np.errstate(over="ignore", under="ignore"):
        if of == "f64":
            return values.view(np.uint64)
        if of == "f16":
            return values.astype(np.float16).view(np.uint32)
        words = values.astype(np.float32).view(np.uint32)
    if of == "bf16":
        return (words >> 16).astype(np.uint16).view(np.uint32)
    return words & np.uint32(0xFFFFE000) if of == "tf32" else words


def tiles(product: Product, scale: str) -> list[np.ndarray]:
    """Of A, B and C: the same with every version of NumPy, which keeps what its PCG64 gives."""
    bits = np.random.PCG64(list(SCALES).index(scale))
    operands, sums = SCALES[scale]
    kinds = ((product.of, operands), (product.of, operands), (product.to, sums))
    return [_drawn(bits, of, count, powers) for (of, powers), count in zip(kinds, product.registers, strict=True)]


def text(product: Product) -> str:
    def kind(of: str) -> str:
        return "f64" if of == "f64" else "f32" if of == "f32" else "b32"

    counts = (*product.registers, product.registers[2])
    kinds = (kind(product.of), kind(product.of), kind(product.to), kind(product.to))
    lines = [".version 8.7\n.target sm_90\n.address_size 64"]
    lines += [".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {"]
    lines += [
        ".reg .b64 %at<4>, %o; .reg .b32 %i, %n; mov.u32 %i, %tid.x; mov.u32 %n, %ctaid.x; mad.lo.u32 %i, %n, 32, %i;"
    ]
    vectors = []
    for place, (count, of) in enumerate(zip(counts, kinds, strict=True)):
        size = _BYTES.get(of, 4)
        lines.append(f".reg .{of} %v{place}_<{count}>; ld.param.u64 %at{place}, [p{place}];")
        lines.append(f"mul.wide.u32 %o, %i, {size * count}; add.u64 %at{place}, %at{place}, %o;")
        registers = [f"%v{place}_{r}" for r in range(count)]
        vectors.append("{" + ", ".join(registers) + "}")
        if place < 3:
            lines += [f"ld.global.{of} {register}, [%at{place}+{size * r}];" for r, register in enumerate(registers)]
    lines.append(f"{product.name} {vectors[3]}, {vectors[0]}, {vectors[1]}, {vectors[2]};")
    size = _BYTES.get(kinds[3], 4)
    lines += [f"st.global.{kinds[3]} [%at3+{size * r}], %v3_{r};" for r in range(counts[3])]
    return "\n".join([*lines, "ret; }"])


def run(driver: Driver, product: Product, scale: str) -> np.ndarray:
    operands = tiles(product, scale)
    return driver.run(driver.load(text(product)), "k", BLOCKS, 32, operands, np.zeros_like(operands[2]))
