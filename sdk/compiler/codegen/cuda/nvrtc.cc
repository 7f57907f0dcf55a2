#include "codegen/cuda/nvrtc.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>

#include <kernpack/error.h>
#include <kernpack/string.h>

#include "codegen/packed.h"
#include "shared/nvrtc.h"

namespace kernpack::sdk {
namespace {

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

void* OpenLibrary() {
  std::string tried;
  for (const std::string& file : Candidates()) {
    std::string why;
    if (void* library = nvrtc::OpenFile(file, &why)) return library;
    tried += "\n  " + why;
  }
  KP_THROW(RuntimeError)
      << "the kind cuda needs NVRTC, NVIDIA's run-time compiler, which was not found: pip install "
         "nvidia-cuda-nvrtc, or set KERNPACK_NVRTC to the path of libnvrtc.so; no GPU is needed. Tried:"
      << tried;
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

Nvrtc Nvrtc::Open() {
  auto library = std::make_unique<nvrtc::Library>();
  std::string why;
  if (!nvrtc::ReadLibrary(OpenLibrary(), library.get(), &why)) KP_THROW(RuntimeError) << "the kind cuda: " << why;
  Nvrtc opened;
  opened.library_ = library.release();  // until the process ends, as NVRTC is
  return opened;
}

const Nvrtc& Nvrtc::Get() {
  static std::mutex mutex;
  static const Nvrtc* opened = nullptr;
  const std::lock_guard lock(mutex);
  if (opened == nullptr) opened = new Nvrtc(Open());
  return *opened;
}

const std::string& Nvrtc::version() const { return library_->version; }

bool Nvrtc::Knows(const std::string& arch) const {
  const std::optional<int> number = ParseNumber(arch);
  return number && library_->Knows(*number);
}

std::string Nvrtc::Compile(const std::string& program, const std::string& name, const std::string& arch,
                           bool contracts) const {
  if (!Knows(arch)) {
    KP_THROW(ValueError) << "the kind cuda: NVRTC " << version() << " generates no code for " << arch << "; it knows "
                         << nvrtc::Listed(library_->archs);
  }
  nvrtc::Compilation wanted;
  wanted.source = program;
  wanted.name = name + ".cu";
  wanted.arch = arch;
  wanted.options = {"--std=c++17", contracts ? "--fmad=true" : "--fmad=false"};
  nvrtc::Compiled compiled;
  std::string why;
  if (!nvrtc::Compile(*library_, wanted, &compiled, &why)) {
    if (!compiled.log.empty()) why += "\n" + compiled.log.substr(0, 4000);
    KP_THROW(RuntimeError) << "the kind cuda: " << why;
  }
  return std::move(compiled.image);
}

}  // namespace kernpack::sdk
