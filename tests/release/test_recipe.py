""".github/workflows/release.yml as far as it can be tried without a network: its commands, its rights, its order."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    return yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]


def test_its_commands_are_there(jobs: dict[str, Any]) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    commands = [step["run"] for step in jobs["wheels"]["steps"] if "run" in step]
    assert [command for command in commands if command.startswith("make ")] == ["make test"]
    assert "test" in targets
    scripts = [command.split()[0] for command in commands if command.startswith("scripts/")]
    assert scripts == ["scripts/release-tag"]
    assert all((ROOT / script).is_file() for script in scripts)


def test_the_tag_is_compared_before_anything_is_built(jobs: dict[str, Any]) -> None:
    commands = [step.get("run", "") for step in jobs["wheels"]["steps"]]
    assert commands.index('scripts/release-tag "$GITHUB_REF_NAME"') < commands.index("make test")


def test_what_was_tested_is_what_is_published(jobs: dict[str, Any]) -> None:
    assert jobs["publish"]["needs"] == "wheels"
    assert not [step for step in jobs["publish"]["steps"] if "run" in step]
    kept = next(step for step in jobs["wheels"]["steps"] if step.get("uses", "").startswith("actions/upload-artifact"))
    taken = next(step for step in jobs["publish"]["steps"] if step["uses"].startswith("actions/download-artifact"))
    assert (kept["with"]["name"], kept["with"]["path"]) == (taken["with"]["name"], "dist/**/*.whl")


def test_only_the_jobs_that_sign_may_sign_and_none_has_a_password(jobs: dict[str, Any]) -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text()
    assert "secrets." not in text
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["environment"] == "pypi"
    for publish in jobs["publish"]["steps"][1:]:
        assert publish["uses"].startswith("pypa/gh-action-pypi-publish@")
        assert publish["with"]["attestations"] is True


def test_every_folder_of_wheels_is_published(jobs: dict[str, Any]) -> None:
    folders = {step["with"].get("packages-dir", "dist") for step in jobs["publish"]["steps"][1:]}
    assert folders == {str(wheel.parent.relative_to(ROOT)) for wheel in (ROOT / "dist").rglob("*.whl")}


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
    (tmp_path / "scripts").mkdir()
    for script in ("release-tag", "lib.sh"):
        shutil.copy(ROOT / "scripts" / script, tmp_path / "scripts")
    header = tmp_path / "ffi/include/kernpack/module.h"
    header.parent.mkdir(parents=True)
    header.write_text('#define KP_SDK_VERSION "0.1.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n")
    done = subprocess.run([tmp_path / "scripts/release-tag", tag], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == (said or "")
    assert done.returncode == (0 if said is None else 1)
