from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from audit_inputs import SOURCE, Build, Pack
from kernpack_sdk import flags


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """build(source, *options): a module, compiled and linked as `kernpack config` says, options last."""

    def run(source: str = SOURCE, *options: str, name: str = "my_kernels.so") -> Path:
        folder = tmp_path_factory.mktemp("module")
        (folder / "ops.cc").write_text(source)
        command = ["g++", *flags.compile_flags(), "ops.cc", *flags.link_flags(), *options, "-o", name]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return folder / name

    return run


@pytest.fixture(scope="session")
def plain(build: Build) -> Path:
    return build()


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    """pack({"my_kernels/x.so": path or text}, name=..., ...): a wheel of those files."""

    def run(
        files: dict[str, Path | str],
        name: str = "my_kernels",
        version: str = "1.0.0",
        tag: str = "py3-none-linux_x86_64",
        metadata: str = "License-Expression: Apache-2.0\n",
        python: str = "Requires-Python: >=3.11\n",
    ) -> Path:
        tree = tmp_path / "tree"
        info = tree / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{python}{metadata}")
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n")
        for place, content in files.items():
            file = tree / place.replace("INFO", info.name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.read_bytes() if isinstance(content, Path) else content.encode())
        from kernpack_sdk.wheel import run_tool

        run_tool("pack", "--dest-dir", tmp_path, tree)
        (wheel,) = tmp_path.glob("*.whl")
        return wheel

    return run
