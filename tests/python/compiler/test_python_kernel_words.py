"""Each word of kernels in plain Python means what it means in Python: compiled, interpreted and run, it gives one result."""

from __future__ import annotations

import math
import subprocess
import sys
import textwrap
import threading
from math import inf
from pathlib import Path

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import ir
from kernpack_compiler.lang import (
    argmax,
    argmin,
    bf16,
    bitcast,
    bool_,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    inout,
    local,
    parallel,
    sigmoid,
    u8,
    unrolled,
    vectorized,
    workspace,
)

KIND = "llvm" if "llvm" in kc.list_generators() else "c"
X = np.array([3.0, -1.5, 0.0, 2.5, -0.5, 7.0, 1.0], np.float32)
I = np.array([5, -3, 0, 7, 2], np.int64)  # noqa: E741


def agree(kernel: kc.Kernel, *arguments, expected=None, tolerance: float = 1e-6) -> None:
    """The interpreter, a generator and plain Python give one result."""
    name = kernel.__name__
    plain = kernel.python(*arguments)
    for found in (ir.interpret(kernel.module, name, *arguments), getattr(kernel.build(KIND), name)(*arguments)):
        pairs = zip(found, plain, strict=True) if isinstance(plain, tuple) else [(found, plain)]
        for one, other in pairs:
            np.testing.assert_allclose(one.astype("f8"), other.astype("f8"), rtol=tolerance, atol=tolerance)
    if expected is not None:
        np.testing.assert_allclose(plain.astype("f8"), expected, rtol=tolerance, atol=tolerance)


def test_while_break_and_continue() -> None:
    @kc.kernel
    def rounds(x: f32["N"], n: i64) -> i64["N", 4]:
        for i in range(N):
            steps, v = 0, abs(x[i])
            while v > 0.1 and steps < n:
                v /= 2.0
                steps += 1
            out[i, 0] = steps
            out[i, 1] = -1
            for j in range(N):
                if x[j] <= x[i]:
                    continue
                out[i, 1] = j
                break
            total = 0
            for k in range(20, 0, -3):
                if k % 2 == 0:
                    continue
                if k < 3:
                    break
                total += k
            out[i, 2] = total
            at = 0
            while True:
                if at == N:
                    break
                if x[at] < 0:
                    break
                at += 1
            out[i, 3] = at

    agree(rounds, X, 5)
    assert "while true" in str(rounds.module)
    assert rounds.python(X, 5)[:, 1].tolist() == [5, 0, 0, 0, 0, -1, 0]


def until(x, value, n):
    """A helper with a loop that it leaves."""
    k = 0
    while k < n:
        if x[k] == value:
            break
        k += 1
    return k


def test_a_helper_leaves_its_own_loop() -> None:
    @kc.kernel
    def finds(x: f32["N"]) -> i64["N"]:
        for i in parallel(N):
            out[i] = 0
            for _j in range(2):
                out[i] += until(x, x[i], N)

    agree(finds, X, expected=[0, 2, 4, 6, 8, 10, 12])


def test_argmax_and_argmin() -> None:
    @kc.kernel
    def places(x: f32["N", "D"]) -> i64["N", 3]:
        for i in range(N):
            out[i, 0] = argmax(x[i, j] for j in range(D))
            out[i, 1] = argmin(x[i, j] * x[i, j] for j in range(D))
            out[i, 2] = argmax(sum(x[k, j] for k in range(N)) for j in range(D))

    x = np.array([[1.0, 3.0, 3.0, -2.0], [np.nan, 5.0, np.nan, -2.0], [2.0, np.nan, 9.0, np.nan]], np.float32)
    agree(places, x)
    assert places(x)[:, 0].tolist() == np.argmax(x, axis=1).tolist() == [1, 0, 1]
    assert places(x)[:, 1].tolist() == np.argmin(x * x, axis=1).tolist() == [0, 0, 1]
    assert places(np.zeros((2, 0), np.float32)).tolist() == [[-1, -1, -1]] * 2


def test_conditions() -> None:
    @kc.kernel
    def conditions(x: f32["N"], c: i64) -> i64["N", 8]:
        for i in range(N):
            out[i, 0] = 1 if -1 < x[i] <= 2.5 else 0
            out[i, 1] = 1 if x[i] > 0 and not (x[i] >= 7) else 0
            out[i, 2] = 1 if i == 0 or x[i - 1] > 0 or c else 0
            out[i, 3] = 1 if i > 0 and x[i - 1] > 0 else 2 if x[i] else 3
            out[i, 4] = 5 if not c else 6
            if x[i] < 0:
                out[i, 5] = -1
            elif x[i] == 0:
                out[i, 5] = 0
            else:
                out[i, 5] = 1
            out[i, 6] = 1 if 0 < i < N - 1 < 100 != x[i + 1] else 0
            out[i, 7] = 1 if True and x[i] > 1 else 0

    for c in (0, 2):
        agree(conditions, X, c)
    assert conditions.python(X, 0)[:, 5].tolist() == [1, -1, 0, 1, -1, 1, 1]


def test_variables_that_branches_create_and_loops_change() -> None:
    @kc.kernel
    def variables(x: f32["N"], k: i64, factor: f64) -> {"a": f32["N"], "b": f64["N"], "c": i64["N"]}:
        for i in range(N):
            if x[i] > 1:
                v, w = x[i] * 2.0, 1.0
            elif x[i] < 0:
                v = -x[i]
                w = 2.0
            else:
                v, w = 0.5, 3.0
            a[i] = v + w
        total = f64(0.0)
        for i in range(N):
            total = total * factor + f64(x[i])
            total += 1
            b[i] = total
            factor *= 0.5
        count = 0
        for i in range(N):
            if x[i] > 0:
                count += k
            k = k + 1
            c[i] = count
        same = other = x[0]
        a[0] = same + other

    agree(variables, X, 2, 0.75)


def test_a_variable_that_is_assigned_again_changes_its_type() -> None:
    @kc.kernel
    def again(x: i64["N"]) -> f64["N"]:
        for i in range(N):
            v = x[i]
            v = v // 2
            v = f64(v) + 0.5
            out[i] = v

    agree(again, I, expected=I // 2 + 0.5)


def test_arithmetic_has_pythons_meaning() -> None:
    @kc.kernel
    def arithmetic(x: f32["N"], n: i64["M"]) -> {"f": f32["N", 12], "k": i64["M", 10]}:
        for i in range(N):
            f[i, 0], f[i, 1] = x[i] ** 2, x[i] ** 3
            f[i, 2] = max(x[i], 0.5, x[0] - 2)
            f[i, 3] = min(1, x[i])
            f[i, 4], f[i, 5] = abs(x[i]), math.fabs(x[i])
            f[i, 6] = sigmoid(x[i])
            f[i, 7] = math.tanh(x[i]) + math.sin(x[i]) * math.cos(x[i])
            f[i, 8] = math.log(x[i] ** 2 + 1) / math.sqrt(2.0)
            f[i, 9] = math.pow(abs(x[i]) + 1, 1.5)
            f[i, 10] = f32(math.floor(x[i]) + math.ceil(x[i]) * 10 + int(x[i]) * 100 + round(x[i]) * 1000)
            f[i, 11] = 1.0 if math.isnan(x[i] / x[2] * x[2]) or math.isinf(x[i]) else float(int(x[i]))
        for i in range(M):
            k[i, 0], k[i, 1] = n[i] // 3, n[i] % 3
            k[i, 2], k[i, 3] = n[i] << 2, n[i] >> 1
            k[i, 4] = (n[i] & 6) | (n[i] ^ 1)
            k[i, 5] = ~n[i] + -n[i] + +n[i]
            k[i, 6] = int(f32(n[i]) / 2.0)
            k[i, 7] = i64(i8(n[i] * 50))
            k[i, 8] = i64(bool_(n[i]))
            k[i, 9] = i64(bitcast(i32, f32(n[i])))

    with np.errstate(all="ignore"):
        agree(arithmetic, X, I, tolerance=1e-5)


def test_reductions() -> None:
    @kc.kernel
    def reductions(x: f32["N", "D"], n: i8["N"], start: f32) -> {"r": f32[10], "k": i64[5]}:
        r[0] = sum(x[i, j] for i in range(N) for j in range(D))
        r[1] = sum((x[i, j] for i in range(N) for j in range(i + 1) if x[i, j] > 0), start)
        r[2] = max(x[i, j] for i in range(N) for j in range(D) if j != i)
        r[3] = min(x[i, D - 1 - i] for i in range(1, N))
        r[4] = math.prod(x[i, 0] for i in range(N))
        r[5] = sum(x[0, j] for j in range(0, D, 2))
        r[6] = sum(max(x[i, j] for j in range(D)) for i in range(N))
        r[7] = sum(square(x[i, 0]) for i in range(N))
        r[8] = sum(1.0 for i in range(N))
        r[9] = max((x[i, 0] if i > 100 else -inf) for i in range(N))
        k[0] = sum(x[i, 0] > 0 for i in range(N))
        k[1] = 1 if any(x[i, 0] > 1 for i in range(N)) else 0
        k[2] = 1 if all(x[i, 0] > 1 for i in range(N)) else 0
        k[3] = max(i64(n[i]) for i in range(N) if n[i] < 0)
        k[4] = i64(min(n[i] for i in range(N) if n[i] > 100))

    x = np.random.default_rng(1).standard_normal((3, 5)).astype("f4")
    n = np.array([4, -7, -2], np.int8)
    found = reductions.build(KIND).reductions(x, n, 2.0)
    interpreted = ir.interpret(reductions.module, "reductions", x, n, 2.0)
    for one, other in zip(found, interpreted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    r, k = found
    positive = sum(x[i, j] for i in range(3) for j in range(i + 1) if x[i, j] > 0)
    others = max(x[i, j] for i in range(3) for j in range(5) if i != j)
    expected = [x.sum(), positive + 2, others, min(x[1, 3], x[2, 2]), x[:, 0].prod(), x[0, ::2].sum()]
    expected += [x.max(1).sum(), (x[:, 0] ** 2).sum(), 3, -inf]
    np.testing.assert_allclose(r, expected, rtol=1e-5)
    above = x[:, 0] > 1
    assert k.tolist() == [(x[:, 0] > 0).sum(), above.any(), above.all(), -2, 127]


def square(v: float) -> float:
    """Once."""
    result = v
    result *= v
    return result


def polynomial(v, *, offset=1.0, scale=2.0):
    doubled, shifted = pair(v, scale)
    if v > 0:
        doubled = -doubled
    return doubled + shifted + offset


def pair(v, scale):
    total = v
    for _ in range(3):
        total += scale
    return total, v + 1


def fill(memory, value, n):
    for i in range(n):
        memory[i] = value
    return memory[0] * 2


def scratch(v):
    kept = local(f32[2])
    kept[0] = v
    kept[1] = kept[0] + 1
    return kept[1]


def test_helpers() -> None:
    @kc.kernel
    def helpers(x: f32["N"]) -> f32["N"]:
        for i in range(N):
            kept = local(f32[4])
            fill(kept, x[i], 4)
            out[i] = (
                square(x[i])
                + polynomial(x[i], offset=0.25)
                + polynomial(kept[3])
                + (square(x[i - 1]) if i > 0 else 0.0)
            )

    agree(helpers, X)


def test_loops() -> None:
    taps = (0.25, 0.5, 0.25)
    names = {"a": 3}
    size = names["a"]

    @kc.kernel
    def loops(x: f32["N"]) -> {"f": f32["N"], "g": f32["N"], "h": f32[3, 2]}:
        for i in range(1, N - 1):
            total = 0.0
            for k, tap in enumerate(taps):
                total += tap * x[i + k - 1]
            f[i] = total
        for i in (0, N - 1):
            f[i] = 0.0
        for i in range(N - 1, -1, -2):
            g[i] = 1.0
        for i in range(N - 2, -1, -2):
            g[i] = 2.0
        row = workspace(f32[N])
        for i in parallel(N, grain=2):
            for _ in vectorized(1, lanes=2):
                row[i] = x[i] * 2
        for i in vectorized(N, lanes=4, tail="masked"):
            g[i] += row[i]
        for i in unrolled(size):
            for j in unrolled(0, 2):
                h[i, j] = f32(i * 10 + j)

    agree(loops, X)
    assert loops.python(X)[2].tolist() == [[0, 1], [10, 11], [20, 21]]


def test_storage_types() -> None:
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")

    @kc.kernel
    def storage(x: f16["N"], y: bf16["N"]) -> {"a": bf16["N"], "b": f16["N"]}:
        for i in range(N):
            a[i] = bf16(f32(x[i]) * 1.2345)
            b[i] = f16(f32(y[i]) + 0.333)

    import ml_dtypes

    agree(storage, X.astype(np.float16), X.astype(ml_dtypes.bfloat16))


def test_numbers_of_a_kernel_of_f64_are_f64() -> None:
    half = np.float64(0.1)

    @kc.kernel
    def doubles(x: f64["N"]) -> f64["N"]:
        total = 0.0
        for i in range(N):
            total += x[i] * half
            out[i] = total if x[i] > 0 else (0.1 if i > 2 else 0.2)

    agree(doubles, X.astype("f8"), tolerance=1e-15)


def test_contracts() -> None:
    rows = 2

    @kc.kernel
    def contract(
        x: f32["B...", "D"], w: f32["D", rows], on: bool_ = True, *, n: i32 = 3, eps: f32 = 1e-3
    ) -> {"y": f32["B...", rows], "z": f32["D // 2 + 1", "min(D, 3)", "n"]}:
        for b in range(B):
            for r in range(rows):
                y[b, r] = sum(x[b, d] * w[d, r] for d in range(D)) + (eps if on else 0.0)
        for i in range(D // 2 + 1):
            for j in range(min(D, 3)):
                for k in range(n):
                    z[i, j, k] = f32(k)

    text = "(x: f32[..., D], w: f32[D, 2], on: bool = True, *, n: int = 3, eps: float = 0.001)"
    assert contract.func.signature.startswith(text)
    x, w = np.ones((2, 3, 4), np.float32), np.ones((4, 2), np.float32)
    k = contract.build(KIND).contract
    for call in (k, contract.python):
        y, z = call(x, w, n=2)
        assert (y.shape, z.shape) == ((2, 3, 2), (3, 3, 2))
        np.testing.assert_allclose(y, 4.001, rtol=1e-6)
        np.testing.assert_allclose(call(x, w, False)[0], 4, rtol=1e-6)


def test_plain_python_checks_what_it_touches() -> None:
    @kc.kernel
    def touches(x: f32["N"], at: i64, y: inout(u8[2])) -> f32["N"]:
        kept = local(f32[2])
        kept[0] = x[0]
        if at == 5:
            out[0] = kept[1]
        if at == 6:
            out[0] = out[1]
        y[1] = u8(at)
        out[0] = x[at]

    x, y = np.ones(3, np.float32), np.zeros(2, np.uint8)
    with pytest.raises(IndexError, match=r"^touches: x\[3\]: index 3 is out of range for axis 0 of extent 3$"):
        touches.python(x, 3, y)
    with pytest.raises(IndexError, match=r"touches: x\[-1\]: index -1 is out of range"):
        touches.python(x, -1, y)
    with pytest.raises(ValueError, match=r"^local: f32\[1\]: is read before it is written$"):
        touches.python(x, 5, y)
    with pytest.raises(ValueError, match=r"^touches: out\[1\]: is read before it is written$"):
        touches.python(x, 6, y)
    assert y.tolist() == [0, 255]  # of the call with -1
    for given, error, message in (
        ((x.astype("f8"), 0, y), TypeError, "touches: x: expected f32, got f64"),
        ((x[None], 0, y), ValueError, "touches: x: expected 1 dimensions, got 2"),
        ((x, 0, y[:1]), ValueError, "touches: y: expected extent 2 at axis 0, got 1"),
        ((np.ones(6, np.float32)[::2], 0, y), ValueError, "touches: x: expected a contiguous tensor"),
        ((x, 1.5, y), TypeError, "touches: at: expected an integer for i64, got float"),
        ((x, "1", y), TypeError, "touches: at: expected a number for i64, got str"),
        ((1, 0, y), TypeError, "touches: x: expected a tensor of f32, got int"),
    ):
        with pytest.raises(error, match=message):
            touches.python(*given)


def test_pdb_stops_in_the_authors_file(tmp_path: Path) -> None:
    (tmp_path / "author.py").write_text(
        textwrap.dedent("""\
            import numpy as np
            import kernpack_compiler as kc
            from kernpack_compiler.lang import f32

            @kc.kernel
            def double(x: f32["N"]) -> f32["N"]:
                for i in range(N):
                    out[i] = x[i] * 2

            double.python(np.ones(2, np.float32))
            """)
    )
    commands = "b author.py:8\nc\np i, x[i], N\nq\n"
    done = subprocess.run(
        [sys.executable, "-m", "pdb", "author.py"],
        cwd=tmp_path,
        input=commands,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "author.py(8)double()" in done.stdout
    assert "(0, 1.0, 2)" in done.stdout.replace("np.float32(1.0)", "1.0")


def test_values_of_closures_are_those_of_the_time_when_the_kernel_was_made() -> None:
    scale = 2.0

    @kc.kernel
    def scaled(x: f32["N"]) -> f32["N"]:
        for i in range(N):
            out[i] = x[i] * scale

    scale = 3.0  # python() runs the function itself, which sees this
    built = scaled.build(KIND).scaled
    np.testing.assert_array_equal(built(X), X * 2)
    np.testing.assert_array_equal(scaled.python(X), X * 3)


def test_threads_build_a_kernel_once(monkeypatch: pytest.MonkeyPatch) -> None:
    if KIND != "llvm":
        pytest.skip("this build has no generator of kind llvm")

    @kc.kernel
    def shared_kernel(x: f32["N"]) -> f32["N"]:
        for i in range(N):
            out[i] = x[i] + 1

    builds: list[str] = []
    build = kc.Kernel.build
    monkeypatch.setattr(
        kc.Kernel, "build", lambda self, *args, **options: builds.append("once") or build(self, *args, **options)
    )
    threads = [threading.Thread(target=shared_kernel, args=(X,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builds == ["once"]
    assert kernpack.from_dlpack(shared_kernel(X)).shape == X.shape
