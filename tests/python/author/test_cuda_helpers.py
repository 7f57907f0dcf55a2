"""kernpack/cuda.h: compiled by nvcc without a warning, what it does without a GPU, and on one where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import kernpack
import numpy as np
import pytest
import torch
from support.host import INCLUDE, ROOT

NVCC = shutil.which("nvcc")
pytestmark = pytest.mark.skipif(NVCC is None, reason="there is no nvcc: the CUDA toolkit is not installed")
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU")

ON_THE_HOST = """
static int64_t BestFor(int64_t arch) {
  int64_t chosen = 0;
  kp::cuda::dispatch_arch<750, 900>(static_cast<int>(arch), [&](auto best) { chosen = best.value; });
  return chosen;
}
static void Enter(kp::Device device) { const kp::cuda::DeviceGuard guard(device); }
static int64_t BlocksFor(int64_t n) { return kp::cuda::blocks(n, 256); }
static void Fail() { KP_CUDA_CHECK(cudaErrorInvalidValue); }
static void TooManyThreads(kp::TensorView x) {
  kp::cuda::launch(x, ScaleKernel<float>, 1, 4096, 0, x.data_ptr<float>(), 1.0f, nullptr, int64_t{0});
}
KP_EXPORT(best_for, BestFor);
KP_EXPORT(enter, Enter);
KP_EXPORT(blocks_for, BlocksFor);
KP_EXPORT(fail, Fail);
KP_EXPORT(too_many_threads, TooManyThreads, "(x: f32[...]) -> () with on \\"cuda\\"");
"""


def documented() -> str:
    found = re.findall(r"```cuda\n(.*?)```", (ROOT / "docs" / "kernel.md").read_text(), re.S)
    assert len(found) == 1
    return str(found[0])


@pytest.fixture(scope="module")
def k(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("cuda")
    source, library = folder / "page.cu", folder / "cuda_page.so"
    source.write_text(documented() + ON_THE_HOST)
    architectures = [f"-gencode=arch=compute_{each},code=sm_{each}" for each in (75, 90)]
    strict = ["-Werror=all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror,-fPIC,-fvisibility=hidden"]
    options = ["-std=c++17", "-O1", "-shared", "-cudart=static", f"-I{INCLUDE}"]
    done = subprocess.run(
        [str(NVCC), *options, *architectures, *strict, source, "-o", library],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return kernpack.load(str(library))


def test_the_best_architecture_is_chosen(k: Any) -> None:
    assert [k.best_for(arch) for arch in (750, 890, 900, 1200)] == [750, 750, 900, 900]
    with pytest.raises(
        RuntimeError, match=r"best_for: the kernel has no code for compute capability 7\.0; .* is for 7\.5"
    ):
        k.best_for(700)


def test_blocks_cover_all_items(k: Any) -> None:
    assert [k.blocks_for(n) for n in (0, 1, 256, 257, 2**60)] == [0, 1, 1, 2, 2**31 - 1]


def test_a_failed_call_names_itself(k: Any) -> None:
    with pytest.raises(RuntimeError, match=r"fail: cudaErrorInvalidValue: cudaErrorInvalidValue: invalid argument"):
        k.fail()


def test_other_devices_are_refused(k: Any) -> None:
    with pytest.raises(ValueError, match=r"scale: expected tensors on cuda, got cpu"):
        k.scale(np.ones(3, np.float32))
    with pytest.raises(
        ValueError, match=r'enter: kp::cuda: expected a device of type cuda, got cpu: say `with on "cuda"`'
    ):
        k.enter(kernpack.Device("cpu"))


@needs_gpu
def test_on_a_gpu(k: Any) -> None:
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        x = torch.randn(5, 1001, device="cuda", dtype=dtype)
        torch.testing.assert_close(k.scale(x, by=0.5), x * 0.5)
    x = torch.randn(300, 7, device="cuda").T
    torch.testing.assert_close(k.row_sums(x), x.sum(1))
    assert k.scale(torch.empty(0, device="cuda")).numel() == 0
    with pytest.raises(
        RuntimeError, match=r"launch of 1x1x1 blocks of 4096x1x1 threads .* cudaErrorInvalidConfiguration"
    ):
        k.too_many_threads(torch.ones(1, device="cuda"))
