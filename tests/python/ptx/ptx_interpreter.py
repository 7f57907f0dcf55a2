"""PTX read line by line and run thread by thread: the simplest interpreter there can be, to compare a fast one with.

A thread is a Python generator. It stops where threads meet (barriers, shuffles, votes) and goes on when all have come.
It knows the instructions of ptx_integers.py, ptx_floats.py and ptx_conversions.py, and those named below.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Generator
from functools import cache
from typing import Any

import ptx_conversions
import ptx_floats
import ptx_integers
from ptx_form import Form, count_bits, decoded, encoded

WARP = 32
Meeting = tuple[str, tuple[int, ...]]


@cache
def forms() -> dict[str, Form]:
    every = [*ptx_integers.forms(), *ptx_floats.forms(), *ptx_conversions.forms()]
    return {form.name: form for form in every if not form.text}


class Thread:
    """Registers by name, each as the bits that it holds."""

    def __init__(self, program: Program, index: int, memory: bytearray, shared: bytearray) -> None:
        self.program, self.index, self.memory, self.shared = program, index, memory, shared
        self.registers: dict[str, int] = {}

    def value(self, operand: str) -> int:
        if operand == "%tid.x":
            return self.index
        if operand.startswith("%"):
            return self.registers[operand]
        if operand.startswith("0f"):
            return int(operand[2:], 16)
        if operand.startswith("0d"):
            return int(operand[2:], 16)
        return int(operand, 0)

    def run(self) -> Generator[Meeting, int, None]:
        at = 0
        while at < len(self.program.lines):
            guard, op, operands = self.program.lines[at]
            at += 1
            if guard:
                wanted = not guard.startswith("!")
                if bool(self.registers[guard.lstrip("!")]) != wanted:
                    continue
            if op == "bra":
                at = self.program.labels[operands[0]]
            elif op == "ret":
                return
            elif op == "bar.sync":
                yield "barrier", ()
            elif op.startswith("shfl.sync."):
                a, b, c = (self.value(operand) for operand in operands[1:4])
                self.registers[operands[0]] = yield op, (a, b, c)
            elif op.startswith("vote.sync."):
                got = yield op, (self.value(operands[1]),)
                self.registers[operands[0]] = got
            elif op.startswith(("ld.", "st.")):
                self._access(op, operands)
            elif op.startswith("atom.shared.add"):
                self._add(operands)
            else:
                form = forms()[op]
                words = [decoded(self.value(o), t) for o, t in zip(operands[1:], form.ins, strict=True)]
                self.registers[operands[0]] = encoded(form.run(*words), form.out)

    def _place(self, operand: str, space: str) -> tuple[bytearray, int]:
        register, _, offset = operand.strip("[]").partition("+")
        return self.memory if space == "global" else self.shared, self.value(register) + int(offset or "0")

    def _access(self, op: str, operands: list[str]) -> None:
        kind, space, type_name = op.split(".")
        if space == "param":
            self.registers[operands[0]] = self.program.parameters[operands[1].strip("[]")]
            return
        size = count_bits("u" + type_name.lstrip("bfus")) // 8
        memory, at = self._place(operands[0] if kind == "st" else operands[1], space)
        if kind == "ld":
            self.registers[operands[0]] = int.from_bytes(memory[at : at + size], "little")
        else:
            memory[at : at + size] = (self.value(operands[1]) & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def _add(self, operands: list[str]) -> None:
        memory, at = self._place(operands[1], "shared")
        (old,) = struct.unpack_from("<I", memory, at)
        struct.pack_into("<I", memory, at, (old + self.value(operands[2])) & 0xFFFFFFFF)


class Program:
    """The statements of a kernel: guard, mnemonic, operands; where labels are."""

    def __init__(self, text: str, parameters: dict[str, int]) -> None:
        self.lines: list[tuple[str, str, list[str]]] = []
        self.labels: dict[str, int] = {}
        self.parameters = parameters
        body = text[text.index("{") + 1 : text.rindex("}")]
        for statement in re.split(r";|(?<=:)\s", body):
            words = statement.strip()
            if not words or words.startswith("."):
                continue
            if words.endswith(":"):
                self.labels[words[:-1]] = len(self.lines)
                continue
            guard = ""
            if words.startswith("@"):
                guard, _, words = words[1:].partition(" ")
            op, _, rest = words.partition(" ")
            self.lines.append((guard, op, [part.strip() for part in rest.split(",")] if rest else []))


def run(program: Program, threads: int, memory: bytearray, shared_bytes: int) -> None:
    """One block."""
    shared = bytearray(shared_bytes)
    running = {i: Thread(program, i, memory, shared).run() for i in range(threads)}
    waiting: dict[int, Meeting] = {}
    answers: dict[int, Any] = {}
    while running:
        for index in [i for i in running if i not in waiting]:
            try:
                waiting[index] = running[index].send(answers.pop(index, None))
            except StopIteration:
                del running[index]
        for index, got in _met(waiting, running).items():
            answers[index] = got
            del waiting[index]


def _met(waiting: dict[int, Meeting], running: dict[int, Any]) -> dict[int, int]:
    """The threads that go on, with what they get."""
    if all(waiting[i][0] == "barrier" for i in running):
        return dict.fromkeys(waiting, 0)
    out: dict[int, int] = {}
    for warp in {i // WARP for i in waiting}:
        lanes = range(warp * WARP, (warp + 1) * WARP)
        if all(i in waiting and waiting[i][0] != "barrier" for i in lanes):
            out |= _exchanged([waiting[i] for i in lanes], warp * WARP)
    return out


def _exchanged(asked: list[Meeting], first: int) -> dict[int, int]:
    op = asked[0][0]
    assert all(other == op for other, _ in asked)
    kind = op.split(".")[2]
    if op.startswith("vote"):
        bits = sum(bool(words[0]) << lane for lane, (_, words) in enumerate(asked))
        got = {"ballot": bits, "any": int(bits != 0), "all": int(bits == 2**WARP - 1)}[kind]
        return {first + lane: got for lane in range(WARP)}
    out = {}
    for lane, (_, (own, b, c)) in enumerate(asked):
        segment, clamp = c >> 8 & 31, c & 31
        high = lane & segment | clamp & ~segment & 31
        low = lane & segment
        source = {"up": lane - b, "down": lane + b, "bfly": lane ^ b, "idx": low | b & ~segment & 31}[kind]
        inside = source >= high if kind == "up" else source <= high
        out[first + lane] = asked[source][1][0] if inside else own
    return out
