#include "system/scratch_folder.h"

#include <kernpack/error.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kernpack::sdk {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::error_code ignored;
  const fs::path base = fs::temp_directory_path(ignored);
  path_ = ((ignored ? fs::path("/tmp") : base) / "kernpack-XXXXXX").string();
  if (!mkdtemp(path_.data())) KP_THROW(OSError) << path_ << ": " << std::strerror(errno);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string ScratchFolder::Write(const std::string& name, std::string_view bytes) const {
  const std::string file = path_ + "/" + name;
  std::error_code ignored;  // writing says what is wrong
  fs::create_directories(fs::path(file).parent_path(), ignored);
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) KP_THROW(OSError) << file << ": could not be written: " << std::strerror(errno);
  return file;
}

}  // namespace kernpack::sdk
