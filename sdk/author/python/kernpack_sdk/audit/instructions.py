"""Which instruction sets the functions of a file use, by disassembly; x86-64 alone."""

from __future__ import annotations

import bisect
import dataclasses
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from iced_x86 import Code, CpuidFeature, Decoder, FlowControl, Instruction, Mnemonic, OpKind

from kernpack_sdk.audit.image import Image

_FEATURES = {value: name for name, value in vars(CpuidFeature).items() if isinstance(value, int)}
# Features that x86-64-v2 lacks. The baseline of modules is v2: no wheel of Kernpack's runs on less.
_ABOVE = re.compile(
    r"^(AVX.*|FMA|FMA4|F16C|BMI1|BMI2|LZCNT|MOVBE|XOP|TBM|AMX_.*|VAES|VPCLMULQDQ|GFNI|SHA|SHA512|SM3|SM4|AES|PCLMULQDQ|ADX|RTM)$"
)
# `rep bsf`, which compilers write for every processor: where there is no tzcnt it's a bsf.
_HARMLESS = {Mnemonic.TZCNT}
_ASKS = {Mnemonic.CPUID, Mnemonic.XGETBV}
_ASKING_SYMBOLS = re.compile(r"^(__cpu_indicator_init|__cpu_model|getauxval|__get_cpuid.*)$")
_NEIGHBOUR = 16  # bytes: what one function found out of the processor is a struct, whose fields others read
# The instruction sets of targets. Processors that aren't listed here aren't judged.
_LEVELS = {
    "x86-64": set(),
    "x86-64-v2": set(),
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"},
}
_LEVELS["x86-64-v4"] = _LEVELS["x86-64-v3"] | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_JUMPS = {FlowControl.CALL, FlowControl.UNCONDITIONAL_BRANCH, FlowControl.CONDITIONAL_BRANCH}
_NEAR = {OpKind.NEAR_BRANCH64, OpKind.NEAR_BRANCH32, OpKind.NEAR_BRANCH16}


@dataclasses.dataclass
class Function:
    above: set[str] = dataclasses.field(default_factory=set)  # instruction sets that x86-64-v2 hasn't, "avx2"
    asks: bool = False  # the processor what it has
    uses: set[int] = dataclasses.field(
        default_factory=set
    )  # functions that it calls, jumps to, or takes the address of


class Disassembly:
    def __init__(self, image: Image) -> None:
        self.image = image
        self.functions: dict[int, Function] = {}
        self._above: dict[int, set[str]] = {}  # by Code
        self._follow: dict[int, bool] = {}
        for address, data in image.code():
            self._read(address, data)

    def reached(self, address: int) -> dict[int, Function]:
        """The function there and all that it uses."""
        seen: dict[int, Function] = {}
        start = self.image.find_start(address)
        todo = [] if start is None else [start]
        while todo:
            at = todo.pop()
            if at not in seen and at in self.functions:
                seen[at] = self.functions[at]
                todo += seen[at].uses
        return seen

    def levels_above(self, address: int) -> set[str]:
        """Instruction sets above the baseline of that function and of all that it uses."""
        return set().union(*(each.above for each in self.reached(address).values()))

    def beyond(self, address: int, target: str | None) -> dict[int, set[str]]:
        """Functions that the one there uses, with the instruction sets in them that its target hasn't; none where the target isn't
        known, or where one of them asks the processor first."""
        allowed = _allowed(target)
        if allowed is None:
            return {}
        reached = self.reached(address)
        found = {at: above for at, each in reached.items() if (above := each.above - allowed)}
        if not found or any(each.asks for each in reached.values()) or self._reads_answers(reached):
            return {}
        return found

    @cached_property
    def _answers(self) -> list[int]:
        """Where the functions that ask the processor keep what they found out."""
        asking = [at for at, each in self.functions.items() if each.asks]
        return sorted({address for at in asking for address in self._find_data(at)})

    def _reads_answers(self, functions: Iterable[int]) -> bool:
        for at in functions:
            for address in self._find_data(at):
                near = bisect.bisect_left(self._answers, address - _NEIGHBOUR)
                if near < len(self._answers) and self._answers[near] <= address + _NEIGHBOUR:
                    return True
        return False

    def _find_data(self, start: int) -> Iterator[int]:
        """Addresses of data in a function's instructions."""
        code = self.image.read(start, self.image.find_end(start) - start)
        for instruction in Decoder(64, code, ip=start):
            if instruction.is_ip_rel_memory_operand:
                address = instruction.ip_rel_memory_address
                yield self.image.pointers.get(address, address)

    def _read(self, address: int, data: bytes) -> None:
        function, end = Function(), address
        for instruction in Decoder(64, data, ip=address):
            if instruction.ip >= end:
                start = self.image.find_start(instruction.ip)
                function = self.functions.setdefault(instruction.ip if start is None else start, Function())
                end = self.image.find_end(instruction.ip)
            code = instruction.code
            above = self._above.get(code)
            if above is None:
                above = self._learn(instruction)
            if above:
                function.above |= above
            if self._follow[code]:
                self._add_use(function, instruction)
            elif instruction.mnemonic in _ASKS:
                function.asks = True

    def _learn(self, instruction: Instruction) -> set[str]:
        code = instruction.code
        names = {_FEATURES[feature] for feature in instruction.cpuid_features()}
        harmless = instruction.mnemonic in _HARMLESS or code == Code.INVALID
        above = set() if harmless else {_plain(name) for name in names if _ABOVE.match(name)}
        self._above[code] = above
        self._follow[code] = instruction.flow_control in _JUMPS or instruction.mnemonic == Mnemonic.LEA
        return above

    def _add_use(self, function: Function, instruction: Instruction) -> None:
        if instruction.op_count and instruction.op_kind(0) in _NEAR:
            target = instruction.near_branch_target
        elif instruction.is_ip_rel_memory_operand:
            target = instruction.ip_rel_memory_address
            function.asks |= _ASKING_SYMBOLS.match(self.image.imports.get(target, "")) is not None
            target = self.image.pointers.get(target, target)  # a call through the linker's table
        else:
            return
        start = self.image.find_start(target)
        if start is not None:
            function.uses.add(start)


def spelled(sets: Iterable[str]) -> str:
    """ "avx, avx2, fma", shortest first."""
    return ", ".join(sorted(sets, key=lambda name: (len(name), name)))


def _allowed(target: str | None) -> set[str] | None:
    """The features that code for a target such as "llvm -mcpu=x86-64-v3 -mattr=+avx512f" may use; None if the target is unknown here."""
    words = (target or "").split()
    options = dict(word.partition("=")[::2] for word in words[1:])
    level = _LEVELS.get(options.pop("-mcpu", "x86-64-v2"))
    features = [word for word in options.pop("-mattr", "").split(",") if word]
    if level is None or (words and words[0] not in ("llvm", "c")):
        return None
    named = {_plain(word.lstrip("+")) for word in features if not word.startswith("-")}
    return level | named | {"amxtile" for name in named if name.startswith("amx")}


def _plain(feature: str) -> str:
    """LLVM's avx512vnni is AVX512_VNNI here, and its amx-bf16 AMX_BF16."""
    return feature.replace("_", "").replace("-", "").lower()
