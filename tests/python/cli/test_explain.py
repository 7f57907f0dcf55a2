"""`kernpack explain`: nothing runs, and what it says of a call is what the call does."""

from __future__ import annotations

import json

import kernpack
import numpy as np
import pytest

EMULATED = {"KERNPACK_EMULATOR": "sm_90", "KERNPACK_CUDA_DRIVER": ""}  # cuda:0 is there, on any machine
NO_DRIVER = {"KERNPACK_EMULATOR": "", "KERNPACK_CUDA_DRIVER": "/nowhere/libcuda.so.1"}
SOURCE = """
void norm(kp::TensorView x, kp::TensorView w, double eps, kp::MutTensorView out) { KP_THROW(RuntimeError) << "was run"; }
void glue(kp::ListView<kp::TensorView> xs, kp::TensorView y, kp::MutTensorView out) {}
void grow(kp::MutTensorView x, int64_t n, kp::MutTensorView out, kp::MutTensorView work) {}
"""


@pytest.fixture(scope="module")
def path() -> str:
    exports = {
        "norm": "(x: T[..., D], w: T[D], *, eps: float = 1e-5) -> (out: T[...]) where T in {f32, bf16}",
        "glue": "(xs: list[f32[_] compact], y: f32[N, N] compact) -> (out: f32[N])",
        "grow": "(x!: f32[N], n: int) -> (out: f32[N + n]) with workspace = N * 8",
    }
    return kernpack.load_inline(SOURCE, exports, name="explained").path


def test_a_call_that_fits(command, path: str) -> None:
    done = command("explain", f"{path}.norm", "bf16[2,3,8]", "bf16[8]", "eps=1", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["variants"][0]["chosen"]
    assert facts["call"]["converted"] == ["eps: int -> float"]
    assert facts["call"]["results"] == [
        {"name": "out", "dtype": "bf16", "shape": [2, 3], "bytes": 12, "saved_for_backward": False}
    ]


def test_as_text(command, path: str) -> None:
    said = command("explain", f"{path}.grow", "f32[4]@cuda:0", "n=3", env=EMULATED).stdout
    for line in (
        "the call runs on cuda:0; arguments are passed without a copy",
        "  written in place: x",
        "  allocates out: f32[7], 28 bytes",
        "  workspace: 32 bytes, given back when the call returns",
        "backward: none: its author can add KP_GRAD",
    ):
        assert line in said.splitlines()


def test_copies_of_strided_arguments_that_the_contract_wants_compact(command, path: str) -> None:
    call = ("explain", f"{path}.glue", "[f32[2],f32[3]{2}]", "f32[4,4]{1,4}")
    assert json.loads(command(*call, "--json").stdout)["call"]["copied"] == [
        {"name": "xs[1]", "bytes": 12},
        {"name": "y", "bytes": 64},
    ]
    lines = command(*call).stdout.splitlines()
    assert "the call runs on cpu; some arguments are copied first:" in lines
    assert "  copies y into row-major memory: 64 bytes" in lines


def test_the_device_of_tensors_that_name_none(command, path: str) -> None:
    on_device = ("explain", f"{path}.glue", "[f32[2],f32[3]]", "--device", "cuda")
    facts = json.loads(command(*on_device, "f32[4,4]", "--json", env=EMULATED).stdout)
    assert facts["call"]["device"] == "cuda:0"
    named = command(*on_device, "f32[4,4]@cpu", env=EMULATED)
    assert named.returncode == 1
    assert "cuda:0" in named.stdout.partition("the call would be refused:")[2]
    said = command("explain", f"{path}.norm", "f32[2,8]", "f32[8]", "--device", "cuda:0", env=EMULATED).stdout
    assert "the call runs on cuda:0; " in said
    assert "variants, as chosen for the CPU:" in said.splitlines()
    assert "variants:" in command("explain", f"{path}.norm", "f32[2,8]", "f32[8]").stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "env", "said"),
    [
        (
            ["f32[2,8]", "f32[8]", "--device", "cuda:0"],
            NO_DRIVER,
            "no device cuda:0: /nowhere/libcuda.so.1 could not be",
        ),
        (["f32[2,8]@cuda:0", "f32[8]"], NO_DRIVER, "no device cuda:0: /nowhere/libcuda.so.1 could not be opened"),
        (
            ["f32[2,8]", "f32[8]", "--device", "cuda:1"],
            EMULATED,
            "no device cuda:1; expected one that this machine has: ",
        ),
        (["f32[2,8]", "f32[8]", "--device", "cpu:1"], {}, "no device cpu:1; expected one that this machine has: cpu:0"),
    ],
)
def test_a_device_that_this_machine_lacks(command, path: str, words: list[str], env: dict[str, str], said: str) -> None:
    done = command("explain", f"{path}.norm", *words, env=env)
    assert done.returncode == 1
    assert done.stderr.startswith(f"kernpack explain: {said}")
    assert not done.stdout


def test_reasons_differ_for_the_variant_that_runs_and_those_that_do_not(command) -> None:
    facts = json.loads(command("explain", "kernpack_kernels.softmax", "f32[4,8]", "--json").stdout)
    run = [variant for variant in facts["variants"] if variant["chosen"]]
    assert len(run) == 1
    runs = run[0]["target"] or "the baseline"
    for variant in facts["variants"]:
        if not variant["chosen"]:
            assert variant["reason"] != run[0]["reason"]
            assert "lacks" in variant["reason"] or variant["reason"] == f"also runs here, but {runs} is more specific"
    baseline = next(variant for variant in facts["variants"] if variant["target"] is None)
    assert baseline["chosen"] or "also runs here, but" in baseline["reason"]


def test_options_stand_anywhere(command, path: str) -> None:
    words = ["--device", "cuda:0", f"{path}.norm", "f32[2,8]", "--json", "f32[8]", "eps=1"]
    assert json.loads(command("explain", *words, env=EMULATED).stdout)["call"]["device"] == "cuda:0"
    wrong = command("explain", f"{path}.norm", "f32[2,8]", "f32[8]", "--devise", "cuda:0")
    assert wrong.returncode == 2
    assert "no option '--devise'; did you mean '--device'?" in wrong.stderr


def test_a_device_that_is_none(command, path: str) -> None:
    done = command("explain", f"{path}.norm", "f32[2,8]", "f32[8]", "--device", "gpu0")
    assert done.returncode == 2
    assert done.stderr.startswith("kernpack explain: --device: ")
    assert "'gpu0'" in done.stderr


def test_a_refused_call_says_what_the_call_says(command, path: str) -> None:
    done = command("explain", f"{path}.norm", "f32[2,8]", "f32[7]")
    assert done.returncode == 1
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        kernpack.load(path).norm(np.ones((2, 8), np.float32), np.ones(7, np.float32))
    lines = [f"  {line}" for line in str(caught.value).splitlines()]
    assert len(lines) == 4  # the sentence, and a drawing of both tensors
    assert done.stdout.splitlines()[-4:] == lines
    strided = command("explain", f"{path}.norm", "f32[2,8]{1,2}", "f32[8]")
    assert "x: expected a contiguous tensor, got shape [2, 8] with strides [1, 2]" in strided.stdout


def test_strides_of_sizes_of_1_and_of_empty_tensors_are_contiguous(command, path: str) -> None:
    """As the call itself has it."""
    for x in ("f32[1,8]{3,1}", "f32[0,8]{5,7}"):
        done = command("explain", f"{path}.norm", x, "f32[8]")
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["norm"], "expected NAME.op, as in kernpack_kernels.softmax or ./my.so.op, got 'norm'"),
        (["no_such_package.op"], "no package 'no_such_package' is installed"),
        (["{}.nrom"], "has no function 'nrom'; did you mean 'norm'?"),
        (["{}.zzz"], "has no function 'zzz'; it has glue, grow, norm\n"),
        (["{}.norm", "f32[2,8]"], "norm: missing argument 'w'; write it as in the contract: f32[4,8], 3, ..."),
        (["{}.norm", "f33[2]"], "no dtype 'f33'; expected f32, f64, f16, bf16, i32, i64, u8, bool, ..."),
        (["{}.norm", "f32[2]", "f32[2]", "f32[2]"], "norm: takes 2 positional arguments, got one more: f32[2]"),
        (["{}.norm", "f32[2]", "x=f32[2]"], "norm: x is given twice"),
        (["{}.norm", "f32[2]", "f32[2]", "epz=1"], "norm: no parameter 'epz'; did you mean 'eps'?"),
        (["{}.norm", "f32[2]{1,1}", "f32[2]"], "'f32[2]{1,1}': expected 1 strides, got 2"),
        (["{}.norm", "wat?"], "'wat?': expected a tensor (f32[4,8]), a list of them, a number"),
    ],
)
def test_a_mistaken_command_line_says_what_was_expected(command, path: str, words: list[str], said: str) -> None:
    done = command("explain", *(word.replace("{}", path) for word in words))
    assert done.returncode == (2 if said.startswith(("expected NAME.op", "no dtype", "'")) else 1)
    assert said in done.stderr
    assert done.stderr.startswith("kernpack explain: ")


def test_thousands_of_functions_are_not_listed() -> None:
    from kernpack._cli.explain import _listed

    said = _listed([f"f{i}" for i in range(10_000)])
    assert said.startswith("f0, f1, f10, f100,")
    assert said.endswith(", f1023 and 9,970 more")
