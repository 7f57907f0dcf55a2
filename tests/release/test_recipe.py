""".github/workflows/release.yml as far as it can be tried without a network: its commands, its rights, its order."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import DIST, ROOT


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    return yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]


def test_its_commands_are_there(jobs: dict[str, Any]) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    commands = [step["run"] for step in jobs["wheels"]["steps"] if "run" in step]
    assert [command for command in commands if command.startswith("make ")] == [
        "make test",
        "make release-check",
        "make windows",
    ]
    assert "test" in targets
    scripts = [command.split()[0] for command in commands if command.startswith("scripts/")]
    assert scripts == ["scripts/release-tag"]
    assert all((ROOT / script).is_file() for script in scripts)


def test_the_tag_is_compared_before_anything_is_built(jobs: dict[str, Any]) -> None:
    commands = [step.get("run", "") for step in jobs["wheels"]["steps"]]
    assert commands.index('scripts/release-tag "$GITHUB_REF_NAME"') < commands.index("make test")


def _uses(job: dict[str, Any], action: str) -> list[dict[str, Any]]:
    return [step["with"] for step in job["steps"] if step.get("uses", "").startswith(action)]


@pytest.fixture
def published(jobs: dict[str, Any], tmp_path: Path) -> Path:
    """The folder that the last step publishes, as upload-artifact and download-artifact fill it."""
    (taken,) = _uses(jobs["publish"], "actions/download-artifact@")
    (publish,) = _uses(jobs["publish"], "pypa/gh-action-pypi-publish@")
    assert taken["merge-multiple"] is True
    for kept in _uses(jobs["wheels"], "actions/upload-artifact@"):
        if not fnmatch.fnmatch(kept["name"], taken["pattern"]):
            continue
        files = sorted(ROOT.glob(kept["path"]))
        if not files and "aarch64" in kept["path"] and not os.environ.get("KERNPACK_WHOLE_RELEASE"):
            continue  # `make release-check` builds them, and runs this again
        top = os.path.commonpath([file.parent for file in files])
        for file in files:
            place = tmp_path / taken["path"] / file.relative_to(top)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
    return tmp_path / publish["packages-dir"]


def test_what_was_tested_is_what_is_published(jobs: dict[str, Any], published: Path) -> None:
    assert jobs["publish"]["needs"] == "wheels"
    assert not [step for step in jobs["publish"]["steps"] if "run" in step]
    # The CUDA wheel isn't published before it has run on a GPU, nor the wheels for Windows before the job `windows` has run.
    built = [path.name for path in DIST.rglob("*.whl") if path.parent not in (DIST / "cuda", DIST / "windows")]
    assert sorted(path.name for path in published.iterdir()) == sorted(built)


def test_windows_runs_the_suites_of_wine(jobs: dict[str, Any]) -> None:
    (taken,) = _uses(jobs["windows"], "actions/download-artifact@")
    (kept,) = [kept for kept in _uses(jobs["wheels"], "actions/upload-artifact@") if kept["name"] == taken["name"]]
    assert kept["path"].split() == ["dist/windows/*.whl", "dist/kernpack_sdk-*.whl"]
    script = (ROOT / "scripts/windows-python").read_text()
    commands = [step["run"].split() for step in jobs["windows"]["steps"] if "run" in step]
    programs = [words[1] for words in commands if words[1].endswith(".py")]
    assert programs == ["tests/windows/smoke.py", "tests/windows/suites.py"]
    assert all(re.search(rf"on_windows \d+ {program}", script) for program in programs)


def test_the_publishing_step_takes_the_folder(published: Path) -> None:
    """It runs this command, and stops where a folder or a stray file is among the wheels."""
    command = [sys.executable, "-m", "twine", "check", *sorted(published.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_the_jobs_that_sign_may_sign_and_none_has_a_password(jobs: dict[str, Any]) -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text()
    assert "secrets." not in text
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["environment"] == "pypi"
    (publish,) = _uses(jobs["publish"], "pypa/gh-action-pypi-publish@")
    assert publish["attestations"] is True


@pytest.mark.parametrize(
    ("tag", "heading", "said"),
    [
        ("v0.1.0", "## 0.1.0 (2026-12-01)", None),
        ("v0.2.0", "## 0.1.0 (2026-12-01)", "release-tag: expected v0.1.0, the version in ffi/include/kernpack/module.h, got v0.2.0"),
        ("0.1.0", "## 0.1.0 (2026-12-01)", "release-tag: expected v0.1.0, the version in ffi/include/kernpack/module.h, got 0.1.0"),
        (
            "v0.1.0",
            "## 0.1.0 (unreleased)",
            "release-tag: CHANGELOG.md: expected a section '## 0.1.0 (YYYY-MM-DD)' with the date of the release",
        ),
    ],
)  # fmt: skip
def test_a_tag_that_does_not_fit_is_refused(tmp_path: Path, tag: str, heading: str, said: str | None) -> None:
    _check_message(tmp_path, tag, heading, "2026-11-20", said)


@pytest.mark.parametrize("newest", ["2026-11-16", None])
def test_a_release_needs_a_recent_result_of_make_newest(tmp_path: Path, newest: str | None) -> None:
    wanted = "a result of make newest with Python 3.12, at most 14 days older than 2026-12-01"
    said = f"release-tag: docs/versions.md: expected {wanted}, got {newest or 'none'}"
    _check_message(tmp_path, "v0.1.0", "## 0.1.0 (2026-12-01)", newest, said)


def _check_message(tmp_path: Path, tag: str, heading: str, newest: str | None, said: str | None) -> None:
    """newest: the date of the row of Python 3.12; those of others are recent."""
    (tmp_path / "scripts").mkdir()
    for script in ("release-tag", "lib.sh"):
        shutil.copy(ROOT / "scripts" / script, tmp_path / "scripts")
    header = tmp_path / "ffi/include/kernpack/module.h"
    header.parent.mkdir(parents=True)
    header.write_text('#define KP_SDK_VERSION "0.1.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n")
    rows = [
        f"| {date} | {python} | 2.14.1 |"
        for python, date in (("3.11", "2026-11-30"), ("3.12", newest), ("3.13", "2026-11-17"))
        if date
    ]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/versions.md").write_text(
        "\n".join(["<!-- newest: begin -->", "", *rows, "", "<!-- newest: end -->"]) + "\n"
    )
    done = subprocess.run([tmp_path / "scripts/release-tag", tag], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == (said or "")
    assert done.returncode == (0 if said is None else 1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("newest", ["make wheels", "make newest", "make numpy-suites"]), ("elsewhere", ["make elsewhere"])],
)
def test_other_versions_and_places_are_tried_every_week(name: str, expected: list[str]) -> None:
    """The newest frameworks, and `make test` as another user in a folder with an odd name."""
    workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text())
    (schedule,) = workflow[True]["schedule"]  # YAML takes the word "on" for true
    assert re.fullmatch(r"\d+ \d+ \* \* [0-6]", schedule["cron"])
    commands = [step["run"] for step in workflow["jobs"][name]["steps"] if "run" in step]
    assert [command for command in commands if command.startswith("make ")] == expected
