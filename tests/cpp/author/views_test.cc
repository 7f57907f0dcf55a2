// TensorView and MutTensorView: which may be written, what crosses, and at().
#include "fake_host.h"

#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace kp = kernpack;

template <class View>
using Untyped = decltype(std::declval<View>().data_ptr());
template <class View>
using Typed = decltype(std::declval<View>().template data_ptr<float>());
template <class View>
using Element = decltype(std::declval<View>().template at<float>(0));
static_assert(std::is_same_v<Untyped<kp::TensorView>, const void*> &&
              std::is_same_v<Untyped<kp::MutTensorView>, void*>);
static_assert(std::is_same_v<Typed<kp::TensorView>, const float*> && std::is_same_v<Typed<kp::MutTensorView>, float*>);
static_assert(std::is_same_v<Element<kp::TensorView>, const float&> &&
              std::is_same_v<Element<kp::MutTensorView>, float&>);
static_assert(std::is_same_v<Untyped<kp::Tensor>, void*>);
static_assert(std::is_convertible_v<kp::MutTensorView, kp::TensorView>);
static_assert(!std::is_constructible_v<kp::MutTensorView, kp::TensorView>);
static_assert(std::is_convertible_v<std::optional<kp::MutTensorView>, std::optional<kp::TensorView>>);
static_assert(!std::is_constructible_v<std::optional<kp::MutTensorView>, std::optional<kp::TensorView>>);
static_assert(!std::is_constructible_v<kp::ListView<kp::MutTensorView>, kp::ListView<kp::TensorView>>);
static_assert(std::is_convertible_v<kp::Tensor, kp::TensorView> &&
              std::is_convertible_v<kp::Tensor, kp::MutTensorView>);
static_assert(std::is_trivially_copyable_v<kp::MutTensorView> && sizeof(kp::MutTensorView) == sizeof(void*));

// The first item of each, x plus y where there is a y, to out; y, which is marked, becomes 0.
static void Drain(kp::ListView<kp::TensorView> xs, std::optional<kp::MutTensorView> y, kp::MutTensorView out) {
  out.at<float>(0, 0) = y ? y->at<float>(0) : -1;
  for (const kp::TensorView x : xs) out.at<float>(0, 0) += x.at<float>(0);
  if (y) y->at<float>(0) = 0;
}
static int64_t LastStride(std::optional<kp::MutTensorView> x) { return x ? x->strides().back() : -1; }
static int64_t ClearAll(kp::ListView<kp::MutTensorView> xs) {
  for (const kp::MutTensorView x : xs) x.at<float>(0) = 0;
  return static_cast<int64_t>(xs.size());
}
static bool Defined(kp::TensorView x) { return x.defined(); }

KP_MODULE("author_views_test", "1.0.0");
KP_EXPORT(drain, Drain, "(xs: list[f32[_]], y!: f32[_]? = None) -> (out: f32[1, 1])");
KP_EXPORT(last_stride, LastStride);
KP_EXPORT(clear_all, ClearAll);

namespace {

class Views : public ::testing::Test {
 protected:
  fake::Host host;
  fake::Loaded module{kp_module_v1_author_views_test(), &host};
  KpAny result = kp_none();
  float memory[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  int64_t shape[2] = {3, 2}, strides[2] = {4, 1};
  KpDLTensor tensor = {memory, {KP_DEVICE_CPU, 0}, 2, kp::f32, shape, strides, sizeof(float)};  // 1 2 | 5 6 | 9 10
  const kp::TensorView read{&tensor};
  const kp::MutTensorView written{&tensor};

  template <class F>
  static std::string CatchError(F f) {
    try {
      f();
    } catch (const kp::Error& e) {
      return std::string(e.kind().data, e.kind().size) + ": " + e.what();
    }
    return "nothing";
  }
};

TEST_F(Views, AtFollowsStridesAndOffset) {
  EXPECT_EQ(read.at<float>(0, 0), 1);
  EXPECT_EQ(read.at<float>(2, 1), 10);
  written.at<float>(1, int8_t{1}) = 42;
  EXPECT_EQ(memory[6], 42);
  EXPECT_EQ((read.at<float, false>(1, 1)), 42);
}

TEST_F(Views, AtTakesATensorWithoutStridesForCompact) {
  tensor.strides = nullptr;
  EXPECT_EQ(read.at<float>(2, 1), 6);
}

TEST_F(Views, AtOfAScalarHasNoIndex) {
  tensor.ndim = 0;
  EXPECT_EQ(read.at<float>(), 1);
}

TEST_F(Views, CheckedAtNamesWhatIsWrong) {
  EXPECT_EQ(CatchError([&] { read.at<double>(0, 0); }), "TypeError: at<T>(): the tensor's dtype is f32, T stores f64");
  EXPECT_EQ(CatchError([&] { read.at<float>(0); }),
            "IndexError: at<T>(): expected 2 indices into a tensor of shape [3, 2], got 1");
  EXPECT_EQ(CatchError([&] { read.at<float>(3, 0); }),
            "IndexError: at<T>(): index 3 of dimension 0 is outside a tensor of shape [3, 2]");
  EXPECT_EQ(CatchError([&] { written.at<float>(0, -1) = 1; }),
            "IndexError: at<T>(): index -1 of dimension 1 is outside a tensor of shape [3, 2]");
}

TEST_F(Views, OnesThatMayBeWrittenConvert) {
  EXPECT_TRUE(Defined(written));
  EXPECT_FALSE(Defined(kp::MutTensorView()));
  kp::Text text;
  text << written;
  EXPECT_EQ(std::string(text.bytes().data, text.bytes().size), "f32[3, 2]");
}

// One item behind a list object.
struct List {
  KpSequenceObject object = {};
  KpAny item;
  KpAny value = kp_none();
  explicit List(KpDLTensor* tensor) : item(fake::TensorPtr(tensor)) {
    object.header.type_index = KP_TYPE_ARRAY;
    object.data = &item;
    object.size = object.capacity = 1;
    value.type_index = KP_TYPE_ARRAY;
    value.v.v_obj = &object.header;
  }
};

TEST_F(Views, CrossInListsAndOptionals) {
  float x = 3, y = 4, out = 0;
  int64_t ones[2] = {1, 1};
  KpDLTensor tensors[3];
  for (int i = 0; i < 3; ++i) {
    void* const data[] = {&x, &y, &out};
    tensors[i] = {data[i], {KP_DEVICE_CPU, 0}, i == 2 ? 2 : 1, kp::f32, ones, ones, 0};
  }
  const List xs(&tensors[0]);
  const KpAny to = fake::TensorPtr(&tensors[2]);
  ASSERT_EQ(module.Call("drain", {xs.value, fake::TensorPtr(&tensors[1]), to}, &result), 0) << host.message;
  EXPECT_EQ(out, 7);
  EXPECT_EQ(y, 0);
  ASSERT_EQ(module.Call("drain", {xs.value, kp_none(), to}, &result), 0) << host.message;
  EXPECT_EQ(out, 2);
  ASSERT_EQ(module.Call("clear_all", {xs.value}, &result), 0) << host.message;
  EXPECT_EQ(x, 0);
  EXPECT_STREQ(module.Find("clear_all")->info->cxx_types, "(list[Tensor]) -> int");
}

TEST_F(Views, MissingStridesAreFilledInForOnesThatAreWritten) {
  tensor.strides = nullptr;
  ASSERT_EQ(module.Call("last_stride", {fake::TensorPtr(&tensor)}, &result), 0) << host.message;
  EXPECT_EQ(result.v.v_int, 1);
  ASSERT_EQ(module.Call("last_stride", {kp_none()}, &result), 0) << host.message;
  EXPECT_EQ(result.v.v_int, -1);
}

TEST_F(Views, BothAreMemoryToALaunch) {
  for (const KpKernelArg& arg : {kp::detail::kernel_arg(read), kp::detail::kernel_arg(written)}) {
    EXPECT_EQ(arg.kind, KP_ARG_MEMORY);
    EXPECT_EQ(arg.data, static_cast<const void*>(memory));
    EXPECT_EQ(arg.offset, sizeof(float));
  }
  const double number = 2;
  EXPECT_EQ(kp::detail::kernel_arg(number).kind, KP_ARG_VALUE);
}

}  // namespace
