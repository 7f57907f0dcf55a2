"""Where a command takes a module it takes the name of an installed package too, as pip has it and as Python has it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import kernpack
import pytest

SOURCE = "void twice(kp::TensorView x, kp::MutTensorView out) {}"
NAMES = ("fast_norms_x", "Fast-Norms.x", "fast-norms-x")  # of Python; as its author writes it; as pip has it


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An installed package: a module in a folder, and metadata."""
    path = kernpack.load_inline(SOURCE, {"twice": "(x: f32[N]) -> (out: f32[N])"}, name="fast_norms_x").path
    (tmp_path / "fast_norms_x").mkdir()
    shutil.copy(path, tmp_path / "fast_norms_x" / "fast_norms_x.so")
    (tmp_path / "fast_norms_x" / "__init__.py").touch()
    about = tmp_path / "fast_norms_x-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: Fast-Norms.x\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[kernpack.modules]\nfast_norms_x = fast_norms_x\n")
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])}


@pytest.fixture
def installed(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(environment["PYTHONPATH"].partition(os.pathsep)[0])


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_of_an_author(name: str, installed: None, capsys: pytest.CaptureFixture[str]) -> None:
    from kernpack_sdk.cli import main

    assert main(["stubs", name]) == 0
    assert "def twice(x: _Array, *, out: _Array | None = None) -> _Array:" in capsys.readouterr().out
    assert main(["inspect", name, "--json"]) == 0
    (module,) = json.loads(capsys.readouterr().out)["modules"]
    assert module["file"] == "fast_norms_x.so"
    assert main(["check", name]) == 0
    assert "fast_norms_x.so: ok, " in capsys.readouterr().out


@pytest.mark.parametrize("name", ["fast_norms_x", "fast-norms-x"])
def test_the_commands_that_load(command, environment: dict[str, str], name: str) -> None:
    apart = command("explain", name, "twice", "f32[4]", env=environment)
    assert f"got '{name}'; did you mean '{name}.twice'?" in apart.stderr
    explained = command("explain", f"{name}.twice", "f32[4]", env=environment)
    assert "allocates out: f32[4], 16 bytes" in explained.stdout, explained.stderr
    tested = command("test", name, "--op", "twice", "--check", "calls", "--json", env=environment)
    assert json.loads(tested.stdout)["module"] == "fast_norms_x", tested.stderr


def test_stubs_of_a_wheel_and_of_a_folder(environment: dict[str, str], tmp_path: Path, capsys) -> None:
    import zipfile

    from kernpack_sdk.cli import main

    with zipfile.ZipFile(tmp_path / "a-1-py3-none-any.whl", "w") as archive:
        archive.write(tmp_path / "fast_norms_x" / "fast_norms_x.so", "fast_norms_x/fast_norms_x.so")
    printed = []
    for what in ("a-1-py3-none-any.whl", "fast_norms_x", "fast_norms_x/fast_norms_x.so"):
        assert main(["stubs", str(tmp_path / what)]) == 0
        printed.append(capsys.readouterr().out)
    assert "def twice(" in printed[0]
    assert printed[0] == printed[1] == printed[2]


def test_a_name_that_nothing_has(capsys: pytest.CaptureFixture[str]) -> None:
    from kernpack_sdk.cli import main

    for words in (["stubs", "no-such-package"], ["inspect", "no-such-package"]):
        assert main(words) == 1
        said = "'no-such-package' is neither a file (.so, .whl), nor a folder, nor an installed package"
        assert capsys.readouterr().err == f"kernpack {words[0]}: {said}\n"
    assert main(["check", "no-such-package"]) == 1
    assert capsys.readouterr().out == "no-such-package: no such file\n"


@pytest.mark.parametrize("name", ["fast_norm_x", "fast-norms-xx"])
def test_a_name_near_one_that_is_installed(name: str, installed: None, capsys: pytest.CaptureFixture[str]) -> None:
    from kernpack_sdk.cli import main

    hint = "; did you mean 'fast_norms_x'?"
    for words in (["stubs", name], ["inspect", name]):
        assert main(words) == 1
        said = f"'{name}' is neither a file (.so, .whl), nor a folder, nor an installed package{hint}"
        assert capsys.readouterr().err == f"kernpack {words[0]}: {said}\n"
    assert main(["check", name]) == 1
    assert capsys.readouterr().out == f"{name}: no such file{hint}\n"


def test_a_function_behind_a_module_that_is_tested(command, environment: dict[str, str]) -> None:
    near = command("explain", "fast_norm_x.twice", "f32[4]", env=environment)
    first = "kernpack explain: no package 'fast_norm_x' is installed; did you mean 'fast_norms_x'?"
    assert near.stderr.splitlines()[0].startswith(first)
    told = command("test", "fast_norms_x.twice", env=environment)
    assert told.returncode == 2
    first = "expected a module, got 'fast_norms_x.twice'; test one function with: kernpack test fast_norms_x --op twice"
    assert told.stderr.splitlines()[0] == f"kernpack test: {first}"
