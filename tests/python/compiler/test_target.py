"""Targets in Python: the value, its text, matching. The C++ suite covers the language itself."""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading

import pytest

compiler = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from kernpack_compiler import Target, TargetKind  # noqa: E402


def test_spellings_agree() -> None:
    line = Target("cuda -arch=sm_90 -host='llvm -mcpu=x86-64-v3'")
    assert line == Target({"kind": "cuda", "arch": "sm_90", "host": {"kind": "llvm", "mcpu": "x86-64-v3"}})
    assert line == Target("cuda -arch=sm_90", host="llvm -mcpu=x86-64-v3") == Target(line.to_json())
    assert repr(line) == """Target("cuda -arch=sm_90 -host='llvm -mcpu=x86-64-v3'")"""
    assert eval(repr(line)) == line
    assert line.host == Target("llvm -mcpu=x86-64-v3")
    assert line.without_host() == Target("cuda -arch=sm_90")
    assert line.attrs == {"arch": "sm_90", "max_num_threads": 1024, "thread_warp_size": 32}
    assert (line.kind.name, line.device_type, line.keys) == ("cuda", "cuda", ["cuda", "gpu"])


def test_a_value_among_values() -> None:
    target = Target("nvidia/h100")
    for other in (pickle.loads(pickle.dumps(target)), copy.deepcopy(target), Target(str(target))):
        assert other == target
        assert hash(other) == hash(target)
    assert pickle.loads(pickle.dumps(target)).tag == "nvidia/h100"
    assert pickle.loads(pickle.dumps(target.kind)) == target.kind
    assert target != "nvidia/h100"
    assert len({target, Target(str(target)), Target("cuda")}) == 2


@pytest.mark.parametrize(
    ("spec", "error", "part"),
    [
        ("cudaa", ValueError, "did you mean 'cuda'?"),
        ("cuda -archh=sm_90", ValueError, "has no option 'archh'; did you mean 'arch'?"),
        ({"kind": "cuda", "max_num_threads": "512"}, TypeError, "expected int, got str"),
        ({"kind": "cuda", "max_num_threads": 2**64}, OverflowError, ""),
        ({"kind": "cuda", 3: 4}, TypeError, "expected str as the keys"),
        ({"kind": "cuda", "libs": [b"cublas"]}, TypeError, "got bytes"),
        (3, TypeError, "expected a Target, str or dict, got int"),
        ("llvm -mcpu=haswel", ValueError, "did you mean 'haswell'?"),
    ],
    ids=str,
)
def test_a_bad_target_is_refused_with_what_is_wrong(spec: object, error: type[Exception], part: str) -> None:
    with pytest.raises(error) as raised:
        Target(spec)
    assert part in str(raised.value)


def test_scopes_are_a_threads_own() -> None:
    with pytest.raises(RuntimeError, match="no target is current in this thread"):
        Target.current()
    seen: list[Target | None] = []
    with Target("cuda"), Target("llvm") as inner:
        assert Target.current() == inner == Target("llvm")
        thread = threading.Thread(target=lambda: seen.append(Target.current(allow_none=True)))
        thread.start()
        thread.join()
    assert seen == [None]
    assert Target.current(allow_none=True) is None


def test_from_device() -> None:
    assert Target(str(Target.from_device("cpu"))) == Target.from_device("cpu:0")
    facts = {"exist": True, "compute_version": "8.6", "max_threads_per_block": 512}
    target = Target.from_device("cuda:1", {"max_num_threads": 128}, query=facts.get)
    assert str(target) == "cuda -arch=sm_86 -max_num_threads=128 -max_threads_per_block=512"
    with pytest.raises(RuntimeError, match="there is no device cuda:1"):
        Target.from_device("cuda:1", query={}.get)
    with pytest.raises(ZeroDivisionError):
        Target.from_device("cuda:0", query=lambda name: 1 // 0)


def test_full_text_gives_the_target_back() -> None:
    for target in (Target("cuda -keys=mine,gpu -feature.fast=1 -host=llvm"), Target("llvm -mcpu=x86-64-v3")):
        again = Target(target.full_text())
        assert (again, again.keys, again.host) == (target, target.keys, target.host)
    assert " -keys=mine,gpu " in Target("cuda -keys=mine,gpu").full_text()


def test_features_and_matching() -> None:
    assert Target("llvm -mattr=+avx512f").features["fma"] is True
    assert not Target("llvm").has_feature("fma")
    assert compiler.supports("llvm -mcpu=x86-64-v3", "amd/epyc-7763")
    assert "avx512vnni" in compiler.match("llvm -mcpu=cascadelake", "llvm -mcpu=skylake-avx512").reason
    best = compiler.pick_best(["llvm", "llvm -mcpu=x86-64-v3", "llvm -mcpu=x86-64-v4"], "amd/epyc-7763")
    assert best.index == 1
    assert best.explain().splitlines()[1] == "* llvm -mcpu=x86-64-v3: this processor is x86-64-v3"
    assert compiler.pick_best(["cuda"], "llvm").index is None


def test_kinds_options_models_and_tags_are_listed() -> None:
    assert {"c", "composite", "cuda", "llvm", "opencl", "test"} <= set(TargetKind.list())
    options = {option["name"]: option for option in TargetKind.get("cuda").options}
    assert (options["max_num_threads"]["type"], options["max_num_threads"]["default"]) == ("int", 1024)
    assert "znver4" in compiler.cpu_models("x86_64")
    assert "sve2" in compiler.cpu_features("aarch64")
    for tag in compiler.list_tags():
        assert Target(str(Target(tag))) == Target(tag)


def test_adding_a_tag() -> None:
    compiler.add_tag("python-test/one", {"kind": "c", "num-cores": 2})
    assert Target("python-test/one -num-cores=3").attrs["num-cores"] == 3
    with pytest.raises(ValueError, match="already"):
        compiler.add_tag("python-test/one", "c")
    compiler.add_tag("python-test/one", "c", replace=True)
    assert Target("python-test/one") == Target("c")


_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_options = {
    "flag": st.booleans(),
    "count": st.integers(-(2**63), 2**63 - 1),
    "ratio": st.floats(allow_nan=False, allow_infinity=False),
    "name": _text,
    "names": st.lists(_text, max_size=4),
    "table": st.lists(st.lists(_text, max_size=3), max_size=3),
    "sizes": st.lists(st.integers(-9, 9), max_size=4),
    "weights": st.dictionaries(_text, st.integers(-9, 9), max_size=3),
    "model": _text,
    "keys": st.lists(_text, max_size=3),
    "feature.text": _text,
    "feature.number": st.floats(allow_nan=False, allow_infinity=False),
    "partner": st.sampled_from(["cuda -arch=sm_90 -model='it\\'s'", "nvidia/h100", {"kind": "c"}]),
}


@settings(max_examples=150, deadline=None)
@given(st.fixed_dictionaries({"kind": st.just("test")}, optional=_options))
def test_text_gives_the_target_back(config: dict[str, object]) -> None:
    target = Target(config)
    again = Target(str(target))
    assert again == target == Target(target.to_json()) == Target(target.to_dict())
    assert (again.attrs, again.features, again.keys) == (target.attrs, target.features, target.keys)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_a_target_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError, TypeError):
        target = Target("test -" + text)
        assert Target(str(target)) == target


def test_configs_that_hold_themselves_are_refused() -> None:
    config: dict[str, object] = {"kind": "llvm"}
    config["host"] = config
    items: list[object] = []
    items.append(items)
    for endless in (config, {"kind": "llvm", "keys": items}):
        with pytest.raises(ValueError, match="dicts and lists nested deeper than 32; does one contain itself"):
            Target(endless)


def test_hosts_of_hosts_end() -> None:
    target = Target("llvm")
    for _ in range(7):  # each has the text of the one before, quoted
        target = target.with_host(target)
    assert Target(str(target)) == target
    with pytest.raises(ValueError, match="targets nested deeper than 8"):
        target.with_host(target)


def test_a_with_that_did_not_begin_does_not_end() -> None:
    with pytest.raises(RuntimeError, match="llvm exits a `with` that was never entered"):
        Target("llvm").__exit__(None, None, None)
