"""Forms as kernels: each reads its operands, runs one instruction, and stores what came of it."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence

import numpy as np
import ptx_conversions
import ptx_floats
import ptx_integers
from ptx_driver import HEADER, Driver
from ptx_form import Form, count_bits, edges

GROUPS = {
    "integer arithmetic": lambda: [*ptx_integers.arithmetic(), *ptx_integers.carries()],
    "bits": lambda: [*ptx_integers.bits(), *ptx_integers.moves()],
    "float arithmetic": lambda: [*ptx_floats.arithmetic(), *ptx_floats.signs_and_extremes()],
    "small floats": lambda: list(ptx_floats.small()),
    "approximations": lambda: list(ptx_floats.approximations()),
    "conversions": lambda: [*ptx_conversions.conversions(), *ptx_conversions.packed()],
    "comparisons": lambda: [*ptx_conversions.comparisons(), *ptx_conversions.selections(), *ptx_conversions.tests()],
}
BLOCK = 128


def _class(type_name: str) -> tuple[str, str, int]:
    """The register's letter, the type of its loads, and the bytes of an element in memory."""
    if type_name in ("f32", "f64"):
        return type_name, type_name, count_bits(type_name) // 8
    bits = count_bits(type_name)
    return f"b{max(bits, 16)}", f"u{bits}" if bits < 16 else f"b{bits}", bits // 8


def kernel(number: int, form: Form) -> str:
    lines = [f".visible .entry k{number}({', '.join(f'.param .u64 p{i}' for i in range(len(form.ins) + 1))}) {{"]
    lines += [".reg .b64 %at, %to; .reg .b32 %i, %n, %w; .reg .pred %q;"]
    lines += ["mov.u32 %i, %ctaid.x; mov.u32 %n, %tid.x; mad.lo.u32 %i, %i, 128, %n;"]
    names = {}
    for place, type_name in enumerate((form.out, *form.ins)):
        names["dabc"[place]] = f"%v{place}"
        lines.append(f".reg .{'pred' if type_name == 'pred' else _class(type_name)[0]} %v{place};")
    for place, type_name in enumerate(form.ins):
        _, load, size = _class(type_name)
        lines.append(f"ld.param.u64 %at, [p{place}]; mul.wide.u32 %to, %i, {size}; add.u64 %at, %at, %to;")
        if type_name == "pred":
            lines.append(f"ld.global.u32 %w, [%at]; setp.ne.u32 %v{place + 1}, %w, 0;")
        else:
            lines.append(f"ld.global.{load} %v{place + 1}, [%at];")
    text = form.text or f"{form.name} {', '.join('%' + letter for letter in 'dabc'[: len(form.ins) + 1])};"
    for letter, register in names.items():
        text = text.replace(f"%{letter}", register)
    lines.append(text)
    _, store, size = _class(form.out)
    lines.append(f"ld.param.u64 %at, [p{len(form.ins)}]; mul.wide.u32 %to, %i, {size}; add.u64 %at, %at, %to;")
    if form.out == "pred":
        lines.append("selp.u32 %w, 1, 0, %v0; st.global.u32 [%at], %w;")
    else:
        lines.append(f"st.global.{store} [%at], %v0;")
    return "\n".join([*lines, "ret; }"])


def module(forms: list[Form]) -> str:
    return HEADER + "\n".join(kernel(i, form) for i, form in enumerate(forms))


def _array(words: Sequence[int], type_name: str) -> np.ndarray:
    size = _class(type_name)[2]
    padded = [*words, *[words[0]] * (-len(words) % BLOCK)]
    return np.array(padded, dtype=f"u{size}")


class Cases:
    """The words that a form is tried on: all combinations of its operands' edges."""

    def __init__(self, form: Form) -> None:
        few = len([t for t in form.ins if t != "pred"]) > 2
        self.form = form
        self.words = list(itertools.product(*(edges(t, few) for t in form.ins)))
        self.inputs = [_array([case[i] for case in self.words], t) for i, t in enumerate(form.ins)]

    def run(self, driver: Driver, module: ctypes.c_void_p, kernel: str) -> np.ndarray:
        """The result of each form."""
        padded = len(self.inputs[0])
        out = np.zeros(padded, dtype=f"u{_class(self.form.out)[2]}")
        return driver.run(module, kernel, padded // BLOCK, BLOCK, self.inputs, out)[: len(self.words)]
