"""`kernpack bench --compare`: each wheel in a process of its own, and no word of the cases gets lost."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import kernpack
import kernpack_sdk
import pytest

BENCH = """
import some_ops
print("printed by the cases")
def cases():
    yield "work", some_ops.work, None, (some_ops.ROUNDS,)
    yield from ((name, len, None, ("",)) for name in some_ops.MORE)
"""
OPS = "ROUNDS = {rounds}\nMORE = {more}\ndef work(n):\n    for _ in range(n):\n        pass\n"


def write_wheel(folder: Path, version: str, package: str = "some_ops", **facts: object) -> Path:
    path = folder / f"{package}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{package}/__init__.py", OPS.format(**{"rounds": 1000, "more": [], **facts}))
        archive.writestr(f"{package}-{version}.dist-info/METADATA", f"Name: {package}\nVersion: {version}\n")
    return path


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    (tmp_path / "bench.py").write_text(BENCH)
    return tmp_path / "bench.py"


def test_each_wheel_runs_its_own_code(command, tmp_path: Path, bench: Path) -> None:
    old = write_wheel(tmp_path, "1.0", rounds=100_000, more=["dropped", "kept"])
    new = write_wheel(tmp_path, "2.0", rounds=1_000, more=["kept", "added"])
    picture = tmp_path / "ratios.svg"
    done = command("bench", bench, "--compare", old, new, "--seconds", "0.05", "--plot", picture, "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["case"]: row for row in json.loads(done.stdout)}
    assert sorted(rows) == ["kept", "work"]
    assert rows["work"]["ratio"] > 10  # a hundred times the rounds: which code ran, not how fast it was
    assert "times as fast as the old wheel" in picture.read_text()
    assert "printed by the cases" in done.stderr
    assert "times as fast" in command("bench", bench, "--compare", old, new, "--seconds", "0.02", "-k", "work").stdout


def test_wheels_that_cannot_be_compared_are_refused(command, tmp_path: Path, bench: Path) -> None:
    good, other = write_wheel(tmp_path, "1.0"), write_wheel(tmp_path, "1.0", "other_ops")
    (tmp_path / "text.whl").write_text("no zip")
    for wheels, said in (
        ((good, tmp_path / "text.whl"), "text.whl: expected a wheel, got a file that can't be read"),
        ((good, tmp_path / "none.whl"), "none.whl' does not exist"),
        ((other, good), "other_ops-1.0-py3-none-any.whl: ModuleNotFoundError: No module named 'some_ops'"),
        ((write_wheel(tmp_path, "3.0", rounds="1 / 0"), good), "some_ops-3.0-py3-none-any.whl: ZeroDivisionError"),
        ((good, write_wheel(tmp_path, "4.0", rounds="'x'")), "some_ops-4.0-py3-none-any.whl: TypeError"),
        ((good, write_wheel(tmp_path, "5.0", rounds="__import__('os')._exit(7)")), "the process ended with status 7"),
    ):
        done = command("bench", bench, "--compare", *wheels, "--seconds", "0.02")
        assert done.returncode != 0
        assert said in done.stderr
    bench.write_text("def cases():\n    yield 'len', len, None, ('',)\n")
    assert (
        "expected two wheels with the same packages; some_ops-1.0-py3-none-any.whl has some_ops; "
        "other_ops-1.0-py3-none-any.whl has other_ops"
    ) in command("bench", bench, "--compare", good, other).stderr
    assert (
        "no case named *x* that both wheels have" in command("bench", bench, "--compare", good, good, "-k", "x").stderr
    )
    assert "--plot draws ratios, but no case has a reference" in command("bench", bench, "--plot", "a.svg").stderr
    done = command("bench", bench, "--compare", good, good, "--seconds", "0.02", "--plot", tmp_path / "a.txt")
    assert "a.txt: Format 'txt' is not supported" in done.stderr


def test_a_package_that_comes_from_elsewhere(command, tmp_path: Path, bench: Path) -> None:
    """As an editable install does it: by a finder before all others."""
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "some_ops").mkdir(parents=True)
    (elsewhere / "some_ops/__init__.py").write_text(OPS.format(rounds=1, more=[]))
    (elsewhere / "sitecustomize.py").write_text(
        "import sys\nfrom importlib.machinery import PathFinder\n"
        "class Finder:\n    def find_spec(self, name, path=None, target=None):\n"
        f"        return PathFinder.find_spec(name, [{str(elsewhere)!r}]) if name == 'some_ops' else None\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    wheel = write_wheel(tmp_path, "1.0")
    path = [str(elsewhere), *(str(Path(package.__file__).parents[1]) for package in (kernpack, kernpack_sdk))]
    done = command("bench", bench, "--compare", wheel, wheel, env={"PYTHONPATH": os.pathsep.join(path)})
    assert "package some_ops would be imported from" in done.stderr
    assert "not from the wheel: uninstall the editable some_ops" in done.stderr
