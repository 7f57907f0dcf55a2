"""kp::printf: lines of a kernel in the host's log, with a format that the compiler checks."""

from __future__ import annotations

import os
import subprocess
import sys

import kernpack
import pytest

SOURCE = r"""
void tell(int64_t i, double x) {
  kp::printf(kp::LogLevel::warning, "row %lld: %.2f, %s", static_cast<long long>(i), x, "done");
}
int64_t tell_much() {
  char text[3000] = {};
  for (int i = 0; i < 2999; ++i) text[i] = 'x';
  kp::printf(kp::LogLevel::warning, "%s", text);
  return 2999;
}
"""
PROGRAM = f"""
import kernpack
k = kernpack.load_inline({SOURCE!r}, ["tell", "tell_much"], name="kernel_log")
k.tell(3, 1.5)
k.tell_much()
"""


@pytest.mark.parametrize(("level", "shown"), [("warning", True), ("error", False)])
def test_lines_go_where_the_hosts_go(level: str, shown: bool) -> None:
    environment = {**os.environ, "KERNPACK_LOG": level}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert ("row 3: 1.50, done" in done.stderr) == shown
    assert ("x" * 1023 + "\n" in done.stderr) == shown
    assert "x" * 1024 not in done.stderr


def test_a_wrong_format_does_not_compile() -> None:
    source = 'void tell(int64_t) { kp::printf(kp::LogLevel::info, "%s", 3); }'
    with pytest.raises(RuntimeError, match=r"(expects argument of|format specifies) type .char"):
        kernpack.load_inline(source, ["tell"], name="wrong_format", extra_flags=["-Werror=format"])
