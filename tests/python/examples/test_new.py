"""What a stranger does: an environment of its own from the wheels in dist/, `kernpack new`, and the new project's own tests."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


class Stranger:
    """A fresh virtual environment and what is run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")},
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PIP_FIND_LINKS": f"{ROOT / 'dist'} {os.environ.get('PIP_FIND_LINKS', '')}",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "KERNPACK_CACHE_DIR": str(folder / "cache"),
        }

    def tries(self, *command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(map(str, command)),
            cwd=cwd or self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def runs(self, *command: str | Path, cwd: Path | None = None) -> str:
        done = self.tries(*command, cwd=cwd)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    found = Stranger(tmp_path_factory.mktemp("stranger"))
    subprocess.run([sys.executable, "-m", "venv", found.folder / "venv"], check=True)
    assert list((ROOT / "dist").glob("kernpack_sdk-*.whl")), "dist/ holds no wheels: make wheels"
    found.runs("pip", "install", "-q", "kernpack-sdk", "ninja")
    # Frameworks are those of the tests' environment, behind the stranger's own packages.
    (site,) = (found.folder / "venv/lib").glob("python*/site-packages")
    (site / "frameworks.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return found


def _new(stranger: Stranger, name: str, *options: str) -> Path:
    facts = json.loads(stranger.runs("kernpack", "new", name, *options, "--json"))
    assert Path(facts["folder"]) == stranger.folder / name
    return stranger.folder / name


@pytest.mark.parametrize(
    ("name", "options", "tests"), [("fast-norms", ("--with-python",), 18), ("my.c_ops", ("--c",), 8)]
)
def test_a_new_project_passes_its_tests(stranger: Stranger, name: str, options: tuple[str, ...], tests: int) -> None:
    project = _new(stranger, name, *options)
    stranger.runs("kernpack", "dev", "--once", cwd=project)
    assert f"{tests} passed" in stranger.runs("python", "-m", "pytest", "-q", cwd=project)


def test_its_wheel_in_isolation_and_its_sdist(stranger: Stranger) -> None:
    project = _new(stranger, "shipped")
    (project / "dist").mkdir()
    (project / "dist/junk.whl").write_text("no part of a source distribution")
    stranger.runs("pip", "wheel", "-q", "--no-deps", "-w", "out", ".", cwd=project)
    (wheel,) = (project / "out").glob("*.whl")
    assert wheel.name == "shipped-0.1.0-py3-none-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {"shipped/shipped.so", "shipped/__init__.py", "shipped/__init__.pyi", "shipped/py.typed"} <= set(names)
    assert f"{wheel.name}: ok" in stranger.runs("kernpack", "check", wheel, cwd=project)
    program = "import kernpack_sdk.build as b; print(b.build_sdist('out'))"
    sdist = stranger.runs("python", "-c", program, cwd=project).split()[-1]
    listed = stranger.runs("tar", "tzf", project / "out" / sdist)
    assert "src/shipped.cc" in listed
    assert "junk.whl" not in listed


def test_two_builds_are_the_same_file_and_can_be_looked_into(stranger: Stranger) -> None:
    project = _new(stranger, "twice-built")
    made = json.loads(stranger.runs("kernpack", "build", "--reproducible", "--json", cwd=project))
    wheel = Path(made["wheel"])
    assert made["sha256"] == hashlib.sha256((project / wheel).read_bytes()).hexdigest()
    found = json.loads(stranger.runs("kernpack", "inspect", wheel, "--json", cwd=project))
    (module,) = found["modules"]
    assert (module["file"], module["problems"]) == ("twice_built.so", [])
    assert {function["name"] for function in module["functions"]} == {"swish", "swish_backward"}
    with zipfile.ZipFile(project / wheel) as archive:
        content = archive.read("twice_built/twice_built.so")
    assert str(project).encode() not in content
    stranger.runs("pip", "install", "-q", "--no-deps", wheel, cwd=project)
    rows = json.loads(
        stranger.runs("kernpack", "bench", "bench/bench_twice_built.py", "--seconds", "0.05", "--json", cwd=project)
    )
    assert [row["case"] for row in rows] == ["swish f32[16]", "swish f32[4096]", "swish f32[1048576]"]
    assert all(row["median"] > 0 and row["ratio"] > 0 and row["samples"] >= 5 for row in rows)


def test_builds_that_differ_are_named(stranger: Stranger) -> None:
    project = _new(stranger, "dated")
    _edit(project, '"x * sigmoid(beta * x), elementwise."', "KP_RANDOM")
    cmake = project / "CMakeLists.txt"
    random = (
        'string(RANDOM LENGTH 12 random)\nadd_compile_definitions("KP_RANDOM=\\"${random}\\"")\nkernpack_add_module('
    )
    cmake.write_text(cmake.read_text().replace("kernpack_add_module(", random))
    done = stranger.tries("kernpack", "build", "--reproducible", cwd=project)
    assert done.returncode == 1
    assert "kernpack build: two builds differ: dated/__init__.pyi, dated/dated.so; " in done.stderr


SWISH = "to[i] = in[i] / (T(1)"


def _edit(project: Path, old: str, new: str) -> None:
    (source,) = (project / "src").glob("*.cc")
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))


def test_a_saved_source_reaches_a_running_python(stranger: Stranger) -> None:
    project = _new(stranger, "watched")
    stranger.runs("kernpack", "dev", "--once", cwd=project)
    watcher = subprocess.Popen(
        ["kernpack", "dev", "--json"], cwd=project, env=stranger.environment, stdout=subprocess.PIPE, text=True
    )
    running = subprocess.Popen(
        ["python", "-ic", "import kernpack, numpy as np; k = kernpack.load('watched'); old = k.swish; x = np.zeros(1)"],
        env=stranger.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert watcher.stdout
    assert running.stdin
    assert running.stdout
    try:
        assert json.loads(watcher.stdout.readline())["built"]
        time.sleep(0.5)  # the watcher has looked at the sources once
        _edit(project, SWISH, "to[i] = 7 + in[i] / (T(1)")
        assert json.loads(watcher.stdout.readline())["built"]
        running.stdin.write("kernpack.reload(k); print('answer', k.swish(x)[0], old(x)[0])\n")
        running.stdin.flush()
        answer = next(line for line in running.stdout if line.startswith("answer"))
        assert answer == "answer 7.0 0.0\n"
        _edit(project, "T[*S], *, beta", "T[*S] *, beta")
        failed = json.loads(watcher.stdout.readline())
        assert not failed["built"]
        assert failed["error"].startswith("kernpack: ")
        assert "the contract of 'swish' doesn't parse: expected ')' or ','" in failed["error"].splitlines()[0]
    finally:
        for process in (watcher, running):
            process.terminate()
            process.communicate()


def test_editable_rebuild(stranger: Stranger) -> None:
    project = _new(stranger, "rebuilt")
    pip = ("pip", "install", "-q", "--no-build-isolation", "--no-deps", "-C", "editable.rebuild=true", "-e", ".")
    stranger.runs(*pip, cwd=project)
    called = ("python", "-c", "import numpy as np, rebuilt; print(rebuilt.swish(np.zeros(1))[0])")
    assert stranger.runs(*called) == "0.0\n"
    _edit(project, SWISH, "to[i] = 3 + in[i] / (T(1)")
    assert stranger.runs(*called) == "3.0\n"
    _edit(project, "f64} with", "f65} with")
    failed = stranger.tries(*called)
    assert failed.returncode == 1
    assert "ImportError: rebuilt: its sources do not build:\nkernpack: " in failed.stderr
    assert "no such dtype 'f65'; did you mean 'f64'?" in failed.stderr


def test_a_forgotten_destination(stranger: Stranger) -> None:
    project = _new(stranger, "nowhere")
    cmake = project / "CMakeLists.txt"
    cmake.write_text(cmake.read_text().replace(" DESTINATION nowhere", ""))
    for command in (
        ("kernpack", "dev", "--once"),
        ("pip", "wheel", "--no-build-isolation", "--no-deps", "-w", "out", "."),
    ):
        done = stranger.tries(*command, cwd=project)
        assert done.returncode == 1
        said = " ".join((done.stdout + done.stderr).split())
        assert "give kernpack_add_module() the package's folder, DESTINATION nowhere" in said
        assert "Traceback" not in said


def test_what_does_not_load_is_said_when_it_is_built(stranger: Stranger) -> None:
    project = _new(stranger, "unloadable")
    _edit(project, "KP_GRAD(swish, swish_backward)", "KP_GRAD(swish, swish_backwards)")
    said = "KP_GRAD(swish, swish_backwards): the module exports no function swish_backwards with a signature"
    done = stranger.tries("kernpack", "dev", "--once", "--no-install", cwd=project)
    assert done.returncode == 1
    assert "s, but it doesn't load\nValueError: kernpack.load: '" in done.stderr
    assert said in done.stderr
    report = json.loads(stranger.tries("kernpack", "dev", "--once", "--no-install", "--json", cwd=project).stdout)
    assert report["built"]
    assert said in report["error"]
    done = stranger.tries("kernpack", "build", cwd=project)
    assert done.returncode == 0  # an older runtime than the wheel asks for refuses it too
    assert (
        "unloadable-0.1.0-py3-none-manylinux_2_28_x86_64.whl: the runtime that is installed here doesn't load it"
        in done.stderr
    )
    assert "'unloadable/unloadable.so': " + said in done.stderr
    _edit(project, "KP_GRAD(swish, swish_backwards)", "KP_GRAD(swish, swish_backward)")
    _edit(
        project, "}  // namespace\n", "void Ends() { std::raise(SIGSEGV); }\n}  // namespace\nKP_MODULE_INIT(Ends);\n"
    )
    _edit(project, "#include <cmath>", "#include <cmath>\n#include <csignal>")
    done = stranger.tries("kernpack", "dev", "--once", "--no-install", cwd=project)
    assert done.returncode == 1
    assert "loading it ended the process by signal 11; look at static constructors and KP_MODULE_INIT" in done.stderr
