#include "base/loader/needs.h"

#include <algorithm>
#include <iterator>

#include <kernpack/library_table.h>

#include "base/loader/elf_view.h"

namespace kernpack::host {
namespace {

struct Row {
  int cuda;
  std::string_view library, requirement, folder;
};

constexpr Row kRows[] = {
#define KP_ROW(cuda, name, library, requirement, folder, prefixes) {cuda, library, requirement, folder},
    KP_NVIDIA_LIBRARIES(KP_ROW)
#undef KP_ROW
};

// Takes the text up to the mark, or all of it, off the front.
std::string_view Take(std::string_view* text, char mark) {
  const size_t end = std::min(text->find(mark), text->size());
  const std::string_view taken = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return taken;
}

// False of a path that leads out of the folder of Python's packages.
bool IsInside(std::string_view folder) {
  if (folder.empty() || folder.front() == '/') return false;
  while (!folder.empty()) {
    if (Take(&folder, '/') == "..") return false;
  }
  return true;
}

std::vector<Need> ReadNote(const ElfView& elf) {
  std::vector<Need> needs;
  for (std::string_view rest = elf.Note(KP_NEEDS_NOTE_OWNER, KP_NEEDS_NOTE_TYPE); !rest.empty();) {
    std::string_view line = Take(&rest, '\n');
    line = line.substr(0, line.find('\0'));
    const std::string_view library = Take(&line, '\t');
    const std::string_view requirement = Take(&line, '\t');
    if (library.empty() || library.find('/') != std::string_view::npos || requirement.empty() || !IsInside(line))
      continue;
    needs.push_back({std::string(library), {{std::string(requirement), std::string(line)}}});
  }
  return needs;
}

// The major version of CUDA that one of the libraries alone tells; 0 where none does.
int CudaOf(const std::vector<std::string_view>& libraries) {
  for (const std::string_view library : libraries) {
    const Row* first = nullptr;
    const auto count = std::count_if(std::begin(kRows), std::end(kRows), [&](const Row& row) {
      if (row.library == library) first = &row;
      return row.library == library;
    });
    if (count == 1) return first->cuda;
  }
  return 0;
}

}  // namespace

std::vector<std::string> FoldersOfStem(std::string_view stem) {
  std::vector<std::string> folders;
  for (const Row& row : kRows) {
    if (row.library.starts_with(stem)) folders.emplace_back(row.folder);
  }
  return folders;
}

std::vector<Need> ReadNeeds(const ElfView& elf) {
  std::vector<std::string_view> libraries;
  for (const Elf64_Dyn& entry : elf.dynamic()) {
    if (entry.d_tag == DT_NEEDED) libraries.push_back(elf.DynamicString(entry.d_un.d_val));
  }
  if (libraries.empty()) return {};
  const std::vector<Need> noted = ReadNote(elf);
  const int cuda = CudaOf(libraries);
  std::vector<Need> needs;
  for (const std::string_view library : libraries) {
    const auto own =
        std::find_if(noted.begin(), noted.end(), [&](const Need& need) { return need.library == library; });
    if (own != noted.end()) {
      needs.push_back(*own);
      continue;
    }
    Need need{std::string(library), {}};
    for (const Row& row : kRows) {
      if (row.library != library || (cuda != 0 && row.cuda != cuda)) continue;
      need.wheels.push_back({std::string(row.requirement), std::string(row.folder)});
    }
    if (!need.wheels.empty()) needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace kernpack::host
