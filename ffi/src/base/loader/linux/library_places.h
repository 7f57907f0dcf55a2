// The places where a library of another wheel may be, in the order in which NVIDIA's own packages look (cuda-pathfinder).
#ifndef KERNPACK_SRC_BASE_LOADER_LINUX_LIBRARY_PLACES_H_
#define KERNPACK_SRC_BASE_LOADER_LINUX_LIBRARY_PLACES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/loader/needs.h"

namespace kernpack::platform {

// The folders of Python's packages: the one that the file itself is installed in, then those that Python knows.
std::vector<std::string> PackageFolders(const char* path);

// The file in one of these folders, in a wheel or in a conda environment; empty where there is none.
std::string FindInstalled(const host::Need& need, const std::vector<std::string>& folders);
// The file in NVIDIA's toolkit, by CUDA_HOME or CUDA_PATH; empty where there is none.
std::string FindInToolkit(const host::Need& need);
// Another major version of the library in one of the folders, or in this process; empty where there is none.
std::string FindOtherMajor(const host::Need& need, const std::vector<std::string>& folders);

// The folder of Python's packages in which the wheel has the library at `path`; empty if it is elsewhere.
std::string FolderOfWheel(const std::string& path, const host::LibraryWheel& wheel);

}  // namespace kernpack::platform

#endif  // KERNPACK_SRC_BASE_LOADER_LINUX_LIBRARY_PLACES_H_
