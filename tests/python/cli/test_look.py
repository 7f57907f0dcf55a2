"""One look for the commands of the runtime, which argparse reads, and for those of the SDK, which click reads: help, wrong command
lines, failures and --json."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys

import pytest
from kernpack import _cli
from kernpack_sdk import cli

HAS_COMPILER = importlib.util.find_spec("kernpack_compiler") is not None  # which has `kernpack import`
EVERY = sorted(name for name in [*_cli.OWN_COMMANDS, *cli.COMMANDS] if name != "import" or HAS_COMPILER)
# Imported by a command that needs them: together they take longer than all that `kernpack --help` does.
HEAVY = ("argparse", "click", "elftools", "importlib.metadata", "numpy", "rich", "kernpack_sdk.cli")


@pytest.mark.parametrize("name", EVERY)
def test_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _cli.main([name, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.match(rf"Usage: kernpack {name} \[OPTIONS\]", lines[0])
    assert lines[1] == ""
    assert re.match(r"  [A-Z]\S+ ", lines[2])  # a sentence that says what it does
    options = lines[lines.index("Options:") + 1 :]
    assert any(re.fullmatch(r"  -h, --help +Show this message and exit\.", line) for line in options)
    meanings = [found[1] for line in options if (found := re.match(r"  -\S.*?  +(\S.*)", line))]
    assert all(meaning[0].isupper() or not meaning[0].isalpha() for meaning in meanings)


@pytest.mark.parametrize("name", EVERY)
def test_an_unknown_option(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    import_needs = ["a.a", "--contract=c", "--grid=1", "--out=a.so"]
    needed = {"cache": ["list"], "completions": ["bash"], "import": import_needs}.get(name, ["a.a"])
    assert _cli.main([name, "--hepl", *needed]) == _cli.USAGE
    said = capsys.readouterr()
    first, usage, help_ = said.err.splitlines()
    assert first == f"kernpack {name}: no option '--hepl'; did you mean '--help'?"
    assert usage.startswith(f"Usage: kernpack {name} [OPTIONS]")
    assert help_ == f"Help: kernpack {name} --help"
    assert said.out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("cache --older x", "cache: --older: expected a number of days, 0 or more, got 'x'"),
        ("cache --older -1", "cache: --older: expected a number of days, 0 or more, got '-1'"),
        ("cache --older nan", "cache: --older: expected a number of days, 0 or more, got 'nan'"),
        ("cache cleen", "cache: expected list or clean, got 'cleen'"),
        ("cache --dry-run", "cache: --older and --dry-run belong to `kernpack cache clean`"),
        ("explain", "explain: missing argument NAME.op"),
        ("explain softmax", "explain: expected NAME.op, as in kernpack_kernels.softmax or ./my.so.op, got 'softmax'"),
        ("info more", "info: unexpected argument 'more'"),
        ("verify a b", "verify: expected one lock, got 2"),
        ("verify a.whl", "verify: a.whl is a wheel; name the signer's public key: --key FILE"),
        ("warm", "warm: missing argument NAME"),
        ("warm m --cuda-arch 9.0", "warm: --cuda-arch: expected compute capabilities without the dot, as in 80,90, got '9.0'"),
        ("warm m --jobs 0", "warm: --jobs: expected a number of compilations, 1 or more, got '0'"),
        ("profile none.py", "profile: none.py: no such file; -m runs a module"),
        ("test m --rounds 0", "test: --rounds: expected a whole number, 1 or more, got '0'"),
        ("test m -j x", "test: --jobs: expected a whole number, 1 or more, got 'x'"),
        ("new", "new: missing argument NAME"),
        ("new a b", "new: unexpected argument 'b'"),
        ("new torch", "new: 'torch' would be imported as 'torch', which is taken; choose another name, such as torch-kernels"),
        ("build --target z80", "build: --target: expected aarch64, got 'z80'"),
        ("build --cuda-arch 8.0", "build: --cuda-arch: expected compute capabilities without the dot, as in 80,90,90a, got '8.0'"),
        ("bench", "bench: missing argument FILE"),
        ("completions ksh", "completions: SHELL: expected bash or zsh or fish, got 'ksh'"),
        ("config", "config: expected one of --includes, --cflags, --ldflags, --cmakedir and --json"),
    ],
)  # fmt: skip
def test_a_wrong_command_line(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = words.split()[0]
    assert _cli.main(words.split()) == _cli.USAGE
    first, usage, help_ = capsys.readouterr().err.splitlines()
    assert first == f"kernpack {said}"
    assert usage.startswith(f"Usage: kernpack {name} ")
    assert help_ == f"Help: kernpack {name} --help"


@pytest.mark.parametrize("word", ["chekc", "--verzion"])
def test_a_wrong_first_word(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With and without the SDK, in the same words."""
    assert _cli.main([word]) == _cli.USAGE
    first, usage, _ = capsys.readouterr().err.splitlines()
    assert first in (
        "kernpack: no command 'chekc'; did you mean 'check'?",
        "kernpack: no option '--verzion'; did you mean '--version'?",
    )
    with pytest.raises(_cli.Wrong) as caught:
        _cli._without_sdk(word, ImportError(name="kernpack_sdk"))
    assert (f"kernpack: {caught.value}", caught.value.usage) == (first, usage)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("cache --older x", 2, "--older: expected a number of days, 0 or more, got 'x'"),
        ("lock -o {}/no/lock", 1, ""),
        ("stubs {}/none.so", 1, "'{}/none.so' is neither a file (.so, .whl), nor a folder, nor an installed package"),
        ("inspect {}/none.so", 1, "'{}/none.so' is neither a file (.so, .whl), nor a folder, nor an installed package"),
        ("explain no_such_package.f", 1, "no package 'no_such_package' is installed"),
        ("warm no_such_package --cuda-arch 90", 1, "no package 'no_such_package' is installed"),
        ("test no_such_package", 2, "no package 'no_such_package' is installed"),
        ("build {}", 1, "{}: no pyproject.toml here; start a project: kernpack new NAME"),
        ("dev {} --once", 1, "{}: no pyproject.toml here"),
        ("publish {}/none.whl", 1, "no file {}/none.whl"),
        ("new {}", 1, "isn't empty; choose another name, or remove it first"),
        ("new 1x", 2, "'1x' can't be a project's name"),
    ],
)
def test_failures_as_json(
    words: str, code: int, said: str, tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard output an object; on standard error the text, as without --json."""
    folder = tmp_path / "norms"
    (folder / "full").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    words, said = words.replace("{}", str(folder)), said.replace("{}", str(folder))
    assert _cli.main([*words.split(), "--json"]) == code
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert set(found) == {"error", "exit_code"}
    assert found["exit_code"] == code
    assert said in found["error"]
    assert shown.err.startswith(f"kernpack {words.split()[0]}: {found['error']}")


@pytest.mark.parametrize("name", ["cache", "new"])
def test_help_is_as_wide_as_the_variable_columns_says(command, name: str) -> None:
    narrow, wide = (command(name, "--help", env={"COLUMNS": columns}).stdout for columns in ("60", "150"))
    assert max(map(len, narrow.splitlines())) <= 60
    assert len(wide.splitlines()) < len(narrow.splitlines())


def test_the_programs_help_imports_no_command() -> None:
    program = (
        f"import sys; from kernpack._cli import main; main(['--help']); print([m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    *shown, heavy = done.stdout.splitlines()
    assert heavy == "[]"
    assert shown[0] == "Usage: kernpack COMMAND [OPTIONS] [ARGUMENT]..."
    for name, summary in {**_cli.OWN_COMMANDS, **cli.COMMANDS}.items():
        (line,) = [line for line in shown if line.startswith(f"  {name} ")]
        assert summary.startswith(line.split(maxsplit=1)[1])


def test_both_halves_have_one_text_for_each_command() -> None:
    assert _cli.OWN_COMMANDS == cli._RUNTIME
