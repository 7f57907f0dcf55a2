// Copies between host memory and OpenCL buffers, and within a device.
#include <random>

#include "fixture.h"

namespace kernpack_test {
namespace {

TEST_F(OpenclTest, CopiesFollowOffsets) {
  void* buffer = Upload(Counting(100));
  const std::vector<float> three = {7, 8, 9};
  const KpMemory from = Host(three.data());
  const KpMemory to = At(buffer, 4 * 13);  // no sub-buffer could begin here
  ASSERT_EQ(api->copy(api, &from, &to, 12, nullptr), 0) << TakeError();
  EXPECT_EQ(Download(buffer, 5, 4 * 12), (std::vector<float>{13, 7, 8, 9, 17}));
  Free(buffer);
}

TEST_F(OpenclTest, CopiesWithinADevice) {
  void* a = Upload(Counting(64));
  void* b = Upload(std::vector<float>(64, 0));
  const KpMemory from = At(a, 4);
  const KpMemory other = At(b, 8);
  const KpMemory same = At(a, 4 * 32);
  ASSERT_EQ(api->copy(api, &from, &other, 16, nullptr), 0) << TakeError();
  ASSERT_EQ(api->copy(api, &from, &same, 16, nullptr), 0) << TakeError();
  EXPECT_EQ(Download(b, 7), (std::vector<float>{0, 0, 2, 3, 4, 5, 0}));
  EXPECT_EQ(Download(a, 5, 4 * 32), (std::vector<float>{2, 3, 4, 5, 37}));
  Free(a);
  Free(b);
}

TEST_F(OpenclTest, NamesOverlappingCopies) {
  void* a = Upload(Counting(64));
  const KpMemory from = At(a, 0);
  const KpMemory to = At(a, 16);
  const std::string refusal = Refusal(api->copy(api, &from, &to, 64, nullptr));
  EXPECT_NE(refusal.find("CL_MEM_COPY_OVERLAP"), std::string::npos) << refusal;
  Free(a);
}

TEST_F(OpenclTest, HostMemoryIsFreeForReuseOnReturn) {
  void* stream = nullptr;
  ASSERT_EQ(api->stream_new(api, device, 0, &stream), 0) << TakeError();
  std::vector<float> values(1 << 18, 1.0F);
  void* buffer = Alloc(values.size() * sizeof(float));
  const KpMemory here = Host(values.data());
  const KpMemory there = At(buffer);
  ASSERT_EQ(api->copy(api, &here, &there, values.size() * sizeof(float), stream), 0) << TakeError();
  std::fill(values.begin(), values.end(), 2.0F);
  EXPECT_EQ(Download(buffer, values.size(), 0, stream), std::vector<float>(values.size(), 1.0F));
  Free(buffer);
  EXPECT_EQ(api->stream_free(api, device, stream), 0);
}

TEST_F(OpenclTest, AsyncCopiesGiveAnEvent) {
  std::vector<float> values = Counting(1 << 16);
  std::vector<float> back(values.size(), kPoison);
  void* buffer = Alloc(values.size() * sizeof(float));
  const KpMemory here = Host(values.data());
  const KpMemory there = At(buffer);
  const KpMemory result = Host(back.data());
  void* up = nullptr;
  void* down = nullptr;
  ASSERT_EQ(api->copy_async(api, &here, &there, values.size() * sizeof(float), nullptr, &up), 0) << TakeError();
  ASSERT_EQ(api->copy_async(api, &there, &result, values.size() * sizeof(float), nullptr, &down), 0) << TakeError();
  ASSERT_EQ(api->event_sync(api, device, down), 0) << TakeError();
  int32_t done = 0;
  ASSERT_EQ(api->event_query(api, device, up, &done), 0) << TakeError();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(back, values);
  EXPECT_EQ(api->event_free(api, device, up), 0);
  EXPECT_EQ(api->event_free(api, device, down), 0);
  Free(buffer);
}

TEST_F(OpenclTest, FillsBytes) {
  void* buffer = Upload(Counting(8));
  const KpMemory middle = At(buffer, 8);
  ASSERT_EQ(api->fill(api, &middle, 12, 0, nullptr), 0) << TakeError();
  EXPECT_EQ(Download(buffer, 8), (std::vector<float>{1, 2, 0, 0, 0, 6, 7, 8}));
  const KpMemory ones = At(buffer, 0);
  ASSERT_EQ(api->fill(api, &ones, 4, 0xFF, nullptr), 0) << TakeError();
  uint32_t bits = 0;
  const std::vector<float> first = Download(buffer, 1);
  std::memcpy(&bits, first.data(), 4);
  EXPECT_EQ(bits, 0xFFFFFFFFU);
  Free(buffer);
}

// A box in a place: strides in elements of 4 bytes, and the elements it spans.
struct Box {
  std::vector<int64_t> strides;
  int64_t first;
  int64_t span;
};

// Strides of a random layout of `shape`: dimensions in a random order, gaps between them, some reversed.
Box RandomBox(const std::vector<int64_t>& shape, std::mt19937* random) {
  Box box{std::vector<int64_t>(shape.size()), 0, 1};
  std::vector<size_t> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if ((*random)() % 3 == 0) std::shuffle(order.begin(), order.end(), *random);
  const int64_t innermost = (*random)() % 4 == 0 ? 2 : 1;
  int64_t stride = innermost;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    const bool reversed = (*random)() % 8 == 0;
    box.strides[d] = reversed ? -stride : stride;
    if (reversed) box.first += stride * (shape[d] - 1);
    box.span += stride * (shape[d] - 1);
    stride = stride * shape[d] + static_cast<int64_t>((*random)() % 3);
  }
  box.first += static_cast<int64_t>((*random)() % 5);
  box.span += 8;
  return box;
}

std::vector<int64_t> Offsets(const std::vector<int64_t>& shape, const Box& box) {
  std::vector<int64_t> offsets = {box.first};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<int64_t> wider;
    for (int64_t at : offsets) {
      for (int64_t i = 0; i < shape[d]; ++i) wider.push_back(at + i * box.strides[d]);
    }
    offsets = std::move(wider);
  }
  return offsets;
}

TEST_F(OpenclTest, StridedCopiesMatchAReference) {
  std::mt19937 random(7);
  int copied = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> shape(1 + random() % 4);
    for (int64_t& extent : shape) extent = 1 + static_cast<int64_t>(random() % 6);
    const Box from_box = RandomBox(shape, &random);
    const Box to_box = RandomBox(shape, &random);
    const std::vector<float> source = Counting(static_cast<size_t>(from_box.span));
    std::vector<float> expected(static_cast<size_t>(to_box.span), kPoison);
    std::vector<float> found = expected;
    const auto from_at = Offsets(shape, from_box);
    const auto to_at = Offsets(shape, to_box);
    for (size_t i = 0; i < from_at.size(); ++i) {
      expected[static_cast<size_t>(to_at[i])] = source[static_cast<size_t>(from_at[i])];
    }
    std::vector<int64_t> from_bytes = from_box.strides;
    std::vector<int64_t> to_bytes = to_box.strides;
    for (int64_t& stride : from_bytes) stride *= 4;
    for (int64_t& stride : to_bytes) stride *= 4;
    const KpStridedCopy box = {static_cast<int32_t>(shape.size()), 4, shape.data(), from_bytes.data(), to_bytes.data()};

    const int direction = round % 3;  // 0: to the device, 1: from it, 2: within it
    void* from_buffer = direction == 0 ? nullptr : Upload(source);
    void* to_buffer = direction == 1 ? nullptr : Upload(found);
    KpMemory from = from_buffer != nullptr ? At(from_buffer) : Host(source.data());
    KpMemory to = to_buffer != nullptr ? At(to_buffer) : Host(found.data());
    from.offset = static_cast<uint64_t>(from_box.first) * 4;
    to.offset = static_cast<uint64_t>(to_box.first) * 4;
    int32_t done = 0;
    ASSERT_EQ(api->copy_strided(api, &from, &to, &box, nullptr, &done), 0) << TakeError() << " in round " << round;
    if (to_buffer != nullptr) found = Download(to_buffer, found.size());
    if (done != 0) {
      EXPECT_EQ(found, expected) << "in round " << round;
    }
    copied += done;
    if (from_buffer != nullptr) Free(from_buffer);
    if (to_buffer != nullptr) Free(to_buffer);
  }
  EXPECT_GT(copied, 250);
}

TEST_F(OpenclTest, StridedCopiesWithinOneBuffer) {
  void* buffer = Upload(Counting(64));
  const int64_t shape[] = {2, 3};
  const int64_t from_strides[] = {16, 4};
  const int64_t to_strides[] = {12, 4};
  const KpStridedCopy box = {2, 4, shape, from_strides, to_strides};
  const KpMemory from = At(buffer, 0);
  const KpMemory to = At(buffer, 128);
  int32_t done = 0;
  ASSERT_EQ(api->copy_strided(api, &from, &to, &box, nullptr, &done), 0) << TakeError();
  ASSERT_EQ(done, 1);
  EXPECT_EQ(Download(buffer, 7, 128), (std::vector<float>{1, 2, 3, 5, 6, 7, 39}));
  Free(buffer);
}

TEST_F(OpenclTest, StridedCopiesStayInside) {
  void* buffer = Alloc(64);
  std::vector<float> values(64);
  const int64_t shape[] = {4, 4};
  const int64_t packed[] = {16, 4};
  const int64_t wide[] = {20, 4};
  const int64_t backwards[] = {-20, 4};
  const KpMemory here = Host(values.data());
  const KpMemory there = At(buffer, 16);
  int32_t done = 0;
  for (const int64_t* strides : {wide, backwards}) {
    const KpStridedCopy box = {2, 4, shape, packed, strides};
    const std::string refusal = Refusal(api->copy_strided(api, &here, &there, &box, nullptr, &done));
    EXPECT_EQ(refusal.find("ValueError: copy_strided: "), 0U) << refusal;
  }
  Free(buffer);
}

}  // namespace
}  // namespace kernpack_test
