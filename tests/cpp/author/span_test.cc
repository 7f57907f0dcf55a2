// kp::Span: contiguous tensors, checked once.
#include <kernpack/kernel.h>

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <type_traits>

namespace kp = kernpack;

static_assert(std::is_trivially_copyable_v<kp::Span<const float, 3>> && std::is_trivially_copyable_v<kp::Span<float>>);
static_assert(!std::is_constructible_v<kp::Span<float>, kp::TensorView>, "inputs are const");
static_assert(std::is_same_v<decltype(std::declval<kp::Span<const float, 2>>()(0, 0)), const float&>);
static_assert(std::is_same_v<decltype(std::declval<kp::Span<float, 2>>()[0]), kp::Span<float, 1>>);
static_assert(std::is_same_v<decltype(std::declval<kp::Span<float>>()[0]), float&>);

namespace {

class Spans : public ::testing::Test {
 protected:
  float memory[25];
  int64_t shape[3] = {2, 3, 4}, strides[3] = {12, 4, 1};
  KpDLTensor tensor = {memory, {KP_DEVICE_CPU, 0}, 3, kp::f32, shape, strides, sizeof(float)};
  const kp::TensorView x{&tensor};
  const kp::MutTensorView y{&tensor};

  void SetUp() override { std::iota(memory, memory + 25, -1.0F); }  // the tensor begins at 0

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

TEST_F(Spans, IndicesAndRowsFindTheElement) {
  const kp::Span<const float, 3> in(x);
  EXPECT_EQ(in(1, 2, 3), 23);
  EXPECT_EQ(in.at(1, 0, 2), 14);
  EXPECT_EQ(in[1][2][3], 23);
  EXPECT_EQ(in[1](2, 3), 23);
  EXPECT_EQ(in[1].size(), 12);
  EXPECT_EQ(in.dim(), 3);
  EXPECT_EQ(in.size(), 24);
  for (int d = 0; d < 3; ++d) {
    EXPECT_EQ(in.size(d), shape[d]);
    EXPECT_EQ(in.stride(d), strides[d]);
  }
  EXPECT_EQ(std::accumulate(in.begin(), in.end(), 0.0F), 276);
}

TEST_F(Spans, AFlatOneHasAllElementsOfAnyRank) {
  const kp::Span<float> to(y);
  EXPECT_EQ(to.size(), 24);
  to[23] = 42;
  EXPECT_EQ(memory[24], 42);
  tensor.ndim = 0;
  const kp::Span<const float> scalar(x);
  EXPECT_EQ(scalar.size(), 1);
  EXPECT_EQ(scalar[0], 0);
  shape[0] = 0;
  tensor.ndim = 3;
  EXPECT_EQ(kp::Span<const float>(x).begin(), kp::Span<const float>(x).end());
}

TEST_F(Spans, StridesThatDontMatterAndMissingOnesAreContiguous) {
  shape[1] = 1;
  strides[0] = 4, strides[1] = 99;
  EXPECT_EQ((kp::Span<const float, 3>(x)(1, 0, 3)), 7);
  tensor.strides = nullptr;
  EXPECT_EQ((kp::Span<const float, 3>(x)(1, 0, 3)), 7);
}

TEST_F(Spans, WhatIsWrongIsNamed) {
  EXPECT_EQ(CatchError([&] { kp::Span<const double, 3>{x}; }),
            "TypeError: kp::Span<T, 3>: the tensor's dtype is f32, T stores f64");
  EXPECT_EQ(CatchError([&] { kp::Span<const double>{x}; }),
            "TypeError: kp::Span<T>: the tensor's dtype is f32, T stores f64");
  EXPECT_EQ(CatchError([&] { kp::Span<const float, 1>{x}; }),
            "ValueError: kp::Span<T, 1>: expected a tensor of 1 dim, got shape [2, 3, 4]");
  strides[1] = 5;
  EXPECT_EQ(
      CatchError([&] { kp::Span<const float, 3>{x}; }),
      "ValueError: kp::Span<T, 3>: expected a contiguous tensor, got shape [2, 3, 4] with strides [12, 5, 1]: use "
      "a kp::Accessor, or kp::contiguous(x)");
}

TEST_F(Spans, MemoryThatTheCpuCantReadIsRefused) {
  for (const auto type : {KP_DEVICE_CUDA, KP_DEVICE_OPENCL, KP_DEVICE_EXT}) {
    tensor.device = {type, 0};
    EXPECT_NE(CatchError([&] { kp::Span<const float, 3>{x}; }).find("expected a tensor on the CPU, got one on"),
              std::string::npos);
    EXPECT_EQ((kp::Span<const float, 3>(x, kp::any_device).data()), memory + 1);
  }
  for (const auto type : {KP_DEVICE_CUDA_HOST, KP_DEVICE_CUDA_MANAGED, KP_DEVICE_ROCM_HOST}) {
    tensor.device = {type, 0};
    EXPECT_EQ((kp::Span<const float, 3>(x).data()), memory + 1);
  }
}

TEST_F(Spans, CheckedIndicesAreIndexErrors) {
  const kp::Span<const float, 3> in(x);
  EXPECT_EQ(CatchError([&] { (void)in(1, 3, 0); }),
            "IndexError: at<T>(): index 3 of dimension 1 is outside a tensor of shape [2, 3, 4]");
  EXPECT_EQ(CatchError([&] { (void)in[0][-1]; }),
            "IndexError: at<T>(): index -1 of dimension 0 is outside a tensor of shape [3, 4]");
  const kp::Span<const float> flat(x);
  EXPECT_EQ(CatchError([&] { (void)flat[24]; }),
            "IndexError: at<T>(): index 24 of dimension 0 is outside a tensor of shape [24]");
}

}  // namespace
