"""inspect, bench, build and publish: mistakes, and what needs no project. tests/python/examples/test_new.py uses them on one."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import zipfile
from pathlib import Path

import kernpack
import pytest
from kernpack_sdk.budget import shown

SOURCE = "void twice(kp::TensorView x, kp::MutTensorView out) {}"


@pytest.fixture(scope="module")
def path() -> str:
    return kernpack.load_inline(SOURCE, {"twice": "(x: f32[N]) -> (out: f32[N])"}, name="inspected").path


def test_inspect_a_module(command, path: str) -> None:
    (module,) = json.loads(command("inspect", path, "--json").stdout)["modules"]
    assert module["functions"] == [
        {
            "name": "twice",
            "contract": "(x: f32[N]) -> (out: f32[N])",
            "doc": None,
            "targets": ["baseline"],
            "backward": [],
            "tangent": [],
            "instruction_sets": {"baseline": []},
        }
    ]
    assert module["hosts"] == "runs on hosts of ABI 1.0 and newer"
    assert module["device_code"] == []
    text = command("inspect", path).stdout
    assert "(x: f32[N]) -> (out: f32[N])" in text


def test_inspect_names_the_instruction_sets_of_variants(command) -> None:
    path = kernpack.load("kernpack_kernels").path
    (module,) = json.loads(command("inspect", path, "--json").stdout)["modules"]
    (softmax,) = [each for each in module["functions"] if each["name"] == "softmax"]
    sets = {target.rpartition("=")[2]: set(names) for target, names in softmax["instruction_sets"].items()}
    assert sets["baseline"] == set()
    assert "avx2" in sets["x86-64-v3"]
    assert not any(name.startswith("avx512") for name in sets["x86-64-v3"])
    assert "avx512f" in sets["x86-64-v4"]


def test_inspect_off_a_terminal_cuts_and_wraps_nothing(command) -> None:
    """One line for each implementation, however wide, with the whole target and contract."""
    path = kernpack.load("kernpack_kernels").path
    (module,) = json.loads(command("inspect", path, "--json").stdout)["modules"]
    lines = command("inspect", path, env={"COLUMNS": "60"}).stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("function "))
    rows = [line.split(maxsplit=1) for line in lines[start + 1 :]]
    expected = [(each["name"], each["contract"], target) for each in module["functions"] for target in each["targets"]]
    assert [name for name, _ in rows] == [name for name, _, _ in expected]
    for (_, rest), (name, contract, target) in zip(rows, expected, strict=True):
        assert rest.startswith(f"{target} ")
        first = next(row for row in rows if row[0] == name)
        assert first[1].endswith(contract)
    assert max(map(len, lines)) > 200  # or this test would show nothing


def test_inspect_on_a_terminal_keeps_to_its_width_and_cuts_nothing(path: str) -> None:
    import pty
    import sys

    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": "60", "TERM": "dumb"}
    program = f"from kernpack_sdk.cli import main; main(['inspect', {path!r}])"
    with subprocess.Popen([sys.executable, "-c", program], stdout=follower, env=environment) as process:
        os.close(follower)
        printed = b""
        with contextlib.suppress(OSError):  # Linux's way to say that the other end is closed
            while part := os.read(leader, 65536):
                printed += part
        process.wait()
    os.close(leader)
    lines = printed.decode().splitlines()
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("function ")) :]
    assert max(map(len, table)) <= 60
    assert "\u2026" not in printed.decode()
    at = table[0].index("contract")
    assert " ".join(" ".join(line[at:] for line in table[1:]).split()) == "(x: f32[N]) -> (out: f32[N])"


def test_one_size_and_one_name_of_the_machine(command, path: str) -> None:
    size = shown(Path(path).stat().st_size)
    assert f"{Path(path).name}  {size}  {'x86-64' if os.uname().machine == 'x86_64' else os.uname().machine}" in (
        command("inspect", path).stdout
    )
    assert command("check", path).stdout.startswith(f"{path}: ok, {size}, ")


def test_inspect_names_gradients(command) -> None:
    source = "void f(kp::TensorView, kp::MutTensorView) {}\n" + "".join(
        f"void {name}(kp::TensorView, kp::TensorView, kp::MutTensorView) {{}}\n" for name in ("back", "along")
    )
    exports = {
        "f": "(x: f32[N]) -> (y: f32[N])",
        "back": "(d_y: f32[N], x: f32[N]) -> (d_x: f32[N])",
        "along": "(x: f32[N], t_x: f32[N]) -> (t_y: f32[N])",
    }
    links = "KP_GRAD(f, back);\nKP_JVP(f, along);\n"
    path = kernpack.load_inline(source + links, exports, name="with_gradient").path
    (module,) = json.loads(command("inspect", path, "--json").stdout)["modules"]
    assert {each["name"]: (each["backward"], each["tangent"]) for each in module["functions"]} == {
        "f": (["back"], ["along"]),
        "back": ([], []),
        "along": ([], []),
    }
    (title,) = [line for line in command("inspect", path).stdout.splitlines() if line.startswith("function ")]
    assert title.split() == ["function", "target", "beyond", "x86-64-v2", "backward", "tangent", "contract"]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("nowhere.so", "'nowhere.so' is neither a file (.so, .whl), nor a folder, nor an installed package"),
        ("no_such_package", "'no_such_package' is neither a file"),
        ("json", "json: holds no kernel module"),
        ("broken.whl", "broken.whl: expected a wheel, got a file that can't be read: File is not a zip file"),
        ("empty.whl", "empty.whl: holds no kernel module"),
        ("text.so", "text.so: not an ELF"),
    ],
)
def test_inspect_what_is_no_module(command, tmp_path: Path, what: str, said: str) -> None:
    (tmp_path / "broken.whl").write_text("no zip")
    (tmp_path / "text.so").write_text("no ELF")
    with zipfile.ZipFile(tmp_path / "empty.whl", "w") as archive:
        archive.writestr("empty/__init__.py", "")
    done = command("inspect", what, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("kernpack inspect: ")
    assert said in done.stderr


def test_bench_times_cases_and_refuses_a_file_without_them(command, tmp_path: Path) -> None:
    file = tmp_path / "bench.py"
    file.write_text("def cases():\n    yield 'sum', sum, None, ([1, 2],)\n    yield 'max', max, min, ([1, 2],)\n")
    rows = json.loads(command("bench", file, "--seconds", "0.02", "--json").stdout)
    assert [(row["case"], row["ratio"] is None) for row in rows] == [("sum", True), ("max", False)]
    assert "times as fast" in command("bench", file, "-k", "max", "--seconds", "0.02").stdout
    assert "no case named *none*" in command("bench", file, "-k", "none").stderr
    file.write_text("def cases():\n    yield 'sum', sum\n")
    assert "expected (name, function, reference or None, arguments)" in command("bench", file).stderr
    file.write_text("")
    assert "has no function cases()" in command("bench", file).stderr


def test_build_and_publish_outside_a_project(command, tmp_path: Path) -> None:
    assert "no pyproject.toml here; start a project: kernpack new NAME" in command("build", cwd=tmp_path).stderr
    assert "no pyproject.toml here" in command("dev", "--once", cwd=tmp_path).stderr
    assert "no wheels in dist/; kernpack build makes them" in command("publish", cwd=tmp_path).stderr
    assert "no file missing.whl" in command("publish", "missing.whl", cwd=tmp_path).stderr


def test_publish_names_the_problems_and_uploads_nothing(command, tmp_path: Path) -> None:
    """twine is played by a module of its name: what it says decides."""
    (tmp_path / "twine.py").write_text("import sys; print('FAILED long_description'); sys.exit(1)\n")
    with zipfile.ZipFile(tmp_path / "a-1-py3-none-any.whl", "w") as archive:
        archive.writestr("a.py", "")
    env = {"PYTHONPATH": f"{tmp_path}"}
    done = command("publish", "a-1-py3-none-any.whl", "--no-test", cwd=tmp_path, env=_with_packages(env))
    assert done.returncode == 1
    assert "a-1-py3-none-any.whl: twine check: FAILED long_description" in done.stdout
    assert "has no .dist-info folder: it isn't a wheel" in done.stdout
    assert "Not ready" in done.stdout
    assert "upload" not in done.stdout


def _with_packages(env: dict[str, str]) -> dict[str, str]:
    import kernpack_sdk

    packages = [str(Path(package.__file__).parents[1]) for package in (kernpack, kernpack_sdk)]
    return {"PYTHONPATH": ":".join([env["PYTHONPATH"], *packages])}


def test_stubs_as_json(command, path: str, tmp_path: Path) -> None:
    text = command("stubs", path).stdout
    assert json.loads(command("stubs", path, "--json").stdout) == {"file": None, "stub": text}
    file = tmp_path / "m.pyi"
    assert json.loads(command("stubs", path, "-o", file, "--json").stdout) == {"file": str(file), "stub": text}
    assert file.read_text() == text
    same = command("stubs", path, "--check", file, "--json")
    assert (same.returncode, json.loads(same.stdout)["up_to_date"]) == (0, True)
    file.write_text(text + "x: int\n")
    other = command("stubs", path, "--check", file, "--json")
    assert (other.returncode, json.loads(other.stdout)["up_to_date"]) == (1, False)
    assert "-x: int" in json.loads(other.stdout)["difference"]
