// Small questions about files and folders, and variables that name them. Paths are UTF-8 on Windows.
#ifndef KERNPACK_SRC_BASE_OS_FILES_H_
#define KERNPACK_SRC_BASE_OS_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernpack::host::os {

bool Exists(const char* path) noexcept;

// Which file or folder is at a path, and its times, in nanoseconds since 1970.
struct Stamp {
  uint64_t device = 0, number = 0, size = 0;
  int64_t written = 0;  // its content; of a folder: an entry was added, removed or renamed
  int64_t changed = 0;  // that, or its name, its rights, its owner
};
// False where there is nothing.
bool GetStamp(const char* path, Stamp* out) noexcept;
// As the times of files count.
int64_t GetNow() noexcept;

// All of a small file; empty where there is none, or it can't be read.
std::string ReadText(const std::string& path);

// The names in a folder that end so; none where it can't be read.
std::vector<std::string> ListNames(const std::string& path, std::string_view ending);

// Absolute, without links, with '/' as the separator. Empty where there is no such file or folder.
std::string GetRealPath(const char* path);

// The variable's value of the environment; empty if it isn't set. std::getenv, which serves variables that hold plain words, gives the
// characters of Windows' old code pages.
std::string GetVariable(const char* name);

}  // namespace kernpack::host::os

#endif  // KERNPACK_SRC_BASE_OS_FILES_H_
