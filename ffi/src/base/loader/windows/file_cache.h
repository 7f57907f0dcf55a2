// Copies of DLLs that are loaded, in a folder that only this user writes: Windows locks the file of a loaded DLL, and its author wants to
// build it again.
#ifndef KERNPACK_SRC_BASE_LOADER_WINDOWS_FILE_CACHE_H_
#define KERNPACK_SRC_BASE_LOADER_WINDOWS_FILE_CACHE_H_

#include <span>
#include <string>

namespace kernpack::platform {

// A file of that name and content, in a folder that is named by the content's digest. Empty where none can be made, or where others could
// change it.
std::wstring KeepCopy(std::string_view name, std::span<const char> content, const std::string& digest);

}  // namespace kernpack::platform

#endif  // KERNPACK_SRC_BASE_LOADER_WINDOWS_FILE_CACHE_H_
