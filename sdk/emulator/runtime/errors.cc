// The last error of a thread, and errors in words.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/runtime.h"

namespace kernpack::cuda::runtime {
namespace {

struct Last {
  Error error = kSuccess;
  Error detailed = kSuccess;  // what `detail` is of
  std::string detail;
  std::string text;  // that the caller of cudaGetErrorString or cudaGetErrorName holds
};
thread_local Last t_last;

struct Named {
  Error error;
  const char* name;
  const char* text;  // NULL: the driver's
};

// Why code was refused, as long as the program hasn't asked for it: programs that print an error's name alone, or go on, would lose it.
struct Untold {
  std::mutex mutex;
  std::set<std::string> reasons;

  static Untold& Get() {
    static auto* const untold = new Untold;  // until the process ends
    return *untold;
  }
  void Add(const std::string& reason) {
    const std::lock_guard lock(mutex);
    reasons.insert(reason);
    [[maybe_unused]] static const int registered = std::atexit([] {
      for (const std::string& left : Get().reasons) {
        const auto length = static_cast<int>(left.find_last_not_of('\n') + 1);
        std::fprintf(stderr, "kernpack_cuda_emulator: %.*s\n", length, left.c_str());
      }
    });
  }
  void Remove(const std::string& reason) {
    const std::lock_guard lock(mutex);
    reasons.erase(reason);
  }
};

// Errors for which the driver has other words, or none.
constexpr Named kNamed[] = {
    {0, "cudaSuccess", nullptr},
    {kOutOfMemory, "cudaErrorMemoryAllocation", nullptr},
    {kNotInitialized, "cudaErrorInitializationError", nullptr},
    {kInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {kInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {kInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {kInvalidImage, "cudaErrorInvalidKernelImage", nullptr},
    {kInvalidContext, "cudaErrorDeviceUninitialized", nullptr},
    {kNoBinaryForGpu, "cudaErrorNoKernelImageForDevice", nullptr},
    {kInvalidHandle, "cudaErrorInvalidResourceHandle", nullptr},
    {kNotFound, "cudaErrorSymbolNotFound", nullptr},
    {kLaunchFailed, "cudaErrorLaunchFailure", nullptr},
};

const Named* Find(Error error) {
  for (const Named& named : kNamed) {
    if (named.error == error) return &named;
  }
  return nullptr;
}

// CUDA_ERROR_ILLEGAL_ADDRESS is cudaErrorIllegalAddress.
std::string GetName(const char* of_the_driver) {
  std::string name = "cudaError";
  bool begins = true;
  for (const char* at = of_the_driver + std::strlen("CUDA_ERROR_"); *at != '\0'; ++at) {
    if (*at != '_') name += begins ? *at : static_cast<char>(std::tolower(static_cast<unsigned char>(*at)));
    begins = *at == '_';
  }
  return name;
}

}  // namespace

Error Said(Error error, const std::string& detail) {
  if (error != kSuccess && error != kNotReady) t_last.error = error;
  if (error != kSuccess) t_last.detailed = error, t_last.detail = detail;
  if (error == kInvalidPtx && !detail.empty()) Untold::Get().Add(detail);
  return error;
}

void ForgetError() { t_last = {}; }

}  // namespace kernpack::cuda::runtime

using namespace kernpack::cuda::runtime;
using kernpack::cuda::kSuccess;
using kernpack::cuda::Result;

KP_RUNTIME_API Error cudaPeekAtLastError() { return t_last.error; }
KP_RUNTIME_API Error cudaGetLastError() { return std::exchange(t_last.error, kSuccess); }

KP_RUNTIME_API const char* cudaGetErrorName(Error error) {
  if (const Named* named = Find(error)) return named->name;
  const char* name = nullptr;
  if (Driver().cuGetErrorName(static_cast<Result>(error), &name) != kSuccess) return "unrecognized error code";
  t_last.text = GetName(name);
  return t_last.text.c_str();
}
KP_RUNTIME_API const char* cudaGetErrorString(Error error) {
  const Named* named = Find(error);
  const char* text = named != nullptr ? named->text : nullptr;
  if (text == nullptr && Driver().cuGetErrorString(static_cast<Result>(error), &text) != kSuccess) {
    text = "unrecognized error code";
  }
  if (error != t_last.detailed || t_last.detail.empty()) return text;
  if (error == kernpack::cuda::kInvalidPtx) Untold::Get().Remove(t_last.detail);
  t_last.text = std::string(text) + ": " + t_last.detail;
  return t_last.text.c_str();
}
