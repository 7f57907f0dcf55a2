// Strided inputs: the mark `compact`, kp::contiguous() and kp::Accessor.
#include "fake_host.h"

#include <kernpack/kernel.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kp = kernpack;

// The elements in memory's order, as digits of one number; what was handed on must be compact.
static int64_t Digits(kp::TensorView x) {
  int64_t digits = 0;
  KP_CHECK(x.is_contiguous(), ValueError) << "expected compact memory";
  for (int64_t i = 0; i < x.numel(); ++i) {
    digits =
        digits * 10 + (x.itemsize() == 4 ? static_cast<int64_t>(x.data_ptr<float>()[i]) : x.data_ptr<int16_t>()[i]);
  }
  return digits;
}
static void One(kp::TensorView x, kp::MutTensorView out) { *out.data_ptr<int64_t>() = Digits(x); }
static void Maybe(std::optional<kp::TensorView> x, kp::MutTensorView out) {
  *out.data_ptr<int64_t>() = x ? Digits(*x) : -1;
}
static void Many(kp::ListView<kp::TensorView> xs, kp::MutTensorView out) {
  int64_t all = 0;
  for (const kp::TensorView x : xs) all = all * 1000000 + Digits(x);
  *out.data_ptr<int64_t>() = all;
}
static void Own(kp::TensorView x, kp::MutTensorView out) {
  const auto rows = kp::contiguous(x);
  KP_CHECK(rows.is_copy() == !x.is_contiguous(), RuntimeError) << "a copy is made only when needed";
  *out.data_ptr<int64_t>() = Digits(rows);
}

KP_MODULE("author_strides_test", "1.0.0");
KP_EXPORT(one, One, "(x: T[...] compact) -> (out: i64[]) where T in {f32, i16, i4}");
KP_EXPORT(maybe, Maybe, "(x: f32[...] compact? = None) -> (out: i64[])");
KP_EXPORT(many, Many, "(xs: list[f32[_, _] compact]) -> (out: i64[])");
KP_EXPORT(own, Own, "(x: T[...] strided) -> (out: i64[]) where T in {f32, i4}");

static_assert(kp::detail::compact_params(nullptr) == 0);
static_assert(!std::is_convertible_v<kp::Contiguous&&, kp::TensorView>, "the copy would end before the view");
static_assert(std::is_convertible_v<const kp::Contiguous&, kp::TensorView>);

namespace {

class Strides : public ::testing::Test {
 protected:
  fake::Host host;
  fake::Loaded module{kp_module_v1_author_strides_test(), &host};
  float memory[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  int64_t shape[2] = {3, 2}, strides[2] = {4, 1};
  KpDLTensor tensor = {memory, {KP_DEVICE_CPU, 0}, 2, kp::f32, shape, strides, sizeof(float)};  // 1 2 | 5 6 | 9 10
  int64_t digits = 0;
  KpDLTensor out = {&digits, {KP_DEVICE_CPU, 0}, 0, kp::i64, nullptr, nullptr, 0};

  // The result of the function, or its error.
  std::string Run(const char* name, KpAny first) {
    KpAny result = kp_none();
    digits = 0;
    if (module.Call(name, {first, fake::TensorPtr(&out)}, &result)) return host.kind + ": " + host.message;
    return std::to_string(digits);
  }
  void Transpose() {
    shape[0] = 2, shape[1] = 3;
    strides[0] = 1, strides[1] = 4;
  }

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

TEST_F(Strides, CompactHandsOnRowMajorMemory) {
  shape[0] = 2;
  EXPECT_EQ(Run("one", fake::TensorPtr(&tensor)), "1256");
  Transpose();
  shape[1] = 2;
  EXPECT_EQ(Run("one", fake::TensorPtr(&tensor)), "1526");
}

TEST_F(Strides, CompactTakesWhatIsCompactAsItIs) {
  strides[0] = 2;
  EXPECT_EQ(Run("one", fake::TensorPtr(&tensor)), "123456");
  tensor.strides = nullptr;
  EXPECT_EQ(Run("one", fake::TensorPtr(&tensor)), "123456");
  EXPECT_EQ(host.tensors, 0);
}

TEST_F(Strides, CompactFollowsBackwardAndBroadcastStrides) {
  shape[0] = 2, strides[0] = -4;
  tensor.byte_offset = 5 * sizeof(float);
  EXPECT_EQ(Run("one", fake::TensorPtr(&tensor)), "5612");
  strides[0] = 0;
  EXPECT_EQ(Run("one", fake::TensorPtr(&tensor)), "5656");
}

TEST_F(Strides, CompactOfSmallerElements) {
  int16_t small[] = {1, 2, 3, 4, 5, 6};
  shape[0] = 3, shape[1] = 2, strides[0] = 1, strides[1] = 3;
  tensor.data = small, tensor.dtype = kp::i16, tensor.byte_offset = 0;
  EXPECT_EQ(Run("one", fake::TensorPtr(&tensor)), "142536");
}

TEST_F(Strides, ElementsThatShareBytesAreRefusedByName) {
  tensor.dtype = KpDLDataType{KP_DTYPE_INT, 4, 1};
  EXPECT_EQ(
      Run("one", fake::TensorPtr(&tensor)),
      "ValueError: one: x: expected a contiguous tensor, got i4[3, 2] with strides [4, 1]: only elements of 1, 2, 4, 8 "
      "or 16 bytes can be copied one by one: pass a contiguous one");
  EXPECT_EQ(Run("own", fake::TensorPtr(&tensor)).find("ValueError: own: expected a contiguous tensor, got i4[3, 2]"),
            0U);
}

TEST_F(Strides, CompactIsForOptionalsAndListsToo) {
  shape[0] = 2;
  EXPECT_EQ(Run("maybe", kp_none()), "-1");
  EXPECT_EQ(Run("maybe", fake::TensorPtr(&tensor)), "1256");
  int64_t whole[2] = {1, 2}, steps[2] = {2, 1};
  KpDLTensor compact = {memory, {KP_DEVICE_CPU, 0}, 2, kp::f32, whole, steps, 0};
  KpAny items[] = {fake::TensorPtr(&tensor), fake::TensorPtr(&compact), fake::TensorPtr(&tensor)};
  KpSequenceObject list = {{1, KP_TYPE_ARRAY, 0, nullptr}, items, 3, 3, nullptr};
  KpAny given = kp_none();
  given.type_index = KP_TYPE_ARRAY;
  given.v.v_obj = &list.header;
  EXPECT_EQ(Run("many", given), "1256000001001256");
  EXPECT_EQ(items[0].v.v_tensor, &tensor) << "the caller's list is as it was";
}

TEST_F(Strides, ContiguousCopiesWhenNeeded) {
  shape[0] = 2;
  EXPECT_EQ(Run("own", fake::TensorPtr(&tensor)), "1256");
  strides[0] = 2;
  EXPECT_EQ(Run("own", fake::TensorPtr(&tensor)), "1234");
}

TEST_F(Strides, AccessorFollowsStridesAndWrites) {
  const kp::Accessor<const float, 2> in{kp::TensorView(&tensor)};
  EXPECT_EQ(in.at(2, 1), 10);
  EXPECT_EQ(in(1, 0), 5);
  EXPECT_EQ(in[1][1], 6);
  EXPECT_EQ(in.size(0), 3);
  EXPECT_EQ(in.stride(0), 4);
  const kp::Accessor<float, 2> to{kp::MutTensorView(&tensor)};
  to.at(2, 0) = 42;
  to[2][1] += 1;
  EXPECT_EQ(memory[9], 42);
  EXPECT_EQ(memory[10], 11);
  tensor.strides = nullptr;
  EXPECT_EQ((kp::Accessor<const float, 2>(kp::TensorView(&tensor)).at(2, 1)), 6);
}

TEST_F(Strides, AccessorNamesWhatIsWrong) {
  const kp::TensorView x{&tensor};
  const kp::Accessor<const float, 2> in{x};
  EXPECT_EQ(CatchError([&] { (void)in.at(3, 0); }),
            "IndexError: at<T>(): index 3 of dimension 0 is outside a tensor of shape [3, 2]");
  EXPECT_EQ(CatchError([&] { (void)in[0][-1]; }),
            "IndexError: at<T>(): index -1 of dimension 0 is outside a tensor of shape [2]");
  EXPECT_EQ(CatchError([&] { kp::Accessor<const float, 3>{x}; }),
            "ValueError: kp::Accessor<T, 3>: expected a tensor of 3 dims, got shape [3, 2]");
  EXPECT_EQ(CatchError([&] { kp::Accessor<const double, 2>{x}; }),
            "TypeError: kp::Accessor<T, 2>: the tensor's dtype is f32, T stores f64");
  tensor.device = {KP_DEVICE_CUDA, 1};
  EXPECT_EQ(CatchError([&] { kp::Accessor<const float, 2>{x}; }),
            "ValueError: kp::Accessor<T, 2>: expected a tensor on the CPU, got one on cuda:1: pass kp::any_device as "
            "well if the code that uses the view can read its memory");
  EXPECT_EQ((kp::Accessor<const float, 2>(x, kp::any_device).data()), memory + 1);
}

}  // namespace
