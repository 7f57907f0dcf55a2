// The device fails: sticky errors are named as such, and what is freed after them is neither a crash nor an error.
#include "backends/cuda/error.h"
#include "support.h"

namespace kernpack::cuda {
namespace {

class Faults : public FakeDriver {
 protected:
  // Everything that may be freed, made before the fault.
  struct Things {
    void* memory;
    void* managed;
    void* pinned;
    void* pooled;
    void* stream;
    void* event;
    void* code;
    void* kernel;
  };
  Things Make() {
    Things things{};
    things.memory = Alloc(16);
    things.managed = Alloc(16, Cuda(), "managed");
    things.pinned = Alloc(16, Cuda(), "host");
    things.stream = NewStream();
    EXPECT_EQ(cuda_.alloc_async(&cuda_, Cuda(), 16, 64, things.stream, &things.pooled), 0);
    EXPECT_EQ(cuda_.event_new(&cuda_, Cuda(), 0, &things.event), 0);
    things.code = Load(Ptx("sm_80", {"kp_test_scale"}));
    things.kernel = GetKernel(things.code, "kp_test_scale");
    return things;
  }
  void FreeAll(const Things& things) {
    Free(things.memory);
    Free(things.managed);
    Free(things.pinned);
    EXPECT_EQ(cuda_.free_async(&cuda_, Cuda(), things.pooled, things.stream), 0) << TakeError();
    EXPECT_EQ(cuda_.event_free(&cuda_, Cuda(), things.event), 0) << TakeError();
    Unload(things.code);
    FreeStream(things.stream);
  }
  // The context took what was in it along: the fake's books are of no interest.
  void Forget() { kernpack_emulator_reset(); }
};

TEST_F(Faults, AKernelThatWritesOutsideIsSticky) {
  const Things things = Make();
  void* stream = NewStream();
  void* freed = Alloc(16);
  Free(freed);
  ASSERT_EQ(Scale(things.kernel, freed, 2, 4, stream), 0) << "the fault comes later";
  EXPECT_EQ(cuda_.stream_sync(&cuda_, Cuda(), stream), -1);
  const std::string error = TakeError();
  EXPECT_SAYS(error,
              "RuntimeError: cuda:0: cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal "
              "memory access was encountered: kernel kp_test_scale, block (0, 0, 0), thread (0, 0, 0), PTX line 22: "
              "ld.global.f32 reads 4 bytes at 0x");
  EXPECT_SAYS(error, ": it is byte 0 of an allocation of 16 bytes that has been freed, while waiting for a stream");
  EXPECT_FALSE(Contains(error, "compute-sanitizer")) << "the emulated device names the kernel itself: " << error;
  EXPECT_SAYS(error, "This error is sticky: every later call on the device fails alike in this process");
  FreeAll(things);
  EXPECT_EQ(cuda_.stream_free(&cuda_, Cuda(), stream), 0);
  Forget();
}

TEST_F(Faults, EveryServiceSaysSo) {
  const Things things = Make();
  kernpack_emulator_break(0, kIllegalAddress);
  void* out = nullptr;
  int32_t done = 0;
  char host[16] = {};
  KpAny value = kp_none();
  const KpMemory memory = On(Cuda(), things.memory);
  const KpMemory other = Host(host);
  const std::string ptx = Ptx("sm_80", {"kp_test_add"});
  const std::vector<std::pair<const char*, int>> calls = {
      {"alloc", cuda_.alloc(&cuda_, Cuda(), 8, 64, B(""), &out)},
      {"alloc host", cuda_.alloc(&cuda_, Cuda(), 8, 64, B("host"), &out)},
      {"alloc_async", cuda_.alloc_async(&cuda_, Cuda(), 8, 64, things.stream, &out)},
      {"copy up", cuda_.copy(&cuda_, &other, &memory, 16, nullptr)},
      {"copy down", cuda_.copy(&cuda_, &memory, &other, 16, nullptr)},
      {"copy_async", cuda_.copy_async(&cuda_, &memory, &memory, 16, nullptr, &out)},
      {"fill", cuda_.fill(&cuda_, &memory, 16, 0, nullptr)},
      {"stream_new", cuda_.stream_new(&cuda_, Cuda(), 0, &out)},
      {"stream_sync", cuda_.stream_sync(&cuda_, Cuda(), things.stream)},
      {"stream_query", cuda_.stream_query(&cuda_, Cuda(), things.stream, &done)},
      {"stream_wait_stream", cuda_.stream_wait_stream(&cuda_, Cuda(), things.stream, nullptr)},
      {"event_new", cuda_.event_new(&cuda_, Cuda(), 0, &out)},
      {"event_record", cuda_.event_record(&cuda_, Cuda(), things.event, things.stream)},
      {"event_sync", cuda_.event_sync(&cuda_, Cuda(), things.event)},
      {"event_query", cuda_.event_query(&cuda_, Cuda(), things.event, &done)},
      {"load_code", cuda_.load_code(&cuda_, Cuda(), B(ptx), B("ptx"), B(""), &out)},
      {"launch", Scale(things.kernel, things.memory, 1, 4)},
      {"available memory", cuda_.get_attr(&cuda_, Cuda(), KP_ATTR_AVAILABLE_GLOBAL_MEMORY, &value)},
  };
  for (const auto& [name, code] : calls) EXPECT_EQ(code, -1) << name;
  EXPECT_SAYS(TakeError(), "This error is sticky");
  void* on_the_other = Alloc(16, Cuda(1));  // a device of its own goes on
  Free(on_the_other, Cuda(1));
  FreeAll(things);
  Forget();
}

// Calls that only come to report a fault of earlier work: a message that begins with their name leads astray.
TEST_F(Faults, ComesFirstWhereACallOnlyReportsIt) {
  kernpack_emulator_break(0, kIllegalAddress);
  EXPECT_EQ(cuda_.stream_sync(&cuda_, Cuda(), nullptr), -1);
  EXPECT_SAYS(TakeError(),
              "RuntimeError: cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered, which "
              "cuStreamIsCapturing reported while waiting for it; a kernel that ran earlier did this");
  void* out = nullptr;
  EXPECT_EQ(cuda_.alloc(&cuda_, Cuda(), 8, 64, B(""), &out), -1);
  EXPECT_SAYS(TakeError(), "RuntimeError: cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS (700): ");
  Forget();
}

TEST_F(Faults, WhatWentWrongIsTold) {
  const std::pair<Result, const char*> cases[] = {
      {kLaunchTimeout, "the display's watchdog"},
      {kAssert, "an assert() in a kernel failed"},
      {kEccUncorrectable, "the device itself failed or was taken away"},
      {kDeviceUnavailable, "`nvidia-smi -q` and `dmesg` (Xid) tell more"},
      {kLaunchFailed, "compute-sanitizer"},
      {kContextIsDestroyed, "the device was reset in this process (cudaDeviceReset)"},
      {kDeinitialized, "the process is ending"},
      {kNotInitialized, "start workers with 'spawn' or 'forkserver'"},
  };
  for (const auto& [result, words] : cases) {
    kernpack_emulator_fail("cuStreamSynchronize", result, 0, 1);
    EXPECT_EQ(cuda_.stream_sync(&cuda_, Cuda(), nullptr), -1);
    const std::string error = TakeError();
    EXPECT_SAYS(error, words);
    EXPECT_EQ(Contains(error, "This error is sticky"), IsSticky(result)) << error;
  }
}

// The device is lost, the driver is ending, or somebody reset the device: memory is gone, and that isn't an error.
TEST_F(Faults, FreeingWhatIsGoneLeavesNothing) {
  for (const Result result : {kEccUncorrectable, kDeinitialized, kContextIsDestroyed, kLaunchFailed}) {
    const Things things = Make();
    for (const char* entry :
         {"cuMemFree", "cuMemFreeHost", "cuMemFreeAsync", "cuEventDestroy", "cuStreamDestroy", "cuModuleUnload"}) {
      kernpack_emulator_fail(entry, result, 0, 1 << 20);
    }
    FreeAll(things);
    EXPECT_EQ(backend_->allocations().count(), 0u);
    kernpack_emulator_reset();
    std::string reason;
    ASSERT_TRUE(Backend::Open(kp_host(), FAKE_DRIVER, &backend_, &reason)) << reason;
    cuda_ = MakeTable(backend_.get(), KP_DEVICE_CUDA);
  }
}

TEST_F(Faults, NoContextIsAnErrorThatSaysSo) {
  kernpack_emulator_fail("cuDevicePrimaryCtxRetain", kOutOfMemory, 0, 1);
  void* handle = nullptr;
  EXPECT_EQ(cuda_.alloc(&cuda_, Cuda(), 8, 64, B(""), &handle), -1);
  EXPECT_SAYS(TakeError(),
              "cuDevicePrimaryCtxRetain failed with CUDA_ERROR_OUT_OF_MEMORY (2): out of memory, while retaining "
              "the device's primary context");
  kernpack_emulator_fail("cuCtxPushCurrent", kInvalidContext, 0, 1);
  EXPECT_EQ(cuda_.alloc(&cuda_, Cuda(), 8, 64, B(""), &handle), -1);
  EXPECT_SAYS(TakeError(), "while making the device's context current");
  Free(Alloc(8));
  // The refused push counts as a call and not as a context.
  EXPECT_EQ(kernpack_emulator_calls("cuCtxPushCurrent"), kernpack_emulator_calls("cuCtxPopCurrent") + 1);
  Forget();
}

TEST_F(Faults, ABadIndexIsAnIndexError) {
  void* handle = nullptr;
  for (const int32_t id : {-1, 2, 1 << 30}) {
    EXPECT_EQ(cuda_.alloc(&cuda_, Cuda(id), 8, 64, B(""), &handle), -1);
    EXPECT_SAYS(TakeError(),
                "IndexError: there is no device cuda:" + std::to_string(id) + ": the driver shows 2, cuda:0 to cuda:1");
  }
}

}  // namespace
}  // namespace kernpack::cuda
