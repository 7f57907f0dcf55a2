// Paths and lists of paths, as the system writes them.
#ifndef KERNPACK_SRC_BASE_OS_PATH_H_
#define KERNPACK_SRC_BASE_OS_PATH_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace kernpack::host::os {

#if defined(_WIN32)
inline constexpr std::string_view kLibrarySuffix = ".dll";
inline constexpr char kListSeparator = ';';
inline constexpr std::string_view kSeparators = "/\\";
#else
inline constexpr std::string_view kLibrarySuffix = ".so";  // maybe with a version behind it
inline constexpr char kListSeparator = ':';
inline constexpr std::string_view kSeparators = "/";
#endif

// The part behind the last separator: the name of a file, without its folder.
inline std::string_view FileName(std::string_view path) {
  const size_t at = path.find_last_of(kSeparators);
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

// With '/' wherever the path has another separator.
inline std::string WithSlashes(std::string path) {
  if constexpr (kSeparators.size() > 1) std::replace(path.begin(), path.end(), kSeparators[1], '/');
  return path;
}

}  // namespace kernpack::host::os

#endif  // KERNPACK_SRC_BASE_OS_PATH_H_
