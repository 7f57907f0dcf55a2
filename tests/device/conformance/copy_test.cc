// Copies: sizes, offsets, every pair of devices, strides.
#include <numeric>

#include "support.h"

namespace kernpack_conformance {
namespace {

class CopyTest : public Conformance {};

TEST_F(CopyTest, ThereAndBackGivesTheSameBytes) {
  for (const size_t size : {1u, 3u, 64u, 4095u, 4096u, 4097u, 65536u, (1u << 20) + 7u}) {
    SCOPED_TRACE(size);
    Memory memory(size);
    Upload(Pattern(size, 3), memory.at());
    EXPECT_EQ(Download(memory.at(), size), Pattern(size, 3));
  }
}

TEST_F(CopyTest, FollowsOffsetsOnBothSides) {
  Memory memory(1 << 16);
  const Bytes source = Pattern(1 << 16);
  Upload(source, memory.at());
  for (const uint64_t offset : {1u, 7u, 100u, 128u, 4099u}) {
    SCOPED_TRACE(offset);
    Bytes wanted(source.begin() + static_cast<ptrdiff_t>(offset),
                 source.begin() + static_cast<ptrdiff_t>(offset) + 555);
    EXPECT_EQ(Download(memory.at(offset), 555), wanted);
    Bytes target(600, 0);
    const KpMemory from = memory.at(offset);
    const KpMemory to = OnHost(target.data(), 45);
    KP_OK(api->copy(api, &from, &to, 555, nullptr));
    EXPECT_EQ(Bytes(target.begin() + 45, target.end()), wanted);
    EXPECT_EQ(Bytes(target.begin(), target.begin() + 45), Bytes(45, 0));
  }
}

TEST_F(CopyTest, ArrivesWithinTheDevice) {
  Memory first(10000);
  Memory second(10000);
  Upload(Pattern(10000, 1), first.at());
  Upload(Pattern(10000, 2), second.at());
  const KpMemory from = first.at(123);
  const KpMemory to = second.at(4567);
  KP_OK(api->copy(api, &from, &to, 3210, nullptr));
  Bytes wanted = Pattern(10000, 2);
  const Bytes source = Pattern(10000, 1);
  std::copy(source.begin() + 123, source.begin() + 123 + 3210, wanted.begin() + 4567);
  EXPECT_EQ(Download(second.at(), 10000), wanted);
  EXPECT_EQ(Download(first.at(), 10000), source);
  const KpMemory here = first.at(0);
  const KpMemory there = first.at(5000);
  KP_OK(api->copy(api, &here, &there, 5000, nullptr));
  EXPECT_EQ(Download(there, 5000), Bytes(source.begin(), source.begin() + 5000));
}

TEST_F(CopyTest, HostMemoryIsFreeForReuseOnReturn) {
  constexpr size_t kSize = 1 << 20;
  Memory memory(kSize);
  Bytes source = Pattern(kSize, 4);
  const KpMemory from = OnHost(source.data());
  const KpMemory to = memory.at();
  KP_OK(api->copy(api, &from, &to, kSize, nullptr));
  std::fill(source.begin(), source.end(), static_cast<unsigned char>(0));
  EXPECT_EQ(Download(memory.at(), kSize), Pattern(kSize, 4));
}

KpDLTensor Tensor(void* data, KpDLDevice where, std::vector<int64_t>& shape, int64_t* strides, uint64_t offset = 0) {
  return {data, where, static_cast<int32_t>(shape.size()), {KP_DTYPE_INT, 32, 1}, shape.data(), strides, offset};
}

TEST_F(CopyTest, ArrivesBetweenEveryPairOfDevices) {
  const std::vector<Place> places = AllPlaces();
  constexpr size_t kSize = 40000;
  std::vector<int64_t> shape{kSize / 4};
  for (const Place& from : places) {
    for (const Place& to : places) {
      SCOPED_TRACE(std::string(kp_device_type_name(from.device.device_type)) + ":" +
                   std::to_string(from.device.device_id) + " to " + kp_device_type_name(to.device.device_type) + ":" +
                   std::to_string(to.device.device_id));
      Memory source(from, kSize);
      Memory target(to, kSize);
      Bytes data = Pattern(kSize, 9);
      Bytes back(kSize);
      const KpDLTensor host_from = Tensor(data.data(), kHost, shape, nullptr);
      const KpDLTensor host_to = Tensor(back.data(), kHost, shape, nullptr);
      const KpDLTensor first = Tensor(source.handle(), from.device, shape, nullptr);
      const KpDLTensor second = Tensor(target.handle(), to.device, shape, nullptr);
      KP_OK(kp_copy(&host_from, &first));
      KP_OK(kp_copy(&first, &second));
      KP_OK(kp_copy(&second, &host_to));
      EXPECT_EQ(back, data);
    }
  }
}

// Copies view by view, device to host, host to device and within the device, and compares with what indices say.
struct View {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t first;  // element
};

std::vector<int32_t> Read(const View& view, const std::vector<int32_t>& data) {
  std::vector<int32_t> elements;
  std::vector<int64_t> at(view.shape.size(), 0);
  while (true) {
    int64_t index = view.first;
    for (size_t i = 0; i < at.size(); ++i) index += at[i] * view.strides[i];
    elements.push_back(data[static_cast<size_t>(index)]);
    size_t i = at.size();
    while (i > 0 && ++at[i - 1] == view.shape[i - 1]) at[--i] = 0;
    if (i == 0) return elements;
  }
}

TEST_F(CopyTest, StridedViewsKeepTheirElements) {
  constexpr size_t kCount = 6 * 10 * 14;
  std::vector<int32_t> data(kCount);
  std::iota(data.begin(), data.end(), 1000);
  const View views[] = {
      {{6, 10, 14}, {140, 14, 1}, 0},  // all of it
      {{4, 10, 14}, {140, 14, 1}, 140},  // a run from the middle
      {{6, 10, 5}, {140, 14, 1}, 3},   // columns
      {{6, 5, 14}, {140, 28, 1}, 14},  // every other row
      {{14, 10, 6}, {1, 14, 140}, 0},  // transposed
      {{6, 10, 7}, {140, 14, 2}, 1},   // every other element
      {{6, 10, 14}, {-140, 14, 1}, 700},  // backwards
      {{3, 1, 2, 5}, {280, 999, 14, 2}, 30},  // four dimensions, one of a single element
  };
  Memory memory(kCount * 4);
  std::vector<int64_t> all{static_cast<int64_t>(kCount)};
  const KpDLTensor whole_host = Tensor(data.data(), kHost, all, nullptr);
  const KpDLTensor whole_device = Tensor(memory.handle(), device, all, nullptr);
  for (const View& view : views) {
    SCOPED_TRACE(&view - views);
    std::vector<int64_t> shape = view.shape;
    std::vector<int64_t> strides = view.strides;
    const std::vector<int32_t> wanted = Read(view, data);
    const auto start = static_cast<uint64_t>(view.first) * 4;
    KP_OK(kp_copy(&whole_host, &whole_device));
    const KpDLTensor on_device = Tensor(memory.handle(), device, shape, strides.data(), start);

    std::vector<int32_t> got(wanted.size());
    const KpDLTensor packed = Tensor(got.data(), kHost, shape, nullptr);
    KP_OK(kp_copy(&on_device, &packed));
    EXPECT_EQ(got, wanted) << "device to host";

    Memory other(wanted.size() * 4);
    const KpDLTensor packed_device = Tensor(other.handle(), device, shape, nullptr);
    KP_OK(kp_copy(&on_device, &packed_device));
    std::fill(got.begin(), got.end(), 0);
    KP_OK(kp_copy(&packed_device, &packed));
    EXPECT_EQ(got, wanted) << "within the device";

    std::vector<int32_t> cleared(kCount, -1);
    const KpDLTensor cleared_host = Tensor(cleared.data(), kHost, all, nullptr);
    KP_OK(kp_copy(&cleared_host, &whole_device));
    KP_OK(kp_copy(&packed, &on_device));
    KP_OK(kp_copy(&whole_device, &cleared_host));
    EXPECT_EQ(Read(view, cleared), wanted) << "host to device";
    const size_t untouched = static_cast<size_t>(std::count(cleared.begin(), cleared.end(), -1));
    EXPECT_EQ(untouched, kCount - wanted.size()) << "elements outside the view were written";

    const KpDLTensor strided_host = Tensor(data.data(), kHost, shape, strides.data(), start);
    KP_OK(kp_copy(&cleared_host, &whole_device));
    KP_OK(kp_copy(&strided_host, &packed_device));
    std::fill(got.begin(), got.end(), 0);
    KP_OK(kp_copy(&packed_device, &packed));
    EXPECT_EQ(got, wanted) << "a view of the host's to the device";
  }
}

TEST_F(CopyTest, OverlappingViewsOfOneTensorAreCopiedAsIfApart) {
  std::vector<int32_t> data(100);
  std::iota(data.begin(), data.end(), 0);
  Memory memory(400);
  std::vector<int64_t> all{100};
  std::vector<int64_t> part{90};
  const KpDLTensor host = Tensor(data.data(), kHost, all, nullptr);
  const KpDLTensor whole = Tensor(memory.handle(), device, all, nullptr);
  KP_OK(kp_copy(&host, &whole));
  const KpDLTensor low = Tensor(memory.handle(), device, part, nullptr);
  const KpDLTensor high = Tensor(memory.handle(), device, part, nullptr, 40);
  KP_OK(kp_copy(&low, &high));
  KP_OK(kp_copy(&whole, &host));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(data[static_cast<size_t>(i)], i < 10 ? i : i - 10);
}

TEST_F(CopyTest, NothingIsCopiedBetweenEmptyTensors) {
  for (const Place& from : AllPlaces()) {
    Memory empty(from, 0);
    Memory here(0);
    std::vector<int64_t> shape{3, 0};
    const KpDLTensor source = Tensor(empty.handle(), from.device, shape, nullptr);
    const KpDLTensor target = Tensor(here.handle(), device, shape, nullptr);
    const KpDLTensor nowhere = Tensor(nullptr, device, shape, nullptr);
    EXPECT_EQ(kp_copy(&source, &target), 0) << TakeError();
    EXPECT_EQ(kp_copy(&source, &nowhere), 0) << TakeError();
  }
}

TEST_F(CopyTest, AnEventTellsWhenAnAsynchronousCopyIsDone) {
  constexpr size_t kSize = 1 << 20;
  Memory memory(kSize);
  const Bytes source = Pattern(kSize, 5);
  const KpMemory from = OnHost(source.data());
  const KpMemory to = memory.at();
  void* event = nullptr;
  KP_OK(api->copy_async(api, &from, &to, kSize, nullptr, &event));
  KP_OK(api->event_sync(api, device, event));
  KP_OK(api->event_free(api, device, event));
  Bytes back(kSize);
  const KpMemory target = OnHost(back.data());
  KP_OK(api->copy_async(api, &to, &target, kSize, nullptr, &event));
  KP_OK(api->event_sync(api, device, event));
  KP_OK(api->event_free(api, device, event));
  EXPECT_EQ(back, source);
  KP_OK(api->copy_async(api, &to, &target, 0, nullptr, &event));
  KP_OK(api->event_sync(api, device, event));
  KP_OK(api->event_free(api, device, event));
}

}  // namespace
}  // namespace kernpack_conformance
