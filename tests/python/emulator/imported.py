"""Run by test_imported.py in a process of its own: KERNPACK_EMULATOR counts when the CUDA backend is opened.

`imported.py WHAT [...]`: what main() has under that name.
"""

import ctypes
import sys
from pathlib import Path

import kernpack
import numpy as np
from emulated import Behind

PTX = Path(__file__).parents[1] / "compiler" / "rows.ptx"
NORMALISE = "(x: f32[R, N], k: float = 1.0) -> (y: f32[R, N])"


def expected(x: np.ndarray, k: float = 1.0) -> np.ndarray:
    return x / x.sum(-1, keepdims=True) * k


def rows(r: int, n: int) -> np.ndarray:
    return np.random.default_rng(0).random((r, n), np.float32) + 0.5


def on_device(x: object) -> kernpack.Tensor:
    return kernpack.from_dlpack(x).to("cuda")


def back(x: kernpack.Tensor) -> np.ndarray:
    return np.from_dlpack(x.to("cpu"))


def functions() -> list:
    """With machine code for another device among them, which isn't taken."""
    import kernpack_compiler as kc

    sys.path.insert(0, str(PTX.parent))
    from cubins import make_cubin

    code = [make_cubin([8, 8, 4, 4], kernel="normalise"), PTX]
    normalise = kc.import_kernel(
        code, NORMALISE, entry="normalise", args=["x", "y", "N", "k"], grid="R", block=32, shared="4 * 32"
    )
    add = kc.import_kernel(
        PTX,
        "(x: f64[...], y!: f64[...], *, k: float = 1.0, shift: int = 0) -> ()",
        entry="add",
        args=["x", "y", "Batch - shift", "k"],
        grid="ceildiv(Batch, 64)",
        block=64,
    )
    return [normalise, add]


def module():
    import kernpack_compiler as kc

    return kc.build_imported(functions(), "rows")


def call() -> None:
    k = module()
    for r, n in ((1, 1), (3, 100), (70, 33)):
        x = rows(r, n)
        np.testing.assert_allclose(back(k.normalise(on_device(x))), expected(x), rtol=1e-5)
        np.testing.assert_allclose(back(k.normalise(on_device(x), k=3.0)), expected(x, 3.0), rtol=1e-5)
    y = on_device(np.ones((3, 50)))
    k.add(on_device(np.arange(150.0).reshape(3, 50)), y, k=2.0)
    np.testing.assert_array_equal(back(y), 1 + 2 * np.arange(150.0).reshape(3, 50))


def refuse() -> None:
    k = module()
    x = on_device(rows(2, 3))
    for given in ((np.ones((2, 3), np.float32),), (on_device(np.ones((2, 3))),), (x, "1"), (x, 1.0, x)):
        try:
            k.normalise(*given)
        except (TypeError, ValueError, RuntimeError) as error:
            print(type(error).__name__, error)


def extents() -> None:
    import kernpack_compiler as kc

    k = module()
    assert k.normalise(on_device(np.empty((0, 5), np.float32))).shape == (0, 5)  # nothing to write: nothing is launched
    given = {"code": PTX, "contract": NORMALISE, "entry": "normalise", "args": ["x", "y", "N", "k"]}
    for grid, block, shared in (
        ("R - 2", 32, 128), (["1", "R * 40000"], 32, 128), ("R", "32 * R", 128), ("R", 32, "128 - 100 * R"),
    ):  # fmt: skip
        k = kc.build_imported(kc.import_kernel(grid=grid, block=block, shared=shared, **given))
        try:
            r = 40 if block == "32 * R" else 2
            k.normalise(on_device(rows(r, 3)))
            raise AssertionError((grid, block, shared))
        except (ValueError, RuntimeError) as error:
            print(type(error).__name__, error)
    add = kc.build_imported(
        kc.import_kernel(
            code=PTX, contract="(x: f64[N], y!: f64[N], m: int) -> ()", entry="add", args=["x", "y", "m", "1.0"], grid=1,
            block=64,
        ),
    ).add  # fmt: skip
    y = on_device(np.ones(3))
    add(on_device(np.ones(3)), y, 2)  # as many elements as the argument says
    np.testing.assert_array_equal(back(y), [2, 2, 1])
    narrow = kc.build_imported(kc.import_kernel(grid="R", block=32, shared=128, name="narrow",
                                                **{**given, "args": ["x", "y", "N << 33", "k"]}))  # fmt: skip
    try:
        narrow.narrow(on_device(rows(2, 3)))
    except ValueError as error:
        print(error)


def choose() -> None:
    """Of several kernels behind one function, as import_triton() makes them, the right one runs."""
    import kernpack_compiler as kc
    from kernpack_compiler._imports import _code
    from kernpack_compiler._imports._function import Binary, Launch, write

    text = PTX.read_text()
    adds = "fma.rn.f64 	%fd4, %fd2, %fd1, %fd3;"  # x * k + y
    assert adds in text
    other = text.replace(adds, "fma.rn.f64 	%fd4, %fd2, %fd1, %fd2;")  # x * k + x
    plain, marked = (_code.read(code, "test") for code in (text, other))
    given = {"args": ["x", "y", "n", "2.0"], "grid": ["ceildiv(N, B)"], "block": [64], "names": {"B": 64}}
    number, pointer = (
        [Binary(marked[0], marked[0].entries["add"], mask), Binary(plain[0], plain[0].entries["add"])]
        for mask in (1 << 2, 1 << 0 | 1 << 1)
    )
    launches = [
        Launch(number, when="n < 40", **given),
        Launch(pointer, when="n < 50", **given),
        Launch(number[1:], when="50 <= n <= 60 or n == 64", **given),
    ]
    add = kc.build_imported(write("add", "(x: f64[N], y!: f64[N], n: int) -> ()", launches)).add
    for n, by_marked in ((16, True), (17, False), (32, True), (40, True), (41, True), (50, False), (64, False)):
        x, y = np.full(n, 10.0), np.ones(n)
        there = on_device(y)
        add(on_device(x), there, n)
        np.testing.assert_array_equal(back(there), x * 2 + (x if by_marked else y), err_msg=str(n))
    odd = kernpack.from_dlpack(Behind(on_device(np.full(43, 10.0))))  # begins 8 bytes behind a multiple of 16
    there = on_device(np.ones(42))
    add(odd, there, 42)
    np.testing.assert_array_equal(back(there), 21)
    try:
        add(on_device(np.ones(63)), on_device(np.ones(63)), 63)
    except ValueError as error:
        print(error)


def other_device() -> None:
    """Code for another architecture than the device's: machine code, and PTX for a newer one."""
    import kernpack_compiler as kc

    sys.path.insert(0, str(PTX.parent))
    from cubins import make_cubin

    newer = PTX.read_text().replace(".target sm_80", ".target sm_90")
    for code in (make_cubin([8, 8, 4, 4], kernel="normalise"), newer):
        alone = kc.import_kernel(
            code, NORMALISE, entry="normalise", args=["x", "y", "N", "k"], grid="R", block=32, shared=128
        )
        try:
            kc.build_imported(alone).normalise(on_device(rows(2, 3)))
        except RuntimeError as error:
            print(error)


def waits() -> None:
    """`kernpack bench` times kernels, not how long it takes to queue them."""
    import kernpack_cuda_emulator
    from kernpack_sdk import measure

    k = module()
    x, y, z = on_device(rows(3, 5)), on_device(np.ones(50)), on_device(np.ones(50))
    count = ctypes.CDLL(str(kernpack_cuda_emulator.LIBRARY)).kernpack_emulator_thread_instructions
    count.restype = ctypes.c_long
    kept = []  # a result that is dropped is freed, which waits for the device

    def kept_normalise(t: object) -> object:
        kept.append(k.normalise(t))
        return kept[-1]

    for function, arguments in ((kept_normalise, (x,)), (k.add, (y, z)), (lambda t: (kept_normalise(t), 3), (x,))):
        before = count()
        measure.sample(function, arguments, 2)
        ran = count()
        kernpack.current_stream(x.device).sync()
        assert count() == ran > before


def workspace() -> None:
    """Memory for the call is as large as it was asked for: the device finds what lies outside."""
    import kernpack_compiler as kc

    for size in ("4 * R * N", "4 * R * N - 4"):
        scratch = kc.import_kernel(
            PTX,
            "(x: f32[R, N], y!: f32[R]) -> ()",
            entry="normalise",
            args=["x", f"workspace({size})", "N", "1.0"],
            grid="R",
            block=32,
            shared=128,
        )
        k = kc.build_imported(scratch)
        x, y = on_device(rows(300, 1024)), on_device(np.ones(300, np.float32))
        try:
            k.normalise(x, y)
            np.testing.assert_array_equal(back(y), 1)
            print("inside")
        except RuntimeError as error:
            print(error)


def frameworks() -> None:
    """Arrays of every framework on the processor, and what came from them on the device: one module of two kinds."""
    import jax
    import jax.numpy as jnp
    import torch

    k = kernpack.load(sys.argv[2])
    targets = k.functions["normalise"].targets
    assert "cuda -arch=compute_80" in targets
    assert len(targets) > 1
    x = rows(4, 37)
    want = expected(x)
    np.testing.assert_allclose(k.normalise(x), want, rtol=1e-5)
    np.testing.assert_allclose(k.normalise(torch.from_numpy(x)).numpy(), want, rtol=1e-5)
    np.testing.assert_allclose(torch.compile(k.normalise, backend="eager")(torch.from_numpy(x)), want, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(lambda a: k.normalise(a) + 1)(jnp.asarray(x)), want + 1, rtol=1e-5)
    for given in (x, torch.from_numpy(x), jnp.asarray(x)):
        np.testing.assert_allclose(back(k.normalise(on_device(given))), want, rtol=1e-5)
    assert "kernpack_compiler" not in sys.modules


{name: value for name, value in globals().items() if callable(value)}[sys.argv[1]]()
