"""Whose stored values are whose, and what a thread that waits for one hears."""

from __future__ import annotations

import os
import subprocess
import sys

import kernpack
import pytest

SOURCE = """
#include <kernpack/kernel.h>
#include <atomic>
namespace kp = kernpack;

static std::atomic<bool> released{false};
static int64_t seed(int64_t wanted) {
  return kp::storage_get_or_init("seed", [&] { return wanted; }).cast<int64_t>();
}
static int64_t slow() {
  return kp::storage_get_or_init("slow", [] { while (!released) {} return int64_t{1}; }).cast<int64_t>();
}
static void let_go() { released = true; }
static int64_t number() { return %d; }
KP_MODULE("same_name", "1.0.0");
KP_EXPORT(seed, seed);
KP_EXPORT(slow, slow);
KP_EXPORT(let_go, let_go);
KP_EXPORT(number, number);
"""


def test_modules_that_share_a_name_do_not_share_values() -> None:
    one, two = (kernpack.load_inline(SOURCE % number) for number in (1, 2))
    assert (one.name, one.version) == (two.name, two.version)
    assert (one.seed(10), two.seed(20), one.seed(30), two.seed(40)) == (10, 20, 10, 20)
    # Python reads those of the first under the name that both have.
    assert kernpack.storage.get("same_name", "seed") == 10
    assert kernpack.storage.get(f"same_name@{two.digest}", "seed") == 20


WAIT = """
import sys, threading
import kernpack
k = kernpack.load_inline(sys.argv[1])
threads = [threading.Thread(target=k.slow) for _ in range(2)]
for thread in threads:
    thread.start()
sys.stdin.read()  # the test has seen the line
k.let_go()
for thread in threads:
    thread.join()
print(k.slow())
"""


def test_a_long_wait_is_named() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", WAIT, SOURCE % 1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"KERNPACK_LOG": "warning"},
    )
    assert child.stderr is not None
    for line in child.stderr:
        if "has waited for some seconds for key 'slow' of module 'same_name'" in line:
            break
    else:
        raise AssertionError("the child ended without a line")
    said, errors = child.communicate()
    assert said == "1\n", errors


def test_a_stream_without_its_device_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected device= beside stream=, got a stream alone; pass the device"):
        kernpack.storage.get("same_name", "seed", stream=1)
