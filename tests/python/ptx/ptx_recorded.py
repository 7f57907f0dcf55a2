"""The results of a GPU, bit by bit: `ptx_recorded.py FILE` records them, with KERNPACK_TEST_CUDA_DRIVER=libcuda.so.1; without, those that
the emulated device gives.

A case is recorded as two digests: of what is run and on what, and of what came out. Approximations aren't among the cases."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import ptx_forms
import ptx_matrix
import ptx_programs
from ptx_driver import Driver

RECORD = Path(__file__).with_name("h200.json")


def _digest(*parts: str | np.ndarray) -> str:
    made = hashlib.blake2b(digest_size=6)
    for part in parts:
        made.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).data)
    return made.hexdigest()


def _forms(driver: Driver) -> Iterator[tuple[str, str, str]]:
    for group, make in ptx_forms.GROUPS.items():
        forms = make()
        module = driver.load(ptx_forms.module(forms))
        for number, form in enumerate(forms):
            if form.tolerance == 0:
                cases = ptx_forms.Cases(form)
                got = cases.run(driver, module, f"k{number}")
                yield (
                    f"{group}: {form.text or form.name}",
                    _digest(ptx_forms.kernel(0, form), *cases.inputs),
                    _digest(got),
                )


def _programs(driver: Driver) -> Iterator[tuple[str, str, str]]:
    for first in range(0, ptx_programs.COUNT, ptx_programs.PER_MODULE):
        programs = ptx_programs.texts(first)
        module = driver.load(ptx_programs.module(programs))
        for seed, text in programs.items():
            given = ptx_programs.memory(seed)
            yield f"program {seed}", _digest(text, given), _digest(ptx_programs.run(driver, module, seed))


def _products(driver: Driver) -> Iterator[tuple[str, str, str]]:
    for product in ptx_matrix.PRODUCTS:
        for scale in ptx_matrix.SCALES:
            given = _digest(ptx_matrix.text(product), *ptx_matrix.tiles(product, scale))
            yield f"{product.name}, {scale}", given, _digest(ptx_matrix.run(driver, product, scale))


KINDS: dict[str, Callable[[Driver], Iterator[tuple[str, str, str]]]] = {
    "instructions": _forms,
    "programs": _programs,
    "products": _products,
}


def main() -> None:
    driver = Driver()
    found = {kind: {name: f"{given} {out}" for name, given, out in cases(driver)} for kind, cases in KINDS.items()}
    Path(sys.argv[1]).write_text(json.dumps({"device": driver.name(), **found}, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
