// The rule for what is written: exact, compared here with all elements of small tensors, one by one.
#include <kernpack/signature/overlap.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "signature/fixture.h"

namespace {

using kernpack::signature::GetRange;
using kernpack::signature::Overlap;
using kernpack::signature::OverlapWithItself;
using kernpack::signature::Sharing;

struct Strided {
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;  // in bytes
  KpDLDataType dtype = kF32;

  KpDLTensor view() {
    return KpDLTensor{reinterpret_cast<void*>(uintptr_t{1} << 40),  // NOLINT(*-no-int-to-ptr): never read
                      kCpu,
                      static_cast<int32_t>(shape.size()),
                      dtype,
                      shape.data(),
                      strides.data(),
                      static_cast<uint64_t>(int64_t{1} << 20) + static_cast<uint64_t>(offset)};
  }

  // The first bytes of the elements.
  std::vector<int64_t> Places() const {
    std::vector<int64_t> places{offset};
    for (size_t i = 0; i < shape.size(); ++i) {
      std::vector<int64_t> longer;
      for (const int64_t place : places) {
        for (int64_t j = 0; j < shape[i]; ++j) longer.push_back(place + j * strides[i] * dtype.bits / 8);
      }
      places = longer;
    }
    return places;
  }

  std::set<int64_t> Bytes() const {
    std::set<int64_t> bytes;
    for (const int64_t place : Places()) {
      for (int64_t i = 0; i < dtype.bits / 8; ++i) bytes.insert(place + i);
    }
    return bytes;
  }
};

Sharing Share(Strided a, Strided b) {
  const KpDLTensor x = a.view();
  return Overlap(x, GetRange(x), b.view());
}

Sharing ShareWithin(Strided a) { return OverlapWithItself(a.view()); }

class Draw {
 public:
  int64_t operator()(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }

  Strided Tensor() {
    constexpr KpDLDataType kDTypes[] = {{KP_DTYPE_UINT, 8, 1}, kF16, kF32, kF64};
    Strided out;
    const int64_t dims = (*this)(0, 4);
    for (int64_t i = 0; i < dims; ++i) {
      out.shape.push_back((*this)(0, 20) == 0 ? 0 : (*this)(1, 4));
      out.strides.push_back((*this)(0, 9) == 0 ? 0 : (*this)(-14, 14));
    }
    out.dtype = kDTypes[(*this)(0, 3)];
    out.offset = (*this)(-40, 40);
    return out;
  }

 private:
  std::mt19937_64 engine_{42};
};

std::string Text(const Strided& t) {
  return testing::PrintToString(t.shape) + " strides " + testing::PrintToString(t.strides) + " of " +
         std::to_string(t.dtype.bits) + " bits from " + std::to_string(t.offset);
}

TEST(Overlap, IsWhatComparingAllElementsSays) {
  Draw draw;
  int shared = 0;
  constexpr int kPairs = 6000;
  for (int i = 0; i < kPairs; ++i) {
    const Strided a = draw.Tensor();
    const Strided b = draw.Tensor();
    const std::set<int64_t> of_a = a.Bytes();
    bool meet = false;
    for (const int64_t byte : b.Bytes()) meet |= of_a.count(byte) != 0;
    shared += meet;
    const Sharing expected = meet ? Sharing::kSome : Sharing::kNone;
    ASSERT_EQ(Share(a, b), expected) << Text(a) << "\n" << Text(b);
    ASSERT_EQ(Share(b, a), expected) << Text(a) << "\n" << Text(b);
    const bool itself = of_a.size() != a.Places().size() * a.dtype.bits / 8;
    ASSERT_EQ(ShareWithin(a), itself ? Sharing::kSome : Sharing::kNone) << Text(a);
  }
  EXPECT_GT(shared, kPairs / 10);
  EXPECT_LT(shared, kPairs * 9 / 10);
}

// k and v of a cache (pages, 2, slots, heads, width), as kv.unbind(1) gives them.
TEST(Overlap, ViewsThatInterleaveShareNothing) {
  const std::vector<int64_t> shape{100000, 16, 8, 128};
  const std::vector<int64_t> strides{2 * 16 * 8 * 128, 8 * 128, 128, 1};
  const Strided k{shape, strides, 0, kF16};
  EXPECT_EQ(Share(k, {shape, strides, int64_t{16 * 8 * 128} * 2, kF16}), Sharing::kNone);
  EXPECT_EQ(Share(k, {shape, strides, int64_t{16 * 8 * 128} * 2 - 2, kF16}), Sharing::kSome) << "one element";
  EXPECT_EQ(Share({{1000, 64}, {192, 1}}, {{1000, 64}, {192, 1}, 64 * 4}), Sharing::kNone) << "columns of qkv";
  EXPECT_EQ(Share({{1000}, {2}}, {{1000}, {2}, 4}), Sharing::kNone) << "real and imaginary parts";
  EXPECT_EQ(Share({{1000}, {-2}, 8 * 999}, {{1000}, {2}, 4}), Sharing::kNone) << "one of them backwards";
  EXPECT_EQ(Share({{1000}, {2}}, {{500}, {4}, 4, kF16}), Sharing::kNone) << "elements of another size";
  EXPECT_EQ(Share({{1000}, {2}}, {{500}, {4}, 2, kF16}), Sharing::kSome);
}

TEST(Overlap, ATensorsOwnElementsMayInterleaveToo) {
  EXPECT_EQ(ShareWithin({{2, 3}, {1, 1}}), Sharing::kSome);
  EXPECT_EQ(ShareWithin({{3, 4}, {3, 2}}), Sharing::kSome);
  EXPECT_EQ(ShareWithin({{3, 2}, {2, 3}}), Sharing::kNone);
  EXPECT_EQ(ShareWithin({{1000, 3}, {1, 1}}), Sharing::kSome) << "a sliding window";
  EXPECT_EQ(ShareWithin({{128, 8, 100, 64}, {64, 8192 * 100, -8192, 1}}), Sharing::kNone)
      << "transposed, one dim backwards";
  EXPECT_EQ(ShareWithin({{1, 3}, {0, 1}}), Sharing::kNone) << "one row, whatever its stride";
  EXPECT_EQ(ShareWithin({{0, 3}, {0, 0}}), Sharing::kNone) << "no elements";
}

TEST(Overlap, ElementsOfHalfAByteCountWhereTheyFillWholeBytes) {
  constexpr KpDLDataType kI4{KP_DTYPE_INT, 4, 1};
  EXPECT_EQ(Share({{10, 8}, {16, 1}, 0, kI4}, {{10, 8}, {16, 1}, 4, kI4}), Sharing::kNone) << "halves of columns";
  EXPECT_EQ(Share({{10, 8}, {16, 1}, 0, kI4}, {{10, 8}, {16, 1}, 3, kI4}), Sharing::kSome);
  EXPECT_EQ(Share({{10}, {2}, 0, kI4}, {{10}, {2}, 0, kI4}), Sharing::kSome);
  EXPECT_EQ(ShareWithin({{10}, {2}, 0, kI4}), Sharing::kNone);
}

// A sum of some of 40 large numbers: nothing but trying tells.
TEST(Overlap, ASearchIsGivenUpAfterSoManyTries) {
  Strided a;
  Draw draw;
  for (int i = 0; i < 40; ++i) {
    a.shape.push_back(2);
    a.strides.push_back(draw(int64_t{1} << 30, int64_t{1} << 31) * 2);
  }
  const int64_t middle = int64_t{30} << 31;
  EXPECT_EQ(Share(a, {{}, {}, 4 * middle, kF32}), Sharing::kUnknown);
  EXPECT_EQ(Share(a, {{}, {}, 4 * middle + 4, kF32}), Sharing::kNone) << "all the steps are even";
  EXPECT_EQ(ShareWithin(a), Sharing::kUnknown);
}

TEST(Overlap, StridesThatLeaveTheAddressSpaceCountAsShared) {
  EXPECT_EQ(ShareWithin({{3, 3}, {INT64_MAX, 1}}), Sharing::kSome);
  EXPECT_EQ(ShareWithin({{3, 3}, {1, INT64_MIN}}), Sharing::kSome);
  EXPECT_EQ(ShareWithin({{2, 2}, {INT64_MAX / 16, 1}}), Sharing::kNone);
}

}  // namespace
