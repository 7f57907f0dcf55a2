// NVRTC, NVIDIA's run-time compiler: its functions, and one compilation. The CUDA backend compiles the sources of modules with it, and
// the SDK's generator what it has generated. It needs no GPU and no driver. C++17, header-only; nothing here throws of its own.
#ifndef KERNPACK_SHARED_NVRTC_H_
#define KERNPACK_SHARED_NVRTC_H_

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernpack::nvrtc {

using Program = void*;

#define KP_NVRTC_FUNCTIONS(X)                                                                  \
  X(nvrtcVersion, (int* major, int* minor))                                                    \
  X(nvrtcGetNumSupportedArchs, (int* count))                                                   \
  X(nvrtcGetSupportedArchs, (int* archs))                                                      \
  X(nvrtcCreateProgram, (Program * program, const char* source, const char* name, int headers, \
                         const char* const* texts, const char* const* names))                  \
  X(nvrtcAddNameExpression, (Program program, const char* expression))                         \
  X(nvrtcGetLoweredName, (Program program, const char* expression, const char** name))         \
  X(nvrtcCompileProgram, (Program program, int count, const char* const* options))             \
  X(nvrtcGetProgramLogSize, (Program program, size_t* size))                                   \
  X(nvrtcGetProgramLog, (Program program, char* log))                                          \
  X(nvrtcGetCUBINSize, (Program program, size_t* size))                                        \
  X(nvrtcGetCUBIN, (Program program, char* cubin))                                             \
  X(nvrtcGetPTXSize, (Program program, size_t* size))                                          \
  X(nvrtcGetPTX, (Program program, char* ptx))                                                 \
  X(nvrtcDestroyProgram, (Program * program))

struct Functions {
#define KP_NVRTC_DECLARE(name, parameters) int(*name) parameters = nullptr;
  KP_NVRTC_FUNCTIONS(KP_NVRTC_DECLARE)
#undef KP_NVRTC_DECLARE
  const char* (*nvrtcGetErrorString)(int result) = nullptr;
};

// An opened NVRTC. Functions may be called by several threads at once.
struct Library {
  Functions functions;
  std::string version;  // "12.8"
  std::vector<int> archs;  // 75, 80, ... ascending

  bool Knows(int arch) const { return std::find(archs.begin(), archs.end(), arch) != archs.end(); }
};

// NVRTC opens its builtins by name, which the loader finds only where both are on its path; it takes one that is loaded.
inline void LoadBuiltinsBeside(const std::string& library) {
  const std::string folder = library.substr(0, library.rfind('/') + 1);
  DIR* const open = opendir(folder.c_str());
  while (const dirent* entry = open != nullptr ? readdir(open) : nullptr) {
    if (std::string_view(entry->d_name).rfind("libnvrtc-builtins.so", 0) == 0)
      dlopen((folder + entry->d_name).c_str(), RTLD_NOW | RTLD_GLOBAL);
  }
  if (open != nullptr) closedir(open);
}

// The file's handle, which is never closed; NULL with the dynamic linker's reason.
inline void* OpenFile(const std::string& file, std::string* why) {
  if (file.find('/') != std::string::npos) LoadBuiltinsBeside(file);
  void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) *why = dlerror();
  return opened;
}

// False with *why where the library lacks a function, or doesn't answer.
inline bool ReadLibrary(void* opened, Library* out, std::string* why) {
  Functions& f = out->functions;
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(opened, name));
    if (*function != nullptr || !why->empty()) return;
    *why = std::string("this NVRTC has no ") + name + "; it needs CUDA 11.8 or newer: pip install -U nvidia-cuda-nvrtc";
  };
  why->clear();
#define KP_NVRTC_FIND(name, parameters) find(#name, &f.name);
  KP_NVRTC_FUNCTIONS(KP_NVRTC_FIND)
#undef KP_NVRTC_FIND
  find("nvrtcGetErrorString", &f.nvrtcGetErrorString);
  if (!why->empty()) return false;
  int major = 0, minor = 0, count = 0;
  int result = f.nvrtcVersion(&major, &minor);
  if (result == 0) result = f.nvrtcGetNumSupportedArchs(&count);
  out->version = std::to_string(major) + "." + std::to_string(minor);
  out->archs.resize(static_cast<size_t>(count));
  if (result == 0) result = f.nvrtcGetSupportedArchs(out->archs.data());
  if (result != 0) *why = "NVRTC " + out->version + ": its version and architectures: " + f.nvrtcGetErrorString(result);
  std::sort(out->archs.begin(), out->archs.end());
  return result == 0;
}

// "sm_80, sm_90"
inline std::string Listed(const std::vector<int>& archs) {
  std::string text;
  for (const int arch : archs) text += (text.empty() ? "sm_" : ", sm_") + std::to_string(arch);
  return text;
}

struct Compilation {
  std::string source;
  std::string name;  // of the source, in messages
  std::string arch;  // a cubin for sm_90, PTX for compute_90
  std::vector<std::string> options;  // without the architecture
  std::vector<std::pair<std::string, std::string>> headers;  // names and texts that #include finds
  std::string instance;  // an expression that names a kernel, "scale<float>"; or empty
};

struct Compiled {
  std::string image;
  std::string lowered;  // of the instance: its name in the image
  std::string log;  // what the compiler said, if it failed
};

// False with *why; out->log has the compiler's messages then.
inline bool Compile(const Library& library, const Compilation& wanted, Compiled* out, std::string* why) {
  const Functions& f = library.functions;
  std::vector<const char*> names, texts, options;
  for (const auto& [name, text] : wanted.headers) names.push_back(name.c_str()), texts.push_back(text.c_str());
  const std::string arch = "--gpu-architecture=" + wanted.arch;
  options.push_back(arch.c_str());
  for (const std::string& option : wanted.options) options.push_back(option.c_str());
  const auto fail = [&](int result, const char* doing) {
    *why = "NVRTC " + library.version + ": " + doing + ": " + f.nvrtcGetErrorString(result);
    return false;
  };
  Program handle = nullptr;
  if (const int result = f.nvrtcCreateProgram(&handle, wanted.source.c_str(), wanted.name.c_str(),
                                              static_cast<int>(names.size()), texts.data(), names.data())) {
    return fail(result, "nvrtcCreateProgram");
  }
  const auto destroy = [&f](Program* program) { f.nvrtcDestroyProgram(program); };
  const std::unique_ptr<Program, decltype(destroy)> owned(&handle, destroy);
  if (!wanted.instance.empty()) {
    if (const int result = f.nvrtcAddNameExpression(handle, wanted.instance.c_str()))
      return fail(result, "naming the kernel");
  }
  if (const int result = f.nvrtcCompileProgram(handle, static_cast<int>(options.size()), options.data())) {
    size_t size = 0;
    f.nvrtcGetProgramLogSize(handle, &size);
    out->log.assign(size, '\0');
    f.nvrtcGetProgramLog(handle, out->log.data());
    while (!out->log.empty() && (out->log.back() == '\0' || out->log.back() == '\n')) out->log.pop_back();
    return fail(result, ("compiling " + wanted.name + " for " + wanted.arch).c_str());
  }
  if (!wanted.instance.empty()) {
    const char* lowered = nullptr;
    if (const int result = f.nvrtcGetLoweredName(handle, wanted.instance.c_str(), &lowered))
      return fail(result, "the kernel's name");
    out->lowered = lowered;
  }
  const bool ptx = std::string_view(wanted.arch).substr(0, 8) == "compute_";
  size_t size = 0;
  int result = ptx ? f.nvrtcGetPTXSize(handle, &size) : f.nvrtcGetCUBINSize(handle, &size);
  out->image.assign(size, '\0');
  if (result == 0) result = ptx ? f.nvrtcGetPTX(handle, out->image.data()) : f.nvrtcGetCUBIN(handle, out->image.data());
  return result == 0 || fail(result, "reading what was compiled");
}

}  // namespace kernpack::nvrtc

#endif  // KERNPACK_SHARED_NVRTC_H_
