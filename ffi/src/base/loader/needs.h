// The libraries of other wheels that a shared object needs: which they are, by its file, and opening them before it is loaded.
#ifndef KERNPACK_SRC_BASE_LOADER_NEEDS_H_
#define KERNPACK_SRC_BASE_LOADER_NEEDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernpack::host {

class ElfView;

// A wheel that has a library.
struct LibraryWheel {
  std::string requirement;  // "nvidia-cublas>=13,<14"
  std::string folder;  // of the library, below the folder of Python's packages: "nvidia/cu13/lib"
};

struct Need {
  std::string library;  // as DT_NEEDED has it: "libcublas.so.13"
  // One, or one for each version of CUDA that has a library of that name.
  std::vector<LibraryWheel> wheels;
};

// Those of DT_NEEDED that a wheel is known for, by the file's own note or by the table of NVIDIA's libraries, in the file's order. `elf`
// was checked.
std::vector<Need> ReadNeeds(const ElfView& elf);

// The folders below the folder of Python's packages in which the table has libraries whose names begin so: "libcublas.so.".
std::vector<std::string> FoldersOfStem(std::string_view stem);

// A library that was found.
struct NeededLibrary {
  std::string library;
  std::string path;
};

// Finds and opens the libraries, and those that they need themselves, where they aren't in the process already; their symbols are
// not offered to others (RTLD_LOCAL). The object at `path`, whose bytes are `content`, can be loaded afterwards. Calls must not
// overlap. Returns 0, or -1 with ImportError raised.
int OpenNeeds(const char* path, std::span<const char> content, std::vector<NeededLibrary>* out);
// The same of a file that isn't in memory: its content is at `copy`. Errors as of SourceFile, too.
int OpenNeedsOfFile(const char* path, const char* copy, std::vector<NeededLibrary>* out);

// The folders of Python's packages (site-packages), in which libraries are looked for after the folder that the module itself is
// installed in.
void SetLibraryFolders(std::vector<std::string> folders);
std::vector<std::string> LibraryFolders();
// The first of them with a file or folder of that path below it; empty where none has it.
std::string FolderWithFile(const std::string& below);

// True if the version of a distribution is one that the requirement allows, or the requirement can't be read: "name>=13,<14".
bool RequirementAllows(std::string_view requirement, std::string_view version);
// "nvidia-cublas" of "nvidia-cublas>=13,<14".
std::string_view RequiredName(std::string_view requirement);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADER_NEEDS_H_
