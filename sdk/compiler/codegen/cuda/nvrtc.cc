#include "codegen/cuda/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>

#include <kernpack/error.h>
#include <kernpack/string.h>

#include "codegen/packed.h"

namespace kernpack::sdk {
namespace {

namespace fs = std::filesystem;

using Program = void*;

// Who knows where a Python package has put it registers a function of this name: () -> str, "" where there is none.
constexpr char kFinder[] = "kernpack.find_nvrtc";
constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

// Files to try, in order.
std::vector<std::string> Candidates() {
  if (const char* given = std::getenv("KERNPACK_NVRTC")) return {given};
  std::vector<std::string> files;
  if (const PackedFunction find{kFinder}) {
    if (std::string found(find({}).cast<StringView>()); !found.empty()) files.push_back(std::move(found));
  }
  files.insert(files.end(), std::begin(kNames), std::end(kNames));
  return files;
}

// NVRTC opens its builtins by name, which the loader finds only where both are on its path; it takes one that is loaded.
void LoadBuiltinsBeside(const fs::path& library) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(library.parent_path(), ignored)) {
    if (entry.path().filename().string().rfind("libnvrtc-builtins.so", 0) == 0) {
      dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
  }
}

void* OpenLibrary() {
  std::string tried;
  for (const std::string& file : Candidates()) {
    if (file.find('/') != std::string::npos) LoadBuiltinsBeside(file);
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    tried += "\n  " + std::string(dlerror());
  }
  KP_THROW(RuntimeError)
      << "the kind cuda needs NVRTC, NVIDIA's run-time compiler, which was not found: pip install "
         "nvidia-cuda-nvrtc, or set KERNPACK_NVRTC to the path of libnvrtc.so; no GPU is needed. Tried:"
      << tried;
}

std::string Listed(const std::vector<int>& archs) {
  std::string text;
  for (const int arch : archs) text += (text.empty() ? "sm_" : ", sm_") + std::to_string(arch);
  return text;
}

// 90 of "sm_90", "sm_90a", "compute_90".
std::optional<int> ParseNumber(std::string_view arch) {
  arch.remove_prefix(std::min(arch.find('_') + 1, arch.size()));
  int number = 0;
  const auto [end, error] = std::from_chars(arch.data(), arch.data() + arch.size(), number);
  if (error != std::errc() || end == arch.data()) return std::nullopt;
  return number;
}

}  // namespace

#define KP_NVRTC_FUNCTIONS(X)                                                                  \
  X(nvrtcVersion, (int* major, int* minor))                                                    \
  X(nvrtcGetNumSupportedArchs, (int* count))                                                   \
  X(nvrtcGetSupportedArchs, (int* archs))                                                      \
  X(nvrtcCreateProgram, (Program * program, const char* source, const char* name, int headers, \
                         const char* const* texts, const char* const* names))                  \
  X(nvrtcCompileProgram, (Program program, int count, const char* const* options))             \
  X(nvrtcGetProgramLogSize, (Program program, size_t* size))                                   \
  X(nvrtcGetProgramLog, (Program program, char* log))                                          \
  X(nvrtcGetCUBINSize, (Program program, size_t* size))                                        \
  X(nvrtcGetCUBIN, (Program program, char* cubin))                                             \
  X(nvrtcGetPTXSize, (Program program, size_t* size))                                          \
  X(nvrtcGetPTX, (Program program, char* ptx))                                                 \
  X(nvrtcDestroyProgram, (Program * program))

struct Nvrtc::Functions {
#define KP_NVRTC_DECLARE(name, parameters) int(*name) parameters = nullptr;
  KP_NVRTC_FUNCTIONS(KP_NVRTC_DECLARE)
#undef KP_NVRTC_DECLARE
  const char* (*nvrtcGetErrorString)(int result) = nullptr;
};

Nvrtc Nvrtc::Open() {
  void* const library = OpenLibrary();
  auto functions = std::make_unique<Functions>();
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    if (*function == nullptr) {
      KP_THROW(RuntimeError) << "the kind cuda: this NVRTC has no " << name
                             << "; it needs CUDA 11.8 or newer: pip install -U "
                                "nvidia-cuda-nvrtc";
    }
  };
#define KP_NVRTC_FIND(name, parameters) find(#name, &functions->name);
  KP_NVRTC_FUNCTIONS(KP_NVRTC_FIND)
#undef KP_NVRTC_FIND
  find("nvrtcGetErrorString", &functions->nvrtcGetErrorString);
  Nvrtc nvrtc;
  nvrtc.functions_ = functions.release();  // until the process ends, as the library is
  int major = 0, minor = 0, count = 0;
  if (const int result = nvrtc.functions_->nvrtcVersion(&major, &minor)) nvrtc.Fail(result, "nvrtcVersion");
  nvrtc.version_ = std::to_string(major) + "." + std::to_string(minor);
  if (const int result = nvrtc.functions_->nvrtcGetNumSupportedArchs(&count)) nvrtc.Fail(result, "its architectures");
  nvrtc.archs_.resize(static_cast<size_t>(count));
  if (const int result = nvrtc.functions_->nvrtcGetSupportedArchs(nvrtc.archs_.data())) {
    nvrtc.Fail(result, "its architectures");
  }
  return nvrtc;
}

const Nvrtc& Nvrtc::Get() {
  static std::mutex mutex;
  static const Nvrtc* opened = nullptr;
  const std::lock_guard lock(mutex);
  if (opened == nullptr) opened = new Nvrtc(Open());
  return *opened;
}

void Nvrtc::Fail(int result, const char* what) const {
  KP_THROW(RuntimeError) << "the kind cuda: NVRTC " << version_ << ": " << what << ": "
                         << functions_->nvrtcGetErrorString(result);
}

bool Nvrtc::Knows(const std::string& arch) const {
  const std::optional<int> number = ParseNumber(arch);
  return number && std::find(archs_.begin(), archs_.end(), *number) != archs_.end();
}

std::string Nvrtc::Compile(const std::string& program, const std::string& name, const std::string& arch,
                           bool contracts) const {
  if (!Knows(arch)) {
    KP_THROW(ValueError) << "the kind cuda: NVRTC " << version_ << " generates no code for " << arch << "; it knows "
                         << Listed(archs_);
  }
  const Functions& f = *functions_;
  Program handle = nullptr;
  if (const int result = f.nvrtcCreateProgram(&handle, program.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr)) {
    Fail(result, "nvrtcCreateProgram");
  }
  const auto destroy = [&f](Program* p) { f.nvrtcDestroyProgram(p); };
  const std::unique_ptr<Program, decltype(destroy)> owned(&handle, destroy);
  const std::string option = "--gpu-architecture=" + arch;
  const char* const options[] = {option.c_str(), "--std=c++17", contracts ? "--fmad=true" : "--fmad=false"};
  if (const int result = f.nvrtcCompileProgram(handle, static_cast<int>(std::size(options)), options)) {
    size_t size = 0;
    f.nvrtcGetProgramLogSize(handle, &size);
    std::string log(size, '\0');
    f.nvrtcGetProgramLog(handle, log.data());
    Fail(result, ("compiling " + name + " for " + arch + "\n" + log.substr(0, 4000)).c_str());
  }
  const bool ptx = arch.rfind("compute_", 0) == 0;
  size_t size = 0;
  int result = ptx ? f.nvrtcGetPTXSize(handle, &size) : f.nvrtcGetCUBINSize(handle, &size);
  std::string image(size, '\0');
  if (result == 0) result = ptx ? f.nvrtcGetPTX(handle, image.data()) : f.nvrtcGetCUBIN(handle, image.data());
  if (result != 0) Fail(result, "reading what was compiled");
  return image;
}

}  // namespace kernpack::sdk
