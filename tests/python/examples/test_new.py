"""The steps of a stranger: a fresh environment from the wheels in dist/, `kernpack new`, and the new project's own tests."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
import zipfile
from pathlib import Path

import pytest
from stranger import Stranger, edit, source


@pytest.mark.parametrize(
    ("name", "options", "tests"), [("fast-norms", ("--with-python",), 18), ("my.c_ops", ("--c",), 8)]
)
def test_a_new_project_passes_its_tests(stranger: Stranger, name: str, options: tuple[str, ...], tests: int) -> None:
    project = stranger.new(name, *options)
    stranger.runs("kernpack", "dev", "--once", cwd=project)
    assert f"{tests} passed" in stranger.runs("python", "-m", "pytest", "-q", cwd=project)


def test_an_added_op_builds_and_passes_its_test(stranger: Stranger) -> None:
    project = stranger.new("more-ops", "--with-python")
    said = stranger.runs("kernpack", "add-op", "fused_cube", cwd=project)
    assert "  python -m pytest tests/test_fused_cube.py" in said.splitlines()
    stranger.runs("kernpack", "dev", "--once", cwd=project)
    assert "15 passed" in stranger.runs("python", "-m", "pytest", "-q", "tests/test_fused_cube.py", cwd=project)
    used = "import more_ops, numpy as np; print(more_ops.fused_cube(np.array([3.0]), scale=2.0))"
    assert stranger.runs("python", "-c", used) == "[18.]\n"


def test_its_wheel_in_isolation_and_its_sdist(stranger: Stranger) -> None:
    project = stranger.new("shipped")
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
    project = stranger.new("twice-built")
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
    project = stranger.new("dated")
    edit(source(project), '"x * sigmoid(beta * x), elementwise."', "KP_RANDOM")
    cmake = project / "CMakeLists.txt"
    random = (
        'string(RANDOM LENGTH 12 random)\nadd_compile_definitions("KP_RANDOM=\\"${random}\\"")\nkernpack_add_module('
    )
    cmake.write_text(cmake.read_text().replace("kernpack_add_module(", random))
    done = stranger.tries("kernpack", "build", "--reproducible", cwd=project)
    assert done.returncode == 1
    assert "kernpack build: two builds differ: dated/__init__.pyi, dated/dated.so; " in done.stderr


SWISH = "to[i] = in[i] / (T(1)"


def test_a_saved_source_reaches_a_running_python(stranger: Stranger) -> None:
    project = stranger.new("watched")
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
    limit = threading.Timer(300, lambda: [process.kill() for process in (watcher, running)])  # lines that never come
    limit.start()
    try:
        assert json.loads(watcher.stdout.readline())["built"]
        edit(source(project), SWISH, "to[i] = 7 + in[i] / (T(1)")
        assert json.loads(watcher.stdout.readline())["built"]
        running.stdin.write("kernpack.reload(k); print('answer', k.swish(x)[0], old(x)[0])\n")
        running.stdin.flush()
        answer = next(line for line in running.stdout if line.startswith("answer"))
        assert answer == "answer 7.0 0.0\n"
        edit(source(project), "T[*S], *, beta", "T[*S] *, beta")
        failed = json.loads(watcher.stdout.readline())
        assert not failed["built"]
        assert failed["error"].startswith("kernpack: ")
        assert "the contract of 'swish' doesn't parse: expected ')' or ','" in failed["error"].splitlines()[0]
    finally:
        limit.cancel()
        for process in (watcher, running):
            process.terminate()
            process.communicate()


def test_editable_rebuild(stranger: Stranger) -> None:
    project = stranger.new("rebuilt")
    pip = (
        "pip",
        "install",
        "-q",
        "--no-build-isolation",
        "--no-deps",
        "--config-settings",
        "editable.rebuild=true",
        "-e",
        ".",
    )
    stranger.runs(*pip, cwd=project)
    called = ("python", "-c", "import numpy as np, rebuilt; print(rebuilt.swish(np.zeros(1))[0])")
    assert stranger.runs(*called) == "0.0\n"
    edit(source(project), SWISH, "to[i] = 3 + in[i] / (T(1)")
    assert stranger.runs(*called) == "3.0\n"
    edit(source(project), "f64} with", "f65} with")
    failed = stranger.tries(*called)
    assert failed.returncode == 1
    assert "ImportError: rebuilt: its sources do not build:\nkernpack: " in failed.stderr
    assert "no such dtype 'f65'; did you mean 'f64'?" in failed.stderr


def test_a_forgotten_destination(stranger: Stranger) -> None:
    project = stranger.new("nowhere")
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
    project = stranger.new("unloadable")
    edit(source(project), "KP_GRAD(swish, swish_backward)", "KP_GRAD(swish, swish_backwards)")
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
    edit(source(project), "KP_GRAD(swish, swish_backwards)", "KP_GRAD(swish, swish_backward)")
    edit(
        source(project),
        "}  // namespace\n",
        "void Ends() { std::raise(SIGSEGV); }\n}  // namespace\nKP_MODULE_INIT(Ends);\n",
    )
    edit(source(project), "#include <cmath>", "#include <cmath>\n#include <csignal>")
    done = stranger.tries("kernpack", "dev", "--once", "--no-install", cwd=project)
    assert done.returncode == 1
    assert "loading it ended the process by signal 11; look at static constructors and KP_MODULE_INIT" in done.stderr
