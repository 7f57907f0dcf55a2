// The folders of Python's packages, in which libraries and files of other wheels are looked for.
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "base/leaked.h"
#include "base/loader/needs.h"
#include "base/os/files.h"

namespace kernpack::host {
namespace {

struct SearchedFolders {
  ForkMutex mutex{LockRank::kNames};
  std::vector<std::string> paths;
};

}  // namespace

void SetLibraryFolders(std::vector<std::string> folders) {
  SearchedFolders& known = Leaked<SearchedFolders>();
  const std::lock_guard lock(known.mutex);
  known.paths = std::move(folders);
}

std::vector<std::string> LibraryFolders() {
  SearchedFolders& known = Leaked<SearchedFolders>();
  const std::lock_guard lock(known.mutex);
  return known.paths;
}

std::string FolderWithFile(const std::string& below) {
  for (std::string& folder : LibraryFolders()) {
    std::string path = folder;
    path += '/';
    path += below;
    if (os::Exists(path.c_str())) return std::move(folder);
  }
  return {};
}

}  // namespace kernpack::host
