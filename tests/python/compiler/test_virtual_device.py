"""Virtual devices and compilation configurations in Python."""

from __future__ import annotations

import pickle

import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler import CompilationConfig, Target, VirtualDevice


def test_the_value() -> None:
    device = VirtualDevice("cuda", 3, "cuda -arch=sm_90", "global")
    assert repr(device) == (
        "VirtualDevice(device_type='cuda', virtual_device_id=3, target='cuda -arch=sm_90', memory_scope='global')"
    )
    for other in (eval(repr(device)), pickle.loads(pickle.dumps(device))):
        assert other == device
        assert hash(other) == hash(device)
    assert device.is_fully_constrained
    assert VirtualDevice().is_fully_unconstrained
    only_target = VirtualDevice(target="cuda")
    assert (only_target.device_type, only_target.virtual_device_id, only_target.memory_scope) == ("cuda", None, None)


def test_wrong_devices_and_targets_are_refused() -> None:
    with pytest.raises(ValueError, match="target 'cuda' is for cuda, but device_type is cpu"):
        VirtualDevice("cpu", target="cuda")
    with pytest.raises(ValueError, match="virtual_device_id of 0 or above"):
        VirtualDevice("cpu", -1)
    with pytest.raises(ValueError, match="unknown device 'cpuu'"):
        VirtualDevice("cpuu")
    with pytest.raises(ValueError, match="virtual_device_id is open"):
        VirtualDevice("cpu").to_device()
    assert str(VirtualDevice("cpu", 0).to_device()) == "cpu:0"


def test_join_and_default() -> None:
    a = VirtualDevice(target="llvm")
    b = VirtualDevice(virtual_device_id=3, memory_scope="local")
    assert VirtualDevice.join(a, b) == VirtualDevice("cpu", 3, "llvm", "local")
    assert VirtualDevice.join(VirtualDevice("cpu", 0), VirtualDevice("cpu", 1)) is None
    filled = VirtualDevice.default(VirtualDevice("cpu"), VirtualDevice("cuda", 3, "cuda", "global"))
    assert filled == VirtualDevice("cpu", 3, memory_scope="global")


def test_compilation_config() -> None:
    config = CompilationConfig(["cuda -arch=sm_90", "llvm -mcpu=x86-64-v3"])
    assert config.host_target == Target("llvm -mcpu=x86-64-v3")
    assert config.default_primitive_device_type == "cpu"
    assert config.find_primitive_target("cuda").host == config.host_target
    assert config.find_primitive_target_for_kind("opencl") is None
    assert config.optional_homogeneous_target is None
    canonical = config.canonical_virtual_device(VirtualDevice("cuda", 0))
    assert canonical == config.canonical_virtual_device(VirtualDevice("cuda", 0, "cuda -arch=sm_90"))
    assert CompilationConfig(config.primitive_targets).primitive_targets == config.primitive_targets
    with pytest.raises(ValueError, match="no target is for device type opencl"):
        config.find_primitive_target("opencl")
    assert CompilationConfig(["llvm", "cuda"], default_device_type="cuda").default_primitive_device_type == "cuda"
