"""`kernpack dev`: the project built in place, and again whenever a source is saved."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from kernpack_sdk import progress
from kernpack_sdk.loading import refusal
from kernpack_sdk.project import BuildError, Project, unread_by_pip

_INTERVAL = 0.1  # seconds between looks at the sources
_LEFT_OUT = ("build", "dist", "node_modules", "__pycache__")


@click.command("dev")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--once", is_flag=True, help="Build once, install if needed, and exit.")
@click.option("--no-install", is_flag=True, help="Don't install the project; put build/dev/site on PYTHONPATH instead.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per build.")
@click.pass_context
def command(ctx: click.Context, folder: Path, once: bool, no_install: bool, as_json: bool) -> None:
    """Build the project in FOLDER in place and load it, and repeat this whenever one of its files is saved.

    The first build installs the project as an editable package. In a running Python, kernpack.reload(module) loads the
    new code; functions that you took from the module before keep the old code.
    """
    project = Project(folder.resolve())
    if not project.is_there():
        raise click.ClickException(project.missing())
    if not no_install and (unread := unread_by_pip(project.root)):
        raise click.ClickException(f"{unread}, or use --no-install")
    before = _state(project.root)  # what is saved while the first build runs counts, too
    good = _build(project, as_json)
    if good and not no_install:
        _install(project, quiet=as_json)
    if once:
        ctx.exit(0 if good else 1)
    if not as_json:
        click.echo(f"watching {project.root}; Ctrl-C ends it", err=True)
    try:
        for _ in _saves(project.root, before):
            good = _build(project, as_json)
            if good and not no_install:
                _install(project, quiet=as_json)
    except KeyboardInterrupt:
        ctx.exit(0)


def _build(project: Project, as_json: bool) -> bool:
    began = time.monotonic()
    try:
        with progress.shown(f"building {project.root.name}", quiet=as_json) as line:
            project.build_now(line)
        error = ""
    except BuildError as failed:
        error = str(failed)
    seconds = time.monotonic() - began
    built = not error
    error = error or refusal(project.site)
    if as_json:
        print(json.dumps({"built": built, "seconds": round(seconds, 3), "error": error}), flush=True)
    elif built and error:
        click.secho(f"built in {seconds:.1f} s, but it doesn't load", fg="red", err=True)
        click.echo(error, err=True)
    elif error:
        click.secho(f"failed after {seconds:.1f} s; the previous build stays in place", fg="red", err=True)
        click.echo(error, err=True)
    else:
        click.secho(f"built in {seconds:.1f} s: {project.site}", fg="green", err=True)
    return not error


def _install(project: Project, *, quiet: bool) -> None:
    """Makes the environment's Python find the project, unless it does already."""
    if _is_installed(project):
        return
    pip = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "-e", str(project.root)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise click.ClickException(f"{' '.join(pip)}\n{done.stdout}{done.stderr}")
    if not quiet:
        click.echo(f"installed {project.name} into {sys.prefix}, as an editable package", err=True)


def _is_installed(project: Project) -> bool:
    try:
        text = importlib.metadata.distribution(project.name).read_text("direct_url.json") or "{}"
    except importlib.metadata.PackageNotFoundError:
        return False
    about = json.loads(text)
    return about.get("url") == project.root.as_uri() and about.get("dir_info", {}).get("editable", False)


def _saves(root: Path, before: dict[str, tuple[int, int]]) -> Iterator[None]:
    """Once for each time that a file of the project isn't as `before`, then as at the last time; an editor's several writes count once."""
    while True:
        now = _state(root)
        if now == before:
            time.sleep(_INTERVAL)
            continue
        while True:  # until nothing is written any more
            time.sleep(_INTERVAL / 2)
            later = _state(root)
            if later == now:
                break
            now = later
        before = now
        yield


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    waiting = [folder]
    while waiting:
        try:
            entries = list(waiting.pop().iterdir())
        except OSError:  # removed meanwhile
            continue
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _LEFT_OUT:
                continue
            if entry.is_dir() and not entry.is_symlink():
                waiting.append(entry)
                continue
            try:
                state = entry.stat()
            except OSError:
                continue
            found[str(entry)] = (state.st_mtime_ns, state.st_size)
    return found
