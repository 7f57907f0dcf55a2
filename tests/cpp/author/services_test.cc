// The services of kernpack/kernel.h, in a module built by kernpack_add_module(): called by our host, and through its aliases as
// a host of the TVM FFI ABI calls them.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <kernpack/host/host.h>

#include <string>
#include <thread>
#include <vector>

#include "../host/support.h"

namespace {

using kernpack_test::Int;
using kernpack_test::RawStr;
using kernpack_test::Str;
using kernpack_test::Value;

enum class Caller { kOurHost, kAlias };
const char* Name(Caller caller) { return caller == Caller::kAlias ? "Alias" : "OurHost"; }
void PrintTo(Caller caller, std::ostream* out) { *out << Name(caller); }

class Services : public testing::TestWithParam<Caller> {
 protected:
  void SetUp() override {
    const char* path = AUTHOR_MODULE;
    ASSERT_EQ(kp_module_load(&path, 1, 0, &loaded_), 0) << kernpack_test::TakeError();
  }

  int Call(const char* name, std::vector<KpAny> args, Value* out) {
    const auto n = static_cast<int32_t>(args.size());
    if (GetParam() == Caller::kOurHost) {
      return kp_call(kp_module_function(loaded_, kp_bytes(name)), args.data(), n, out->out());
    }
    static void* const library = dlopen(AUTHOR_MODULE, RTLD_NOW | RTLD_LOCAL);
    auto call = reinterpret_cast<KpSafeCall>(dlsym(library, ("__tvm_ffi_" + std::string(name)).c_str()));
    if (!call) ADD_FAILURE() << dlerror();
    return call ? call(nullptr, args.data(), n, out->out()) : -1;
  }
  // -1000 when the call fails.
  int64_t CallInt(const char* name, std::vector<KpAny> args) {
    Value result;
    return Call(name, std::move(args), &result) ? -1000 : result->v.v_int;
  }

  const KpLoadedModule* loaded_ = nullptr;
};

TEST_P(Services, StorageKeepsValuesBetweenCalls) {
  EXPECT_EQ(CallInt("count", {RawStr("a")}), 1);
  EXPECT_EQ(CallInt("count", {RawStr("a")}), 2);
  EXPECT_EQ(CallInt("count", {RawStr("b")}), 1);
  Value keys;
  ASSERT_EQ(Call("keys", {}, &keys), 0);
  EXPECT_EQ(Str(keys.get()), "a;b;");
  EXPECT_EQ(CallInt("forget", {RawStr("a")}), 1);
  EXPECT_EQ(CallInt("forget", {RawStr("a")}), 0);
  EXPECT_EQ(CallInt("count", {RawStr("a")}), 1);
  EXPECT_EQ(CallInt("forget", {RawStr("a")}), 1);
  EXPECT_EQ(CallInt("forget", {RawStr("b")}), 1);
}

TEST_P(Services, AFactoryThatThrowsStoresNothing) {
  EXPECT_EQ(CallInt("once", {Int(-1)}), -1000);
  EXPECT_EQ(CallInt("once", {Int(7)}), 7);
  EXPECT_EQ(CallInt("once", {Int(9)}), 7);
  EXPECT_EQ(CallInt("forget", {RawStr("once")}), 1);
}

TEST_P(Services, AZeroedWorkspaceIsKeptAndEachThreadHasItsOwn) {
  const int64_t before = CallInt("ticks", {Int(64)});
  ASSERT_GT(before, 0);
  EXPECT_EQ(CallInt("ticks", {Int(64)}), before + 1);
  int64_t other = 0;
  std::thread([&] { other = CallInt("ticks", {Int(64)}); }).join();
  EXPECT_EQ(other, 1);
  EXPECT_EQ(CallInt("ticks", {Int(1 << 20)}), 1);  // grown: zeroed anew
}

TEST_P(Services, MapsAreReadInInsertionOrderFlatAndDense) {
  for (const int pairs : {0, 3, 4, 5, 40}) {
    std::vector<Value> keep;
    std::vector<KpAny> items;
    std::string names;
    double sum = 0;
    for (int i = 0; i < pairs; ++i) {
      const std::string name = "key number " + std::to_string((i * 37) % 101);
      Value key;
      ASSERT_EQ(kp_string_new(kernpack_test::AsBytes(name), key.out()), 0);
      items.push_back(key.get());
      keep.push_back(std::move(key));
      KpAny value = kp_none();
      value.type_index = KP_TYPE_FLOAT;
      value.v.v_float = i * 0.5;
      items.push_back(value);
      names += name + ";";
      sum += i * 0.5;
    }
    Value map;
    ASSERT_EQ(kp_map_new(items.data(), static_cast<size_t>(pairs), map.out()), 0);
    Value result;
    ASSERT_EQ(Call("dict_keys", {map.get()}, &result), 0);
    EXPECT_EQ(Str(result.get()), names);
    ASSERT_EQ(Call("dict_sum", {map.get(), kp_none()}, &result), 0);
    EXPECT_EQ(result->v.v_float, sum);
    if (pairs) {
      ASSERT_EQ(Call("dict_sum", {map.get(), items[2]}, &result), pairs > 1 ? 0 : -1);
      EXPECT_EQ(result->v.v_float, 0.5);
    }
    EXPECT_EQ(Call("dict_sum", {map.get(), RawStr("none of these")}, &result), -1);
    EXPECT_EQ(Call("dict_sum", {Int(1), kp_none()}, &result), -1);
  }
}

TEST_P(Services, LogLinesNeverFail) {
  Value result;
  EXPECT_EQ(Call("log", {Int(3)}, &result), 0);
}

TEST_P(Services, ParallelForSeesEveryItemOnce) {
  EXPECT_EQ(CallInt("sum_to", {Int(100000)}), int64_t{100000} * 99999 / 2);
  EXPECT_EQ(CallInt("sum_to", {Int(0)}), 0);
}

TEST_P(Services, TensorsAreAllocatedAndReturned) {
  Value result;
  ASSERT_EQ(Call("iota", {Int(5)}, &result), 0);
  ASSERT_NE(kp_any_tensor(&result.get()), nullptr);
  EXPECT_EQ(static_cast<const int64_t*>(result.tensor().data)[4], 4);
}

TEST_P(Services, CallbacksAreCalled) {
  Value function;
  const KpSafeCall add_three = [](void*, const KpAny* args, int32_t, KpAny* out) {
    *out = Int(args[0].v.v_int + 3);
    return 0;
  };
  ASSERT_EQ(kp_function_new(nullptr, add_three, nullptr, function.out()), 0);
  EXPECT_EQ(CallInt("twice", {function.get(), Int(1)}), 7);
}

TEST_P(Services, ASignatureAllocatesResultAndWorkspace) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape[2] = {2, 3};
  KpDLTensor x = {data, {KP_DEVICE_CPU, 0}, 2, {KP_DTYPE_FLOAT, 32, 1}, shape, nullptr, 0};
  KpAny argument = kp_none();
  argument.type_index = KP_TYPE_DLTENSOR_PTR;
  argument.v.v_tensor = &x;
  Value result;
  ASSERT_EQ(Call("row_sum", {argument}, &result), 0);
  ASSERT_NE(kp_any_tensor(&result.get()), nullptr);
  ASSERT_EQ(result.tensor().shape[0], 2);
  EXPECT_EQ(static_cast<const float*>(result.tensor().data)[0], 6);
  EXPECT_EQ(static_cast<const float*>(result.tensor().data)[1], 15);
  x.dtype.bits = 64;
  EXPECT_EQ(Call("row_sum", {argument}, &result), -1);
}

INSTANTIATE_TEST_SUITE_P(Author, Services, testing::Values(Caller::kOurHost, Caller::kAlias),
                         [](const auto& info) { return Name(info.param); });

}  // namespace

#ifdef __SANITIZE_ADDRESS__
// Under a foreign host an outgrown workspace stays until the process ends, since a kernel may still hold it (foreign/workspace.h).
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:foreign_block\n";
}
#endif
