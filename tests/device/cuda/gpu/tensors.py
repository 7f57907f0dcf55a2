"""Tensors and kernels on a GPU, with torch, CuPy and JAX beside: what tests/device/run.sh runs where there is one.

Each check prints a line; what cannot run is skipped with its reason, anything else is a failure.
"""

import sys
from typing import Any

import kernpack
from checks import Skip, check, framework, main, torch_with_cuda

SOURCE = r"""
namespace {

__global__ void ScaleKernel(const float* x, float* out, float factor, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * x[i];
}

void ScaleCuda(kp::TensorView x, double factor, kp::MutTensorView out) {
  const int64_t n = x.numel();
  if (n == 0) return;
  const auto stream = static_cast<cudaStream_t>(kp::stream(x.device()));
  ScaleKernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
      x.data_ptr<float>(), out.data_ptr<float>(), static_cast<float>(factor), n);
  KP_CHECK(cudaGetLastError() == cudaSuccess, RuntimeError) << "scale: the launch failed";
}

void ScaleCpu(kp::TensorView x, double factor, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = static_cast<float>(factor) * x.data_ptr<float>()[i];
}

}  // namespace

#define SIGNATURE "(x: f32[*S], *, factor: float) -> (out: f32[*S]) with graph_safe"
KP_MODULE("gpu_tensors", "1.0");
KP_EXPORT(scale, ScaleCpu, SIGNATURE);
KP_EXPORT_FOR("cuda", scale, ScaleCuda, SIGNATURE);
"""


def kernels() -> Any:
    try:
        return kernpack.load_inline(SOURCE, language="cuda", extra_flags=["-arch=native"])
    except ImportError as error:
        raise Skip(f"load_inline: {error}") from None


@check
def tensors_move() -> None:
    np = framework("numpy")
    values = np.arange(1000, dtype=np.float32)
    there = kernpack.from_dlpack(values, device="cuda")
    assert str(there.device) == "cuda:0", there.device
    twice = kernpack.empty(there.shape, "f32", "cuda")
    twice.copy_(there)
    assert (np.from_dlpack(twice.to("cpu")) == values).all()
    assert (np.from_dlpack(kernpack.zeros((3, 4), "f32", "cuda").to("cpu")) == 0).all()
    for scope in ("managed", "host"):
        assert (np.from_dlpack(there.to("cuda", scope=scope).to("cpu")) == values).all(), scope
    pinned = there.to("cuda_host")
    assert (np.from_dlpack(pinned.to("cuda").to("cpu")) == values).all()


@check
def tensors_of_nothing() -> None:
    assert kernpack.empty((0, 3), "f32", "cuda").to("cpu").shape == (0, 3)


@check
def torch_shares_memory() -> None:
    torch = torch_with_cuda()
    ours = kernpack.zeros((4,), "f32", "cuda")
    theirs = torch.from_dlpack(ours)
    theirs += 3
    torch.cuda.synchronize()
    assert torch.from_dlpack(ours.to("cpu")).tolist() == [3.0] * 4


@check
def torch_eager() -> None:
    torch = torch_with_cuda()
    k = kernels()
    x = torch.arange(100003, dtype=torch.float32, device="cuda")
    assert torch.equal(k.scale(x, factor=2.0), 2 * x)
    assert k.scale(x[:0], factor=2.0).numel() == 0
    assert torch.equal(k.scale(x.cpu(), factor=2.0), 2 * x.cpu())


@check
def torch_streams() -> None:
    torch = torch_with_cuda()
    k = kernels()
    x = torch.ones(1 << 22, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = x
        for _ in range(20):
            y = k.scale(y, factor=1.5)
        wanted = x * 1.5**20
    stream.synchronize()
    assert torch.allclose(y, wanted)


@check
def torch_graph() -> None:
    torch = torch_with_cuda()
    k = kernels()
    x = torch.ones(1000, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        k.scale(x, factor=3.0)
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = k.scale(x, factor=3.0)
    for value in (1.0, 5.0):
        x.fill_(value)
        graph.replay()
        torch.cuda.synchronize()
        assert (y == 3 * value).all()


@check
def captures_survive_our_allocations() -> None:
    torch = torch_with_cuda()
    x = torch.ones(1000, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = kernpack.empty((1000,), "f32", "cuda")  # not on the captured stream, so it goes on
        y = x + 1
    graph.replay()
    torch.cuda.synchronize()
    assert (y == 2).all()
    assert kept.shape == (1000,)


@check
def the_callers_device_stays() -> None:
    torch = torch_with_cuda()
    last = torch.cuda.device_count() - 1
    with torch.cuda.device(last):
        kernpack.zeros((4,), "f32", "cuda:0")
        assert torch.cuda.current_device() == last


@check
def torch_compile() -> None:
    torch = torch_with_cuda()
    k = kernels()
    x = torch.arange(1000, dtype=torch.float32, device="cuda")
    compiled = torch.compile(lambda t: k.scale(t, factor=2.0) + 1, fullgraph=True)
    assert torch.equal(compiled(x), 2 * x + 1)


@check
def cupy_arrays() -> None:
    cupy = framework("cupy")
    if cupy.cuda.runtime.getDeviceCount() == 0:
        raise Skip("CuPy sees no CUDA device")
    k = kernels()
    x = cupy.arange(1000, dtype=cupy.float32)
    assert bool((cupy.asarray(k.scale(x, factor=2.0)) == 2 * x).all())
    with cupy.cuda.Stream(non_blocking=True) as stream:
        y = cupy.asarray(k.scale(cupy.ones(1 << 20, dtype=cupy.float32), factor=4.0))
        stream.synchronize()
        assert bool((y == 4).all())


@check
def jax_arrays() -> None:
    jax = framework("jax")
    if jax.default_backend() != "gpu":
        raise Skip("jax.default_backend() is " + jax.default_backend())
    k = kernels()
    x = jax.numpy.arange(1000, dtype=jax.numpy.float32)
    assert bool((k.scale(x, factor=2.0) == 2 * x).all())
    assert bool((jax.jit(lambda t: k.scale(t, factor=2.0))(x) == 2 * x).all())


if __name__ == "__main__":
    sys.exit(main())
