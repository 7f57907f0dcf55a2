// Streams and events: order, waiting, the current stream of a thread.
#include <thread>

#include "support.h"

namespace kernpack_conformance {
namespace {

class StreamTest : public Conformance {
 protected:
  void* New() {
    void* stream = nullptr;
    EXPECT_EQ(api->stream_new(api, device, 0, &stream), 0) << TakeError();
    return stream;
  }
  void Free(void* stream) { EXPECT_EQ(api->stream_free(api, device, stream), 0) << TakeError(); }
};

TEST_F(StreamTest, OneQueueMeansTheDefaultStream) {
  void* stream = New();
  EXPECT_EQ(stream != nullptr, TheSubject().Has(KP_DEVICE_STREAMS));
  Free(stream);
  KP_OK(api->stream_sync(api, device, nullptr));
}

TEST_F(StreamTest, WorkOnOneStreamIsInOrder) {
  void* stream = New();
  Memory memory(1 << 16);
  for (int value = 0; value < 50; ++value) {
    const KpMemory all = memory.at();
    KP_OK(api->fill(api, &all, 1 << 16, value, stream));
  }
  EXPECT_EQ(Download(memory.at(), 1 << 16, stream), Bytes(1 << 16, 49));
  Free(stream);
}

TEST_F(StreamTest, AStreamWaitsForAnother) {
  void* first = New();
  void* second = New();
  constexpr size_t kSize = 1 << 20;
  Memory source(kSize);
  Memory target(kSize);
  const KpMemory from = source.at();
  const KpMemory to = target.at();
  for (int round = 0; round < 20; ++round) {
    KP_OK(api->fill(api, &from, kSize, round, first));
    KP_OK(api->stream_wait_stream(api, device, second, first));
    KP_OK(api->copy(api, &from, &to, kSize, second));
    KP_OK(api->stream_wait_stream(api, device, first, second));
  }
  EXPECT_EQ(Download(to, kSize, second), Bytes(kSize, 19));
  int32_t done = 0;
  KP_OK(api->stream_sync(api, device, first));
  KP_OK(api->stream_query(api, device, first, &done));
  EXPECT_EQ(done, 1);
  Free(first);
  Free(second);
}

TEST_F(StreamTest, WaitingManyTimesKeepsNothing) {
  void* first = New();
  void* second = New();
  for (int i = 0; i < 5000; ++i) {
    KP_OK(api->stream_wait_stream(api, device, i % 2 ? first : second, i % 2 ? second : first));
  }
  KP_OK(api->stream_sync(api, device, first));
  KP_OK(api->stream_sync(api, device, second));
  Free(first);
  Free(second);
}

TEST_F(StreamTest, AStreamMayGoWhileItsWorkIsQueued) {
  Memory memory(1 << 20);
  void* stream = New();
  const KpMemory all = memory.at();
  KP_OK(api->fill(api, &all, 1 << 20, 77, stream));
  void* event = nullptr;
  KP_OK(api->event_new(api, device, 0, &event));
  KP_OK(api->event_record(api, device, event, stream));
  Free(stream);
  KP_OK(api->event_sync(api, device, event));
  KP_OK(api->event_free(api, device, event));
  EXPECT_EQ(Download(all, 1 << 20), Bytes(1 << 20, 77));
}

TEST_F(StreamTest, EventsOrderStreams) {
  void* first = New();
  void* second = New();
  Memory memory(1 << 20);
  const KpMemory all = memory.at();
  void* event = nullptr;
  KP_OK(api->event_new(api, device, 0, &event));
  int32_t done = 0;
  KP_OK(api->event_query(api, device, event, &done));
  EXPECT_EQ(done, 1) << "an event that was never recorded is reached";
  KP_OK(api->event_sync(api, device, event));
  for (int round = 0; round < 10; ++round) {
    KP_OK(api->fill(api, &all, 1 << 20, round, first));
    KP_OK(api->event_record(api, device, event, first));
    KP_OK(api->event_wait(api, device, event, second));
    EXPECT_EQ(Download(memory.at(1000), 10, second), Bytes(10, static_cast<unsigned char>(round)));
    KP_OK(api->event_sync(api, device, event));
    KP_OK(api->event_query(api, device, event, &done));
    EXPECT_EQ(done, 1);
  }
  KP_OK(api->event_free(api, device, event));
  Free(first);
  Free(second);
}

TEST_F(StreamTest, EventsMeasureTime) {
  KP_NEEDS(KP_DEVICE_EVENTS);
  Memory memory(1 << 20);
  const KpMemory all = memory.at();
  void* begin = nullptr;
  void* end = nullptr;
  KP_OK(api->event_new(api, device, 1, &begin));
  KP_OK(api->event_new(api, device, 1, &end));
  KP_OK(api->event_record(api, device, begin, nullptr));
  for (int i = 0; i < 10; ++i) KP_OK(api->fill(api, &all, 1 << 20, i, nullptr));
  KP_OK(api->event_record(api, device, end, nullptr));
  KP_OK(api->event_sync(api, device, end));
  double milliseconds = -1;
  KP_OK(api->event_elapsed(api, device, begin, end, &milliseconds));
  EXPECT_GE(milliseconds, 0);
  EXPECT_LT(milliseconds, 60000);
  KP_OK(api->event_free(api, device, begin));
  KP_OK(api->event_free(api, device, end));
}

TEST_F(StreamTest, EachThreadHasACurrentStreamThatIsRestored) {
  int marker = 0;
  void* previous = &marker;
  KP_OK(kp_stream_set(device, &marker, &previous));
  EXPECT_EQ(previous, nullptr);
  EXPECT_EQ(kp_stream_get(device), &marker);
  EXPECT_EQ(kp_stream_get({device.device_type, device.device_id + 1}), nullptr);
  std::thread([&] { EXPECT_EQ(kp_stream_get(device), nullptr); }).join();
  KP_OK(kp_stream_set(device, previous, &previous));
  EXPECT_EQ(previous, &marker);
  EXPECT_EQ(kp_stream_get(device), nullptr);
}

TEST_F(StreamTest, WhatIsKeptForAStreamGoesWithIt) {
  KP_NEEDS(KP_DEVICE_STREAMS);
  void* stream = New();
  const KpHost* host = kp_host();
  const KpStorageKey key{kp_bytes("conformance"), kp_bytes("kept"), KP_SCOPE_STREAM, 0, device, stream};
  KpAny value = kp_none();
  value.type_index = KP_TYPE_INT;
  KP_OK(host->storage_set(host, &key, &value));
  void* workspace = nullptr;
  KP_OK(host->workspace(host, &key, 1000, KP_WORKSPACE_ZEROED, &workspace));
  Free(stream);
  int32_t found = 1;
  KP_OK(host->storage_get(host, &key, &value, &found));
  EXPECT_EQ(found, 0);
}

}  // namespace
}  // namespace kernpack_conformance
