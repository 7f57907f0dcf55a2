"""Provable effects of loading a file: its start-up functions, followed as long as there is only one path."""

from __future__ import annotations

import re
from collections.abc import Iterator

from iced_x86 import Decoder, FlowControl, Instruction, Mnemonic, OpKind, Register

from kernpack_sdk.audit.image import Image

_LONGEST = 4096  # instructions that are followed
_MXCSR_FLUSHES = 0x8040  # flush-to-zero and denormals-are-zero
_PRINTS = re.compile(
    r"^(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|fputc|putc|fwrite|perror|write|dprintf|__(f|v|vf|d)?printf_chk"
    r"|_ZSt16__ostream_insert.*|_ZStlsI.*|_ZNSolsE.*|_ZNSo9_M_insert.*|_ZNSo5writeE.*|_ZNSo3putE.*)$"
)
_HANDLERS = re.compile(
    r"^(signal|sigaction|bsd_signal|sysv_signal|__sysv_signal|_ZSt13set_terminate.*|_ZSt14set_unexpected.*"
    r"|_ZSt15set_new_handler.*|feenableexcept|fesetenv|fesetround|setlocale|prctl)$"
)


def findings(image: Image) -> list[str]:
    """Effects of start-up code on the whole process; sentences without a subject."""
    found = []
    for entry in image.initializers():
        for what in _does(image, entry):
            name = image.symbols.get(entry)
            sentence = f"{what} when it is loaded" + (f" (in {name})" if name else "")
            if sentence not in found:
                found.append(sentence)
    return found


def _does(image: Image, entry: int) -> Iterator[str]:
    flushes = False
    for instruction in _straight(image, entry):
        if instruction.mnemonic == Mnemonic.OR and instruction.op_count == 2:
            if instruction.op_kind(1) in _IMMEDIATES and instruction.immediate(1) & 0xFFFF == _MXCSR_FLUSHES:
                flushes = True
        elif instruction.mnemonic in (Mnemonic.LDMXCSR, Mnemonic.VLDMXCSR):
            yield (
                "sets flush-to-zero for the whole process (start-up code of -ffast-math)"
                if flushes
                else "changes the floating-point state of the whole process"
            )
        name = _imported(image, instruction)
        if name and _PRINTS.match(name):
            yield f"prints ({name})"
        elif name and _HANDLERS.match(name):
            yield f"changes the whole process ({name})"


_IMMEDIATES = {
    OpKind.IMMEDIATE8,
    OpKind.IMMEDIATE16,
    OpKind.IMMEDIATE32,
    OpKind.IMMEDIATE8TO32,
    OpKind.IMMEDIATE8TO64,
    OpKind.IMMEDIATE32TO64,
}


def _straight(image: Image, entry: int) -> Iterator[Instruction]:
    """Instructions that run whenever the function does: to the first branch that depends on anything."""
    returns: list[int] = []
    at, steps = entry, 0
    while steps < _LONGEST:
        raw = image.read(at, 15)
        if not raw:
            return
        instruction = next(iter(Decoder(64, raw, ip=at)))
        steps += 1
        yield instruction
        flow = instruction.flow_control
        at = instruction.next_ip
        if flow == FlowControl.RETURN:
            if not returns:
                return
            at = returns.pop()
        elif flow in (FlowControl.CALL, FlowControl.UNCONDITIONAL_BRANCH):
            if not _is_near(instruction):
                return
            target = instruction.near_branch_target
            if _plt(image, target):
                if flow == FlowControl.UNCONDITIONAL_BRANCH:
                    if not returns:
                        return
                    at = returns.pop()
                continue  # another file's function: it comes back
            if flow == FlowControl.CALL:
                returns.append(at)
            at = target
        elif flow == FlowControl.INDIRECT_CALL:
            if _imported(image, instruction) is None:
                return
        elif flow != FlowControl.NEXT:
            return


def _imported(image: Image, instruction: Instruction) -> str | None:
    """The other file's function that is called or jumped to; None: none is, or it isn't known."""
    if instruction.flow_control in (FlowControl.INDIRECT_CALL, FlowControl.INDIRECT_BRANCH):
        return _from_table(image, instruction)
    calls = instruction.flow_control in (FlowControl.CALL, FlowControl.UNCONDITIONAL_BRANCH)
    return _plt(image, instruction.near_branch_target) if calls and _is_near(instruction) else None


def _is_near(instruction: Instruction) -> bool:
    return instruction.op_kind(0) == OpKind.NEAR_BRANCH64


def _plt(image: Image, address: int) -> str | None:
    """Whose jump stands there: `endbr64` perhaps, then `jmp [rip + ...]` through a word that the linker fills in."""
    for instruction in Decoder(64, image.read(address, 32), ip=address):
        if instruction.flow_control == FlowControl.INDIRECT_BRANCH:
            return _from_table(image, instruction)
        if instruction.mnemonic not in (Mnemonic.ENDBR64, Mnemonic.NOP):
            return None
    return None


def _from_table(image: Image, instruction: Instruction) -> str | None:
    if instruction.memory_base != Register.RIP:
        return None
    return image.imports.get(instruction.ip_rel_memory_address)
