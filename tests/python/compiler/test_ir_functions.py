"""Functions written in Python: what they say in text, and what the interpreter computes of them."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler import ir


@ir.func("(x: f32[N, D]) -> (out: f32[N, D])")
def softmax(x, out, N, D):
    with ir.parallel(N) as i:
        m = ir.let(ir.reduce("max", D, lambda j: x[i, j]), "m")
        e = ir.alloc("f32", [D], "workspace", "e")
        with ir.vectorized(D, lanes=8) as j:
            e[j] = ir.exp(x[i, j] - m)
        s = ir.let(ir.sum(D, lambda j: e[j]), "s")
        with ir.vectorized(D, lanes=8, tail="masked") as j:
            out[i, j] = e[j] / s


SOFTMAX = """func softmax(x: f32[N, D]) -> (out: f32[N, D]) {
  parallel i in 0..N {
    let m: f32 = reduce(max, k in 0..D, any 16, x[i, k])
    alloc e: f32[D] workspace
    vectorized(8) j in 0..D {
      e[j] = exp(x[i, j] - m)
    }
    let s: f32 = reduce(+, k_1 in 0..D, any 16, e[k_1])
    vectorized(8, masked) j_1 in 0..D {
      out[i, j_1] = e[j_1] / s
    }
  }
}
"""


def run(function: ir.PrimFunc, *arguments, **options):
    module = ir.IRModule([function])
    module.verify()
    return ir.interpret(module, function, *arguments, **options)


def test_python_writes_the_text_form() -> None:
    assert str(softmax) == SOFTMAX
    assert softmax.params == [
        ("x", "input", ir.f32, ("N", "D")),
        ("out", "result", ir.f32, ("N", "D")),
    ]


def test_text_reads_back_equal() -> None:
    module = ir.IRModule([softmax], "mine", "llvm -mcpu=x86-64-v3")
    again = ir.IRModule.parse(str(module))
    assert again == module
    assert hash(again) == hash(module)
    assert pickle.loads(pickle.dumps(module)) == module
    assert pickle.loads(pickle.dumps(softmax)) == softmax == ir.PrimFunc.parse(SOFTMAX)
    assert (module.name, module.target, len(module)) == ("mine", "llvm -mcpu=x86-64-v3", 1)
    assert module != ir.IRModule([softmax], "other")
    assert "softmax" in module
    assert [f.name for f in module] == ["softmax"]


def test_bound_names_do_not_count() -> None:
    def copy(counter: str) -> ir.PrimFunc:
        @ir.func("(x: f32[N]) -> (out: f32[N])")
        def copy(x, out, N):
            with ir.serial(N, name=counter) as i:
                out[i] = x[i]

        return copy

    assert copy("i") == copy("q")
    assert str(copy("i")) != str(copy("q"))


def test_softmax_is_interpreted() -> None:
    x = np.random.default_rng(0).standard_normal((3, 21)).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(run(softmax, x), e / e.sum(1, keepdims=True), rtol=1e-6)


def test_results_may_be_given() -> None:
    x = np.ones((2, 4), np.float32)
    out = np.zeros_like(x)
    assert run(softmax, x, out) is None
    np.testing.assert_array_equal(out, np.full_like(x, 0.25))


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


@ir.func("(x!: f32[N]) -> (out: f32[N])")
def count_up(x, out, N):
    with ir.serial(N) as i:
        x[i] = x[i] + 1
        out[i] = x[i]


@pytest.mark.parametrize("immutable", ["numpy", "buffer", "jax"])
def test_what_is_written_to_must_be_writeable(immutable: str) -> None:
    if immutable == "jax":
        value = pytest.importorskip("jax.numpy", reason="jax is not installed").ones(2, np.float32)
    else:
        value = memoryview(bytes(8)).cast("f") if immutable == "buffer" else read_only(np.ones(2, np.float32))
    before = np.array(value)
    other = np.zeros(2, np.float32)
    with pytest.raises(ValueError, match=r"count_up: x: expected a writeable .*pass a copy.*got "):
        run(count_up, value)
    with pytest.raises(ValueError, match=r"count_up: out: expected a writeable .*pass a copy.*got "):
        run(count_up, other, value)
    np.testing.assert_array_equal(np.array(value), before)
    np.testing.assert_array_equal(run(softmax, np.array(value).reshape(1, 2)), [[0.5, 0.5]])


def test_operators_mean_what_they_do_in_python() -> None:
    @ir.func("(a: i64[N], b: i64[N]) -> (out: i64[12, N])")
    def arithmetic(a, b, out, N):
        with ir.serial(N) as i:
            x, y = a[i], b[i]
            values = [x + y, 3 - x, x * 2, x // y, x % y, 7 // y, 7 % y, x & y, x | 1, x ^ y, -x, ~x]
            for row, value in enumerate(values):
                out[row, i] = value

    a = np.array([7, -7, 7, -7], np.int64)
    b = np.array([2, 2, -2, -2], np.int64)
    expected = [a + b, 3 - a, a * 2, a // b, a % b, 7 // b, 7 % b, a & b, a | 1, a ^ b, -a, ~a]
    np.testing.assert_array_equal(run(arithmetic, a, b), np.array(expected))


def test_comparisons_and_select() -> None:
    @ir.func("(x: f32[N]) -> (out: f32[N])")
    def clip(x, out, N):
        with ir.serial(N) as i:
            out[i] = ir.select((x[i] > 1.0) | (x[i] < -1.0), 0, x[i] ** 2)

    np.testing.assert_array_equal(run(clip, np.array([2.0, 0.5, -3.0], np.float32)), [0, 0.25, 0])


def test_math_by_name() -> None:
    @ir.func("(x: f64[]) -> (out: f64[6])")
    def functions(x, out):
        for row, f in enumerate((ir.exp, ir.log, ir.tanh, ir.erf, ir.sin, ir.sqrt)):
            out[row] = f(x[()])

    x = 0.75
    expected = [math.exp(x), math.log(x), math.tanh(x), math.erf(x), math.sin(x), math.sqrt(x)]
    np.testing.assert_allclose(run(functions, np.array(x)), expected, rtol=1e-14)


def test_when_and_otherwise_choose_a_branch() -> None:
    @ir.func("(x: i32[N]) -> (out: i32[N])")
    def sign(x, out, N):
        with ir.serial(N) as i:
            with ir.when(x[i] > 0):
                out[i] = 1
            with ir.otherwise():
                out[i] = 0
                with ir.when(x[i] < 0):
                    out[i] = -1

    np.testing.assert_array_equal(run(sign, np.array([3, -3, 0], np.int32)), [1, -1, 0])


def test_order_of_a_reduction() -> None:
    def total(order) -> ir.PrimFunc:
        @ir.func("(x: f32[N]) -> (out: f32[])")
        def total(x, out, N):
            out[()] = ir.sum(N, lambda k: x[k], order=order)

        return total

    x = np.array([1e8, 1.0, -1e8, 1.0], np.float32)
    assert run(total("sequential"), x) == np.float32(1.0)
    assert run(total(2), x) == np.float32(2.0), "partial results of even and odd elements"


def test_lanes_masks_and_shuffles() -> None:
    @ir.func("(x: f32[N]) -> (out: f32[4], total: f32[])")
    def reverse(x, out, total, N):
        v = ir.let(x.load(ir.ramp(0, 1, 4), ir.ramp(0, 1, 4) < ir.broadcast(N, 4), 9.0), "v")
        out[ir.ramp(0, 1, 4)] = ir.shuffle(v, v, [3, 2, 1, 0])
        out.store(ir.ramp(0, 1, 4), -1.0 * v, ir.ramp(0, 1, 4) == ir.broadcast(ir.i64(0), 4))
        total[()] = ir.lanes("+", v)

    out, total = run(reverse, np.array([1, 2, 3], np.float32))
    np.testing.assert_array_equal(out, [-1, 3, 2, 1])
    assert total == 15


def test_storage_types_are_cast() -> None:
    @ir.func("(x: bf16[N]) -> (out: f16[N])")
    def widen(x, out, N):
        with ir.serial(N) as i:
            out[i] = ir.f16(ir.f32(x[i]) * 2.0)

    ml_dtypes = pytest.importorskip("ml_dtypes", reason="NumPy has no bfloat16 without it")
    out = run(widen, np.array([1.5, -2.0], ml_dtypes.bfloat16))
    assert out.dtype == np.float16
    np.testing.assert_array_equal(out, [3.0, -4.0])


def test_functions_call_each_other() -> None:
    @ir.func("(x: f32[N], k: f32) -> (out: f32[N])", private=True)
    def scaled(x, k, out, N):
        with ir.serial(N) as i:
            out[i] = x[i] * k

    @ir.func("(x: f32[N]) -> (out: f32[N])")
    def quadrupled(x, out, N):
        twice = ir.alloc("f32", [N], "workspace", "twice")
        ir.call(scaled, x, 2.0, twice)
        ir.call("scaled", twice, 2.0, out)

    module = ir.IRModule([scaled, quadrupled])
    module.verify()
    np.testing.assert_array_equal(ir.interpret(module, "quadrupled", np.ones(3, np.float32)), [4, 4, 4])


def test_persistent_memory_is_kept() -> None:
    @ir.func("() -> (count: i64[])")
    def count(count):
        kept = ir.persistent("calls", "i64", [1], zeroed=True)
        kept[0] = kept[0] + 1
        count[()] = kept[0]

    memory = ir.PersistentMemory()
    assert [int(run(count, memory=memory)) for _ in range(3)] == [1, 2, 3]
    assert int(run(count)) == 1


def test_a_launch_runs_every_thread() -> None:
    @ir.func("(x: f32[N]) -> (out: f32[N])", target="cuda")
    def doubled(x, out, N):
        with ir.launch(grid=(N + 31) // 32, block=32) as (block, thread):
            i = ir.let(ir.i64(block.x * 32 + thread.x), "i")
            with ir.when(i < N):
                out[i] = x[i] * 2.0

    x = np.arange(40, dtype=np.float32)
    np.testing.assert_array_equal(run(doubled, x), x * 2)


def test_externs_and_checks() -> None:
    @ir.func("(x: f64) -> (out: f64[])")
    def half(x, out):
        ir.check(x >= 0.0, "x must not be negative")
        out[()] = ir.extern("halved", "f64", x)

    assert run(half, 3.0, externs={"halved": lambda x: x / 2}) == 1.5
    with pytest.raises(ValueError, match="x must not be negative"):
        run(half, -1.0)


def test_attributes_are_kept_and_printed() -> None:
    @ir.func("(x: f32[N]) -> (out: f32[N])", signature="(x: f32[N]) -> (out: f32[N])", grad="f_backward", target="llvm")
    def f(x, out):
        ir.return_()

    assert (f.gradient, f.target, f.signature) == ("f_backward", "llvm", "(x: f32[N]) -> (out: f32[N])")
    assert 'grad "f_backward"' in str(f)
    assert not f.is_private


def test_passes_are_seen_one_by_one() -> None:
    module = ir.IRModule([softmax])
    seen: list[tuple[str, ir.IRModule]] = []
    lowered = ir.lower(module, lambda name, after: seen.append((name, after)))
    assert [name for name, _ in seen] == ir.pass_names()
    assert seen[-1][1] == lowered
    for name, after in seen:
        assert ir.IRModule.parse(str(after)) == after, name
    assert "reduce(" not in str(lowered)
    first = ir.pass_names()[0]
    assert ir.run_pass(module, first) == seen[0][1]
    x = np.random.default_rng(1).standard_normal((2, 19)).astype(np.float32)
    np.testing.assert_allclose(ir.interpret(lowered, "softmax", x), ir.interpret(module, "softmax", x), rtol=1e-6)
