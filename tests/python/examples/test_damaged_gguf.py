"""GGUF files that are cut short or changed, read by `make chat` in Python and in C: an error that names the file, or a model that runs.

`make damaged-gguf` tries more of them. The C program's reader has a libFuzzer target too (tests/fuzz/gguf_fuzz.cc).
"""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from small_gguf import write

for _package in ("gguf", "tokenizers", "jinja2", "tqdm"):
    pytest.importorskip(_package, reason=f"{_package} is not installed")
pytestmark = pytest.mark.usefixtures("chat_modules")

CASES = int(os.environ.get("KERNPACK_DAMAGED_GGUF", "300"))
READER = Path(__file__).with_name("read_gguf.py")
COUNTS = (0, 1, 255, 1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
FORMS = ({"form": "Q8_0"}, {"form": "Q4_K", "forms": {"ffn_down": "Q6_K"}})


def damaged(whole: bytes, seed: int) -> bytes:
    """Cut anywhere; or some bytes, or a count, changed in what comes before the weights, with a few bytes more or less at the end, whose
    place decides whether a reader of whole numbers notices it."""
    rng, data = random.Random(seed), bytearray(whole)
    names = whole.rindex(b".weight") + 64
    if seed % 6 == 0:
        return bytes(data[: rng.choice((rng.randrange(names), rng.randrange(len(data))))])
    for _ in range(rng.choice((1, 1, 4))):
        at = rng.choice((rng.randrange(500), rng.randrange(names)))
        if rng.random() < 0.4:
            data[at : at + 8] = struct.pack("<Q", rng.choice(COUNTS))
        else:
            data[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    return bytes(data[: len(data) - rng.randrange(4)]) if rng.random() < 0.5 else bytes(data) + bytes(rng.randrange(4))


def read_each(cases: Iterable[bytes], folder: Path) -> list[str]:
    """The Python host's message about each file."""
    path, errors, found = folder / "damaged.gguf", folder / "errors", []
    with (
        errors.open("w") as log,
        subprocess.Popen(
            [sys.executable, READER], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        ) as reader,
    ):
        for i, data in enumerate(cases):
            path.unlink(missing_ok=True)  # another file, should the reader still hold the last one
            path.write_bytes(data)
            print(path, file=reader.stdin, flush=True)
            found.append(reader.stdout.readline().rstrip("\n"))
            assert found[-1], f"case {i}: {errors.read_text()[-2000:]}"
    for line in found:
        assert line == "read" or (str(path) in line and "MemoryError" not in line)
    return found


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["form"])
def test_damaged_files_are_errors_in_python(tmp_path, form):
    whole = write(tmp_path / "m.gguf", **form).read_bytes()
    found = read_each((damaged(whole, seed) for seed in range(CASES // len(FORMS))), tmp_path)
    assert len(found) // 5 < len(found) - found.count("read") < len(found)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["form"])
def test_damaged_files_never_crash_the_program(program, tmp_path, form):
    whole, path, refused = write(tmp_path / "m.gguf", **form).read_bytes(), tmp_path / "damaged.gguf", 0
    for seed in range(CASES // len(FORMS)):
        path.write_bytes(damaged(whole, seed))
        done = program(path, "1", "1", "2")
        assert done.returncode in (0, 1), (seed, done.returncode, done.stderr)  # a signal is negative
        assert done.stderr.strip() or not done.returncode, seed
        refused += done.returncode
    assert refused > CASES // len(FORMS) // 5


def test_an_array_longer_than_the_file_takes_no_memory(tmp_path):
    """Whatever the place of the file's end is: gguf's reader finds empty numbers behind it, without end."""
    data = bytearray(write(tmp_path / "m.gguf").read_bytes())
    key = b"tokenizer.ggml.token_type"
    struct.pack_into(
        "<Q", data, data.index(key) + len(key) + 8, 1 << 40
    )  # behind the types of an array and of its elements
    for line in read_each((data + bytes(more) for more in range(4)), tmp_path):
        assert "damaged or cut short: ValueError" in line


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ 1 / 0 }}", "ZeroDivisionError: division by zero"),
        ("{{ messages.nothing.at_all }}", "UndefinedError: "),
        ("{% if %}", "TemplateSyntaxError: "),
    ],
)
def test_a_template_that_fails_is_an_error(tmp_path, template, message):
    from gguf_file import GgufFile, ModelError
    from tokens import Tokens

    tokens = Tokens(GgufFile(write(tmp_path / "m.gguf", template=template)))
    with pytest.raises(ModelError, match=f"tokenizer.chat_template: {message}"):
        tokens.prompt([{"role": "user", "content": "Hello"}])
