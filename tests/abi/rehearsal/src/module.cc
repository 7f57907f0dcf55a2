// A module in C++17, as KP_MODULE and KP_EXPORT write it; the macros REHEARSAL_... are those of module.c.
#ifdef REHEARSAL_CLAIM
#define KP_REHEARSAL_CLAIM "once a spare field"
#endif
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

namespace kp = kernpack;

namespace {

using Out = kp::MutTensorView;  // what a result is written through

int64_t Add(int64_t a, int64_t b) { return a + b; }

void Twice(kp::TensorView x, Out y) {
  for (int64_t i = 0; i < x.size(0); ++i) y.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
}

void Refuse() { KP_THROW(ValueError) << "the module says no"; }

// Through Kernpack's tables of devices, wherever they come from: an alias finds them in the process.
int64_t CountDevices() {
  const KpDeviceApi& api = kp::device_api(kp::Device(KP_DEVICE_CPU, 0));
  int32_t count = 0;
  KpAny reason = kp_none();
  kp::detail::check_host(api.count(&api, &count, &reason));
  return count;
}

void Chosen(Out y) { y.data_ptr<float>()[0] = 7; }

#ifdef REHEARSAL_NEWS
int64_t News(int64_t value) {
  int64_t out = 0;
  const KpHost* host = kp::detail::host();
  kp::detail::check_host(kp_host_rehearse(host)(host, value, &out));
  return out;
}
#endif

}  // namespace

#ifdef REHEARSAL_NEEDS
KP_MODULE("rehearsal_cxx", "1.0", KP_NEEDS_HOST(1, 1));
#else
KP_MODULE("rehearsal_cxx", "1.0");
#endif
KP_EXPORT(add, Add);
KP_EXPORT(twice, Twice, "(x: f32[N]) -> (y: f32[N])");
KP_EXPORT(refuse, Refuse);
KP_EXPORT(count_devices, CountDevices);
KP_EXPORT(chosen, Chosen, "() -> (y: f32[1])");
KP_EXPORT_FOR("llvm -mcpu=x86-64-v2", chosen, Chosen, "() -> (y: f32[1])");
#ifdef REHEARSAL_NEWS
KP_EXPORT(news, News);
KP_EXPORT(word, Twice, "(x: f32[N]) -> (y: f32[N]) with rehearsed");
#endif
