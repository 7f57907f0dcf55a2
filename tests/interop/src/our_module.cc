// A module built with Kernpack's SDK: what the peer's host must be able to run.
#include <kernpack/kernel.h>

namespace kp = kernpack;

namespace {

int64_t Add(int64_t a, int64_t b) { return a + b; }

void AddOne(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = x.data_ptr<float>()[i] + 1;
}

void Fail(int64_t number) { KP_THROW(ValueError) << "ours says " << number; }

void ThrowNumber() { throw 42; }

}  // namespace

KP_MODULE("interop_ours", "1.0.0");
KP_EXPORT(add, Add);
KP_EXPORT(add_one, AddOne, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(fail, Fail);
KP_EXPORT(throw_number, ThrowNumber);
