#include "device/cuda/driver.h"

#include <dlfcn.h>

#include <cstdlib>

#include "device/cuda/text.h"

namespace kernpack::cuda {
namespace {

using GetProcAddress = Result (*)(const char* name, void** out, int version, unsigned long long flags,
                                  ProcAddressStatus* status);

constexpr const char* kUpgrade = "update NVIDIA's driver to 525.60 or newer";

std::string VersionText(int version) { return Format("%d.%d", version / 1000, version % 1000 / 10); }

std::string TooOld(const char* path, int version) {
  return Format("the driver %s supports CUDA %s; at least %s is needed: %s", path, VersionText(version).c_str(),
                VersionText(kMinimumDriver).c_str(), kUpgrade);
}

// Drivers before 12.0 have no cuGetProcAddress_v2, but can say how old they are.
std::string NoLookup(void* library, const char* path) {
  auto* get_version = reinterpret_cast<Result (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
  int version = 0;
  if (get_version != nullptr && get_version(&version) == kSuccess) return TooOld(path, version);
  (void)dlerror();
  return Format("%s has no cuGetProcAddress_v2, so it is not a CUDA driver of version %s or newer; %s", path,
                VersionText(kMinimumDriver).c_str(), kUpgrade);
}

// cuInit's answer, for people.
std::string InitText(const Driver& driver, const char* path, Result result) {
  std::string text = Format("cuInit of %s failed with %s", path, ResultText(driver, result).c_str());
  if (result == kNoDevice) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    text += visible ? Format("; CUDA_VISIBLE_DEVICES is '%s'", visible) : "; `nvidia-smi` shows what the driver sees";
  } else if (result == kSystemDriverMismatch) {
    text += "; the kernel module and the library are of different versions: restart the machine after an update";
  } else if (result == kStubLibrary) {
    text += "; this is the toolkit's stub, meant for linking only: put the driver's own library first";
  } else {
    text += "; `nvidia-smi` tells whether the driver works at all";
  }
  return text;
}

}  // namespace

std::string DriverPath() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
  };
  if (const char* named = set("KERNPACK_CUDA_DRIVER")) return named;
  Dl_info here{};
  if (set("KERNPACK_EMULATOR") == nullptr || dladdr(reinterpret_cast<const void*>(&OpenDriver), &here) == 0) {
    return "libcuda.so.1";
  }
  const std::string path = here.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "libkernpack_cuda_emulator.so";
}

bool OpenDriver(const char* path, Driver* out, std::string* reason) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = dlerror();
    *reason = Format("%s could not be opened (%s): install NVIDIA's driver, or set KERNPACK_CUDA_DRIVER to its library",
                     path, why ? why : "no reason given");
    return false;
  }
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr) {
    *reason = NoLookup(library, path);
    return false;
  }
  Driver driver;
  std::string missing;
  const auto find = [&](const char* name, int version, auto* entry) {
    void* address = nullptr;
    ProcAddressStatus status = kProcNotFound;
    const bool found = get(name, &address, version, 0, &status) == kSuccess && status == kProcFound;
    *entry = reinterpret_cast<std::remove_pointer_t<decltype(entry)>>(found ? address : nullptr);
    return *entry != nullptr;
  };
#define KP_CUDA_REQUIRE_(name, version, parameters)  \
  if (!find(#name, kMinimumDriver, &driver.name)) {  \
    missing += missing.empty() ? #name : ", " #name; \
  }
  KP_CUDA_ENTRIES(KP_CUDA_REQUIRE_)
#undef KP_CUDA_REQUIRE_
#define KP_CUDA_TRY_TO_FIND_(name, version, parameters) find(#name, version, &driver.name);
  KP_CUDA_OPTIONAL_ENTRIES(KP_CUDA_TRY_TO_FIND_)
#undef KP_CUDA_TRY_TO_FIND_
  if (driver.cuDriverGetVersion != nullptr) driver.cuDriverGetVersion(&driver.version);
  if (driver.version != 0 && driver.version < kMinimumDriver) {
    *reason = TooOld(path, driver.version);
    return false;
  }
  if (!missing.empty()) {
    *reason = Format("the driver %s (CUDA %s) lacks %s; %s", path, VersionText(driver.version).c_str(), missing.c_str(),
                     kUpgrade);
    return false;
  }
  if (const Result result = driver.cuInit(0); result != kSuccess) {
    *reason = InitText(driver, path, result);
    return false;
  }
  *out = driver;
  return true;
}

std::string ResultText(const Driver& driver, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.cuGetErrorName != nullptr) driver.cuGetErrorName(result, &name);
  if (driver.cuGetErrorString != nullptr) driver.cuGetErrorString(result, &text);
  return Format("%s (%d): %s", name ? name : "an error unknown to the driver", static_cast<int>(result),
                text ? text : "the driver has no text for it");
}

}  // namespace kernpack::cuda
