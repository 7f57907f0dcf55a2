"""Counts of kernels on the emulated device: in the file that KERNPACK_EMULATOR_COUNTS names, by `counted`, and printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from emulated import run

HERE = Path(__file__).parent
emulator = pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
pytestmark = pytest.mark.usefixtures("nvrtc")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of one launch, which adds 1 to 1,000 numbers."""
    path = tmp_path_factory.mktemp("counts") / "counts-%p.json"
    done = run(HERE / "add_one.py", "1000", KERNPACK_EMULATOR="sm_90", KERNPACK_EMULATOR_COUNTS=str(path))
    assert done.returncode == 0, done.stderr
    (written,) = path.parent.iterdir()
    assert written.stem.removeprefix("counts-").isdigit()
    return written


def test_a_kernel_is_counted_to_the_byte(file: Path) -> None:
    (kernel,) = emulator.read(file)
    assert kernel["arch"] == "sm_90"
    assert kernel["launches"] == 1
    assert kernel["touched"] == {"read": 4000, "written": 4000}
    whole = {"bytes": 4000, "sectors": 125, "least": 125}
    assert kernel["global"] == {"read": whole, "written": whole, "updated": {"bytes": 0, "sectors": 0, "least": 0}}
    assert kernel["shared"] == {"bytes": 0, "passes": 0, "least": 0}
    assert kernel["work"] == {"f32": 1000}
    assert sum(line["threads"] for line in kernel["lines"]) == kernel["thread_instructions"]


@pytest.mark.parametrize("device", sorted(emulator.DEVICES))
def test_an_estimate_is_the_longest_of_its_parts(file: Path, device: str) -> None:
    (kernel,) = emulator.read(file)
    peaks = emulator.DEVICES[device]
    found = emulator.estimate(kernel, peaks)
    assert found.seconds == pytest.approx(
        max(8000 / peaks.bandwidth, peaks.seconds("instructions", kernel["instructions"]))
    )
    assert found.shares[found.bound] == 1
    assert set(found.shares) == {"memory", "f32", "instructions"}


def test_the_table_says_that_nothing_was_measured(file: Path) -> None:
    done = run("-m", "kernpack_cuda_emulator", "counts", file, "--device", "a100", "--lines", "3")
    assert done.returncode == 0, done.stderr
    first, heads, row, _, of, columns, *lines = done.stdout.splitlines()
    assert first == "Static roofline estimate for A100 80 GB; nothing was measured."
    assert heads.split()[:2] == ["kernel", "launches"]
    assert row.split()[:2] == ["add_one_kernel", "1"]
    assert "0.004 MB" in row
    assert of == "add_one_kernel:"
    assert columns.split()[0] == "line"
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "can't be read: No such file or directory"),
        ("{", "expected JSON that the emulated device wrote when its process ended"),
        ("[]", "expected counts of version 1, got None"),
        (json.dumps({"version": 2, "kernels": []}), "expected counts of version 1, got 2"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "counts.json"
    if text is not None:
        path.write_text(text)
    done = run("-m", "kernpack_cuda_emulator", "counts", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{path}: {message}\n"


def test_a_file_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "none" / "counts.json"
    done = run(HERE / "add_one.py", "10", KERNPACK_EMULATOR="sm_90", KERNPACK_EMULATOR_COUNTS=str(path))
    assert done.stdout == "equal\n"  # the kernel runs all the same
    assert f"KERNPACK_EMULATOR_COUNTS: can't write to {path}: No such file or directory" in done.stderr


def test_a_part_of_a_program_is_counted() -> None:
    done = run(HERE / "counted.py", KERNPACK_EMULATOR="sm_90,sm_80")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[]", "add_one_kernel 2 {'read': 64, 'written': 64}", "[]"]


def test_only_the_emulated_device_counts() -> None:
    done = run("-c", "import kernpack_cuda_emulator as e\nwith e.counted(): pass")
    assert "counted: set KERNPACK_EMULATOR before the process starts" in done.stderr
    done = run(
        "-c",
        "import kernpack_cuda_emulator as e\nwith e.counted(): pass",
        KERNPACK_EMULATOR="1",
        KERNPACK_EMULATOR_COUNTS="/dev/null",
    )
    assert "counted: expected KERNPACK_EMULATOR_COUNTS to be unset" in done.stderr
