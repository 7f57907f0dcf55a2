// The second source of the module that host.cc loads; the first is tests/cpp/author/module/services.cc, whose KP_MODULE serves both.
#include <kernpack/kernel.h>

#include <stdexcept>
#include <string>

namespace kp = kernpack;

// The host's tests build the module a second time with another factor: a file that was replaced.
#ifndef SCALE_BY
#define SCALE_BY 2
#endif

static void Scale(kp::TensorView x, kp::MutTensorView out) {
  const kp::Span<const float> from(x);
  const kp::Span<float> to(out);
  kp::parallel_for(to.size(), 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(SCALE_BY) * from[i];
  });
}

// Four kinds of exceptions leave a kernel.
static int64_t Fail(int64_t kind) {
  if (kind == 0) KP_THROW(ValueError) << "fail: expected a kind above 0, got " << kind;
  if (kind == 1) throw std::invalid_argument("an argument of std");
  if (kind == 2) throw std::bad_alloc();
  if (kind == 3) throw 3;
  return kind;
}

KP_EXPORT(scale, Scale, "(x: f32[...]) -> (out: f32[...])");
KP_DOC(scale, "Multiplies by a number that was chosen when the module was built.");
KP_EXPORT(fail, Fail);
