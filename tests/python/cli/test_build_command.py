"""`kernpack build`: from a folder whose path has spaces and other letters, within a size, with what it does on the terminal."""

from __future__ import annotations

import json
import os
import shutil
import time
import zipfile
from pathlib import Path

import pytest
from kernpack_sdk import budget, progress


@pytest.fixture(scope="module")
def project(command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("build") / "my projects ü"
    folder.mkdir()
    made = command("new", "roomy", cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder / "roomy"


def test_a_path_with_spaces_and_other_letters(command, project: Path) -> None:
    done = command("build", "--json", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    wheel = project / json.loads(done.stdout)["wheel"]
    with zipfile.ZipFile(wheel) as archive:
        module = archive.read("roomy/roomy.so")
    assert str(project).encode() not in module
    assert command("check", wheel, cwd=project).returncode == 0


def test_a_path_that_is_not_utf8_is_refused_in_words(command, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/latin1 \xfc"))
    folder.mkdir()
    assert command("new", "roomy", cwd=folder).returncode == 0
    for words in (("build", "roomy"), ("dev", "--once", "roomy")):
        done = command(*words, cwd=folder)
        assert (done.returncode, done.stdout) == (1, "")
        assert "latin1 \\xfc/roomy: pip builds and installs nothing in a folder whose path isn't UTF-8" in done.stderr


def test_a_wheel_larger_than_the_project_allows(command, project: Path) -> None:
    about = project / "pyproject.toml"
    text = about.read_text()
    about.write_text(text + '\n[tool.kernpack]\nmax-wheel-size = "2KB"\n')
    try:
        done = command("build", "-o", "small", cwd=project)
    finally:
        about.write_text(text)
    assert done.returncode == 1
    first, largest, *_ = done.stderr.partition("\nkernpack: ")[2].splitlines()
    assert first.startswith("roomy-0.1.0-py3-none-manylinux_2_28_")
    assert "more than max-wheel-size of pyproject.toml, 2 KB. Leave something out" in first
    assert largest.endswith("  roomy/roomy.so")
    assert not (project / "small").exists()


@pytest.mark.parametrize("given", ["8.0", "sm_80", "80,", "", "80 x"])
def test_what_is_no_list_of_architectures(command, project: Path, given: str) -> None:
    done = command("build", "--cuda-arch", given, cwd=project)
    assert done.returncode == 2
    assert f"expected compute capabilities without the dot, as in 80,90,90a, got '{given}'" in done.stderr


def test_architectures_for_a_project_without_cuda(command, project: Path) -> None:
    done = command("build", "--cuda-arch", "80,90", "-o", "none", cwd=project)
    assert done.returncode == 1
    assert "--cuda-arch 80,90: the wheel holds no code for 80, 90; only .cu files among SOURCES of" in done.stderr
    assert not (project / "none").exists()


@pytest.mark.parametrize(
    ("given", "limit"), [("20MB", 20_000_000), ("1.5 GiB", 3 << 29), ("700", 700), (700, 700), ("3kb", 3000)]
)
def test_sizes(given: object, limit: int) -> None:
    assert budget.of_project({"tool": {"kernpack": {"max-wheel-size": given}}}) == limit


@pytest.mark.parametrize("given", ["big", "20 TB", "-1", True, "2iB"])
def test_what_is_no_size(given: object) -> None:
    with pytest.raises(ValueError, match='max-wheel-size: expected a size such as "20MB" or "512 KiB", got'):
        budget.of_project({"tool": {"kernpack": {"max-wheel-size": given}}})


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("*** Configuring CMake...", ("configuring", None, None)),
        ("[7/8] Building CXX object CMakeFiles/a.dir/src/a.cc.o", ("compiling src/a.cc", 7, 8)),
        ("[2/3] Building CUDA object CMakeFiles/a.dir/src/a.cu.o", ("compiling src/a.cu (nvcc)", 2, 3)),
        ("[ 33%] Building CXX object CMakeFiles/a.dir/src/a.cc.o", ("compiling src/a.cc", 33, 100)),
        ("[8/8] Linking CXX shared module a.so", ("Linking CXX shared module a.so", 8, 8)),
        ("-- Detecting CXX compile features", None),
    ],
)
def test_what_a_line_says_of_the_progress(line: str, step: object) -> None:
    assert progress.step(line) == step


def test_a_long_build_is_not_silent_off_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(progress, "_EVERY", 0.05)
    with progress.shown("building a", quiet=False) as line:
        for each in (
            progress.COMPILING,
            "[1/2] Building CUDA object CMakeFiles/a.dir/a.cu.o",
            "[ 50%] Building CXX object b.o",
        ):
            line(each)
            time.sleep(0.3)
    said = capsys.readouterr().err.splitlines()
    assert {each.rpartition(",")[0] for each in said} == {
        "building a: compiling",
        "building a: 1 of 2 steps done",
        "building a: 50 % done",
    }
    assert said[0].endswith(", 0 s so far")
    with progress.shown("building a", quiet=True):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_dev_builds_again_what_is_saved_while_it_builds(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner
    from kernpack_sdk.cli import group
    from kernpack_sdk.commands import dev

    (source,) = (project / "src").glob("*.cc")
    built = []

    def build(_: object, __: bool) -> bool:
        built.append(source.read_text())
        if len(built) == 2:
            raise KeyboardInterrupt
        source.write_text(built[0] + "// saved meanwhile")
        return True

    monkeypatch.setattr(dev, "_build", build)
    try:
        words = ["--no-install", str(project)]
        assert CliRunner().invoke(dev.command, words, **group.context_settings).exit_code == 0
    finally:
        source.write_text(built[0])
    assert built[1] == built[0] + "// saved meanwhile"


def test_dev_hands_on_what_its_tools_print(command, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kernpack_sdk.project import Project

    lines: list[str] = []
    shutil.rmtree(project / "build", ignore_errors=True)
    Project(project).build_now(lines.append)
    steps = [step for line in lines if (step := progress.step(line))]
    assert steps[0] == ("configuring", None, None)
    assert ("compiling", None, None) in steps
    assert any(done == of for _, done, of in steps if done)


@pytest.mark.parametrize(("terminal", "quiet"), [(True, False), (True, True), (False, False)])
def test_progress_is_for_terminals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool, quiet: bool
) -> None:
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    else:
        monkeypatch.delenv("FORCE_COLOR", raising=False)
    with progress.shown("building a", quiet=quiet) as line:
        line("[1/2] Building CXX object CMakeFiles/a.dir/src/a.cc.o")
    said = capsys.readouterr()
    assert said.out == ""
    assert ("building a: compiling src/a.cc" in said.err) == (terminal and not quiet)
    assert bool(said.err) == (terminal and not quiet)
