"""`kernpack publish`: everything that should be true before an upload; then the two commands. It uploads nothing itself."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kernpack_sdk.cli import Missing

if TYPE_CHECKING:
    from kernpack_sdk.audit import Finding


@click.command("publish")
@click.argument("wheels", nargs=-1, type=click.Path(path_type=Path), metavar="[WHEEL...]")
@click.option("--no-test", is_flag=True, help="Don't run `kernpack test`.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, wheels: tuple[Path, ...], no_test: bool, as_json: bool) -> None:
    """Check the wheels (default: those in dist/) with twine, `kernpack check` and `kernpack test`, and the project and its source
    distributions for private keys; print problems, and notes, which may be intended; then print the
    commands that upload the wheels. Nothing is uploaded."""
    found = list(wheels) or sorted(Path("dist").glob("*.whl"))
    if not found:
        raise click.ClickException("no wheels in dist/; kernpack build makes them")
    for wheel in found:
        if not wheel.is_file():
            raise click.ClickException(f"no file {wheel}")
    if importlib.util.find_spec("twine") is None:
        raise Missing("needs twine; install it: pip install twine")
    from kernpack_sdk import check

    said = {str(wheel): list(_said(wheel, not no_test)) for wheel in found}
    said |= {str(path): lines for path in _sources(found) if (lines := check.audit(path))}
    problems = {name: [each.text for each in lines if each.serious] for name, lines in said.items()}
    notes = {name: [each.text for each in lines if not each.serious] for name, lines in said.items()}
    good = not any(problems.values())
    upload = f"{Path(sys.executable).name} -m twine upload {' '.join(map(str, found))}"
    commands = [upload.replace("upload", "upload --repository testpypi", 1), upload]
    if as_json:
        click.echo(json.dumps({"problems": problems, "notes": notes, "commands": commands if good else []}, indent=2))
    else:
        for name, found_there in problems.items():
            click.echo("\n".join(f"{name}: {line}" for line in found_there) or f"{name}: ok")
            for note in notes[name]:
                click.echo(f"note: {note}")
        click.echo(
            "\nTo try the upload, then to publish:\n  " + "\n  ".join(commands) if good else "\nNot ready: see above."
        )
    ctx.exit(int(not good))


def _sources(wheels: list[Path]) -> Iterator[Path]:
    """Projects that the wheels lie in, and source distributions beside the wheels, which are uploaded as easily."""
    from kernpack_sdk.audit import private_keys

    folders = list(dict.fromkeys(wheel.absolute().parent for wheel in wheels))
    projects = (private_keys.find_project(wheel.absolute()) for wheel in wheels)
    yield from dict.fromkeys(project for project in projects if project)
    for folder in folders:
        yield from (path for path in sorted(folder.iterdir()) if path.is_file() and private_keys.is_sdist(path))


def _said(wheel: Path, tested: bool) -> Iterator[Finding]:
    from kernpack_sdk import check

    twine = _ran("twine", "check", "--strict", str(wheel))
    if twine.returncode != 0:
        yield check.Finding(f"twine check: {twine.stdout.strip()}")
    yield from check.audit(wheel)
    if tested:
        suite = _ran("kernpack_sdk", "test", str(wheel))
        if suite.returncode != 0:
            yield check.Finding(f"kernpack test: {(suite.stdout + suite.stderr).strip()}")


def _ran(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", module, *words], capture_output=True, text=True, check=False)
