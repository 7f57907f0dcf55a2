// Which variant of a function runs where, and why.
#include <gtest/gtest.h>

#include <cstring>

#include "table.h"

namespace loader_test {
namespace {

struct DeviceArchTable {  // the extension "kernpack.device_arch", version 1
  uint32_t struct_size;
  int (*name)(KpDLDevice device, char* out, size_t size);
};

int ArchOfDevice(KpDLDevice device, char* out, size_t size) {
  if (device.device_type != KP_DEVICE_CUDA || device.device_id > 2) return -1;
  const char* names[] = {"sm_80", "sm_90", "sm_120"};
  std::strncpy(out, names[device.device_id], size);
  return 0;
}

const KpLoadedFunction* Variants() {
  static const KpLoadedFunction* function = [] {
    static const DeviceArchTable kArch = {sizeof kArch, &ArchOfDevice};
    EXPECT_EQ(kp_extension_register(kp_bytes("kernpack.device_arch"), 1, &kArch), 0);
    Table& table = NewTable();
    table.Add("op", &Answer<1>);
    table.Add("op", &Answer<2>).target = "llvm -mcpu=x86-64";
    table.Add("op", &Answer<3>).target = "llvm -mcpu=x86-64-v9";
    table.Add("op", &Answer<4>).target = "cuda";
    table.Add("op", &Answer<5>).target = "cuda -arch=sm_90";
    table.Add("op", &Answer<6>).target = "cuda -arch=sm_90a";
    table.Add("op", &Answer<7>).target = "cuda -arch=sm_86";
    table.Add("op", &Answer<8>).target = "nonsense -x=y";
    const KpLoadedModule* module = nullptr;
    EXPECT_EQ(kp_module_adopt(table.Finish("variants"), &module), 0) << TakeError();
    return kp_module_function(module, kp_bytes("op"));
  }();
  return function;
}

int64_t AnswerOn(KpDLDevice device) {
  KpSafeCall call = nullptr;
  void* self = nullptr;
  if (kp_function_resolve(Variants(), device, &call, &self) != 0) return -1;
  KpAny result = kp_none();
  EXPECT_EQ(call(self, nullptr, 0, &result), 0);
  return result.v.v_int;
}

TEST(LoadedVariants, MostSpecificForTheProcessor) {
#if defined(__x86_64__)
  EXPECT_EQ(AnswerOn({KP_DEVICE_CPU, 0}), 2);
#else
  EXPECT_EQ(AnswerOn({KP_DEVICE_CPU, 0}), 1);
#endif
}

TEST(LoadedVariants, MostSpecificForTheDevice) {
  EXPECT_EQ(AnswerOn({KP_DEVICE_CUDA, 0}), 4);  // sm_80 runs no sm_86 code
  EXPECT_EQ(AnswerOn({KP_DEVICE_CUDA, 1}), 6);
  EXPECT_EQ(AnswerOn({KP_DEVICE_CUDA, 2}), 4);
  EXPECT_EQ(AnswerOn({KP_DEVICE_CUDA, 1}), 6);  // the remembered choice
}

TEST(LoadedVariants, NoneIsAnErrorThatListsThemAll) {
  EXPECT_EQ(AnswerOn({KP_DEVICE_VULKAN, 0}), -1);
  const std::string error = TakeError();
  EXPECT_NE(error.find("RuntimeError: op: no variant runs on vulkan:0"), std::string::npos) << error;
  EXPECT_NE(error.find("(the baseline is for cpu; llvm -mcpu"), std::string::npos) << error;
  EXPECT_NE(error.find("nonsense -x=y: target kind nonsense is not known"), std::string::npos) << error;
}

TEST(LoadedVariants, ReasonsAreTold) {
  KpAny text = kp_none();
  ASSERT_EQ(kp_function_variants(Variants(), &text), 0) << TakeError();
  const std::string json = TakeText(&text);
  EXPECT_NE(json.find("processor x86-64-v9 is not known to this version"), std::string::npos) << json;
  EXPECT_NE(json.find("it is for cuda"), std::string::npos) << json;
}

TEST(LoadedVariants, AFunctionForAnotherDeviceHasNoCpuCode) {
  Table& table = NewTable();
  table.Add("only_cuda", &Answer<1>).target = "cuda";
  const KpLoadedModule* module = nullptr;
  ASSERT_EQ(kp_module_adopt(table.Finish("cuda_only"), &module), 0) << TakeError();
  EXPECT_EQ(kp_module_function(module, kp_bytes("only_cuda"))->cpu_call, nullptr);
}

// The order of refusals is that of every caller: the contract, then that nothing runs there, then what memory is asked for.
TEST(LoadedVariants, ThatNoneRunsIsSaidBeforeResultsAreShaped) {
  Table& table = NewTable();
  KpFunctionInfo& info = table.Add("only_cuda", &Answer<1>);
  info.target = "cuda";
  info.signature = "(n: int, x: f32[N]) -> (out: f32[N // n])";
  const KpLoadedModule* module = nullptr;
  ASSERT_EQ(kp_module_adopt(table.Finish("cuda_with_results"), &module), 0) << TakeError();
  const KpLoadedFunction* function = kp_module_function(module, kp_bytes("only_cuda"));
  float data[4] = {};
  int64_t shape = 4, stride = 1;
  KpDLTensor x{data, {KP_DEVICE_CPU, 0}, 1, {KP_DTYPE_FLOAT, 32, 1}, &shape, &stride, 0};
  KpAny args[2] = {kp_none(), kp_none()};
  args[0].type_index = KP_TYPE_INT;
  args[1].type_index = KP_TYPE_DLTENSOR_PTR;
  args[1].v.v_tensor = &x;
  KpAny result = kp_none();
  EXPECT_EQ(kp_call(function, args, 2, &result), -1);
  EXPECT_NE(TakeError().find("only_cuda: no variant runs on cpu:0"), std::string::npos);
  args[1] = kp_none();
  EXPECT_EQ(kp_call(function, args, 2, &result), -1);
  EXPECT_NE(TakeError().find("only_cuda: x: expected"), std::string::npos);
}

TEST(LoadedVariants, AnotherSignatureIsRefused) {
  Table& table = NewTable();
  table.Add("op", &Answer<1>).signature = "(x: f32[N]) -> (y: f32[N])";
  KpFunctionInfo& other = table.Add("op", &Answer<2>);
  other.signature = "(x: f64[N]) -> (y: f64[N])";
  other.target = "llvm -mcpu=x86-64-v3";
  const KpLoadedModule* module = nullptr;
  ASSERT_EQ(kp_module_adopt(table.Finish("disagree"), &module), -1);
  EXPECT_NE(TakeError().find("op has another signature than its variant"), std::string::npos);
}

}  // namespace
}  // namespace loader_test
