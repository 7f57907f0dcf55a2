"""PTX from Triton's compiler on the emulated device: results near NumPy's, and no alarm, whatever the order of warps and of sums.

`run.py FOLDER SHARED`: of softmax.ptx and matmul.ptx, and the bytes of shared memory of each as kernels.py prints them. Needs
KERNPACK_EMULATOR.
"""

import json
import sys
from pathlib import Path

import kernpack
import numpy as np

folder, shared = Path(sys.argv[1]), json.loads(sys.argv[2])
SOURCE = """
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>
namespace kp = kernpack;
"""
for name in shared:
    SOURCE += f'constexpr char k_{name}[] = R"PTX(' + (folder / f"{name}.ptx").read_text() + ')PTX";\n'
    SOURCE += f'constexpr kp::DeviceCode kp_{name}{{"{name}", "ptx", {{k_{name}, sizeof k_{name} - 1}}}};\n'
# Triton's last two parameters are memory that these kernels don't use.
SOURCE += f"""
static void softmax(kp::TensorView x, kp::MutTensorView o) {{
  const uint64_t none = 0;
  kp::launch(x.device(), kp_softmax, "softmax", {{static_cast<uint32_t>(x.size(0))}}, {{128}}, x, o,
             static_cast<int32_t>(x.size(1)), none, none, kp::LocalMemory{{{shared["softmax"]}}});
}}
static void matmul(kp::TensorView a, kp::TensorView b, kp::MutTensorView c) {{
  const uint64_t none = 0;
  const auto m = static_cast<int32_t>(a.size(0)), k = static_cast<int32_t>(a.size(1)), n = static_cast<int32_t>(b.size(1));
  kp::launch(a.device(), kp_matmul, "matmul", {{static_cast<uint32_t>((m + 63) / 64), static_cast<uint32_t>((n + 63) / 64)}},
             {{128}}, a, b, c, m, n, k, none, none, kp::LocalMemory{{{shared["matmul"]}}});
}}
"""
module = kernpack.load_inline(
    SOURCE,
    {
        "softmax": '(x: f32[N, D]) -> (o: f32[N, D]) with on "cuda"',
        "matmul": '(a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N]) with on "cuda"',
    },
    name="triton_kernels",
)
device = kernpack.device("cuda", 0)
random = np.random.default_rng(5)


def there(array):
    return kernpack.from_dlpack(array).to(device)


for d in (256, 100):
    x = random.standard_normal((37, d)).astype(np.float32)
    want = np.exp(x - x.max(-1, keepdims=True))
    got = np.from_dlpack(module.softmax(there(x)).to("cpu"))
    np.testing.assert_allclose(got, want / want.sum(-1, keepdims=True), rtol=1e-5, atol=1e-7)
for m, n, k in ((64, 64, 32), (128, 64, 192), (65, 80, 112)):
    a, b = (random.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
    got = np.from_dlpack(module.matmul(there(a), there(b)).to("cpu"))
    np.testing.assert_allclose(got, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-4, atol=1e-4)
print("equal, and no alarm")
