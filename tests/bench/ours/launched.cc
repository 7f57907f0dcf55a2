// The kernel of imported_kernels.py, launched in C++. PTX: its code, as a string.
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

namespace kp = kernpack;
namespace {

constexpr char kPtx[] = PTX;
constexpr kp::DeviceCode kCode{"launched", "ptx", {kPtx, sizeof kPtx - 1}};

void Add(kp::TensorView x, kp::MutTensorView y, double k) {
  const int64_t n = x.size(0);
  kp::launch(x.device(), kCode, "add", {static_cast<uint32_t>((n + 63) / 64)}, {64}, x, y, n, k);
}

}  // namespace

KP_MODULE("launched", "1.0.0");
KP_EXPORT(add, Add, "(x: f64[N], y!: f64[N], k: float) -> () with on \"cuda\"");
