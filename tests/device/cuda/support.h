// Code that the tests of the cuda backend share: the emulated driver, the backend's own tables on it, and errors as text.
#ifndef KERNPACK_TESTS_DEVICE_CUDA_SUPPORT_H_
#define KERNPACK_TESTS_DEVICE_CUDA_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <kernpack/host/host.h>

#include "backends/cuda/backend.h"
#include "driver/control.h"
#include "kernels_ptx.h"

namespace kernpack::cuda {

// The error that is raised, as "Kind: message"; "" when there is none. Clears it.
inline std::string TakeError() {
  if (!kp_error_pending()) return "";
  KpAny error = kp_none();
  kp_error_take("test", -1, &error);
  const auto* object = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  std::string text = std::string(object->kind.data, object->kind.size) + ": ";
  text.append(object->message.data, object->message.size);
  kp_any_release(&error);
  return text;
}

inline bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
#define EXPECT_SAYS(text, part) EXPECT_PRED2(::kernpack::cuda::Contains, text, part)

inline KpBytes B(std::string_view text) { return KpBytes{text.data(), text.size()}; }

// The backend on a fresh emulated driver; each test's leaks are counted.
class FakeDriver : public testing::Test {
 protected:
  void SetUp() override {
    kernpack_emulator_reset();
    kernpack_emulator_set("memory_bytes", 256 << 20);
    Configure();
    std::string reason;
    ASSERT_TRUE(Backend::Open(kp_host(), DriverFile(), &backend_, &reason)) << reason;
    cuda_ = MakeTable(backend_.get(), KP_DEVICE_CUDA);
    pinned_ = MakeTable(backend_.get(), KP_DEVICE_CUDA_HOST);
    managed_ = MakeTable(backend_.get(), KP_DEVICE_CUDA_MANAGED);
  }
  void TearDown() override {
    EXPECT_EQ(TakeError(), "");
    EXPECT_EQ(backend_->allocations().count(), 0u) << "memory was left";
    EXPECT_EQ(kernpack_emulator_live("events"), 0);
    EXPECT_EQ(kernpack_emulator_live("modules"), 0);
    EXPECT_EQ(kernpack_emulator_calls("cuCtxPushCurrent"), kernpack_emulator_calls("cuCtxPopCurrent"));
  }
  // Settings of the driver, before the backend is opened.
  virtual void Configure() {}
  virtual const char* DriverFile() const { return FAKE_DRIVER; }

  static KpDLDevice Cuda(int32_t id = 0) { return {KP_DEVICE_CUDA, id}; }
  static KpMemory On(KpDLDevice device, void* handle, uint64_t offset = 0) { return {handle, offset, device}; }
  static KpMemory Host(const void* address) { return {const_cast<void*>(address), 0, {KP_DEVICE_CPU, 0}}; }

  void* Alloc(uint64_t bytes, KpDLDevice device = {KP_DEVICE_CUDA, 0}, const char* scope = "") {
    void* handle = nullptr;
    EXPECT_EQ(Table(device).alloc(&Table(device), device, bytes, 64, B(scope), &handle), 0) << TakeError();
    return handle;
  }
  void Free(void* handle, KpDLDevice device = {KP_DEVICE_CUDA, 0}) {
    EXPECT_EQ(Table(device).free(&Table(device), device, handle), 0) << TakeError();
  }
  int Copy(const KpMemory& from, const KpMemory& to, uint64_t bytes, void* stream = nullptr) {
    return cuda_.copy(&cuda_, &from, &to, bytes, stream);
  }
  void Upload(void* handle, const std::vector<float>& values, void* stream = nullptr) {
    EXPECT_EQ(Copy(Host(values.data()), On(Cuda(), handle), values.size() * 4, stream), 0) << TakeError();
  }
  std::vector<float> Download(void* handle, size_t count, void* stream = nullptr, int32_t id = 0) {
    std::vector<float> values(count, -1.0F);
    EXPECT_EQ(Copy(On(Cuda(id), handle), Host(values.data()), count * 4, stream), 0) << TakeError();
    return values;
  }
  void* NewStream(int32_t id = 0) {
    void* stream = nullptr;
    EXPECT_EQ(cuda_.stream_new(&cuda_, Cuda(id), 0, &stream), 0) << TakeError();
    return stream;
  }
  void FreeStream(void* stream, int32_t id = 0) {
    EXPECT_EQ(cuda_.stream_free(&cuda_, Cuda(id), stream), 0) << TakeError();
  }
  void Sync(void* stream = nullptr, int32_t id = 0) {
    EXPECT_EQ(cuda_.stream_sync(&cuda_, Cuda(id), stream), 0) << TakeError();
  }
  void* Load(const std::string& image, int32_t id = 0) {
    void* code = nullptr;
    EXPECT_EQ(cuda_.load_code(&cuda_, Cuda(id), B(image), B("ptx"), B(""), &code), 0) << TakeError();
    return code;
  }
  void* GetKernel(void* code, const char* name, int32_t id = 0) {
    void* kernel = nullptr;
    EXPECT_EQ(cuda_.get_kernel(&cuda_, Cuda(id), code, B(name), &kernel), 0) << TakeError();
    return kernel;
  }
  void Unload(void* code, int32_t id = 0) { EXPECT_EQ(cuda_.unload_code(&cuda_, Cuda(id), code), 0) << TakeError(); }
  // Launches kp_test_scale on `count` floats.
  int Scale(void* kernel, void* handle, float factor, int32_t count, void* stream = nullptr) {
    const KpKernelArg args[] = {
        {KP_ARG_MEMORY, 4, handle, 0}, {KP_ARG_VALUE, 4, &factor, 0}, {KP_ARG_VALUE, 4, &count, 0}};
    const KpLaunch launch{
        sizeof launch, {static_cast<uint32_t>(count + 127) / 128, 1, 1}, {128, 1, 1}, {}, 0, 3, args, 0, 0};
    return cuda_.launch(&cuda_, Cuda(), kernel, &launch, stream);
  }

  const KpDeviceApi& Table(KpDLDevice device) const {
    return device.device_type == KP_DEVICE_CUDA_HOST      ? pinned_
           : device.device_type == KP_DEVICE_CUDA_MANAGED ? managed_
                                                          : cuda_;
  }

  std::unique_ptr<Backend> backend_;
  KpDeviceApi cuda_{};
  KpDeviceApi pinned_{};
  KpDeviceApi managed_{};
};

}  // namespace kernpack::cuda

#endif  // KERNPACK_TESTS_DEVICE_CUDA_SUPPORT_H_
