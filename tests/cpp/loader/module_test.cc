// Adopted modules: looking functions up, calling them checked, errors.
#include <gtest/gtest.h>

#include <deque>

#include "table.h"

namespace loader_test {
namespace {

int Twice(void*, const KpAny* args, int32_t num_args, KpAny*) {
  if (num_args != 3) return kp_raise("InternalError", "expected 3 values, got %d", num_args);
  const KpDLTensor* x = kp_any_tensor(&args[0]);
  const KpDLTensor* out = kp_any_tensor(&args[2]);
  for (int64_t i = 0; i < x->shape[0]; ++i) {
    static_cast<float*>(out->data)[i] = static_cast<float>(args[1].v.v_float) * static_cast<const float*>(x->data)[i];
  }
  return 0;
}

const KpLoadedModule* Load() {
  static const KpLoadedModule* module = [] {
    Table& table = NewTable();
    table.Add("twice", &Twice).signature = "(x: f32[N], factor: float = 2.0) -> (out: f32[N])";
    table.Add("answer", &Answer<42>).doc = "the answer";
    const KpLoadedModule* loaded = nullptr;
    EXPECT_EQ(kp_module_adopt(table.Finish("adopted"), &loaded), 0) << TakeError();
    return loaded;
  }();
  return module;
}

struct Vector {
  explicit Vector(int64_t n) : data(static_cast<size_t>(n), 1.5F), size(n) {
    view = {data.data(), {KP_DEVICE_CPU, 0}, 1, {KP_DTYPE_FLOAT, 32, 1}, &size, nullptr, 0};
  }
  std::vector<float> data;
  int64_t size;
  KpDLTensor view;
};

TEST(LoadedModule, FunctionsAreListedInNameOrder) {
  ASSERT_EQ(kp_module_function_count(Load()), 2);
  EXPECT_EQ(kp_module_signature_count(Load()), 1);
  EXPECT_STREQ(kp_module_function_at(Load(), 0)->name, "answer");
  EXPECT_STREQ(kp_module_function_at(Load(), 1)->name, "twice");
  EXPECT_EQ(kp_module_function_at(Load(), 0), kp_module_function(Load(), kp_bytes("answer")));
  EXPECT_EQ(kp_module_function(Load(), kp_bytes("missing")), nullptr);
  EXPECT_EQ(kp_error_pending(), 0);
  EXPECT_EQ(kp_module_function_at(Load(), 2), nullptr);
  EXPECT_NE(TakeError().find("IndexError"), std::string::npos);
}

TEST(LoadedModule, AdoptingTwiceGivesTheSameModule) {
  Table& table = NewTable();
  table.Add("f", &Answer<1>);
  const KpModule* made = table.Finish("twice_adopted");
  const KpLoadedModule* first = nullptr;
  const KpLoadedModule* second = nullptr;
  ASSERT_EQ(kp_module_adopt(made, &first), 0);
  ASSERT_EQ(kp_module_adopt(made, &second), 0);
  EXPECT_EQ(first, second);
  EXPECT_STREQ(kp_module_path(first), "");
}

TEST(LoadedModule, CallAllocatesResults) {
  Vector x(4);
  const KpAny args[] = {TensorValue(&x.view)};
  KpAny result = kp_none();
  ASSERT_EQ(kp_call(kp_module_function(Load(), kp_bytes("twice")), args, 1, &result), 0) << TakeError();
  const KpDLTensor* out = kp_any_tensor(&result);
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(out->shape[0], 4);
  EXPECT_FLOAT_EQ(static_cast<float*>(out->data)[3], 3.0F);
  kp_any_release(&result);
}

TEST(LoadedModule, CallWritesDestinations) {
  Vector x(3);
  Vector out(3);
  KpAny factor = kp_none();
  factor.type_index = KP_TYPE_FLOAT;
  factor.v.v_float = 10;
  const KpAny args[] = {TensorValue(&x.view), factor, TensorValue(&out.view)};
  KpAny result = kp_none();
  ASSERT_EQ(kp_call(kp_module_function(Load(), kp_bytes("twice")), args, 3, &result), 0) << TakeError();
  EXPECT_EQ(result.type_index, KP_TYPE_NONE);
  EXPECT_FLOAT_EQ(out.data[2], 15.0F);
}

TEST(LoadedModule, AContractCompiledForALaterAbiRefusesItsFunctionOnly) {
  static const uint32_t kLater[] = {0x4b530103}, kOfNow[] = {0x4b530100}, kDamaged[] = {0x12345678};
  Table& table = NewTable();
  const auto add = [&](const char* name, const uint32_t* program) {
    KpFunctionInfo& info = table.Add(name, &Answer<1>);
    info.signature = "(x: f32[N]) -> ()";
    info.program = program;
    info.program_words = 1;
  };
  add("later", kLater);
  add("now", kOfNow);
  add("damaged", kDamaged);
  const KpLoadedModule* module = nullptr;
  ASSERT_EQ(kp_module_adopt(table.Finish("contracts"), &module), 0) << TakeError();
  EXPECT_NE(kp_module_function(module, kp_bytes("now")), nullptr);
  EXPECT_NE(kp_module_function(module, kp_bytes("damaged")), nullptr) << "the text is what counts";
  EXPECT_EQ(kp_module_function(module, kp_bytes("later")), nullptr);
  EXPECT_EQ(TakeError(),
            "ImportError: later: the signature needs a host of ABI 1.3 or newer; this is 1.0: pip install -U kernpack");
}

TEST(LoadedModule, CallRefusesWhatDoesNotFit) {
  const KpLoadedFunction* twice = kp_module_function(Load(), kp_bytes("twice"));
  KpAny result = kp_none();
  EXPECT_EQ(kp_call(twice, nullptr, 0, &result), -1);
  EXPECT_NE(TakeError().find("TypeError: twice: expected at least 1 arguments (x has no default), got 0"),
            std::string::npos);
  EXPECT_EQ(kp_call(twice, nullptr, 2, &result), -1);
  EXPECT_NE(TakeError().find("ValueError"), std::string::npos);
  Vector x(3);
  x.size = -3;
  const KpAny args[] = {TensorValue(&x.view)};
  EXPECT_EQ(kp_call(twice, args, 1, &result), -1);
  EXPECT_NE(TakeError().find("ValueError: twice"), std::string::npos);
  Vector out(2);
  x.size = 3;
  const KpAny mixed[] = {TensorValue(&x.view), TensorValue(&out.view), TensorValue(&out.view)};
  EXPECT_EQ(kp_call(twice, mixed, 3, &result), -1);
  EXPECT_NE(TakeError().find("twice: factor: expected"), std::string::npos);
}

TEST(LoadedModule, FunctionsAreFoundByQualifiedName) {
  const std::string name = std::string("adopted@") + kp_module_digest(Load()) + "/answer";
  const KpLoadedFunction* found = nullptr;
  ASSERT_EQ(kp_function_find(kp_bytes(name.c_str()), &found), 0) << TakeError();
  EXPECT_EQ(found, kp_module_function(Load(), kp_bytes("answer")));
  found = nullptr;
  ASSERT_EQ(kp_function_find(kp_bytes("adopted@v1/answer"), &found), 0) << TakeError();
  EXPECT_EQ(found, kp_module_function(Load(), kp_bytes("answer")));
  EXPECT_EQ(kp_function_find(kp_bytes("adopted@v9/answer"), &found), -1);
  EXPECT_NE(TakeError().find("ImportError: answer of module adopted with version v9"), std::string::npos);
  EXPECT_EQ(kp_function_find(kp_bytes((name + "s").c_str()), &found), -1);
  EXPECT_EQ(TakeError(), "AttributeError: module adopted has no function answers");
  EXPECT_EQ(kp_function_find(kp_bytes("gone@00/f"), &found), -1);
  EXPECT_NE(TakeError().find("ImportError: f of module gone"), std::string::npos);
  EXPECT_EQ(kp_function_find(kp_bytes("nothing"), &found), -1);
  EXPECT_NE(TakeError().find("ValueError"), std::string::npos);
}

TEST(LoadedModule, GradientsAreListed) {
  Table& table = NewTable();
  table.Add("f", &Answer<1>).signature = "(x: f32[N]) -> (y: f32[N])";
  table.Add("f_backward", &Answer<2>).signature = "(d_y: f32[N]) -> (d_x: f32[N])";
  KpFunctionInfo& gradient = table.Add("f", nullptr);
  gradient.kind = KP_DEF_GRADIENT;
  gradient.target = "f_backward";
  const KpLoadedModule* module = nullptr;
  ASSERT_EQ(kp_module_adopt(table.Finish("with_gradient"), &module), 0) << TakeError();
  KpAny text = kp_none();
  ASSERT_EQ(kp_module_gradients(module, &text), 0);
  EXPECT_EQ(TakeText(&text), R"([["f","f_backward"]])");
}

TEST(LoadedModule, TenThousandFunctions) {
  Table& table = NewTable();
  static std::deque<std::string> names;
  for (int i = 0; i < 10000; ++i) names.push_back("function_" + std::to_string(i));
  for (const std::string& name : names) table.Add(name.c_str(), &Answer<1>);
  const KpLoadedModule* module = nullptr;
  ASSERT_EQ(kp_module_adopt(table.Finish("large"), &module), 0) << TakeError();
  EXPECT_EQ(kp_module_function_count(module), 10000);
  for (const std::string& name : names) {
    const KpLoadedFunction* function = kp_module_function(module, kp_bytes(name.c_str()));
    ASSERT_NE(function, nullptr);
    ASSERT_STREQ(function->name, name.c_str());
  }
  EXPECT_EQ(kp_module_function(module, kp_bytes("function_10000")), nullptr);
}

}  // namespace
}  // namespace loader_test
