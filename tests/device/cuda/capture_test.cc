// Streams that are being captured: what cannot be is refused before it breaks the capture, the rest goes on.
#include "support.h"

namespace kernpack::cuda {
namespace {

class Capture : public FakeDriver {
 protected:
  void SetUp() override {
    FakeDriver::SetUp();
    stream_ = NewStream();
    memory_ = Alloc(16);
    code_ = Load(Ptx("sm_80", {"kp_test_scale", "kp_test_add"}));
    kernel_ = GetKernel(code_, "kp_test_scale");
    event_ = nullptr;
    ASSERT_EQ(cuda_.event_new(&cuda_, Cuda(), 0, &event_), 0);
    Upload(memory_, {1, 2, 3, 4}, stream_);
    Sync(stream_);
  }
  void TearDown() override {
    EXPECT_EQ(cuda_.event_free(&cuda_, Cuda(), event_), 0);
    Unload(code_);
    Free(memory_);
    FreeStream(stream_);
    FakeDriver::TearDown();
  }
  // `refused` is called while the stream is captured in each mode, must fail with these words, and leave the capture whole.
  template <class F>
  void Refused(F refused, const char* words) {
    for (const int mode : {kCaptureModeGlobal, kCaptureModeThreadLocal, kCaptureModeRelaxed}) {
      ASSERT_EQ(kernpack_emulator_begin_capture(stream_, mode), 0);
      EXPECT_EQ(refused(), -1);
      const std::string error = TakeError();
      EXPECT_SAYS(error, "RuntimeError: cuda:0: the stream is being captured into a CUDA graph, so ");
      EXPECT_SAYS(error, words);
      EXPECT_EQ(kernpack_emulator_end_capture(stream_), kCaptureActive) << "the capture was broken";
    }
  }
  // Runs while a stream of another framework is captured in global mode.
  template <class F>
  void Works(F work) {
    ASSERT_EQ(kernpack_emulator_begin_capture(stream_, kCaptureModeGlobal), 0);
    EXPECT_EQ(work(), 0) << TakeError();
    EXPECT_EQ(kernpack_emulator_end_capture(stream_), kCaptureActive) << "the capture was broken";
  }

  void* stream_ = nullptr;
  void* memory_ = nullptr;
  void* code_ = nullptr;
  void* kernel_ = nullptr;
  void* event_ = nullptr;
};

TEST_F(Capture, KernelsAndCopiesOfTheDeviceAreCaptured) {
  void* other = Alloc(16);
  ASSERT_EQ(kernpack_emulator_begin_capture(stream_, kCaptureModeGlobal), 0);
  EXPECT_EQ(Scale(kernel_, memory_, 3, 4, stream_), 0) << TakeError();
  EXPECT_EQ(Copy(On(Cuda(), memory_), On(Cuda(), other), 16, stream_), 0) << TakeError();
  ASSERT_EQ(kernpack_emulator_end_capture(stream_), kCaptureActive);
  EXPECT_EQ(Download(memory_, 4, stream_)[0], 1.0F) << "it ran";
  kernpack_emulator_launch_graph(stream_);
  kernpack_emulator_launch_graph(stream_);
  EXPECT_EQ(Download(other, 4, stream_), (std::vector<float>{9, 18, 27, 36}));
  Free(other);
}

TEST_F(Capture, AllocationIsRefused) {
  void* handle = nullptr;
  Refused([&] { return cuda_.alloc_async(&cuda_, Cuda(), 16, 64, stream_, &handle); },
          "allocating memory is not possible; what the graph uses must be there before it");
}

TEST_F(Capture, ReleaseIsRefused) {
  void* handle = nullptr;
  ASSERT_EQ(cuda_.alloc_async(&cuda_, Cuda(), 16, 64, stream_, &handle), 0);
  Refused([&] { return cuda_.free_async(&cuda_, Cuda(), handle, stream_); }, "free it after the graph's last run");
  EXPECT_EQ(cuda_.free_async(&cuda_, Cuda(), handle, stream_), 0) << TakeError();
  Sync(stream_);
}

TEST_F(Capture, CopiesOfHostMemory) {
  std::vector<float> host(4);
  Refused([&] { return Copy(Host(host.data()), On(Cuda(), memory_), 16, stream_); }, "a copy from or to host memory");
  Refused([&] { return Copy(On(Cuda(), memory_), Host(host.data()), 16, stream_); },
          "with copy_async from pinned memory");
  const int64_t shape[] = {2, 1};
  const int64_t strides[] = {8, 4};
  const KpStridedCopy box{2, 4, shape, strides, strides};
  const KpMemory from = Host(host.data());
  const KpMemory to = On(Cuda(), memory_);
  int32_t done = 0;
  Refused([&] { return cuda_.copy_strided(&cuda_, &from, &to, &box, stream_, &done); },
          "a copy from or to host memory");
}

TEST_F(Capture, WaitingIsRefused) {
  int32_t done = 0;
  Refused([&] { return cuda_.stream_sync(&cuda_, Cuda(), stream_); }, "waiting for it is not possible");
  Refused([&] { return cuda_.stream_query(&cuda_, Cuda(), stream_, &done); }, "asking whether it is done");
  Refused([&] { return cuda_.stream_free(&cuda_, Cuda(), stream_); }, "freeing it is not possible");
}

TEST_F(Capture, ABrokenOneIsNamed) {
  ASSERT_EQ(kernpack_emulator_begin_capture(stream_, kCaptureModeGlobal), 0);
  const KpMemory to = On(Cuda(), memory_);
  kernpack_emulator_fail("cuThreadExchangeStreamCaptureMode", kUnknown, 0,
                         2);  // so that the allocation is one that breaks it
  void* handle = nullptr;
  EXPECT_EQ(cuda_.alloc(&cuda_, Cuda(), 16, 64, B(""), &handle), -1);
  EXPECT_SAYS(TakeError(), "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900)");
  EXPECT_EQ(cuda_.stream_sync(&cuda_, Cuda(), stream_), -1);
  EXPECT_SAYS(TakeError(), "the stream is in a capture that an earlier call invalidated");
  EXPECT_EQ(cuda_.fill(&cuda_, &to, 16, 0, stream_), -1);
  EXPECT_SAYS(TakeError(), "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
  EXPECT_EQ(kernpack_emulator_end_capture(stream_), kCaptureInvalidated);
}

TEST_F(Capture, AnEventOfACaptureCannotBeWaitedFor) {
  ASSERT_EQ(kernpack_emulator_begin_capture(stream_, kCaptureModeGlobal), 0);
  EXPECT_EQ(cuda_.event_record(&cuda_, Cuda(), event_, stream_), 0);
  EXPECT_EQ(cuda_.event_sync(&cuda_, Cuda(), event_), -1);
  EXPECT_SAYS(TakeError(), "CUDA_ERROR_CAPTURED_EVENT");
  EXPECT_EQ(kernpack_emulator_end_capture(stream_), kCaptureActive);
}

// torch captures in global mode while other threads and streams go about their work.
TEST_F(Capture, OtherWorkGoesOn) {
  void* other = NewStream();
  void* handle = nullptr;
  Works([&] { return cuda_.alloc(&cuda_, Cuda(), 16, 64, B(""), &handle); });
  Works([&] { return cuda_.free(&cuda_, Cuda(), handle); });
  Works([&] { return cuda_.alloc_async(&cuda_, Cuda(), 16, 64, other, &handle); });
  Works([&] { return cuda_.free_async(&cuda_, Cuda(), handle, other); });
  Works([&] { return cuda_.event_record(&cuda_, Cuda(), event_, other); });
  int32_t done = 0;
  Works([&] { return cuda_.event_query(&cuda_, Cuda(), event_, &done); });
  Works([&] { return cuda_.event_sync(&cuda_, Cuda(), event_); });
  Works([&] { return cuda_.stream_sync(&cuda_, Cuda(), other); });
  void* code = nullptr;
  const std::string ptx = Ptx("sm_80", {"kp_test_add"});
  Works([&] { return cuda_.load_code(&cuda_, Cuda(), B(ptx), B("ptx"), B(""), &code); });
  Works([&] { return cuda_.unload_code(&cuda_, Cuda(), code); });
  Works([&] { return pinned_.alloc(&pinned_, {KP_DEVICE_CUDA_HOST, 0}, 16, 64, B(""), &handle); });
  Works([&] { return pinned_.free(&pinned_, {KP_DEVICE_CUDA_HOST, 0}, handle); });
  FreeStream(other);
}

// The legacy default stream would have to wait for the captured one.
TEST_F(Capture, TheDefaultStreamBesideABlockingOne) {
  void* blocking = kernpack_emulator_blocking_stream(0);
  ASSERT_EQ(kernpack_emulator_begin_capture(blocking, kCaptureModeGlobal), 0);
  EXPECT_EQ(cuda_.stream_sync(&cuda_, Cuda(), nullptr), -1);
  EXPECT_SAYS(TakeError(), "a stream that waits for the default stream is being captured");
  EXPECT_EQ(kernpack_emulator_end_capture(blocking), kCaptureActive) << "the capture was broken";
  EXPECT_EQ(cuda_.stream_free(&cuda_, Cuda(), blocking), 0);
}

TEST_F(Capture, AStreamThatWaitsJoins) {
  void* other = NewStream();
  ASSERT_EQ(kernpack_emulator_begin_capture(stream_, kCaptureModeGlobal), 0);
  EXPECT_EQ(cuda_.stream_wait_stream(&cuda_, Cuda(), other, stream_), 0) << TakeError();
  EXPECT_EQ(kernpack_emulator_end_capture(stream_), kCaptureActive);
  EXPECT_EQ(kernpack_emulator_end_capture(other), kCaptureActive);
  FreeStream(other);
}

}  // namespace
}  // namespace kernpack::cuda
