// KP_EXPORT: arguments in, results out, every exception caught, nothing else exported.
#include "fake_host.h"

#include <kernpack/kernel.h>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace kp = kernpack;

static_assert(std::string_view(kp::StringView("abc")) == "abc" && std::string_view(kp::StringView()).empty());

static void AddOne(kp::TensorView x, kp::MutTensorView y) {
  const float* in = x.data_ptr<float>();
  float* out = y.data_ptr<float>();
  for (int64_t i = 0, n = x.numel(); i < n; ++i) out[i] = in[i] + 1.0f;
}
static int Add(int a, int8_t b) { return a + b; }
static double Half(double x) { return x / 2; }
static std::string Greet(const std::string& who) { return "hello " + who; }
static std::optional<int> Maybe(std::optional<int> x) { return x; }
static int64_t SumStrides(kp::TensorView x) {
  int64_t sum = 0;
  for (int64_t s : x.strides()) sum += s;
  return sum;
}
static void Fail(int how) {
  if (how == 1) KP_THROW(ValueError) << "how is " << how << ", x is " << 0.5 << ' ' << kp::bf16;
  if (how == 2) throw 42;
  if (how == 3) throw std::out_of_range("far");
  if (how == 4) throw std::runtime_error("no");
  KP_CHECK(how == 0, TypeError) << "how " << how;
}
static int Inits = 0;
static void Init() { ++Inits; }
static int Overflowing(uint64_t) noexcept { return 0; }

KP_MODULE("author_export_test", "1.2.0");
KP_MODULE_INIT(Init);
KP_EXPORT(add_one, AddOne, "(x: f32[N]) -> (y: f32[N])");
KP_EXPORT_FOR("llvm -mcpu=x86-64-v3", add_one, AddOne, "(x: f32[N]) -> (y: f32[N])");
KP_EXPORT(add, Add);
KP_EXPORT(half, Half);
KP_EXPORT(greet, Greet);
KP_EXPORT(maybe, Maybe);
KP_EXPORT(sum_strides, SumStrides);
KP_EXPORT(fail, Fail);
KP_EXPORT(overflowing, Overflowing);
KP_DOC(add, "Adds two integers.");
KP_GRAD(add_one, add_one_backward);

class Export : public ::testing::Test {
 protected:
  fake::Host host;
  fake::Loaded module{kp_module_v1_author_export_test(), &host};
  KpAny result = kp_none();
};

TEST_F(Export, TableSaysWhatTheModuleHolds) {
  const KpModule* m = module.module;
  EXPECT_EQ(m->struct_size, sizeof(KpModule));
  EXPECT_STREQ(m->name, "author_export_test");
  EXPECT_STREQ(m->version, "1.2.0");
  EXPECT_EQ(m->functions_end - m->functions, 10);
  EXPECT_STREQ(module.Find("add")->info->doc, "Adds two integers.");
  EXPECT_EQ(module.Find("half")->info->doc, nullptr);
  EXPECT_STREQ(module.Find("add")->info->cxx_types, "(int, int) -> int");
  EXPECT_STREQ(module.Find("maybe")->info->cxx_types, "(int or None) -> int or None");
  EXPECT_STREQ(module.Find("add_one")->info->signature, "(x: f32[N]) -> (y: f32[N])");
  EXPECT_NE(module.Find("add_one", "llvm -mcpu=x86-64-v3"), nullptr);
  EXPECT_EQ(m, kp_module_v1_author_export_test());
}

TEST_F(Export, InitRunsOnceForEachInstance) {
  const int before = Inits;
  fake::Host other;
  fake::Loaded again(module.module, &other);
  EXPECT_EQ(again.rc, 0);
  EXPECT_EQ(Inits, before + 1);
}

TEST_F(Export, TensorsArriveAndAreWritten) {
  float in[3] = {1, 2, 3}, out[3] = {};
  int64_t shape[1] = {3}, strides[1] = {1};
  KpDLTensor x = {in, {KP_DEVICE_CPU, 0}, 1, kp::f32, shape, strides, 0};
  KpDLTensor y = {out, {KP_DEVICE_CPU, 0}, 1, kp::f32, shape, strides, 0};
  ASSERT_EQ(module.Call("add_one", {fake::TensorPtr(&x), fake::TensorPtr(&y)}, &result), 0) << host.message;
  EXPECT_EQ(out[2], 4.0f);
  EXPECT_EQ(result.type_index, KP_TYPE_NONE);
}

TEST_F(Export, ByteOffsetCountsAndDtypeIsChecked) {
  float in[3] = {1, 2, 3}, out[1] = {};
  int64_t shape[1] = {1}, strides[1] = {1};
  KpDLTensor x = {in, {KP_DEVICE_CPU, 0}, 1, kp::f32, shape, strides, 8};
  KpDLTensor y = {out, {KP_DEVICE_CPU, 0}, 1, kp::f32, shape, strides, 0};
  ASSERT_EQ(module.Call("add_one", {fake::TensorPtr(&x), fake::TensorPtr(&y)}, &result), 0);
  EXPECT_EQ(out[0], 4.0f);
  y.dtype = kp::i32;
  ASSERT_EQ(module.Call("add_one", {fake::TensorPtr(&x), fake::TensorPtr(&y)}, &result), -1);
  EXPECT_EQ(host.kind, "TypeError");
  EXPECT_EQ(host.message, "add_one: data_ptr<T>(): the tensor's dtype is i32, T stores f32");
}

TEST_F(Export, MissingStridesAreFilledIn) {
  int64_t shape[3] = {2, 3, 4};
  KpDLTensor x = {nullptr, {KP_DEVICE_CPU, 0}, 3, kp::f32, shape, nullptr, 0};
  ASSERT_EQ(module.Call("sum_strides", {fake::TensorPtr(&x)}, &result), 0) << host.message;
  EXPECT_EQ(result.v.v_int, 12 + 4 + 1);
}

TEST_F(Export, ScalarsAndStrings) {
  ASSERT_EQ(module.Call("add", {fake::Int(1 << 30), fake::Int(-7)}, &result), 0);
  EXPECT_EQ(result.v.v_int, (1 << 30) - 7);
  ASSERT_EQ(module.Call("half", {fake::Int(3)}, &result), 0);
  EXPECT_EQ(result.v.v_float, 1.5);
  ASSERT_EQ(module.Call("greet", {fake::Str("everyone")}, &result), 0);
  KpBytes text;
  ASSERT_TRUE(kp_any_str(&result, &text));
  EXPECT_EQ(std::string(text.data, text.size), "hello everyone");
  EXPECT_EQ(text.data[text.size], '\0');
  kp_any_release(&result);
  ASSERT_EQ(module.Call("maybe", {kp_none()}, &result), 0);
  EXPECT_EQ(result.type_index, KP_TYPE_NONE);
}

TEST_F(Export, WrongArgumentsAreNamed) {
  struct Row {
    const char* function;
    std::vector<KpAny> args;
    const char* kind;
    const char* message;
  };
  const Row rows[] = {
      {"add", {fake::Int(1)}, "TypeError", "add: expected 2 arguments, got 1"},
      {"add", {fake::Int(1), fake::Str("x")}, "TypeError", "add: argument 1: expected int, got str"},
      {"add", {fake::Int(1), fake::Float(2)}, "TypeError", "add: argument 1: expected int, got float"},
      {"add",
       {fake::Int(1), fake::Int(300)},
       "ValueError",
       "add: argument 1: expected int that fits in 8 bits, got 300"},
      {"overflowing",
       {fake::Int(-1)},
       "ValueError",
       "overflowing: argument 0: expected int that is not negative and fits in 64 bits, got -1"},
      {"add_one", {fake::Int(1), fake::Int(2)}, "TypeError", "add_one: x: expected Tensor, got int"},
      {"maybe", {fake::Str("x")}, "TypeError", "maybe: argument 0: expected int or None, got str"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(module.Call(row.function, row.args, &result), -1);
    EXPECT_EQ(host.kind, row.kind);
    EXPECT_EQ(host.message, row.message);
  }
}

TEST_F(Export, EveryExceptionBecomesAnError) {
  struct Row {
    int how;
    const char* kind;
    const char* message;
  };
  const Row rows[] = {
      {1, "ValueError", "fail: how is 1, x is 0.5 bf16"},
      {2, "InternalError", "fail: threw something that is not a std::exception"},
      {3, "IndexError", "fail: far"},
      {4, "RuntimeError", "fail: no"},
      {5, "TypeError", "fail: how 5"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(module.Call("fail", {fake::Int(row.how)}, &result), -1);
    EXPECT_EQ(host.kind, row.kind);
    EXPECT_EQ(host.message, row.message);
  }
  module.Call("fail", {fake::Int(1)}, &result);
  EXPECT_NE(host.backtrace.find("export_test.cc\", line "), std::string::npos) << host.backtrace;
  EXPECT_NE(host.backtrace.find(", in Fail"), std::string::npos) << host.backtrace;
}

TEST_F(Export, ServicesOutsideACallAreRefused) {
  try {
    kp::Tensor::Empty({2, 3}, kp::f32);
    FAIL() << "allocated outside a call";
  } catch (const kp::Error& e) {
    EXPECT_TRUE(e.is("RuntimeError"));
    EXPECT_NE(std::string(e.what()).find("while a function of this module is being called"), std::string::npos);
  }
}
