"""Findings of `kernpack check` in wheels: names, tags, hashes, licence, place, version."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from audit_inputs import SOURCE, Build, Pack, notes, problems
from kernpack_sdk import check


def test_a_good_one(pack: Pack, plain: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": plain})
    assert check.audit(wheel) == []


def test_the_version_of_the_module(pack: Pack, plain: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": plain}, version="2.5.0")
    assert problems(wheel) == [
        'my_kernels.so: KP_MODULE("my_kernels", "1.0.0") is in a wheel of version 2.5.0; write KP_MODULE("my_kernels", "2.5.0"), '
        "or read the version from there in pyproject.toml"
    ]


def test_versions_are_compared_as_installers_do(pack: Pack, plain: Path) -> None:
    assert problems(pack({"my_kernels/my_kernels.so": plain}, version="1.0")) == []


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("my_kernels.so", "my_kernels.so is outside any package, so it can't be imported; give kernpack_add_module() "
         "DESTINATION my_project"),
        ("lib/my_kernels.so", "lib/my_kernels.so lies in the folder lib, but the project is my_project"),
        ("my-kernels/my_kernels.so", "my-kernels/my_kernels.so lies in the folder my-kernels, but the project is my_project"),
        ("my_project/my_kernels.so", None),
        ("my_kernels/my_kernels.so", None),
    ],
)  # fmt: skip
def test_the_place_of_the_module(pack: Pack, plain: Path, place: str, said: str | None) -> None:
    found = problems(pack({place: plain}, name="my_project"))
    assert [each.startswith(said or "?") for each in found] == ([] if said is None else [True]), found


def test_a_package_of_the_author_s_may_have_any_name(pack: Pack, plain: Path) -> None:
    files = {"other/my_kernels.so": plain, "other/__init__.py": "import kernpack\nk = kernpack.load(__name__)\n"}
    assert problems(pack(files, name="my_project")) == []


def test_a_gradient_whose_function_is_missing(pack: Pack, build: Build) -> None:
    module = build(SOURCE + "KP_GRAD(copy, copy_bakward);\n")
    text = (
        "KP_GRAD(copy, copy_bakward): the module exports no function copy_bakward with a signature; export it, or correct the "
        "name"
    )
    assert problems(pack({"my_kernels/my_kernels.so": module})) == [text]
    # Of a file alone: another file may have it.
    assert [(each.text, each.serious) for each in check.audit(module)] == [(f"my_kernels.so: {text}", False)]


def test_files_of_one_module_share_their_functions(pack: Pack, build: Build, plain: Path) -> None:
    gradient = build(
        SOURCE.replace("KP_EXPORT(copy", "KP_EXPORT(copy_backward")
        .replace("x: f32", "d_out: f32")
        .replace("(out:", "(d_x:")
        + "KP_GRAD(copy, copy_backward);\n",
        name="backward.so",
    )
    assert problems(pack({"my_kernels/my_kernels.so": plain, "my_kernels/backward.so": gradient})) == []


def test_a_tag_of_one_python(pack: Pack, plain: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": plain}, tag="cp311-cp311-linux_x86_64")
    assert problems(wheel) == ["tagged cp311-cp311; a module works with every Python: expected py3-none"]


def test_a_tag_that_promises_too_much(pack: Pack, plain: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": plain}, tag="py3-none-manylinux_2_5_x86_64")
    (problem,) = problems(wheel)
    assert problem.startswith("tagged manylinux_2_5_x86_64, but its code needs at least manylinux_2_")
    assert "`auditwheel show` names the symbols" in problem


def test_machine_code_for_any_platform(pack: Pack, plain: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": plain}, tag="py3-none-any")
    assert "is tagged for any platform, but holds my_kernels.so" in problems(wheel)


def test_a_renamed_wheel(pack: Pack, plain: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": plain})
    renamed = wheel.rename(wheel.with_name("my_kernels-1.0.1-py3-none-manylinux_2_28_x86_64.whl"))
    assert problems(renamed)[:2] == [
        "is called my_kernels 1.0.1, but its METADATA says Version: 1.0.0; don't rename wheels",
        "its name and its WHEEL file disagree on tags (py3-none-linux_x86_64, py3-none-manylinux_2_28_x86_64); set tags with "
        "`python -m wheel tags`",
    ]


def test_files_beside_their_record(pack: Pack, plain: Path, tmp_path: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": plain, "my_kernels/a.txt": "a", "my_kernels/gone.txt": "x"})
    changed = tmp_path / "changed" / wheel.name
    changed.parent.mkdir()
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            if name != "my_kernels/gone.txt":
                new.writestr(name, b"b" if name == "my_kernels/a.txt" else old.read(name))
        new.writestr("my_kernels/more.txt", "more")
    assert problems(changed) == [
        "my_kernels/a.txt isn't the file that RECORD has the hash of; pack it with `python -m wheel pack`",
        "my_kernels/more.txt isn't in its RECORD; pack it with `python -m wheel pack`",
        "RECORD lists my_kernels/gone.txt, which isn't there; pack it with `python -m wheel pack`",
    ]


def test_the_licence(pack: Pack, plain: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": plain}, metadata="License-File: LICENSE\n")
    (problem,) = problems(wheel)
    assert problem.startswith("METADATA names the licence file LICENSE, which isn't in my_kernels-1.0.0.dist-info")


def test_no_word_on_the_licence(pack: Pack, plain: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": plain}, metadata="")
    assert problems(wheel) == []
    assert notes(wheel) == [
        'declares no licence; in pyproject.toml: license = "Apache-2.0" and license-files = ["LICENSE"]'
    ]


@pytest.mark.parametrize("as_json", [False, True])
def test_publish_repeats_the_notes(pack: Pack, plain: Path, monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    """twine and `kernpack test` aren't run: they find nothing."""
    from click.testing import CliRunner
    from kernpack_sdk.cli import group
    from kernpack_sdk.commands import publish

    wheel = pack({"my_kernels/my_kernels.so": plain}, metadata="")
    monkeypatch.setattr(publish.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(publish, "_ran", lambda *words: subprocess.CompletedProcess(words, 0, "", ""))
    done = CliRunner().invoke(publish.command, [str(wheel), *(["--json"] if as_json else [])], **group.context_settings)
    assert done.exit_code == 0, done.output
    note = (
        f'{wheel.name}: declares no licence; in pyproject.toml: license = "Apache-2.0" and license-files = ["LICENSE"]'
    )
    if as_json:
        found = json.loads(done.output)
        assert found["notes"] == {str(wheel): [note]}
        assert found["problems"] == {str(wheel): []}
        assert found["commands"]
    else:
        assert done.output.startswith(f"{wheel}: ok\nnote: {note}\n")
        assert "twine upload" in done.output


def test_no_word_on_python(pack: Pack, plain: Path) -> None:
    wheel = pack({"my_kernels/my_kernels.so": plain}, python="")
    assert problems(wheel) == []
    assert notes(wheel) == [
        'METADATA doesn\'t say which Python it needs; in pyproject.toml: requires-python = ">=3.11"'
    ]


def test_an_openmp_runtime_in_the_wheel_is_noted(pack: Pack, plain: Path) -> None:
    (note,) = notes(pack({"theirs.libs/libgomp-abc.so.1.0.0": plain}, name="theirs"))
    assert note.startswith("brings an OpenMP runtime of its own (theirs.libs/libgomp-abc.so.1.0.0); in a process with")


def test_what_is_no_wheel(tmp_path: Path) -> None:
    for name, content, said in (
        ("a.whl", b"no zip", "a.whl: expected a wheel, got a file that can't be read: File is not a zip file"),
        (
            "b-1-py3-none-any.whl",
            b"",
            "b-1-py3-none-any.whl: expected a wheel, got a file that can't be read: File is not a zip file",
        ),
    ):
        (tmp_path / name).write_bytes(content)
        assert check.check(tmp_path / name) == [said]
    with zipfile.ZipFile(tmp_path / "c.whl", "w") as archive:
        archive.writestr("../outside.txt", "kept inside")
    assert check.check(tmp_path / "c.whl") == [
        "c.whl: contains a path that leads outside the wheel, '../outside.txt': don't install it"
    ]
    assert not (tmp_path.parent / "outside.txt").exists()


def test_the_command_prints_problems_and_notes(pack: Pack, build: Build, plain: Path) -> None:
    from click.testing import CliRunner
    from kernpack_sdk.cli import group
    from kernpack_sdk.commands.check import command

    wheel = pack({"my_kernels/my_kernels.so": plain}, metadata="")
    done = CliRunner().invoke(command, [str(wheel)], **group.context_settings)
    assert done.exit_code == 0
    first, second = done.output.splitlines()
    assert first.startswith(f"{wheel}: ok, ")
    assert second.startswith(f"note: {wheel.name}: declares no licence")
    facts = json.loads(
        CliRunner().invoke(command, ["--json", str(wheel), str(wheel) + "x"], **group.context_settings).output
    )
    assert len(facts[str(wheel)]["notes"]) == 1
    assert facts[str(wheel) + "x"]["problems"] == [f"{wheel}x: no such file"]
