#include "base/loader/linux/library_places.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <memory>

#include "base/loaded_libraries.h"

namespace kernpack {
namespace {

bool IsFile(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// Empty where it isn't set to an absolute path.
std::string FolderOfVariable(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr && *value == '/' ? std::string(value) : std::string();
}

// "libcublas.so." of "libcublas.so.13"; empty of a name without a version.
std::string_view StemOf(std::string_view library) {
  const size_t at = library.find(".so.");
  return at == std::string_view::npos ? std::string_view() : library.substr(0, at + 4);
}

// The first other file of that stem.
std::string FindOfStem(const std::string& folder, std::string_view stem, std::string_view library) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), [](DIR* dir) { return closedir(dir); });
  std::string found;
  while (const dirent* entry = open ? readdir(open.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(stem) && name != library && (found.empty() || name < found)) found = name;
  }
  return found.empty() ? found : folder + "/" + found;
}

}  // namespace

namespace platform {

std::vector<std::string> PackageFolders(const char* path) {
  std::vector<std::string> folders;
  const std::string_view whole = path;
  for (const std::string_view name : {"/site-packages/", "/dist-packages/"}) {
    const size_t at = whole.rfind(name);
    if (at != std::string_view::npos) folders.emplace_back(whole.substr(0, at + name.size() - 1));
  }
  for (std::string& folder : host::LibraryFolders()) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(std::move(folder));
  }
  return folders;
}

std::string FindInstalled(const host::Need& need, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    for (const host::LibraryWheel& wheel : need.wheels) {
      std::string path = folder + "/" + wheel.folder + "/" + need.library;
      if (IsFile(path)) return path;
    }
  }
  const std::string conda = FolderOfVariable("CONDA_PREFIX");
  std::string path = conda + "/lib/" + need.library;
  return !conda.empty() && IsFile(path) ? path : std::string();
}

std::string FindInToolkit(const host::Need& need) {
  if (need.wheels.empty() || !need.wheels.front().folder.starts_with("nvidia/")) return {};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string home = FolderOfVariable(variable);
    for (const char* folder : {"/lib64/", "/lib/"}) {
      std::string path = home + folder + need.library;
      if (!home.empty() && IsFile(path)) return path;
    }
  }
  return {};
}

std::string FindOtherMajor(const host::Need& need, const std::vector<std::string>& folders) {
  const std::string_view stem = StemOf(need.library);
  if (stem.empty()) return {};
  const std::vector<std::string> places = host::FoldersOfStem(stem);
  for (const std::string& folder : folders) {
    for (const std::string& place : places) {
      std::string there = folder;
      there.append("/").append(place);
      if (std::string found = FindOfStem(there, stem, need.library); !found.empty()) return found;
    }
    for (const host::LibraryWheel& wheel : need.wheels) {
      if (std::string found = FindOfStem(folder + "/" + wheel.folder, stem, need.library); !found.empty()) return found;
    }
  }
  link_map* map = nullptr;
  void* loaded = host::FindLoaded(stem);
  return loaded && dlinfo(loaded, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : std::string();
}

std::string FolderOfWheel(const std::string& path, const host::LibraryWheel& wheel) {
  const std::string_view folder = std::string_view(path).substr(0, path.rfind('/'));
  const std::string below = "/" + wheel.folder;
  return folder.ends_with(below) ? std::string(folder.substr(0, folder.size() - below.size())) : std::string();
}

}  // namespace platform
}  // namespace kernpack
