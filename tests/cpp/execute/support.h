// Code that the executable's tests share: functions in plain C++ for any device whose memory is the host's, tensors, and a fixture that
// finds leaks.
#pragma once

#include <kernpack/guard.h>
#include <kernpack/host/device.h>
#include <kernpack/sdk/program/execute.h>
#include <kernpack/sdk/program/text.h>

#include <functional>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include "execute/fake_device.h"
#include "execute/naive_plan.h"
#include "host/support.h"
#include "sdk/support.h"

namespace execute_test {

using kernpack::Any;
using kernpack::AnyView;
using kernpack::Device;
using kernpack_test::TakeError;

// An f32 tensor on any device, with the values of a vector.
class Floats {
 public:
  explicit Floats(std::vector<float> values, Device device = Device::cpu())
      : size_(static_cast<int64_t>(values.size())) {
    KpDLTensor prototype{nullptr, device, 1, kernpack::f32, &size_, nullptr, 0};
    EXPECT_EQ(kp_tensor_alloc(&prototype, KpBytes{}, tensor_.out()), 0) << TakeError();
    const KpDLTensor from{values.data(), Device::cpu(), 1, kernpack::f32, &size_, nullptr, 0};
    EXPECT_EQ(kp_copy(&from, tensor()), 0) << TakeError();
  }
  const KpDLTensor* tensor() const { return kp_any_tensor(&tensor_.raw()); }
  operator AnyView() const { return tensor_; }

 private:
  int64_t size_;
  Any tensor_;
};

inline std::vector<float> GetValues(const AnyView& value) {
  const KpDLTensor* tensor = kp_any_tensor(&value.raw());
  if (!tensor) return {};
  int64_t size = 1;
  for (int32_t i = 0; i < tensor->ndim; ++i) size *= tensor->shape[i];
  std::vector<float> values(static_cast<size_t>(size));
  const KpDLTensor to{values.data(), Device::cpu(), 1, kernpack::f32, &size, nullptr, 0};
  EXPECT_EQ(kp_copy(tensor, &to), 0) << TakeError();
  return values;
}

inline std::vector<float> Counting(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

// A function of the table that runs `body` on each call; what it throws becomes the error.
using Body = std::function<void(const KpAny* args, int32_t n, KpAny* result)>;
inline sp::Function Made(std::string name, std::string signature, Body body) {
  const auto shared = std::make_shared<Body>(std::move(body));
  sp::Function function;
  function.name = std::move(name);
  function.signature = std::move(signature);
  function.resolve = [shared](KpDLDevice) {
    const KpSafeCall call = [](void* self, const KpAny* args, int32_t n, KpAny* result) {
      return kernpack::detail::guarded<kernpack::detail::Naming::kForeign>(
          kp_host(), "made", [&] { (*static_cast<Body*>(self))(args, n, result); });
    };
    return sp::Callable{call, shared.get()};
  };
  return function;
}

inline float* GetData(const KpAny& value) { return static_cast<float*>(kp_any_tensor(&value)->data); }
inline int64_t GetSize(const KpAny& value) { return kp_any_tensor(&value)->shape[0]; }

// t.add, t.scale, t.append (mutates), t.pair (two results), t.sum_all (a list), t.fail, t.raise_nothing, t.twice (untyped).
inline sp::FunctionTable Functions() {
  sp::FunctionTable table;
  table.Add(Made("t.add", "(x: f32[N], y: f32[N]) -> (z: f32[N])", [](const KpAny* a, int32_t, KpAny*) {
    for (int64_t i = 0; i < GetSize(a[0]); ++i) GetData(a[2])[i] = GetData(a[0])[i] + GetData(a[1])[i];
  }));
  table.Add(Made("t.scale", "(x: f32[N], a: float = 2.0) -> (z: f32[N])", [](const KpAny* a, int32_t, KpAny*) {
    for (int64_t i = 0; i < GetSize(a[0]); ++i)
      GetData(a[2])[i] = GetData(a[0])[i] * static_cast<float>(a[1].v.v_float);
  }));
  table.Add(Made("t.pair", "(x: f32[N]) -> (a: f32[N], b: f32[N])", [](const KpAny* a, int32_t, KpAny*) {
    for (int64_t i = 0; i < GetSize(a[0]); ++i)
      GetData(a[1])[i] = GetData(a[0])[i] + 1, GetData(a[2])[i] = GetData(a[0])[i] - 1;
  }));
  table.Add(Made("t.sum_all", "(xs: list[f32[N]]) -> (z: f32[N])", [](const KpAny* a, int32_t, KpAny*) {
    const auto* list = reinterpret_cast<const KpSequenceObject*>(a[0].v.v_obj);
    for (int64_t i = 0; i < GetSize(a[1]); ++i) {
      GetData(a[1])[i] = 0;
      for (int64_t j = 0; j < list->size; ++j) GetData(a[1])[i] += GetData(list->data[j])[i];
    }
  }));
  table.Add(Made("t.bump", "(x!: f32[N]) -> ()", [](const KpAny* a, int32_t, KpAny*) {
    for (int64_t i = 0; i < GetSize(a[0]); ++i) GetData(a[0])[i] += 1;
  }));
  table.Add(Made("t.offset", "(x: f32[N], by: f32[]) -> (z: f32[N])", [](const KpAny* a, int32_t, KpAny*) {
    for (int64_t i = 0; i < GetSize(a[0]); ++i) GetData(a[2])[i] = GetData(a[0])[i] + *GetData(a[1]);
  }));
  table.Add(Made("t.spread", "(x: f32[N]) -> (z: f32[N]) with workspace = N * 4", [](const KpAny* a, int32_t, KpAny*) {
    for (int64_t i = 0; i < GetSize(a[0]); ++i) GetData(a[2])[i] = GetData(a[0])[i] * 3;
    for (int64_t i = 0; i < GetSize(a[0]); ++i) GetData(a[1])[i] = GetData(a[2])[i];
  }));
  table.Add(Made("t.fail", "(x: f32[N]) -> (z: f32[N])",
                 [](const KpAny*, int32_t, KpAny*) { KP_THROW(ArithmeticError) << "fail: it always does"; }));
  sp::Function silent = Made("t.silent", "(x: f32[N]) -> (z: f32[N])", {});
  silent.resolve = [](KpDLDevice) {
    return sp::Callable{[](void*, const KpAny*, int32_t, KpAny*) { return -1; }, nullptr};
  };
  table.Add(silent);
  table.Add(Made("t.untyped_twice", "", [](const KpAny* a, int32_t, KpAny* result) {
    std::vector<float> values = GetValues(a[0]);
    for (float& value : values) value *= 2;
    const Floats made(values);
    *result = AnyView(made).raw();
    kp_any_retain(result);
  }));
  return table;
}

inline sp::Plan NaivePlan(const char* text) { return NaivePlan(sp::Parse(text)); }

// The plan of a program, for the host and fake devices.
inline sp::Plan BuildPlan(const char* text, const sp::FunctionTable& functions, sp::PlanOptions options = {}) {
  kernpack::sdk::CompilationConfig config({kernpack::sdk::Target("llvm"), kernpack::sdk::Target("fake_code")},
                                          KP_DEVICE_CPU);
  return sp::MakePlan(sp::Parse(text), {&config, &functions, options});
}

class ExecuteTest : public kernpack_test::HostTest {
 protected:
  void SetUp() override {
    FakeDevice::Type();  // registering allocates
    HostTest::SetUp();
  }
  void TearDown() override {
    EXPECT_EQ(FakeDevice::The().allocations, 0) << "memory of the device is held";
    EXPECT_EQ(FakeDevice::The().streams, 0) << "streams of the device are held";
    EXPECT_EQ(FakeDevice::The().events, 0) << "events of the device are held";
    HostTest::TearDown();
  }

  sp::FunctionTable functions = Functions();
};

}  // namespace execute_test
