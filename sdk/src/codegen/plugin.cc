#include "codegen/plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "target/host.h"

namespace kernpack::sdk {
namespace {

using Register = int (*)(const KpHost*);

// The folder of the binary that an address is in; "" when that is not known.
std::filesystem::path FolderOf(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::absolute(info.dli_fname, ignored).parent_path();
}

}  // namespace

std::string LoadGeneratorPlugin(const std::string& kind) {
  const std::string file = "libkernpack_" + kind + ".so";
  const void* const here = reinterpret_cast<const void*>(&LoadGeneratorPlugin);
  const void* const in_host = reinterpret_cast<const void*>(Host()->raise);
  std::string path = file;
  for (const auto& folder : {FolderOf(here), FolderOf(in_host)}) {
    std::error_code ignored;
    if (path == file && !folder.empty() && std::filesystem::exists(folder / file, ignored)) path = folder / file;
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return path == file ? "this build has no " + file : std::string(dlerror());
  const auto register_it = reinterpret_cast<Register>(dlsym(library, "kp_generator_v1"));
  if (!register_it) return path + " isn't a generator: it doesn't export kp_generator_v1";
  Check(register_it(Host()));
  return {};
}

}  // namespace kernpack::sdk
