"""Profiles: what is counted, whoever calls; the table, the numbers and the trace."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import kernpack
import numpy as np
import pytest
from support.optional import optional


def row(profile: kernpack.profile, function: str) -> dict:
    (found,) = [op for op in profile.ops if op["function"] == function]
    return found


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import kernpack\n" + textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_counts_times_and_bytes(k: kernpack.Module) -> None:
    x = np.ones((4, 8), np.float32)
    with kernpack.profile() as p:
        for _ in range(3):
            k.scale(x)
        with pytest.raises(ValueError, match="n is 3"):
            k.fail(3)
    k.scale(x)  # outside
    scale, fail = row(p, "scale"), row(p, "fail")
    assert (scale["calls"], scale["failed"], scale["bytes"]) == (3, 0, 3 * 2 * x.nbytes)
    assert (fail["calls"], fail["failed"]) == (1, 1)
    assert scale["shortest_ns"] <= scale["longest_ns"] <= scale["total_ns"] == scale["self_ns"]
    assert p.to_dict()["calls"] == 4
    assert p.to_dict()["wall_ns"] >= sum(op["self_ns"] for op in p.ops)


def test_results_are_the_same(k: kernpack.Module) -> None:
    x = np.arange(8, dtype=np.float32)
    expected = k.scale(x, f=3.0)
    with kernpack.profile():
        np.testing.assert_array_equal(k.scale(x, f=3.0), expected)
        assert k.add(2, 3) == 5


def test_the_table_says_it_in_words(k: kernpack.Module) -> None:
    with kernpack.profile() as p:
        k.scale(np.ones(8, np.float32))
    head, titles, line = str(p).splitlines()
    assert head.startswith("kernpack: 1 call, ")
    assert titles.split()[:2] == ["op", "calls"]
    assert line.split()[:2] == [f"{row(p, 'scale')['module']}.scale", "1"]
    assert line.endswith("baseline")


def test_nothing_called() -> None:
    with kernpack.profile() as p:
        pass
    assert str(p).endswith("No kernel was called.")
    assert p.ops == []


def test_time_of_inner_calls_is_the_inner_ones(k: kernpack.Module) -> None:
    def inner(n: int) -> int:
        return k.count_down(inner, n)

    with kernpack.profile() as p:
        assert k.count_down(inner, 5) == 5
    counted = row(p, "count_down")
    assert counted["calls"] == 6
    assert counted["self_ns"] <= counted["longest_ns"] < counted["total_ns"]


def test_profiles_overlap(k: kernpack.Module) -> None:
    with kernpack.profile() as outer:
        k.add(1, 2)
        with kernpack.profile() as inner:
            k.add(1, 2)
            assert row(inner, "add")["calls"] == 1  # one that runs tells what it has so far
        k.add(1, 2)
    assert (row(outer, "add")["calls"], row(inner, "add")["calls"]) == (3, 1)


def test_all_threads_are_seen(k: kernpack.Module, tmp_path: Path) -> None:
    started = threading.Barrier(4)

    def work() -> None:
        started.wait()
        for _ in range(3000):  # more than a chunk of the recorder
            k.add(1, 2)

    with kernpack.profile(tmp_path / "trace.json") as p:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert row(p, "add")["calls"] == 12000
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    calls = [event for event in events if event["ph"] == "X"]
    assert len(calls) == 12000
    assert len({event["tid"] for event in calls}) == 4


def test_a_trace_has_each_call(k: kernpack.Module, tmp_path: Path) -> None:
    with kernpack.profile() as p:
        k.scale(np.ones(8, np.float32))
        k.add(1, 2)
    p.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    first, second = (event for event in trace["traceEvents"] if event["ph"] == "X")
    assert first["name"].endswith(".scale")
    assert first["args"] == {"bytes": 64, "target": "baseline"}
    assert second["ts"] >= first["ts"] + first["dur"]
    assert trace["kernpack"] == p.to_dict()
    named = [event["name"] for event in trace["traceEvents"] if event["ph"] == "M"]
    assert named == ["thread_name", "process_name"]


def test_a_trace_holds_so_much(k: kernpack.Module, tmp_path: Path) -> None:
    with kernpack.profile(tmp_path / "trace.json", max_events=0) as p:
        k.add(1, 2)
    assert p.to_dict()["left_out_of_trace"] == row(p, "add")["calls"] == 1
    assert not [e for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if e["ph"] == "X"]


@pytest.mark.parametrize("bad", [-1, "many", True, 1.5])
def test_max_events_is_a_count(bad: object) -> None:
    with pytest.raises(ValueError, match=r"^kernpack.profile: max_events: expected a count of calls, 0 or more, got"):
        kernpack.profile(max_events=bad)  # type: ignore[arg-type]


def test_before_it_began() -> None:
    with pytest.raises(RuntimeError, match=r"use it as `with kernpack\.profile\(\) as p:`"):
        str(kernpack.profile())


def test_together_with_checks(k: kernpack.Module) -> None:
    x = np.ones(8, np.float32)
    with kernpack.profile() as p:
        with kernpack.checking(trace=False):
            k.scale(x)
        k.scale(x)
    with kernpack.checking(trace=False), kernpack.profile() as other:
        k.scale(x)
    assert (row(p, "scale")["calls"], row(other, "scale")["calls"]) == (2, 1)


def test_torch_and_jax_calls_are_seen(k: kernpack.Module) -> None:
    import torch

    jax, jnp = optional("jax"), optional("jax.numpy")

    program = jax.jit(lambda x: k.scale(x))
    program(jnp.ones(4)).block_until_ready()
    with kernpack.profile() as p:
        k.scale(torch.ones(4))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
            k.scale(torch.ones(4))
        program(jnp.ones(4)).block_until_ready()
        k.scale(jnp.ones(4)).block_until_ready()
    assert row(p, "scale")["calls"] == 4


def test_jax_profiler_names_operations(k: kernpack.Module, tmp_path: Path) -> None:
    jax, jnp = optional("jax"), optional("jax.numpy")
    program = jax.jit(lambda x: k.scale(x) + 1)
    program(jnp.ones(4)).block_until_ready()
    with jax.profiler.trace(str(tmp_path), create_perfetto_trace=True):
        program(jnp.ones(4)).block_until_ready()
    (file,) = tmp_path.rglob("perfetto_trace.json.gz")
    with gzip.open(file) as trace:
        names = {event.get("name", "") for event in json.load(trace)["traceEvents"]}
    assert any("scale" in name for name in names), sorted(names)


INLINE = 'k = kernpack.load_inline("int add(int a, int b) { return a + b; }", ["add"], name="profiled")\nk.add(1, 2)\n'


def test_the_variable_writes_a_trace_of_the_process(tmp_path: Path) -> None:
    done = run(INLINE, KERNPACK_PROFILE=str(tmp_path / "all-%p.json"))
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("all-*.json")
    assert file.stem != "all-%p"
    (op,) = json.loads(file.read_text())["kernpack"]["ops"]
    assert (op["module"], op["function"], op["calls"]) == ("profiled", "add", 1)
    assert "profiled.add" in done.stderr
    assert f"kernpack: wrote {file}" in done.stderr


def test_the_variable_prints_a_table() -> None:
    done = run(INLINE, KERNPACK_PROFILE="1")
    assert done.stderr.startswith("kernpack: 1 call, ")
    assert "wrote" not in done.stderr


@pytest.mark.parametrize("off", ["", "0"])
def test_the_variable_is_off(off: str) -> None:
    assert run(INLINE, KERNPACK_PROFILE=off).stderr == ""


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    done = run(INLINE, KERNPACK_PROFILE=str(tmp_path / "nowhere" / "x.json"))
    assert done.returncode == 0
    assert "can't write" in done.stderr
    assert "name a file in a folder that exists" in done.stderr


def test_a_forked_child_counts_its_own(tmp_path: Path) -> None:
    code = INLINE + textwrap.dedent("""
        import os, sys
        with kernpack.profile() as p:
            k.add(1, 2)
            child = os.fork()
            k.add(1, 2)
            calls = p.to_dict()["calls"]
            if child == 0:
                sys.exit(calls)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), calls)
        """)
    file = tmp_path / "x.json"
    done = run(code, KERNPACK_PROFILE=str(file))
    assert done.stdout == "1 2\n", done.stderr
    written = {path: json.loads(path.read_text())["kernpack"]["calls"] for path in tmp_path.iterdir()}
    assert written.pop(file) == 3
    ((of_child, calls),) = written.items()
    assert of_child.name.startswith("x.json.")
    assert calls == 1
