// Streams and events: order, the default stream, times, what is freed while in use.
#include "support.h"

namespace kernpack::cuda {
namespace {

class Streams : public FakeDriver {
 protected:
  void* NewEvent(bool timing = false) {
    void* event = nullptr;
    EXPECT_EQ(cuda_.event_new(&cuda_, Cuda(), timing, &event), 0) << TakeError();
    return event;
  }
  void FreeEvent(void* event) { EXPECT_EQ(cuda_.event_free(&cuda_, Cuda(), event), 0) << TakeError(); }
  int Fill(void* handle, uint64_t bytes, int value, void* stream) {
    const KpMemory memory = On(Cuda(), handle);
    return cuda_.fill(&cuda_, &memory, bytes, value, stream);
  }
};

TEST_F(Streams, NothingRunsBeforeItIsWaitedFor) {
  void* stream = NewStream();
  void* memory = Alloc(16);
  ASSERT_EQ(Fill(memory, 16, 0, stream), 0);
  int32_t done = 1;
  EXPECT_EQ(cuda_.stream_query(&cuda_, Cuda(), stream, &done), 0);
  EXPECT_EQ(done, 0);
  Sync(stream);
  EXPECT_EQ(cuda_.stream_query(&cuda_, Cuda(), stream, &done), 0);
  EXPECT_EQ(done, 1);
  FreeStream(stream);
  Free(memory);
}

// Ours do not wait for the default stream, and it does not wait for them.
TEST_F(Streams, AreIndependentOfTheDefaultStream) {
  void* stream = NewStream();
  void* memory = Alloc(16);
  ASSERT_EQ(Fill(memory, 16, 0, stream), 0);
  Sync(nullptr);
  EXPECT_EQ(kernpack_emulator_live("work"), 1);
  FreeStream(stream);
  Free(memory);
}

// Work on a stream that another framework made waits for the default stream, as CUDA's legacy rule has it.
TEST_F(Streams, BlockingOnesWaitForTheDefaultStream) {
  void* memory = Alloc(16);
  void* blocking = kernpack_emulator_blocking_stream(0);
  ASSERT_EQ(Fill(memory, 16, 0, blocking), 0);
  EXPECT_EQ(Download(memory, 4), std::vector<float>(4, 0.0F));
  EXPECT_EQ(kernpack_emulator_live("work"), 0);
  FreeStream(blocking);
  Free(memory);
}

TEST_F(Streams, OneWaitsForAnother) {
  void* first = NewStream();
  void* second = NewStream();
  void* a = Alloc(16);
  void* b = Alloc(16);
  Upload(a, {1, 2, 3, 4}, first);
  ASSERT_EQ(cuda_.stream_wait_stream(&cuda_, Cuda(), second, first), 0) << TakeError();
  ASSERT_EQ(Copy(On(Cuda(), a), On(Cuda(), b), 16, second), 0);
  EXPECT_GE(kernpack_emulator_live("work"), 3) << "the host waited";
  EXPECT_EQ(Download(b, 4, second), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(cuda_.stream_wait_stream(&cuda_, Cuda(), second, second), 0);
  FreeStream(first);
  FreeStream(second);
  Free(a);
  Free(b);
}

// The fixture counts what leaks.
TEST_F(Streams, AFailedWaitLeavesNoEvent) {
  void* stream = NewStream();
  for (const char* entry : {"cuEventCreate", "cuEventRecord", "cuStreamWaitEvent"}) {
    kernpack_emulator_fail(entry, kUnknown, 0, 1);
    EXPECT_EQ(cuda_.stream_wait_stream(&cuda_, Cuda(), stream, nullptr), -1);
    EXPECT_SAYS(TakeError(), entry);
    EXPECT_EQ(kernpack_emulator_live("events"), 0);
  }
  FreeStream(stream);
}

TEST_F(Streams, MayBeFreedWithWorkQueued) {
  void* stream = NewStream();
  void* memory = Alloc(16);
  ASSERT_EQ(Fill(memory, 16, 0, stream), 0);
  FreeStream(stream);
  Free(memory);  // waits for it
  EXPECT_EQ(kernpack_emulator_live("work"), 0);
}

TEST_F(Streams, UsedAfterTheyWereFreedAreRefused) {
  void* stream = NewStream();
  FreeStream(stream);
  EXPECT_EQ(cuda_.stream_sync(&cuda_, Cuda(), stream), -1);
  EXPECT_SAYS(TakeError(), "check that the stream or event belongs to this device and was not freed");
  FreeStream(nullptr);
  // A GPU's driver would have crashed: who overlooks the first error meets it again.
  EXPECT_EQ(cuda_.stream_sync(&cuda_, Cuda(), nullptr), -1);
  EXPECT_SAYS(TakeError(), "CUDA_ERROR_INVALID_HANDLE");
}

TEST_F(Streams, EventsAreReachedWhenTheirStreamGotThere) {
  void* stream = NewStream();
  void* event = NewEvent();
  int32_t done = 0;
  EXPECT_EQ(cuda_.event_query(&cuda_, Cuda(), event, &done), 0);
  EXPECT_EQ(done, 1) << "never recorded is reached";
  void* memory = Alloc(16);
  ASSERT_EQ(Fill(memory, 16, 0, stream), 0);
  EXPECT_EQ(cuda_.event_record(&cuda_, Cuda(), event, stream), 0);
  EXPECT_EQ(cuda_.event_query(&cuda_, Cuda(), event, &done), 0);
  EXPECT_EQ(done, 0);
  EXPECT_EQ(cuda_.event_wait(&cuda_, Cuda(), event, nullptr), 0);
  EXPECT_EQ(cuda_.event_sync(&cuda_, Cuda(), event), 0);
  EXPECT_EQ(cuda_.event_query(&cuda_, Cuda(), event, &done), 0);
  EXPECT_EQ(done, 1);
  FreeEvent(event);
  FreeEvent(nullptr);
  FreeStream(stream);
  Free(memory);
}

TEST_F(Streams, TimesNeedTiming) {
  void* begin = NewEvent(true);
  void* end = NewEvent(true);
  void* plain = NewEvent();
  double milliseconds = -1;
  EXPECT_EQ(cuda_.event_elapsed(&cuda_, Cuda(), begin, end, &milliseconds), -1);
  EXPECT_SAYS(TakeError(), "which must have been made with timing, recorded and reached");
  for (void* event : {begin, end, plain}) EXPECT_EQ(cuda_.event_record(&cuda_, Cuda(), event, nullptr), 0);
  EXPECT_EQ(cuda_.event_elapsed(&cuda_, Cuda(), begin, end, &milliseconds), -1);
  EXPECT_SAYS(TakeError(), "CUDA_ERROR_NOT_READY");
  Sync();
  EXPECT_EQ(cuda_.event_elapsed(&cuda_, Cuda(), begin, end, &milliseconds), 0) << TakeError();
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cuda_.event_elapsed(&cuda_, Cuda(), begin, plain, &milliseconds), -1);
  EXPECT_SAYS(TakeError(), "made with timing");
  for (void* event : {begin, end, plain}) FreeEvent(event);
}

TEST_F(Streams, AnEventOfAnotherDeviceIsRefused) {
  void* event = NewEvent();
  void* stream = NewStream(1);
  EXPECT_EQ(cuda_.event_record(&cuda_, Cuda(1), event, stream), -1);
  EXPECT_SAYS(TakeError(), "RuntimeError: cuda:1: cuEventRecord failed with CUDA_ERROR_INVALID_HANDLE");
  FreeStream(stream, 1);
  FreeEvent(event);
}

}  // namespace
}  // namespace kernpack::cuda
