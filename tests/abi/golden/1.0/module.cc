// What a module in C++17 can have: the functions of module.c, and those of the C++ authors' library.
#include <kernpack/kernel.h>

namespace kp = kernpack;

namespace {

using Out = kp::MutTensorView;  // what a result is written through

int64_t Add(int64_t a, int64_t b) { return a + b; }

void Scale(kp::TensorView x, double a, Out out) {
  const float* const from = x.data_ptr<float>();
  float* const to = out.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = static_cast<float>(a) * from[i];
}

void Fail() { KP_THROW(ValueError) << "golden says no"; }

int64_t Keep(int64_t value) {
  const auto before = kp::storage_get("kept");
  const int64_t kept = before ? before->cast<int64_t>() : -1;
  kp::storage_set("kept", value);
  return kept;
}

int64_t SumTo(int64_t n) {
  const kp::Workspace scratch(kp::Device(KP_DEVICE_CPU, 0), "scratch", static_cast<uint64_t>(n) * sizeof(int64_t));
  int64_t* const memory = scratch.data_as<int64_t>();
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) memory[i] = i + 1;
  for (int64_t i = 0; i < n; ++i) sum += memory[i];
  return sum;
}

int64_t CallBack(kp::Function f, int64_t x) { return f(x).cast<int64_t>() + 1; }

void PickBaseline(Out y) { y.data_ptr<float>()[0] = 1; }
void PickV2(Out y) { y.data_ptr<float>()[0] = 2; }

void Square(kp::TensorView x, Out y) {
  const float* const from = x.data_ptr<float>();
  float* const to = y.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] * from[i];
}

void SquareBackward(kp::TensorView d_y, kp::TensorView x, Out d_x) {
  const float* const grad = d_y.data_ptr<float>();
  const float* const at = x.data_ptr<float>();
  float* const to = d_x.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = 2 * at[i] * grad[i];
}

// Through scratch memory that the signature asks for.
void Reversed(kp::TensorView x, Out y, Out workspace) {
  const float* const from = x.data_ptr<float>();
  float* const memory = static_cast<float*>(workspace.data_ptr());
  const int64_t n = x.numel();
  for (int64_t i = 0; i < n; ++i) memory[i] = from[n - 1 - i];
  for (int64_t i = 0; i < n; ++i) y.data_ptr<float>()[i] = memory[i];
}

kp::String Greet(kp::StringView name) {
  kp::Text text;
  text << "hello " << name;
  return kp::String(kp::StringView(text.c_str(), text.size()));
}

}  // namespace

KP_MODULE("golden_cxx", "1.0.0");
KP_EXPORT(add, Add);
KP_EXPORT(scale, Scale, "(x: f32[N], *, a: float = 2.0) -> (out: f32[N])");
KP_DOC(scale, "a * x");
KP_EXPORT(fail, Fail);
KP_EXPORT(keep, Keep);
KP_EXPORT(sum_to, SumTo);
KP_EXPORT(call_back, CallBack);
KP_EXPORT(pick, PickBaseline, "() -> (y: f32[1])");
KP_EXPORT_FOR("llvm -mcpu=x86-64-v2", pick, PickV2, "() -> (y: f32[1])");
KP_EXPORT(square, Square, "(x: f32[N]) -> (y: f32[N])");
KP_EXPORT(square_backward, SquareBackward, "(d_y: f32[N], x: f32[N]) -> (d_x: f32[N])");
KP_GRAD(square, square_backward);
KP_EXPORT(reversed, Reversed, "(x: f32[N]) -> (y: f32[N]) with workspace = N * 4");
KP_EXPORT(greet, Greet);
