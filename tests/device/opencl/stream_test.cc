// Streams and events of OpenCL devices.
#include <thread>

#include "fixture.h"

namespace kernpack_test {
namespace {

class OpenclStreamTest : public OpenclTest {
 protected:
  void* Stream() {
    void* stream = nullptr;
    EXPECT_EQ(api->stream_new(api, device, 0, &stream), 0) << TakeError();
    return stream;
  }
  void FreeStream(void* stream) { EXPECT_EQ(api->stream_free(api, device, stream), 0) << TakeError(); }
  void* Event(int32_t timing = 0) {
    void* event = nullptr;
    EXPECT_EQ(api->event_new(api, device, timing, &event), 0) << TakeError();
    return event;
  }
  void FreeEvent(void* event) { EXPECT_EQ(api->event_free(api, device, event), 0) << TakeError(); }
  bool Idle(void* stream) {
    int32_t done = -1;
    EXPECT_EQ(api->stream_query(api, device, stream, &done), 0) << TakeError();
    return done == 1;
  }
  bool Reached(void* event) {
    int32_t done = -1;
    EXPECT_EQ(api->event_query(api, device, event, &done), 0) << TakeError();
    return done == 1;
  }
};

// Work long enough (some milliseconds) for a missing wait to show.
constexpr char kSlowSource[] = R"(
__kernel void slow(__global float* y, ulong y0, int steps) {
  float v = 0;
  for (int i = 0; i < steps; ++i) v = v * 0.5f + 1.0f;
  y[y0] = v;
}
__kernel void twice(__global float* y, ulong y0, __global const float* x, ulong x0) { y[y0] = 2 * x[x0]; }
)";

TEST_F(OpenclStreamTest, LaterWorkWaitsForAnotherStream) {
  void* code = LoadSource(kSlowSource);
  void* x = Upload({0});
  void* y = Upload({0});
  void* first = Stream();
  void* second = Stream();
  const int steps = 2'000'000;
  for (int round = 0; round < 5; ++round) {
    const KpMemory clear = At(x);
    ASSERT_EQ(api->fill(api, &clear, 4, 0, first), 0) << TakeError();
    ASSERT_EQ(Launch(Kernel(code, "slow"), 1, 1, {MemoryArg(x), ValueArg(steps)}, first), 0) << TakeError();
    ASSERT_EQ(api->stream_wait_stream(api, device, second, first), 0) << TakeError();
    ASSERT_EQ(Launch(Kernel(code, "twice"), 1, 1, {MemoryArg(y), MemoryArg(x)}, second), 0) << TakeError();
    EXPECT_EQ(Download(y, 1, 0, second), std::vector<float>{4});
  }
  EXPECT_EQ(api->stream_wait_stream(api, device, first, first), 0);
  FreeStream(first);
  FreeStream(second);
  Free(x);
  Free(y);
  Unload(code);
}

TEST_F(OpenclStreamTest, EventsOrderStreamsAndTheHost) {
  void* code = LoadSource(kSlowSource);
  void* x = Upload({0});
  void* y = Upload({0});
  void* stream = Stream();
  void* event = Event();
  EXPECT_TRUE(Reached(event)) << "never recorded";
  EXPECT_EQ(api->event_wait(api, device, event, stream), 0);
  EXPECT_EQ(api->event_sync(api, device, event), 0);
  const int steps = 2'000'000;
  ASSERT_EQ(Launch(Kernel(code, "slow"), 1, 1, {MemoryArg(x), ValueArg(steps)}), 0) << TakeError();
  ASSERT_EQ(api->event_record(api, device, event, nullptr), 0) << TakeError();
  ASSERT_EQ(api->event_wait(api, device, event, stream), 0) << TakeError();
  ASSERT_EQ(Launch(Kernel(code, "twice"), 1, 1, {MemoryArg(y), MemoryArg(x)}, stream), 0) << TakeError();
  EXPECT_EQ(Download(y, 1, 0, stream), std::vector<float>{4});
  EXPECT_EQ(api->event_sync(api, device, event), 0) << TakeError();
  EXPECT_TRUE(Reached(event));
  FreeEvent(event);
  FreeStream(stream);
  Free(x);
  Free(y);
  Unload(code);
}

TEST_F(OpenclStreamTest, IsIdleWhenItsWorkIsDone) {
  void* code = LoadSource(kSlowSource);
  void* x = Upload({0});
  void* stream = Stream();
  EXPECT_TRUE(Idle(stream));
  const int steps = 20'000'000;
  ASSERT_EQ(Launch(Kernel(code, "slow"), 1, 1, {MemoryArg(x), ValueArg(steps)}, stream), 0) << TakeError();
  EXPECT_FALSE(Idle(stream));
  ASSERT_EQ(api->stream_sync(api, device, stream), 0) << TakeError();
  EXPECT_TRUE(Idle(stream));
  ASSERT_EQ(Launch(Kernel(code, "slow"), 1, 1, {MemoryArg(x), ValueArg(steps)}, stream), 0) << TakeError();
  while (!Idle(stream)) std::this_thread::yield();
  Download(x, 1, 0, stream);
  EXPECT_TRUE(Idle(stream)) << "a copy to the host returned: all before it is done";
  FreeStream(stream);
  Free(x);
  Unload(code);
}

TEST_F(OpenclStreamTest, EventsMeasureTime) {
  void* code = LoadSource(kSlowSource);
  void* x = Upload({0});
  void* begin = Event(1);
  void* end = Event(1);
  double milliseconds = -1;
  EXPECT_NE(Refusal(api->event_elapsed(api, device, begin, end, &milliseconds)).find("was never recorded"),
            std::string::npos);
  const int steps = 10'000'000;
  ASSERT_EQ(api->event_record(api, device, begin, nullptr), 0) << TakeError();
  ASSERT_EQ(Launch(Kernel(code, "slow"), 1, 1, {MemoryArg(x), ValueArg(steps)}), 0) << TakeError();
  ASSERT_EQ(api->event_record(api, device, end, nullptr), 0) << TakeError();
  EXPECT_NE(Refusal(api->event_elapsed(api, device, begin, end, &milliseconds)).find("is not reached yet"),
            std::string::npos);
  ASSERT_EQ(api->event_sync(api, device, end), 0) << TakeError();
  ASSERT_EQ(api->event_elapsed(api, device, begin, end, &milliseconds), 0) << TakeError();
  EXPECT_GT(milliseconds, 1.0);
  void* untimed = Event(0);
  EXPECT_NE(Refusal(api->event_elapsed(api, device, untimed, end, &milliseconds)).find("was made without timing"),
            std::string::npos);
  FreeEvent(begin);
  FreeEvent(end);
  FreeEvent(untimed);
  Free(x);
  Unload(code);
}

TEST_F(OpenclStreamTest, FreedHandlesAreRefused) {
  void* stream = Stream();
  void* event = Event();
  FreeStream(stream);
  FreeEvent(event);
  int32_t done = 0;
  EXPECT_NE(Refusal(api->stream_sync(api, device, stream)).find("no stream of opencl:"), std::string::npos);
  EXPECT_NE(Refusal(api->stream_free(api, device, stream)).find("no stream of opencl:"), std::string::npos);
  EXPECT_NE(Refusal(api->event_query(api, device, event, &done)).find("no event of opencl:"), std::string::npos);
  EXPECT_NE(Refusal(api->event_free(api, device, event)).find("it was freed, or belongs"), std::string::npos);
}

TEST_F(OpenclStreamTest, MayBeFreedWithWorkQueued) {
  void* code = LoadSource(kSlowSource);
  void* x = Upload({0});
  void* stream = Stream();
  void* event = Event();
  const int steps = 1'000'000;
  ASSERT_EQ(Launch(Kernel(code, "slow"), 1, 1, {MemoryArg(x), ValueArg(steps)}, stream), 0) << TakeError();
  ASSERT_EQ(api->event_record(api, device, event, stream), 0) << TakeError();
  FreeStream(stream);
  ASSERT_EQ(api->event_wait(api, device, event, nullptr), 0) << TakeError();
  EXPECT_EQ(Download(x, 1), std::vector<float>{2});
  FreeEvent(event);
  Free(x);
  Unload(code);
}

TEST_F(OpenclStreamTest, ThreadsShareADevice) {
  void* code = LoadSource(kScaleSource);
  const auto work = [&](int thread) {
    void* stream = Stream();
    const std::vector<float> values = Counting(1000);
    void* x = Upload(values);
    void* y = Alloc(4000);
    for (int round = 0; round < 50; ++round) {
      const auto a = static_cast<float>(thread * 100 + round);
      const int n = 1000;
      ASSERT_EQ(Launch(Kernel(code, "scale"), 1000, 0, {MemoryArg(y), MemoryArg(x), ValueArg(a), ValueArg(n)}, stream),
                0)
          << TakeError();
      ASSERT_EQ(Download(y, 1000, 0, stream).back(), a * 1000);
    }
    Free(x);
    Free(y);
    FreeStream(stream);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  Unload(code);
}

}  // namespace
}  // namespace kernpack_test
