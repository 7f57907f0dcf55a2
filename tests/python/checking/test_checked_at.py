"""KERNPACK_CHECK=1 when sources are compiled: `at` looks at its indices, which the host cannot see."""

from __future__ import annotations

import kernpack
import numpy as np
import pytest

SOURCE = """
#include <kernpack/kernel.h>
namespace kp = kernpack;
// Reads the row's first element, or what an index outside would be.
static void Pick(kp::TensorView x, int64_t row, kp::MutTensorView out) {
  const kp::Accessor<const float, 2> in(x);
  const int64_t inside = row < in.size(0) ? row : 0;
  out.data_ptr<float>()[0] = KP_CHECKED_AT ? in.at(row, 0) : in.at(inside, 0);
}
KP_MODULE("picks", "1.0.0");
KP_EXPORT(pick, Pick, "(x: f32[N, D], row: int) -> (out: f32[])");
"""
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("value", [None, "", "0"])
def test_off_nothing_is_compiled_in(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("KERNPACK_CHECK", raising=False)
    if value is not None:
        monkeypatch.setenv("KERNPACK_CHECK", value)
    k = kernpack.load_inline(SOURCE)
    assert (k.pick(X, 1), k.pick(X, 2)) == (3, 0)


@pytest.mark.parametrize("value", ["1", "quiet"])
def test_on_an_index_outside_is_an_error(monkeypatch: pytest.MonkeyPatch, value: str, tmp_path) -> None:
    monkeypatch.setenv("KERNPACK_CHECK", value)
    (tmp_path / "picks.cc").write_text(SOURCE)
    for k in (kernpack.load_inline(SOURCE), kernpack.load(tmp_path / "picks.cc")):
        assert k.pick(X, 1) == 3
        with pytest.raises(IndexError, match=r"index 2"):
            k.pick(X, 2)


def test_the_author_may_turn_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNPACK_CHECK", "1")
    assert kernpack.load_inline(SOURCE, extra_cflags=["-UKP_CHECKED_AT", "-DKP_CHECKED_AT=0"]).pick(X, 2) == 0
