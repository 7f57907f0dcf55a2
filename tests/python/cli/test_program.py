"""One program: what the runtime answers by itself, what the SDK adds, and what is said where the SDK isn't there."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from kernpack import _cli
from kernpack_sdk import cli


def test_both_know_the_same_commands(command) -> None:
    assert sorted(cli.COMMANDS) == sorted(_cli.SDK_COMMANDS)
    said = command("--help").stdout
    for name in (*cli.COMMANDS, *_cli.OWN_COMMANDS):
        assert f"\n  {name} " in said


def test_each_command_has_help(command) -> None:
    for name in (*cli.COMMANDS, *_cli.OWN_COMMANDS):
        if name != "test":  # has its own suite
            done = command(name, "--help")
            assert done.returncode == 0, done.stderr
            assert name in done.stdout.splitlines()[0]


def test_python_m_is_the_same_program(command) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kernpack", "info", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["kernpack"] == json.loads(command("info", "--json").stdout)["kernpack"]


def test_info_gives_the_reason_of_a_missing_driver_once(command) -> None:
    """All backends of one driver have the same reason for having no devices."""
    env = {"KERNPACK_EMULATOR": "", "KERNPACK_CUDA_DRIVER": "/nowhere/libcuda.so.1"}
    reason = "/nowhere/libcuda.so.1 could not be opened"
    lines = [line for line in command("info", env=env).stdout.splitlines() if reason in line]
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"  cuda, cuda_host, cuda_managed: {reason}")
    devices = json.loads(command("info", "--json", env=env).stdout)["devices"]
    assert all(devices[name].startswith(reason) for name in ("cuda", "cuda_host", "cuda_managed"))


@pytest.mark.parametrize("name", _cli.SDK_COMMANDS)
def test_without_the_sdk_a_command_names_the_pip_line(command, name: str) -> None:
    done = command(name, sdk=False)
    assert done.returncode == _cli.MISSING
    assert done.stderr == f"kernpack {name}: needs kernpack-sdk; install it: pip install kernpack-sdk\n"


def test_an_sdk_without_its_own_needs_says_which_one(command) -> None:
    program = (
        "import sys; sys.modules['click'] = None; from kernpack._cli import main; sys.exit(main(['check', 'a.so']))"
    )
    folders = [str(Path(_cli.__file__).parents[2]), str(Path(cli.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == _cli.MISSING
    lacks = (
        "needs kernpack-sdk (it is installed, but click, which it needs, isn't); install it: pip install kernpack-sdk"
    )
    assert done.stderr == f"kernpack check: {lacks}\n"


@pytest.mark.parametrize(
    ("words", "package", "said"),
    [
        (
            "bench b.py --plot b.svg",
            "matplotlib",
            "kernpack bench: --plot needs matplotlib; install it: pip install matplotlib",
        ),
        ("test m", "numpy", "kernpack test: needs NumPy; install it: pip install numpy"),
        (
            "sign m.whl --key k.pem",
            "cryptography",
            "kernpack sign: needs cryptography; install it: pip install kernpack-sdk[sign]",
        ),
    ],
)
def test_a_missing_optional_package(command, tmp_path: Path, monkeypatch, words: str, package: str, said: str) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text(f"raise ModuleNotFoundError('hidden', name='{package}')\n")
    (tmp_path / "b.py").write_text("def cases():\n    yield 'nothing', len, None, ((),)\n")
    (tmp_path / "k.pem").write_text("")
    done = command(*words.split(), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (cli.MISSING, f"{said}\n")


@pytest.mark.parametrize("name", _cli.OWN_COMMANDS)
def test_the_runtime_needs_no_sdk(command, name: str) -> None:
    done = command(name, "--help", sdk=False)
    assert done.returncode == 0
    assert name in done.stdout


@pytest.mark.parametrize("sdk", [True, False])
@pytest.mark.parametrize(("word", "hint"), [("chekc", "did you mean 'check'?"), ("zzz", "commands|--help")])
def test_an_unknown_command(command, sdk: bool, word: str, hint: str) -> None:
    done = command(word, sdk=sdk)
    assert done.returncode == _cli.USAGE
    assert f"no command '{word}'; " in done.stderr
    assert any(each in done.stderr for each in hint.split("|"))


def test_shell_completions_list_the_commands(command) -> None:
    script = command("completions", "bash")
    assert "_KERNPACK_COMPLETE=bash_complete" in script.stdout
    asked = {"COMP_WORDS": "kernpack co", "COMP_CWORD": "1", "_KERNPACK_COMPLETE": "bash_complete"}
    assert command(env=asked).stdout.split() == ["plain,completions", "plain,config"]
    for words, number, expected in (
        ("kernpack add", "1", ["plain,add-op"]),
        ("kernpack add-op --j", "2", ["plain,--json"]),
        ("kernpack demo --s", "2", ["plain,--seconds"]),
        ("kernpack no-such-command --j", "2", []),
    ):
        done = command(env={**asked, "COMP_WORDS": words, "COMP_CWORD": number})
        assert (done.returncode, done.stdout.split()) == (0, expected), done.stderr


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    text = f"{shlex.quote(sys.executable)} -m kernpack info | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
