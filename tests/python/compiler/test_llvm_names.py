"""The processors we know have the features that LLVM gives them, as far as an installed clang-19 tells."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

compiler = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")

CLANG = shutil.which("clang-19")


def _features(arch: str, model: str) -> set[str]:
    option = {"x86_64": "-march=", "aarch64": "-mcpu="}[arch] + model
    command = [str(CLANG), f"--target={arch}-linux-gnu", option, "-S", "-emit-llvm", "-o", "-", "-x", "c", "-"]
    text = subprocess.run(command, input="void f(void) {}", capture_output=True, text=True, check=True).stdout
    listed = re.search(r'"target-features"="([^"]*)"', text)
    assert listed is not None
    return {feature[1:] for feature in listed[1].split(",") if feature.startswith("+")}


@pytest.mark.skipif(CLANG is None, reason="there is no clang-19 to ask")
@pytest.mark.parametrize("arch", ["x86_64", "aarch64"])
def test_processor_models_have_the_features_that_clang_gives_them(arch: str) -> None:
    known = set(compiler.cpu_features(arch))
    for model in set(compiler.cpu_models(arch)) - {"generic"}:
        # Features that clang leaves out, because they are always present, are in the least processor of the architecture.
        changes = ",".join("+" + feature for feature in sorted(_features(arch, model) & known))
        expected = compiler.Target(f"llvm -mtriple={arch}-linux-gnu -mcpu=generic -mattr={changes}")
        ours = compiler.Target(f"llvm -mtriple={arch}-linux-gnu -mcpu={model}")
        assert set(ours.features) == set(expected.features), model
