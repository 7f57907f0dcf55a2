"""Tests on the emulated device: `python -m pytest -p kernpack_cuda_emulator.pytest`. All run in pytest's process. An error of a kernel
is the failure of the test in which it happened, and the device works again afterwards."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import re
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from . import drop_in, imports, report, torch_operators
from ._library import library

_MARKER = "emulator_finds"
_device: ctypes.CDLL | None = None  # the library of the emulated device, once it is loaded


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kernpack-cuda-emulator", "the emulated CUDA device")
    group.addoption(
        "--emulator-device",
        default="sm_90",
        metavar="ARCH[,ARCH]",
        help="architectures, one per device (default: sm_90)",
    )
    group.addoption("--emulator-seed", metavar="N|random", help="shuffle the order in which warps run")
    group.addoption(
        "--emulator-check",
        metavar="races,global,init|none",
        help="look for these errors alone: races (on shared memory), "
        "global (races through global memory), init; or none",
    )
    group.addoption("--emulator-report", metavar="FILE", help="write errors and launches to this file, as JSON")


def _load(option: Any) -> None:
    """The device, once. Processes of pytest-xdist inherit the variables, and load the libraries anew."""
    global _device
    if _device is not None:
        return
    options = drop_in.Options(option.emulator_device, option.emulator_seed, option.emulator_check)
    try:
        options.check("--emulator-")
        drop_in.require_first()
        folder = Path(tempfile.mkdtemp(prefix="kernpack-cuda-emulator-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ.update(drop_in.environment(folder, options))
        drop_in.load()
        torch_operators.watch()
        imports.link_by_driver()
    except drop_in.DropInError as error:
        raise pytest.UsageError(str(error)) from error
    _device = library()
    _device.kernpack_emulator_findings.restype = ctypes.c_char_p


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any conftest.py is imported, which may import what opens CUDA's libraries."""
    _load(early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(pattern): the test makes an error that the emulated device must find, with a message that has the pattern",
    )
    _load(config.option)
    if _writes_report(config):
        try:
            report.require_writable(config.option.emulator_report)
        except report.ReportError as error:
            raise pytest.UsageError(str(error)) from error
        folder = Path(tempfile.mkdtemp(prefix="kernpack-cuda-emulator-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["KERNPACK_EMULATOR_REPORT"] = str(folder / "report.jsonl")  # pytest-xdist's processes append to it


def _writes_report(config: pytest.Config) -> bool:
    """False in the processes of pytest-xdist, whose parent writes it."""
    return bool(config.option.emulator_report) and not hasattr(config, "workerinput")


def _take() -> list[dict[str, Any]]:
    """The errors since the last call; all queued work has run then. The device works again afterwards."""
    assert _device is not None
    found: list[dict[str, Any]] = json.loads(_device.kernpack_emulator_findings())
    if found:
        _device.kernpack_emulator_renew()
    return found


def _expected(item: pytest.Item, found: list[dict[str, Any]]) -> bool:
    marker = item.get_closest_marker(_MARKER)
    if marker is None:
        return False
    text = "\n".join(report.describe(finding) for finding in found)
    if not re.search(marker.args[0], text):
        got = f"got:\n{text}" if found else "nothing was found"
        pytest.fail(f"expected the emulated device to find {marker.args[0]!r}; {got}", pytrace=False)
    return True


def _phase(item: pytest.Item, when: str) -> Generator[None, Any, Any]:
    try:
        result = yield
    except BaseException:
        for finding in _take():
            item.add_report_section(when, "emulated device", report.describe(finding))
        raise
    found = _take()
    if when == "call" and _expected(item, found):
        return result
    if found:
        text = "\n\n".join(report.describe(finding) for finding in found)
        pytest.fail(f"the emulated device found an error\n{text}", pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _phase(item, "setup"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _phase(item, "call"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _phase(item, "teardown"))


def pytest_report_header(config: pytest.Config) -> str:
    seed = f", seed {config.option.emulator_seed}" if config.option.emulator_seed else ""
    return f"CUDA: emulated, {config.option.emulator_device}{seed} (kernpack-cuda-emulator)"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if _device is not None:
        _device.kernpack_emulator_write_report()
    if _writes_report(session.config):
        lines = Path(os.environ["KERNPACK_EMULATOR_REPORT"])
        report.write(
            session.config.option.emulator_report,
            lines,
            ["pytest", *session.config.invocation_params.args],
            int(exitstatus),
        )
