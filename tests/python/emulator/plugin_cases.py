"""The tests of a project, right and wrong ones in turn; test_pytest_plugin.py runs them with the plugin."""

from __future__ import annotations

import pytest
from plugin_kernels import Device


@pytest.fixture(scope="session")
def device() -> Device:
    return Device()


@pytest.mark.parametrize("mistake", ["unwritten", "race", "bounds", "barrier"])
def test_mistake(device: Device, mistake: str) -> None:
    device.launch(mistake)  # nothing waits for it: the plugin does


@pytest.mark.parametrize("turn", [1, 2])
def test_right(device: Device, turn: int) -> None:
    device.launch("right")
    assert device.values() == list(range(64))
    if turn == 1:
        device.launch("bounds")


def test_raises(device: Device) -> None:
    device.launch("race")
    device.values()


@pytest.fixture
def wrong_at_first(device: Device) -> None:
    device.launch("race")


def test_of_a_wrong_fixture(wrong_at_first: None) -> None:
    raise AssertionError("the fixture failed before")


@pytest.mark.xfail(strict=True)
def test_known_to_fail(device: Device) -> None:
    device.launch("race")


@pytest.mark.emulator_finds("race: kernel race.*st.shared")
def test_that_makes_an_error(device: Device) -> None:
    device.launch("race")


@pytest.mark.emulator_finds("race")
def test_that_should_make_an_error(device: Device) -> None:
    device.launch("right")


def test_last(device: Device) -> None:
    device.launch("right")
    assert device.values() == list(range(64))
