"""Random kernels: arithmetic of every kind on a few registers, under branches and loops that threads take differently.

Before each block of statements, and at the end, every register has been written by every thread.
"""

from __future__ import annotations

import random
from functools import cache

from ptx_exact import FORMATS
from ptx_form import Form, count_bits, edges
from ptx_interpreter import forms

# Registers by the class of their types; f16 and bf16 apart from integers, as a NaN's bits are open.
CLASSES = {
    "u16": "%hu", "u32": "%wu", "u64": "%lu", "f16": "%hf", "bf16": "%hb", "f32": "%f", "f64": "%g", "pred": "%p",
}  # fmt: skip
REGISTERS = 4  # of each class
WORDS = 8  # that each thread writes at its end, of 8 bytes


def _class(type_name: str) -> str | None:
    if type_name in ("f16", "bf16", "f32", "f64", "pred"):
        return type_name
    return f"u{count_bits(type_name)}" if count_bits(type_name) > 8 and not type_name.endswith("x2") else None


@cache
def _usable() -> list[list[Form]]:
    """Exact forms whose operands all have registers here, those of an opcode together: most are comparisons."""
    found: dict[str, list[Form]] = {}
    for form in forms().values():
        # The sign and payload of a NaN are open: nothing may show them.
        exact = form.tolerance == 0 and not form.name.startswith(
            ("neg.f16", "neg.bf16", "abs.f16", "abs.bf16", "copysign")
        )
        if exact and all(_class(t) for t in (form.out, *form.ins)) and form.name != "mov.pred":
            found.setdefault(form.name.split(".")[0], []).append(form)
    return list(found.values())


def _loses_guard(form: Form) -> bool:
    """True if ptxas (of CUDA 13.0 and 13.5) runs a part of it where its guard is false: all of testp, and set's way to a float."""
    return form.name.startswith("testp") or (form.name.startswith("set.") and form.out in FORMATS)


class Writer:
    def __init__(self, seed: int, threads: int) -> None:
        self.random = random.Random(seed)
        self.threads = threads
        self.labels = 0
        self.lines: list[str] = []

    def register(self, type_name: str) -> str:
        return f"{CLASSES[_class(type_name) or '']}{self.random.randrange(REGISTERS)}"

    def emit(self, text: str) -> None:
        self.lines.append(text + ";")

    def label(self) -> str:
        self.labels += 1
        return f"$L{self.labels}"

    def statement(self, guard: str = "") -> None:
        form = self.random.choice(self.random.choice(_usable()))
        operands = ", ".join(self.register(t) for t in (form.out, *form.ins))
        if _loses_guard(form):
            guard = ""
        self.emit(f"{guard}{form.name} {operands}")

    def block(self, depth: int) -> None:
        for _ in range(self.random.randrange(3, 8)):
            kind = self.random.random()
            if kind < 0.12 and depth:
                self.branch(depth - 1)
            elif kind < 0.2 and depth:
                self.loop(depth - 1)
            elif kind < 0.35:
                negated = self.random.choice(["", "!"])
                self.statement(f"@{negated}{self.register('pred')} ")
            else:
                self.statement()

    def branch(self, depth: int) -> None:
        otherwise, end = self.label(), self.label()
        self.emit(f"@{self.register('pred')} bra {otherwise}")
        self.block(depth)
        self.emit(f"bra {end}")
        self.lines.append(f"{otherwise}:\n")
        self.block(depth)
        self.lines.append(f"{end}:\n")

    def loop(self, depth: int) -> None:
        """As often as two bits of a register say, which differ between threads."""
        again, count = self.label(), f"%c{depth}"
        self.emit(f"and.b32 {count}, {self.register('u32')}, 3")
        self.lines.append(f"{again}:\n")
        self.block(depth)
        self.emit(f"setp.ne.u32 %q{depth}, {count}, 0")
        self.emit(f"sub.u32 {count}, {count}, 1")
        self.emit(f"@%q{depth} bra {again}")

    def meeting(self) -> None:
        """All threads exchange something, by shared memory or within the warp."""
        value, to = self.register("u32"), self.register("u32")
        kind = self.random.randrange(4)
        if kind == 0:
            self.emit("st.shared.u32 [%mine], " + value)
            self.emit("bar.sync 0")
            self.emit(f"add.u32 %t, %id, {self.random.randrange(self.threads)}")
            self.emit(f"rem.u32 %t, %t, {self.threads}")
            self.emit("shl.b32 %t, %t, 2")
            self.emit(f"ld.shared.u32 {to}, [%t]")
            self.emit("bar.sync 0")
        elif kind == 1:
            mode = self.random.choice(["up", "down", "bfly", "idx"])
            width = self.random.choice([32, 16, 8])
            segment = (32 - width) << 8 | (0 if mode == "up" else 31)
            self.emit(f"shfl.sync.{mode}.b32 {to}, {value}, {self.random.randrange(width)}, {segment}, -1")
        elif kind == 2:
            self.emit(f"vote.sync.ballot.b32 {to}, {self.register('pred')}, -1")
        else:
            vote = self.random.choice(["any", "all"])
            self.emit(f"vote.sync.{vote}.pred {self.register('pred')}, {self.register('pred')}, -1")


def _literal(word: int, type_name: str) -> str:
    if type_name == "f32":
        return f"0f{word:08X}"
    return f"0d{word:016X}" if type_name == "f64" else str(word)


def kernel(name: str, seed: int, threads: int) -> str:
    """Reads 4 words of 8 bytes per thread from `data`, writes WORDS words of 8 bytes per thread behind them."""
    writer = Writer(seed, threads)
    lines = [f".visible .entry {name}(.param .u64 data) {{"]
    declared = {"u16": "b16", "f16": "b16", "bf16": "b16", "u32": "b32", "u64": "b64"}
    for class_name, prefix in CLASSES.items():
        lines.append(f".reg .{declared.get(class_name, class_name)} {prefix}<{REGISTERS}>;")
    lines.append(".reg .b32 %c<3>, %t, %id, %mine; .reg .pred %q<3>; .reg .b64 %base, %from, %to;")
    lines.append(f".shared .align 4 .b8 exchange_{name}[{4 * threads}];")
    writer.emit("ld.param.u64 %base, [data]")
    writer.emit("mov.u32 %id, %tid.x")
    writer.emit("shl.b32 %mine, %id, 2")
    writer.emit("mul.wide.u32 %from, %id, 32")
    writer.emit("add.u64 %from, %from, %base")
    writer.emit(f"mul.wide.u32 %to, %id, {8 * WORDS}")
    writer.emit("add.u64 %to, %to, %base")
    writer.emit(f"add.u64 %to, %to, {32 * threads}")
    drawn = writer.random
    for class_name, prefix in CLASSES.items():
        if class_name == "pred":
            continue
        size = count_bits(class_name) // 8
        for i in range(REGISTERS):
            if class_name in ("u16", "u32", "u64") and i < 3:
                writer.emit(f"ld.global.b{8 * size} {prefix}{i}, [%from+{8 * i + 8 - size}]")
            elif class_name in ("f32", "f64") and i < 2:
                writer.emit(f"ld.global.{class_name} {prefix}{i}, [%from+{8 * i + 8 - size}]")
            else:
                literal = _literal(drawn.choice(edges(class_name)), class_name)
                kind = class_name if class_name in ("f32", "f64") else f"b{8 * size}"
                writer.emit(f"mov.{kind} {prefix}{i}, {literal}")
    for i in range(REGISTERS):
        writer.emit(f"setp.lt.u32 %p{i}, %wu{i}, %wu{(i + 1) % REGISTERS}")
    for _ in range(3):
        writer.block(2)
        writer.meeting()
    stores = ("u16", "u32", "u64", "f16", "bf16", "f32", "f64", "pred")
    for i, class_name in enumerate(stores):
        register = writer.register(class_name)
        if class_name == "pred":
            writer.emit(f"selp.u32 %t, 1, 0, {register}")
            writer.emit(f"st.global.u32 [%to+{8 * i}], %t")
        else:
            kind = class_name if class_name in ("f32", "f64") else f"b{count_bits(class_name)}"
            writer.emit(f"st.global.{kind} [%to+{8 * i}], {register}")
    writer.emit("ret")
    return "\n".join([*lines, *writer.lines, "}"])
