// The positional call of aliases and kp_call: defaults, results, destinations, workspace, numbers for tensors.
#include <kernpack/signature/invoke.h>

#include "fixture.h"

namespace {

using kernpack::signature::Invoke;
using kernpack::signature::InvokePolicy;

// The arguments of the kernel.
struct Seen {
  std::vector<KpAny> args;
  std::vector<int64_t> list;
  std::vector<double> floats;  // of lists
  std::vector<KpDLTensor> tensors;
  std::vector<float> numbers;  // first elements of rank-0 tensors
  uint64_t workspace = 0;
  int rc = 0;
};

int Kernel(void* self, const KpAny* args, int32_t n, KpAny*) {
  auto* seen = static_cast<Seen*>(self);
  seen->args.assign(args, args + n);
  for (int32_t i = 0; i < n; ++i) {
    const KpDLTensor* t = kp_any_tensor(&args[i]);
    seen->tensors.push_back(t ? *t : KpDLTensor{});
    if (t && t->ndim == 0) seen->numbers.push_back(*static_cast<const float*>(t->data));
    if (t && t->ndim == 1) seen->workspace = static_cast<uint64_t>(t->shape[0]);
    if (args[i].type_index == KP_TYPE_ARRAY) {
      const auto* list = reinterpret_cast<const KpSequenceObject*>(args[i].v.v_obj);
      for (int64_t j = 0; j < list->size; ++j) {
        if (list->data[j].type_index == KP_TYPE_FLOAT) seen->floats.push_back(list->data[j].v.v_float);
        seen->list.push_back(list->data[j].v.v_int);
      }
    }
  }
  if (seen->rc) return kp_raise("RuntimeError", "kernel failed");
  return 0;
}

class InvokeTest : public ::testing::Test {
 protected:
  std::string Run(const Call& call, KpAny* result) {
    const InvokePolicy policy = {
        &seen,
        [](void*, const char* kind, KpBytes text) {
          return kp_raise(kind, "%.*s", static_cast<int>(text.size), text.data);
        },
        [](void* self, KpDLDevice, KpSafeCall* out_call, void** out_self) {
          *out_call = &Kernel;
          *out_self = self;
          return 0;
        },
        [](void*, const KpDLTensor* prototype, KpAny* out) { return kp_tensor_new(prototype, out); },
        [](void*, KpDLDevice, uint64_t, void** out_data) {
          static char memory[4096];
          *out_data = memory;
          return 0;
        },
    };
    std::vector<KpAny> all = call.args;
    all.insert(all.end(), call.results.begin(), call.results.end());
    return Invoke(call.program, "f", all.data(), static_cast<int32_t>(all.size()), result, policy) ? TakeError() : "";
  }
  std::string Run(const Call& call) {
    KpAny result = kp_none();
    std::string error = Run(call, &result);
    kp_any_release(&result);
    return error;
  }

  Seen seen;
  int64_t live = kp_live_objects();
};

TEST_F(InvokeTest, AllocatesOneResult) {
  Call call("(x: f32[N]) -> (y: f64[N, 2])");
  call.Tensor({3});
  KpAny result = kp_none();
  ASSERT_EQ(Run(call, &result), "");
  ASSERT_EQ(result.type_index, KP_TYPE_TENSOR);
  EXPECT_EQ(kp_any_tensor(&result)->shape[0], 3);
  EXPECT_EQ(kp_any_tensor(&result)->dtype.bits, 64);
  EXPECT_EQ(seen.args.size(), 2u);
  kp_any_release(&result);
  EXPECT_EQ(kp_live_objects(), live);
}

TEST_F(InvokeTest, ReturnsSeveralResultsAsAnArray) {
  Call call("(x: f32[N]) -> (y: f32[N], z: i32[1])");
  call.Tensor({3});
  KpAny result = kp_none();
  ASSERT_EQ(Run(call, &result), "");
  ASSERT_EQ(result.type_index, KP_TYPE_ARRAY);
  const auto* list = reinterpret_cast<const KpSequenceObject*>(result.v.v_obj);
  ASSERT_EQ(list->size, 2);
  EXPECT_EQ(kp_any_tensor(&list->data[1])->dtype.code, KP_DTYPE_INT);
  kp_any_release(&result);
  EXPECT_EQ(kp_live_objects(), live);
}

TEST_F(InvokeTest, WritesToDestinations) {
  Call call("(x: f32[N], k: int = 1) -> (y: f32[N])");
  call.Tensor({3}).Int(2).Out({3});
  KpAny result = kp_none();
  ASSERT_EQ(Run(call, &result), "");
  EXPECT_EQ(result.type_index, KP_TYPE_NONE);
  EXPECT_EQ(seen.args[2].v.v_tensor, call.results[0].v.v_tensor);
  call.results[0] = kp_none();
  EXPECT_EQ(Run(call), "TypeError: f: expected a tensor to write result 0 (y) to, got None");
}

TEST_F(InvokeTest, FillsDefaults) {
  Call call(
      "(x: f32[N], sizes: list[int] = [3, -4], mode: str = \"a\", *, eps: float = 0.5, flag: bool? = None) -> ()");
  call.Tensor({3});
  ASSERT_EQ(Run(call), "");
  EXPECT_EQ(seen.list, (std::vector<int64_t>{3, -4}));
  EXPECT_STREQ(seen.args[2].v.v_c_str, "a");
  EXPECT_EQ(seen.args[3].v.v_float, 0.5);
  EXPECT_EQ(seen.args[4].type_index, KP_TYPE_NONE);
}

TEST_F(InvokeTest, AnIntForAFloatIsAFloatForTheKernel) {
  Call call("(a: float, b: float?, c: float = 2, k: int = 3) -> ()");
  call.Int(-7).None();
  ASSERT_EQ(Run(call), "");
  EXPECT_EQ(seen.args[0].type_index, KP_TYPE_FLOAT);
  EXPECT_EQ(seen.args[0].v.v_float, -7.0);
  EXPECT_EQ(seen.args[1].type_index, KP_TYPE_NONE);
  EXPECT_EQ(seen.args[2].v.v_float, 2.0);
  EXPECT_EQ(seen.args[3].type_index, KP_TYPE_INT);
  EXPECT_EQ(call.args[0].type_index, KP_TYPE_INT) << "the caller's own stays as it was";
}

TEST_F(InvokeTest, IntsInAListOfFloatsAreFloatsForTheKernel) {
  Call call("(xs: list[float], none: list[float]) -> ()");
  call.Int(1).Float(2.5).Int(3).List(3).List(0);
  ASSERT_EQ(Run(call), "");
  EXPECT_EQ(seen.floats, (std::vector<double>{1, 2.5, 3}));
  EXPECT_EQ(reinterpret_cast<const KpSequenceObject*>(call.args[0].v.v_obj)->data[0].type_index, KP_TYPE_INT);
  seen.floats.clear();
  Call floats("(xs: list[float]) -> ()");
  floats.Float(1).Float(2).List(2);
  ASSERT_EQ(Run(floats), "");
  EXPECT_EQ(seen.args[0].v.v_obj, floats.args[0].v.v_obj) << "nothing is copied that fits as it is";
  Call wrong("(xs: list[float]) -> ()");
  wrong.Int(1).Bool(true).List(2);
  EXPECT_EQ(Run(wrong), "TypeError: f: xs[1]: expected float, got bool");
  EXPECT_EQ(kp_live_objects(), live);
}

TEST_F(InvokeTest, NamesCounts) {
  Call call("(x: f32[N], k: int) -> (y: f32[N])");
  EXPECT_EQ(Run(call), "TypeError: f: expected at least 1 arguments (x has no default), got 0");
  call.Tensor({3});
  EXPECT_EQ(Run(call), "TypeError: f: expected at least 2 arguments (k has no default), got 1");
  call.Int(1).Int(2).Int(3);
  EXPECT_EQ(Run(call), "TypeError: f: expected at most 2 arguments (x, k; or with its results: y), got 4");
}

TEST_F(InvokeTest, AppendsTheWorkspace) {
  Call call("(x: f32[N, M]) -> () with workspace = 4 * numel(x) + 16");
  call.Tensor({2, 3});
  ASSERT_EQ(Run(call), "");
  EXPECT_EQ(seen.args.size(), 2u);
  EXPECT_EQ(seen.workspace, 40u);
  EXPECT_EQ(seen.tensors[1].dtype.code, KP_DTYPE_UINT);
}

TEST_F(InvokeTest, ReleasesResultsWhenTheKernelFails) {
  Call call("(x: f32[N], l: list[int] = [1]) -> (y: f32[N], z: f32[N])");
  call.Tensor({3});
  seen.rc = -1;
  EXPECT_EQ(Run(call), "RuntimeError: kernel failed");
  EXPECT_EQ(kp_live_objects(), live);
}

TEST_F(InvokeTest, TurnsNumbersIntoTensors) {
  Call call("(x: T[N], scale: T[], k: i8[]) -> () where T in {f32, f64}");
  call.Tensor({3}).Float(2.5).Int(7);
  ASSERT_EQ(Run(call), "");
  ASSERT_EQ(seen.numbers.size(), 2u);
  EXPECT_EQ(seen.numbers[0], 2.5f);
  EXPECT_EQ(seen.tensors[2].dtype.bits, 8);
  call.args[2].v.v_int = 128;
  EXPECT_EQ(Run(call), "TypeError: f: k: expected a number that dtype i8 on cpu holds, got int: pass a tensor");
}

}  // namespace
