"""A fork while another thread loads: the child gets tables that are whole, and can load."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import kernpack

# A thread loads files whose distributions take a while to look through; the main thread forks meanwhile, again and again.
PROGRAM = r"""
import os, signal, sys, threading, time
import kernpack
files = sys.argv[1:]
threading.Thread(target=lambda: [kernpack.load(file) for file in files], daemon=True).start()
ends = []
for _ in range(8):
    time.sleep(0.004)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a lock left held would hang; the signal makes that a failure
        assert kernpack.load(files[-1]).v() == 1
        os._exit(0)
    ends.append(os.waitpid(child, 0)[1])
print(ends)
os._exit(0)
"""


def _distributions(site: Path, count: int, files: int) -> None:
    for i in range(count):
        info = site / f"p{i}-1.dist-info"
        info.mkdir(parents=True)
        lines = (f"p{i}/f{j}.so,sha256=AAAA,1\r\n" for j in range(files))
        (info / "RECORD").write_text("".join(lines))


def test_a_child_forked_during_a_load_can_load(tmp_path: Path) -> None:
    made = Path(kernpack.load_inline("int64_t v() { return 1; }", ["v"], name="forked_loads").path).read_bytes()
    _distributions(tmp_path, 300, 100)
    files = [tmp_path / f"m{i}.so" for i in range(10)]
    for i, file in enumerate(files):
        file.write_bytes(made + b"%s %d" % (str(tmp_path).encode(), i))  # a content of its own
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, files)], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.stdout == f"{[0] * 8}\n", ran.stderr


# The start-up code of a library runs while the dynamic linker's tables are being changed.
SLOW = r"""
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>
namespace {
struct Slow {
  Slow() {
    if (const char* mark = std::getenv("MARK")) {
      if (::access(mark, F_OK) != 0) ::close(::creat(mark, 0600));
      ::usleep(300000);
    }
  }
} slow;
}
int64_t v() { return 2; }
"""
SLOW_PROGRAM = r"""
import os, signal, sys, threading, time
import kernpack
thread = threading.Thread(target=kernpack.load, args=[sys.argv[1]])
thread.start()
while not os.path.exists(os.environ["MARK"]):
    time.sleep(0.001)
child = os.fork()
if child == 0:
    signal.alarm(60)
    assert kernpack.load(sys.argv[1]).v() == 2
    assert kernpack.load(sys.argv[2]).v() == 1
    os._exit(0)
end = os.waitpid(child, 0)[1]
thread.join()
print(end)
"""


def test_a_child_forked_while_a_library_starts_up_can_load_it(tmp_path: Path) -> None:
    slow = kernpack.load_inline(SLOW, ["v"], name="slow_start").path
    other = kernpack.load_inline("int64_t v() { return 1; }", ["v"], name="forked_loads").path
    ran = subprocess.run(
        [sys.executable, "-c", SLOW_PROGRAM, slow, other],
        env={**os.environ, "MARK": str(tmp_path / "mark")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.stdout == "0\n", ran.stderr
