#include "backends/cuda/driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "backends/cuda/text.h"

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

constexpr const char* kEmulator = "libkernpack_cuda_emulator.so";

const char* Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

bool IsNumber(std::string_view text, int64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

// "sm_90"
bool NamesArchitecture(std::string_view text) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  int64_t number = 0;
  return IsNumber(text, &number) && number >= 50 && number < 200;
}

std::string NotOpened(const char* path, const char* why) {
  if (Environment("KERNPACK_EMULATOR") != nullptr && Environment("KERNPACK_CUDA_DRIVER") == nullptr) {
    return Format(
        "KERNPACK_EMULATOR is set, but the emulated device's library %s could not be opened (%s): `pip install "
        "kernpack-cuda-emulator` has it, for the folder that kernpack is in; or set KERNPACK_CUDA_DRIVER to it, or "
        "unset "
        "KERNPACK_EMULATOR to use NVIDIA's driver",
        path, why);
  }
  return Format("%s could not be opened (%s): install NVIDIA's driver, or set KERNPACK_CUDA_DRIVER to its library",
                path, why);
}

}  // namespace

std::string EmulatorMistake() {
  const char* seed = Environment("KERNPACK_EMULATOR_SEED");
  int64_t number = 0;
  if (seed != nullptr && std::string_view(seed) != "random" && !(IsNumber(seed, &number) && number >= 0)) {
    return Format(
        "expected KERNPACK_EMULATOR_SEED to be a whole number from 0 to 9223372036854775807 or random, got '%s'", seed);
  }
  const char* value = Environment("KERNPACK_EMULATOR");
  if (value == nullptr || std::string_view(value) == "1") return {};
  std::string_view left = value;
  while (true) {
    const size_t comma = left.find(',');
    if (!NamesArchitecture(left.substr(0, comma))) {
      return Format(
          "expected KERNPACK_EMULATOR to name devices from sm_50 to sm_199 with commas between them, as sm_90,sm_80 "
          "(or to be 1, which is that), got '%s'; unset it to use NVIDIA's driver",
          value);
    }
    if (comma == std::string_view::npos) return {};
    left.remove_prefix(comma + 1);
  }
}

std::string DriverPath() {
  if (const char* named = Environment("KERNPACK_CUDA_DRIVER")) return named;
  if (Environment("KERNPACK_EMULATOR") == nullptr) return "libcuda.so.1";
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&OpenDriver), &here) == 0) return kEmulator;
  const std::string path = here.dli_fname;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  // Beside the backend in a build tree; in the folder of the package kernpack_cuda_emulator where wheels are installed.
  const std::string beside = folder + kEmulator;
  return access(beside.c_str(), F_OK) == 0 ? beside : folder + "../kernpack_cuda_emulator/" + kEmulator;
}

bool OpenDriver(const char* path, Driver* out, std::string* reason) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = dlerror();
    *reason = NotOpened(path, why ? why : "no reason given");
    return false;
  }
  Driver driver;
  driver.emulated = dlsym(library, "kernpack_emulator_reset") != nullptr;
  if (!driver.emulated && Environment("KERNPACK_EMULATOR") != nullptr) {
    *reason = Format(
        "KERNPACK_EMULATOR is set, but KERNPACK_CUDA_DRIVER names %s, which isn't the emulated device: unset one of "
        "them",
        path);
    return false;
  }
  (void)dlerror();
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr) {
    *reason = NoLookup(library, path);
    return false;
  }
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
  KP_CUDA_TENSOR_MAP_ENTRIES(KP_CUDA_TRY_TO_FIND_)
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
