#include "driver/module.h"

#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "exec/fault.h"

namespace kernpack::cuda {

void KeepPtx(const std::string& ptx) {
  const char* const folder = std::getenv("KERNPACK_EMULATOR_PTX");
  if (folder == nullptr || *folder == '\0') return;
  const std::filesystem::path path =
      std::filesystem::path(folder) / emulator::Text("%016" PRIx64 ".ptx", uint64_t{std::hash<std::string>()(ptx)});
  std::error_code unread;
  std::filesystem::create_directories(folder, unread);
  if (std::filesystem::exists(path, unread)) return;
  // Another process may write the same text at the same time.
  const std::filesystem::path part = path.string() + "." + std::to_string(getpid());
  std::ofstream out(part);
  out << ptx;
  out.close();
  if (out.good() && std::rename(part.c_str(), path.c_str()) == 0) return;
  static bool said = false;
  if (said) return;
  said = true;
  std::fprintf(stderr, "kernpack's emulated CUDA device: KERNPACK_EMULATOR_PTX: can't write to %s: %s\n", part.c_str(),
               std::strerror(errno));
}

}  // namespace kernpack::cuda
