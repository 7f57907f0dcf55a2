"""Contracts that kernpack.load gives the functions of a module built with apache-tvm-ffi's SDK."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import kernpack
import numpy as np
import pytest
import torch

CONTRACTS = """
scale = "(x: f32[...], *, k: float = 2.0) -> (y: f32[...])"
add_to = "(total!: f32[N], x: f32[N]) -> ()"
picky = "(x: f32[N]) -> (y: f32[N])"

[row_sums]
contract = "(x: f32[R, C], scale: f32[C]? = None, *, mean: bool = False) -> (sums: f32[R])"
calls = "row_sums_f32"
args = ["sums", "x", "scale", "R", "C", "mean"]
doc = "The sum of each row."

[sine]
contract = "(x: f32[N]) -> (y: f32[N])"
grad = "sine_backward"

[sine_backward]
contract = "(x: f32[N], d_y: f32[N]) -> (d_x: f32[N])"
calls = "times_cosine"
"""


@pytest.fixture(scope="module")
def path(peer_kernels_path: Path) -> str:
    return str(peer_kernels_path)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("contracts") / "ops.toml"
    file.write_text(CONTRACTS)
    return file


@pytest.fixture(scope="module")
def k(path: str, file: Path) -> kernpack.Module:
    return kernpack.load(path, contracts=file)


def test_numpy(k: kernpack.Module) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(k.scale(x), 2 * x)
    np.testing.assert_array_equal(k.scale(x, k=0.5), x / 2)
    total = np.ones(3, np.float32)
    assert k.add_to(total, x[1]) is None
    np.testing.assert_array_equal(total, [4, 5, 6])


def test_a_module_that_asks_for_its_code_by_name(peer_context_path: Path) -> None:
    """As TileLang's exports do for their kernels."""
    k = kernpack.load(peer_context_path, contracts={"half_by_name": "(x: f32[N]) -> (y: f32[N])"})
    np.testing.assert_array_equal(k.half_by_name(np.float32([1, 3])), [0.5, 1.5])
    with pytest.raises(TypeError, match="half_by_name: x: expected dtype f32, got f64"):
        k.half_by_name(np.ones(2))


def test_arguments_in_the_functions_own_order(k: kernpack.Module) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(k.row_sums(x), [3, 12])
    np.testing.assert_array_equal(k.row_sums(x, np.array([0, 1, 0], np.float32), mean=True), np.float32([1 / 3, 4 / 3]))
    assert k.functions["row_sums"].doc == "The sum of each row."
    assert "row_sums_f32" in k.functions  # as it was, too


def test_dims_constants_and_none(path: str) -> None:
    k = kernpack.load(
        path,
        contracts={
            "sums": {
                "contract": "(x: f32[..., R, 2]) -> (sums: f32[..., R])",
                "calls": "row_sums_f32",
                "args": ["sums", "x", None, "R", 2, True],
            }
        },
    )
    np.testing.assert_array_equal(k.sums(np.float32([[1, 2], [3, 4]])), [1.5, 3.5])


def test_checks_come_before_the_function(k: kernpack.Module) -> None:
    with pytest.raises(TypeError, match="scale: x: expected dtype f32, got f64"):
        k.scale(np.ones(3))
    with pytest.raises(ValueError, match=r"add_to: x: expected shape \[N\] with N = 2 \(bound by total\), got \[3\]"):
        k.add_to(np.ones(2, np.float32), np.ones(3, np.float32))
    with pytest.raises(ValueError, match="scale: x: expected a contiguous tensor"):
        k.scale(np.ones((4, 4), np.float32)[:, ::2])
    with pytest.raises(ValueError, match="writeable"):
        k.add_to(np.broadcast_to(np.float32(0), 1), np.ones(1, np.float32))
    with pytest.raises(ValueError, match="picky takes even sizes"):  # the function's own
        k.picky(np.ones(3, np.float32))


def test_torch(k: kernpack.Module) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert k.scale(x).equal(2 * x)
    assert torch.compile(lambda x: k.scale(x + 1) - 1, fullgraph=True)(x).equal(2 * x + 1)
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        assert k.row_sums(torch.empty(5, 7)).shape == (5,)


def test_gradients(k: kernpack.Module) -> None:
    x = torch.linspace(0, 3, 7, requires_grad=True)
    k.sine(x).sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())
    y = jnp.linspace(0, 3, 7)
    np.testing.assert_allclose(jax.jit(jax.grad(lambda x: k.sine(x).sum()))(y), jnp.cos(y), rtol=1e-6)


def test_tangents(path: str) -> None:
    k = kernpack.load(
        path,
        contracts={
            "sine": {"contract": "(x: f32[N]) -> (y: f32[N])", "jvp": ["sine_jvp"]},
            "sine_jvp": {"contract": "(x: f32[N], t_x: f32[N]) -> (t_y: f32[N])", "calls": "times_cosine"},
        },
    )
    x = jnp.linspace(0, 3, 7)
    _, tangent = jax.jvp(k.sine, (x,), (jnp.ones(7),))
    np.testing.assert_allclose(tangent, jnp.cos(x), rtol=1e-6)


def test_jax(k: kernpack.Module) -> None:
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(jax.jit(lambda x: k.scale(x) + 1)(x), 2 * x + 1)
    np.testing.assert_array_equal(jax.vmap(k.scale)(x), 2 * x)
    assert jax.eval_shape(k.row_sums, x).shape == (2,)


def test_the_module_without_contracts_is_another(k: kernpack.Module, path: str, file: Path) -> None:
    plain = kernpack.load(path)
    assert plain.digest != k.digest
    assert plain.functions["scale"].text is None
    assert kernpack.load(path, contracts=str(file)).digest == k.digest
    y = np.zeros(2, np.float32)
    plain.scale(np.ones(2, np.float32), 3.0, y)
    k.untouched(np.ones(2, np.float32), 3.0, y)
    np.testing.assert_array_equal(y, [3, 3])


def test_a_process_that_unpickles_it_has_the_contracts(k: kernpack.Module, tmp_path: Path) -> None:
    (tmp_path / "k").write_bytes(pickle.dumps(k.functions["scale"]))
    code = "import pickle, sys, numpy as np; print(pickle.load(open(sys.argv[1], 'rb'))(np.ones(2, np.float32), k=4.0))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "k")], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[4. 4.]\n", done.stderr


def test_a_function_that_returns_its_result(path: str) -> None:
    k = kernpack.load(path, contracts={"doubled": {"contract": "(x: f32[N]) -> ()"}})
    with pytest.raises(TypeError, match=r"doubled: expected doubled to write its results .* returned a value of type"):
        k.doubled(np.ones(3, np.float32))


def test_a_function_that_describes_nothing(path: str) -> None:
    k = kernpack.load(path, contracts={"counted": "(x: f32[N]) -> (y: f32[N])"})
    with pytest.raises(TypeError, match="counted takes 3 arguments, got 2"):
        k.counted(np.ones(3, np.float32))


def test_a_dim_of_an_absent_tensor(path: str) -> None:
    row = {"contract": "(x: f32[M]? = None) -> ()", "calls": "counted", "args": ["M", 0, 0]}
    k = kernpack.load(path, contracts={"maybe": row})
    k.maybe(np.ones(3, np.float32))
    with pytest.raises(ValueError, match="maybe: expected the tensor that has the dim M, which is passed to counted"):
        k.maybe()


X = "(x: f32[N]) -> (y: f32[N])"
SCALE = "(x: f32[N], k: float) -> (y: f32[N])"


@pytest.mark.parametrize(
    ("contracts", "message"),
    [
        ({"scal": X}, "contracts: scal: '.*' has no function 'scal'; it has .*scale"),
        ({"s": {"contract": X, "calls": "scal"}}, "s: '.*' has no function 'scal'"),
        ({"scale": "(x: f33[N]) -> ()"}, "contracts: scale: signature, position 4: no such dtype"),
        ({"scale": SCALE + " with workspace = N"}, "scale: 'workspace' is memory that Kernpack passes"),
        ({"scale": SCALE.replace("[N],", "[N] compact,")}, "scale: signature: x is marked 'compact'"),
        (
            {"scale": X},
            r"scale: expected 3 arguments, as 'scale\(.*\) -> None' takes, got 2, the parameters and results",
        ),
        ({"scale": {"contract": X, "args": ["x", 1.0]}}, "scale: args: expected the result y among them"),
        ({"scale": {"contract": X, "args": ["x", "z", "y"]}}, "scale: args: expected parameters, .* got 'z'"),
        ({"scale": {"contract": X, "args": ["x", "y"]}}, "scale: expected 3 arguments, .* got 2 in args"),
        ({"scale": {"contract": X, "args": ["x"] * 200 + ["y"]}}, "scale: expected at most 128 args, got 201"),
        (
            {"sine": {"contract": X, "calls": "scale", "args": ["x", 1.0, "y"]}},
            "sine: '.*' has a function of this name",
        ),
        ({"sine": {"contract": X, "grad": "backward"}}, r"KP_GRAD\(sine, backward\): .* exports no function backward"),
        ({"sine": {"contract": X, "gradient": "b"}}, "contracts: sine: no key 'gradient'"),
        ({"sine": {"calls": "sine"}}, "sine: expected contract = "),
        ({"Sine": X}, "expected function names of lower-case letters, digits and '_', got 'Sine'"),
        ({}, "expected at least one contract, got none"),
    ],
)
def test_bad_contracts(path: str, contracts: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^kernpack.load: .*{message}"):
        kernpack.load(path, contracts=contracts)


@pytest.mark.parametrize(
    ("contracts", "message"),
    [
        (3, "contracts: expected the path of a TOML file or a dict of names and contracts, got int"),
        ({"sine": 3}, "contracts: sine: expected a contract or a table with one, got int"),
        ({"sine": {"contract": X, "args": "x"}}, "sine: args: expected a list of what the function takes, got str"),
        ({"sine": {"contract": X, "args": [["x"]]}}, "sine: args: expected names and numbers, got list"),
    ],
)
def test_wrong_types(path: str, contracts: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        kernpack.load(path, contracts=contracts)


def test_bad_files(path: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    with pytest.raises(FileNotFoundError, match="cannot read the file"):
        kernpack.load(path, contracts=file)
    file.write_text("a = [\n= 3")
    with pytest.raises(ValueError, match=r"kernpack.load: bad.toml: expected TOML: .*line 2"):
        kernpack.load(path, contracts=file)
    file.write_text(f'scale = "{SCALE}"\n\n[sine]\ncontract = "(x: f33[N]) -> ()"\n')
    with pytest.raises(
        ValueError, match=r"kernpack.load: bad.toml, line 3: sine: signature, position 4: no such dtype"
    ):
        kernpack.load(path, contracts=file)
    file.write_bytes(b"\xff")
    with pytest.raises(ValueError, match="expected a TOML file"):
        kernpack.load(path, contracts=file)


def test_what_takes_no_contracts(our_path: Path, path: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a Kernpack module: its functions have contracts already"):
        kernpack.load(our_path, contracts={"scale": X})
    with pytest.raises(TypeError, match="verbose: an option for compiling"):
        kernpack.load(path, contracts={"scale": X}, verbose=True)
    with pytest.raises(FileNotFoundError, match="no kernel module"):
        kernpack.load(tmp_path, contracts={"scale": X})


def test_a_function_with_a_contract_runs_on_its_device_only(k: kernpack.Module) -> None:
    assert [variant["reason"] for variant in k.functions["scale"].variants] == ["baseline for cpu"]
