// Opening the libraries of other wheels that a shared object needs.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>

#include <kernpack/host/host.h>

#include "base/loader/elf_view.h"
#include "base/loader/linux/library_places.h"
#include "base/loader/linux/opened.h"
#include "base/loader/needs.h"
#include "base/loader/platform.h"
#include "base/loader/verify.h"

namespace kernpack::host {
namespace {

// `pip install "nvidia-cublas>=13,<14" "foo>=1"`, or one for each version of CUDA.
std::string PipLine(std::span<const Need> needs) {
  size_t choices = 0;
  for (const Need& need : needs) choices = std::max(choices, need.wheels.size());
  std::string text;
  for (size_t i = 0; i < choices; ++i) {
    std::string words;
    for (const Need& need : needs) {
      const std::string word = " \"" + need.wheels[std::min(i, need.wheels.size() - 1)].requirement + "\"";
      if (words.find(word) == std::string::npos) words += word;
    }
    text.append(i == 0 ? "" : ", or ").append("pip install").append(words);
  }
  return choices > 1 ? text + ", by the version of CUDA" : text;
}

// The path of the library of that name if it is in the process already; else empty.
std::string LoadedPath(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  link_map* map = nullptr;
  if (handle != nullptr && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map) return map->l_name;
  (void)dlerror();
  return {};
}

bool HasRunPath(const ElfView& elf) {
  return std::any_of(elf.dynamic().begin(), elf.dynamic().end(),
                     [](const Elf64_Dyn& entry) { return entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH; });
}

class Opening {
 public:
  Opening(const char* path, std::vector<NeededLibrary>* out) : path_(path), out_(out) {}

  int OpenAll(std::span<const char> content) {
    ElfView elf(content);
    // A damaged file is reported by the code that loads it.
    if (!elf.Check().empty()) return 0;
    const std::vector<Need> needs = ReadNeeds(elf);
    if (needs.empty()) return 0;
    folders_ = platform::PackageFolders(path_);
    const bool by_run_path = HasRunPath(elf);
    for (size_t i = 0; i < needs.size(); ++i) {
      later_ = std::span(needs).subspan(i + 1);
      if (OpenOne(needs[i], by_run_path) != 0) return -1;
    }
    return 0;
  }

 private:
  // `may_lack`: the object has folders of its own in which the dynamic linker looks.
  int OpenOne(const Need& need, bool may_lack) {
    if (std::find(chain_.begin(), chain_.end(), need.library) != chain_.end()) return RaiseCycle(need.library);
    std::string found = LoadedPath(need.library);
    if (!found.empty()) {
      if (CheckVersion(need, found, true) != 0) return -1;
      out_->push_back({need.library, found});
      return 0;
    }
    found = platform::FindInstalled(need, folders_);
    if (found.empty() && OpenBySystem(need)) return 0;
    if (found.empty()) found = platform::FindInToolkit(need);
    if (found.empty()) return may_lack ? 0 : RaiseMissing(need);
    if (CheckVersion(need, found, false) != 0) return -1;
    return OpenFile(need, found);
  }

  bool OpenBySystem(const Need& need) {
    std::string error;
    if (platform::Open(need.library, &error) == nullptr) return false;
    out_->push_back({need.library, LoadedPath(need.library)});
    return true;
  }

  int OpenFile(const Need& need, const std::string& found) {
    platform::SourceFile file;
    if (file.Open(found.c_str()) != 0 || file.Map() != 0) return -1;
    ElfView elf(file.bytes());
    if (const std::string problem = elf.Check(); !problem.empty()) {
      return kp_raise("ImportError", "kernpack.load: '%s' needs %s, and '%s' %s", path_, need.library.c_str(),
                      found.c_str(), problem.c_str());
    }
    const std::string_view own = elf.DynamicString(elf.DynamicValue(DT_SONAME));
    if (elf.DynamicValue(DT_SONAME) != 0 && own != need.library) {
      return kp_raise(
          "ImportError",
          "kernpack.load: '%s' needs %s, and the file of that name, '%s', calls itself %.*s (its SONAME), so the "
          "dynamic linker wouldn't take it; link the module with the library itself",
          path_, need.library.c_str(), found.c_str(), static_cast<int>(own.size()), own.data());
    }
    if (!HasRunPath(elf)) {  // else the dynamic linker finds what the library needs, as its authors meant
      chain_.push_back(need.library);
      for (const Need& next : ReadNeeds(elf)) {
        if (OpenOne(next, false) != 0) return -1;
      }
      chain_.pop_back();
    }
    std::string error;
    if (platform::Open(found, &error) == nullptr) {
      return kp_raise("ImportError", "kernpack.load: '%s' needs %s, and the dynamic linker refuses '%s': %s", path_,
                      need.library.c_str(), found.c_str(), error.c_str());
    }
    out_->push_back({need.library, found});
    return 0;
  }

  // Compares what is installed, where its version can be told, with the requirement.
  int CheckVersion(const Need& need, const std::string& found, bool loaded) const {
    std::string problem;
    for (const LibraryWheel& wheel : need.wheels) {
      const std::string folder = platform::FolderOfWheel(found, wheel);
      const std::string name(RequiredName(wheel.requirement));
      const std::string version = folder.empty() ? std::string() : InstalledVersion(folder, name);
      if (version.empty()) continue;
      if (RequirementAllows(wheel.requirement, version)) return 0;
      problem = name;
      problem.append(" ").append(version);
    }
    if (problem.empty()) return 0;
    const char* what = loaded ? "this process has loaded that of" : "what is installed is";
    return kp_raise("ImportError", "kernpack.load: '%s' needs %s of %s, but %s %s ('%s'): %s", path_,
                    need.library.c_str(), need.wheels.front().requirement.c_str(), what, problem.c_str(), found.c_str(),
                    PipLine({&need, 1}).c_str());
  }

  int RaiseMissing(const Need& need) const {
    const std::string other = platform::FindOtherMajor(need, folders_);
    const std::string instead =
        other.empty() ? std::string() : "; '" + other + "' is another version, which can't stand in for it";
    std::string by;
    if (!chain_.empty()) by = chain_.back() + ", which it needs, ";
    std::vector<Need> missing{need};
    std::string others;
    for (const Need& each : later_) {
      if (!IsMissing(each)) continue;
      missing.push_back(each);
      others += (others.empty() ? "" : ", ") + each.library;
    }
    if (!others.empty()) others = "; the module also needs " + others + ", not installed either";
    return kp_raise(
        "ImportError",
        "kernpack.load: '%s' %s%s %s, which isn't installed: %s%s%s. Looked in %zu folders of Python packages, in "
        "CONDA_PREFIX, among the system's libraries and in CUDA_HOME",
        path_, chain_.empty() ? "" : "can't be loaded: ", chain_.empty() ? "needs" : (by + "needs").c_str(),
        need.library.c_str(), PipLine(missing).c_str(), others.c_str(), instead.c_str(), folders_.size());
  }

  bool IsMissing(const Need& need) const {
    std::string error;
    return LoadedPath(need.library).empty() && platform::FindInstalled(need, folders_).empty() &&
           platform::FindInToolkit(need).empty() && platform::Open(need.library, &error) == nullptr;
  }

  int RaiseCycle(const std::string& library) const {
    std::string chain;
    for (auto at = std::find(chain_.begin(), chain_.end(), library); at != chain_.end(); ++at) chain += *at + " -> ";
    return kp_raise(
        "ImportError",
        "kernpack.load: '%s' needs libraries that need each other, %s%s, so that none can be opened first; link one of "
        "them without the other",
        path_, chain.c_str(), library.c_str());
  }

  const char* path_;
  std::vector<std::string> folders_;
  std::vector<std::string> chain_;  // libraries that wait for one that they need
  std::span<const Need>
      later_;  // of the module, after the one that is being opened: one error names all that are missing
  std::vector<NeededLibrary>* out_;
};

}  // namespace

int OpenNeeds(const char* path, std::span<const char> content, std::vector<NeededLibrary>* out) {
  return Opening(path, out).OpenAll(content);
}

int OpenNeedsOfFile(const char* path, const char* copy, std::vector<NeededLibrary>* out) {
  platform::SourceFile file;
  return file.Open(copy) != 0 || file.Map() != 0 ? -1 : OpenNeeds(path, file.bytes(), out);
}

}  // namespace kernpack::host
