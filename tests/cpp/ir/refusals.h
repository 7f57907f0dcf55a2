// Errors of generated code about wrong arguments that weren't checked before: its functions are called without a host's
// check of the signature. One list for every generator.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "ir/compiled.h"

namespace ir_test {

// The functions of a built module as a host calls them once it has checked.
class Unguarded {
 public:
  Unguarded(const IRModule& module, const char* target)
      : table_(kernpack::sdk::Build(module, kernpack::sdk::Target(target)).table) {
    if (table_->create(kp_host(), &instance_)) throw std::runtime_error(TakeError());
  }
  Unguarded(const Unguarded&) = delete;
  Unguarded& operator=(const Unguarded&) = delete;
  ~Unguarded() { table_->destroy(instance_); }

  // Calls function 0; what it raises, or "".
  std::string Call(const std::vector<KpAny>& args) const {
    KpAny result = kp_none();
    return table_->functions->call(instance_, args.data(), static_cast<int32_t>(args.size()), &result) ? TakeError()
                                                                                                       : "";
  }

 private:
  const KpModule* table_;
  KpInstance* instance_ = nullptr;
};

// Arguments of the function below, each of which a case may change.
struct Given {
  int64_t x_shape[2] = {2, 4}, rows_shape[3] = {3, 2, 2}, o_shape[1] = {2};
  int64_t x_strides[2] = {4, 1};
  float memory[16] = {};
  KpDLTensor x, rows, o;
  std::vector<KpAny> args;

  static constexpr char kFunction[] =
      R"ir(func f(x: f32[N, 4], rows: f32[M..., 2], k: i8, b: bool, u: u64, s: f32) -> (o: f32[N]) {
        for i in 0..N {
          o[i] = x[i, 0] * s
        }
      })ir";

  explicit Given(KpDLDevice device)
      : x{memory, device, 2, kF32, x_shape, x_strides, 0},
        rows{memory, device, 3, kF32, rows_shape, nullptr, 0},
        o{memory + 8, device, 1, kF32, o_shape, nullptr, 0} {
    args = {Value(&x), Value(&rows), Int(-128), Bool(1), Int(INT64_MAX), Float(2), Value(&o)};
  }
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;

  static KpAny Bool(int64_t truth) {
    KpAny a = Int(truth);
    a.type_index = KP_TYPE_BOOL;
    return a;
  }
};

struct WrongCall {
  std::function<void(Given&)> change;
  const char* want;
};

inline const std::vector<WrongCall>& WrongCalls() {
  constexpr int64_t kMost = int64_t{1} << 48;
  static const std::vector<WrongCall> list = {
      {[](Given& g) { g.args.pop_back(); }, "TypeError: f: expected 7 arguments, got 6"},
      {[](Given& g) { g.args[0] = Int(1); }, "TypeError: f: x: expected a tensor, got int"},
      {[](Given& g) { g.args[0] = kp_none(); }, "TypeError: f: x: expected a tensor, got None"},
      {[](Given& g) { g.args[0].type_index = 3000; }, "TypeError: f: x: expected a tensor, got an object"},
      {[](Given& g) { g.x.dtype = kI64; }, "TypeError: f: x: expected dtype f32, got i64"},
      {[](Given& g) { g.x.dtype.lanes = 4; }, "TypeError: f: x: expected dtype f32, got f32x4"},
      {[](Given& g) { g.o.dtype = {200, 3, 1}; },
       "TypeError: f: o: expected dtype f32, got dtype(code=200, bits=3, lanes=1)"},
      {[](Given& g) { g.x.ndim = 1; }, "ValueError: f: x: expected 2 dims, got 1"},
      {[](Given& g) { g.rows.ndim = 0; }, "ValueError: f: rows: expected at least 1 dims, got 0"},
      {[](Given& g) { g.x_shape[0] = -1; },
       "ValueError: f: x: expected sizes of at least 0 whose product fits 64 bits, got [-1, 4]"},
      {[](Given& g) { g.rows_shape[0] = g.rows_shape[1] = int64_t{1} << 30; },
       "ValueError: f: rows: expected sizes of at least 0 whose product fits 64 bits, got [1073741824, 1073741824, 2]"},
      {[](Given& g) { g.rows_shape[0] = g.rows_shape[1] = int64_t{1} << 25; },
       "ValueError: f: rows: expected sizes up to 2^48, got [33554432, 33554432, 2]"},
      {[](Given& g) { g.o_shape[0] = kMost + 1; },
       "ValueError: f: o: expected sizes up to 2^48, got [281474976710657]"},
      {[](Given& g) { g.x_strides[0] = 5; },
       "ValueError: f: x: expected a contiguous tensor, got shape [2, 4] with strides [5, 1]: pass a contiguous one "
       "(torch: x.contiguous(), NumPy: np.ascontiguousarray(x))"},
      {[](Given& g) { g.x_shape[1] = 3, g.x_strides[0] = 3; }, "ValueError: f: x: dimension 1: expected 4, got 3"},
      {[](Given& g) { g.rows_shape[2] = 3; }, "ValueError: f: rows: dimension 1: expected 2, got 3"},
      {[](Given& g) { g.o_shape[0] = 1; }, "ValueError: f: o: dimension 0: expected 2, got 1"},
      {[](Given& g) { g.args[2] = Int(128); }, "ValueError: f: k: expected int from -128 to 127, got 128"},
      {[](Given& g) { g.args[2] = Int(INT64_MIN); },
       "ValueError: f: k: expected int from -128 to 127, got -9223372036854775808"},
      {[](Given& g) { g.args[2] = Float(1); }, "TypeError: f: k: expected int, got float"},
      {[](Given& g) { g.args[3] = Int(2); }, "ValueError: f: b: expected int from 0 to 1, got 2"},
      {[](Given& g) { g.args[3] = kp_none(); }, "TypeError: f: b: expected bool, got None"},
      {[](Given& g) { g.args[4] = Int(-1); }, "ValueError: f: u: expected int from 0 to 9223372036854775807, got -1"},
      {[](Given& g) { g.args[5] = Value(&g.x); }, "TypeError: f: s: expected float, got Tensor"},
  };
  return list;
}

// `device`: where the function runs. Nothing there is touched.
inline void ExpectRefusals(const Unguarded& f, KpDLDevice device) {
  for (const WrongCall& wrong : WrongCalls()) {
    Given given(device);
    wrong.change(given);
    EXPECT_EQ(f.Call(given.args), wrong.want);
  }
}

// On the CPU, where it also runs what it takes.
inline void ExpectRefusalsAndCalls(const Unguarded& f) {
  constexpr KpDLDevice kCpu = {KP_DEVICE_CPU, 0};
  ExpectRefusals(f, kCpu);
  Given elsewhere(kCpu), numbered(kCpu), other_words(kCpu), empty(kCpu);
  elsewhere.rows.device = {KP_DEVICE_OPENCL, 1};
  EXPECT_EQ(f.Call(elsewhere.args), "ValueError: f: rows: expected device cpu, got opencl:1: call .cpu() first");
  elsewhere.rows.device = {77, 0};
  EXPECT_EQ(f.Call(elsewhere.args),
            "ValueError: f: rows: expected device cpu, got device_type(77):0: call .cpu() first");
  numbered.rows.device.device_id = 3;  // of the CPU it means nothing
  EXPECT_EQ(f.Call(numbered.args), "");
  other_words.args[2] = Given::Bool(1);
  other_words.args[3] = Int(0);
  other_words.args[5] = Given::Bool(1);
  other_words.memory[0] = 7;
  EXPECT_EQ(f.Call(other_words.args), "");
  EXPECT_EQ(other_words.memory[8], 7) << "a bool is a number where the signature lets one pass";
  empty.x_shape[0] = empty.o_shape[0] = 0;
  empty.x_strides[0] = 99;
  empty.rows_shape[0] = 0;
  empty.rows_shape[1] = int64_t{1} << 48;
  EXPECT_EQ(f.Call(empty.args), "") << "no element is reached by its strides";
}

}  // namespace ir_test
