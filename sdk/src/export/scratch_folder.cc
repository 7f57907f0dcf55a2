#include "export/scratch_folder.h"

#include <kernpack/error.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kernpack::sdk {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::error_code ignored;
  path_ = (fs::temp_directory_path(ignored) / "kernpack-XXXXXX").string();
  if (!mkdtemp(path_.data())) KP_THROW(OSError) << path_ << ": " << std::strerror(errno);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string ScratchFolder::Write(const std::string& name, std::string_view bytes) const {
  const std::string file = path_ + "/" + name;
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) KP_THROW(OSError) << file << ": could not be written: " << std::strerror(errno);
  return file;
}

}  // namespace kernpack::sdk
