"""The whole road of a new author, from the docs alone: an empty folder becomes a tested wheel, is broken in ten ways, and each is
mended by what its message says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from stranger import Stranger, edit, source

DEV = ("kernpack", "dev", "--once", "--no-install")
BUILD = ("kernpack", "build")
CHECK = ("kernpack", "check", "dist/first_steps-0.1.0-py3-none-manylinux_2_28_x86_64.whl")


def _test(*checks: str) -> tuple[str, ...]:
    return ("kernpack", "test", "build/dev/site/first_steps", "--op", "swish", *(f"--check={name}" for name in checks))


class Break(NamedTuple):
    good: str  # what becomes `bad`, in the source or else in CMakeLists.txt; mending is the way back
    bad: str
    says: str  # a regular expression; its groups are words of `good`, which the author is told to write
    made_by: tuple[tuple[str, ...], ...] = ()  # commands that succeed all the same, before the one that tells
    told_by: tuple[str, ...] = DEV


BREAKS = [
    Break("f64} with", "f65} with", r"no such dtype 'f65'; did you mean '(f64)'\?"),
    Break("T[*S], *, beta", "T[*S] *, beta", r"the contract of 'swish' doesn't parse: expected '\)' or '(,)'"),
    Break(
        "Swish(kp::TensorView x, double beta,",
        "Swish(kp::TensorView x, int64_t beta,",
        r"'swish': C\+\+ parameter 2 \(beta\): .*its C\+\+ type must be (double) or float; the C\+\+ type given is (?:long|int64_t)",
    ),
    Break(
        "kp::Span<const T> gradient(d_out)",
        "kp::Span<T> gradient(d_out)",
        r"an input is read only: view it as kp::Span<(const) (?:float|T)>, or mark it written",
    ),
    Break(
        "KP_DOC(swish,",
        'KP_EXPORT(swish, Swish, "(x: f32[*S], *, beta: float = 1.0) -> (out: f32[*S])");\nKP_DOC(swish,',
        r"'swish' is exported twice; keep one KP_EXPORT\(swish",
    ),
    Break(
        "KP_GRAD(swish, swish_backward)",
        "KP_GRAD(swish, swish_backwards)",
        r"KP_GRAD\(swish, swish_backwards\): the module exports no function swish_backwards with a signature",
    ),
    Break(
        " DESTINATION first_steps", "", r"give kernpack_add_module\(\) the package's folder, (DESTINATION first_steps)"
    ),
    Break(
        'KP_MODULE("first_steps", "0.1.0")',
        'KP_MODULE("first_steps", "2.5.0")',
        r'is in a wheel of version 0\.1\.0; write (KP_MODULE\("first_steps", "0\.1\.0"\))',
        made_by=(BUILD,),
        told_by=CHECK,
    ),
    Break(
        "for (int64_t i = begin; i < end; ++i) to[i] =",
        "for (int64_t i = begin; i + 8 <= end; ++i) to[i] =",
        r"swish: memory .*out: element \[\d+\] .*(?:not|never) written",
        made_by=(DEV,),
        told_by=_test("memory"),
    ),
    Break(
        "(s + b * in[i] * s",
        "(s + in[i] * s",
        r"swish: gradients .*that of x\[.*from differences",
        made_by=(DEV,),
        told_by=_test("gradients"),
    ),
]


def _said(stranger: Stranger, project: Path, broken: Break) -> str:
    for command in broken.made_by:
        stranger.runs(*command, cwd=project)
    done = stranger.tries(*broken.told_by, cwd=project)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1, said
    assert "Traceback" not in said
    return said


def test_an_empty_folder_becomes_a_tested_wheel_that_is_broken_and_mended(stranger: Stranger) -> None:
    project = stranger.new("first-steps")
    wheel = json.loads(stranger.runs(*BUILD, "--json", cwd=project))["wheel"]
    assert stranger.runs(*CHECK, cwd=project).startswith(f"{wheel}: ok")
    stranger.runs("pip", "install", "-q", "--no-deps", wheel, cwd=project)
    program = "import kernpack, numpy as np; print(kernpack.load('first_steps').swish(np.zeros(2)))"
    assert stranger.runs("python", "-c", program) == "[0. 0.]\n"
    stranger.runs(
        "kernpack", "test", "first_steps", "--op", "swish", "--check=calls", "--check=repeat", "--check=torch"
    )

    for broken in BREAKS:
        files = [source(project), project / "CMakeLists.txt"]
        file = next(each for each in files if broken.good in each.read_text())
        before = file.read_text()
        edit(file, broken.good, broken.bad)
        told = re.search(broken.says, _said(stranger, project, broken))
        assert told, broken
        assert all(word in broken.good for word in told.groups()), (broken, told.groups())
        file.write_text(before)
        if broken.told_by != DEV:  # the next break is built from here; so is the last line below
            for command in (*broken.made_by, broken.told_by):
                stranger.runs(*command, cwd=project)
    stranger.runs(*DEV, cwd=project)
