#include "backends/cuda/jit_tools.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include <kernpack/library_table.h>

#include "backends/cuda/text.h"
#include "shared/bytes.h"
#include "shared/nvrtc.h"
#include "shared/package_files.h"

namespace kernpack::cuda {
namespace {

struct NvrtcWheel {
  int cuda;
  std::string_view name, library, requirement, folder;
};
constexpr NvrtcWheel kWheels[] = {
#define KP_ROW(cuda, name, library, requirement, folder, prefixes) {cuda, #name, library, requirement, folder},
    KP_NVIDIA_LIBRARIES(KP_ROW)
#undef KP_ROW
};

// Where wheels have headers, by the major version of CUDA (0: any), and what their distributions are called.
struct HeaderWheel {
  int cuda;
  const char* folder;
  const char* distribution;  // as the folder of its metadata is called
};
constexpr HeaderWheel kHeaderWheels[] = {
    {13, "nvidia/cu13/include/cccl", "nvidia_cuda_cccl-"},
    {13, "nvidia/cu13/include", "nvidia_cuda_runtime-"},
    {12, "nvidia/cuda_cccl/include", "nvidia_cuda_cccl_cu12-"},
    {12, "nvidia/cuda_runtime/include", "nvidia_cuda_runtime_cu12-"},
    {0, "cutlass_library/source/include", "nvidia_cutlass-"},
};

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;
Folder OpenFolder(const std::string& path) {
  return {opendir(path.c_str()), [](DIR* folder) { return closedir(folder); }};
}

bool Exists(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string SizeOf(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 ? std::to_string(info.st_size) : "";
}

// The version is in the name of the library of builtins that lies beside NVRTC, "libnvrtc-builtins.so.13.5"; "" where there is none.
std::string VersionBeside(const std::string& file) {
  constexpr std::string_view kBuiltins = "libnvrtc-builtins.so.";
  const Folder folder = OpenFolder(file.substr(0, file.rfind('/')));
  std::string version;
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kBuiltins)) continue;
    if (!version.empty()) return {};  // of which of them?
    version = name.substr(kBuiltins.size());
  }
  const size_t patch = version.find('.', version.find('.') + 1);
  return version.find('.') == std::string::npos ? "" : version.substr(0, patch);
}

struct OpenedCompilers {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<nvrtc::Library>, std::less<>> by_file;
};
OpenedCompilers& Opened() {
  static auto* const opened = new OpenedCompilers();
  return *opened;
}

bool Describe(const std::string& file, JitCompiler* out, std::string* why) {
  out->file = file;
  if (file.find('/') != std::string::npos) {
    if (!Exists(file)) {
      *why = file + ": no such file";
      return false;
    }
    out->version = VersionBeside(file);
  }
  if (out->version.empty()) {  // it has to say so itself
    const nvrtc::Library* const library = OpenCompiler(*out, why);
    if (library == nullptr) return false;
    out->version = library->version;
  }
  out->identity = out->version + " " + SizeOf(file);
  return true;
}

std::string PipLines(int driver_cuda) {
  std::string lines;
  for (const NvrtcWheel& wheel : kWheels) {
    if (wheel.name != "nvrtc" || (driver_cuda != 0 && wheel.cuda > driver_cuda)) continue;
    lines += (lines.empty() ? "pip install \"" : ", or pip install \"") + std::string(wheel.requirement) + "\"";
    if (driver_cuda != 0) break;
  }
  return lines.empty() ? PipLines(0) : lines;
}

}  // namespace

std::string FindPackageFolder(const KpHost* host, const std::string& below) {
  const void* table = nullptr;
  if (host != nullptr && host->get_extension(host, kp_bytes(KP_PACKAGE_FILES_EXTENSION), 1, &table) == 0 && table) {
    KpAny found = kp_none();
    KpBytes folder{};
    std::string text;
    if (static_cast<const KpPackageFiles*>(table)->find(host::Bytes(below), &found) == 0 && kp_any_str(&found, &folder))
      text = host::View(folder);
    kp_any_release(&found);
    if (!text.empty()) return text;
  }
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&FindCompiler), &self) == 0 || self.dli_fname == nullptr) return {};
  const std::string_view path = self.dli_fname;
  std::string folder(path.substr(0, path.rfind('/') + 1));
  folder += "..";
  return Exists(folder + "/" + below) ? folder : std::string();
}

bool FindCompiler(const KpHost* host, int driver_cuda, JitCompiler* out, std::string* why) {
  if (const std::string named = Variable("KERNPACK_NVRTC"); !named.empty()) {
    if (Describe(named, out, why)) return true;
    *why = "NVRTC, but KERNPACK_NVRTC names one that can't be used: " + *why + "; unset it, or correct it";
    return false;
  }
  std::vector<NvrtcWheel> wheels;
  for (const NvrtcWheel& wheel : kWheels) {
    if (wheel.name == "nvrtc") wheels.push_back(wheel);
  }
  // A driver runs what compilers of its own major version and older ones made.
  std::stable_partition(wheels.begin(), wheels.end(), [driver_cuda](const NvrtcWheel& wheel) {
    return driver_cuda == 0 || wheel.cuda <= driver_cuda;
  });
  std::string tried;
  const auto is_usable = [&](const std::string& file) {
    *out = {};
    if (Describe(file, out, why)) return true;
    tried += "\n  " + *why;
    return false;
  };
  // Looked for one by one: a process that finds its code in the cache pays for each.
  for (const NvrtcWheel& wheel : wheels) {
    std::string below(wheel.folder);
    below += '/';
    below += wheel.library;
    std::string path = FindPackageFolder(host, below);
    if (path.empty()) continue;
    path += '/';
    path += below;
    if (is_usable(path)) return true;
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string home = Variable(variable);
    for (const NvrtcWheel& wheel : wheels) {
      std::string file = home;
      file += "/lib64/";
      file += wheel.library;
      if (!home.empty() && Exists(file) && is_usable(file)) return true;
    }
  }
  for (const NvrtcWheel& wheel : wheels) {
    if (is_usable(std::string(wheel.library))) return true;
  }
  *why = "NVRTC, NVIDIA's run-time compiler, which isn't installed: " + PipLines(driver_cuda) +
         "; or set KERNPACK_NVRTC to the path of libnvrtc.so. Tried:" + tried;
  return false;
}

const nvrtc::Library* OpenCompiler(const JitCompiler& compiler, std::string* why) {
  OpenedCompilers& opened = Opened();
  const std::lock_guard lock(opened.mutex);
  if (const auto found = opened.by_file.find(compiler.file); found != opened.by_file.end()) return found->second.get();
  void* const handle = nvrtc::OpenFile(compiler.file, why);
  auto library = std::make_unique<nvrtc::Library>();
  if (handle == nullptr || !nvrtc::ReadLibrary(handle, library.get(), why)) return nullptr;
  return opened.by_file.emplace(compiler.file, std::move(library)).first->second.get();
}

JitHeaders FindHeaders(const KpHost* host, const std::string& version) {
  const int cuda = std::atoi(version.c_str());
  JitHeaders headers;
  std::vector<std::string> distributions;
  for (const HeaderWheel& wheel : kHeaderWheels) {
    if (wheel.cuda != 0 && wheel.cuda != cuda) continue;
    const std::string packages = FindPackageFolder(host, wheel.folder);
    if (packages.empty()) continue;
    headers.folders.push_back(packages + "/" + wheel.folder);
    const Folder folder = OpenFolder(packages);
    while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
      if (std::string_view(entry->d_name).starts_with(wheel.distribution)) distributions.emplace_back(entry->d_name);
    }
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string home = Variable(variable);
    for (const char* below : {"/include/cccl", "/include"}) {
      struct stat info{};
      if (home.empty() || stat((home + below).c_str(), &info) != 0) continue;
      headers.folders.push_back(home + below);
      distributions.push_back(home + below + " " + std::to_string(info.st_mtim.tv_sec));
    }
  }
  std::sort(distributions.begin(), distributions.end());
  for (const std::string& distribution : distributions) headers.identity += distribution + "\n";
  return headers;
}

std::string AdviceOnHeaders(const std::string& log, const std::string& version) {
  constexpr std::string_view kMissing = "open source file \"";  // "could not ...", "cannot ..."
  const size_t at = log.find(kMissing);
  if (at == std::string::npos) {
    if (log.find("host functions are not allowed in JIT mode") == std::string::npos) return {};
    return "headers that don't mark their functions with __device__, as CUTLASS's, need NVRTC's option "
           "-default-device: set "
           "KERNPACK_OPTIONS of the source in CMake, or the options of kp::DeviceCode";
  }
  std::string_view name = std::string_view(log).substr(at + kMissing.size());
  name = name.substr(0, name.find('"'));
  const bool is_12 = std::atoi(version.c_str()) == 12;
  const auto begins = [name](std::initializer_list<std::string_view> folders) {
    return std::any_of(folders.begin(), folders.end(), [name](std::string_view f) { return name.starts_with(f); });
  };
  std::string package;
  if (begins({"cuda/", "cub/", "thrust/", "nv/"})) {
    package = is_12 ? "nvidia-cuda-cccl-cu12" : "nvidia-cuda-cccl";
  } else if (begins({"cutlass/", "cute/"})) {
    package = "nvidia-cutlass";
  } else if (begins({"cuda", "mma.h", "cooperative_groups", "vector_types", "curand"})) {
    package = is_12 ? "nvidia-cuda-runtime-cu12" : "nvidia-cuda-runtime";
  } else if (name.find('.') == std::string_view::npos) {
    return Format(
        "NVRTC has no C++ standard library: include <cuda/std/%.*s> of the CUDA C++ libraries in its place (pip "
        "install %s)",
        static_cast<int>(name.size()), name.data(), is_12 ? "nvidia-cuda-cccl-cu12" : "nvidia-cuda-cccl");
  } else {
    return Format(
        "the module doesn't carry the header '%.*s': it has to lie where the source includes it when the module is "
        "built",
        static_cast<int>(name.size()), name.data());
  }
  return Format("the header '%.*s' isn't installed: pip install %s", static_cast<int>(name.size()), name.data(),
                package.c_str());
}

}  // namespace kernpack::cuda
