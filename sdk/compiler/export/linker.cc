#include "export/linker.h"

#include <kernpack/error.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "system/run.h"
#include "system/scratch_folder.h"

namespace kernpack::sdk {
namespace {

namespace fs = std::filesystem;

std::string FindLinker(const std::string& triple) {
  if (const char* const given = std::getenv("KERNPACK_LINKER"); given && *given) {
    const std::string found = FindProgram(given);
    if (found.empty()) KP_THROW(RuntimeError) << "KERNPACK_LINKER: there is no program '" << given << "'";
    return found;
  }
  std::vector<std::string> candidates = {"ld.lld"};
  if (triple.empty()) {
    candidates.insert(candidates.end(), {"ld", "cc"});
  } else {
    candidates.push_back(triple + "-ld");
  }
  std::string tried;
  for (const std::string& name : candidates) {
    if (const std::string found = FindProgram(name); !found.empty()) return found;
    tried += (tried.empty() ? "" : ", ") + name;
  }
  std::string package = "binutils" + (triple.empty() ? triple : "-" + triple);
  std::replace(package.begin(), package.end(), '_', '-');
  KP_THROW(RuntimeError) << "export: there is no linker: none of " << tried
                         << " was found. Install one (apt-get install lld, or " << package
                         << "), or name one with the environment variable KERNPACK_LINKER";
}

// True if a program takes options like a compiler, which passes linker options on.
bool IsDriver(const std::string& program) {
  const std::string name = fs::path(program).filename();
  for (const char* const end : {"cc", "++", "clang"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

// Runs the linker on the objects with these options of its own, and moves what it made to `path` in one step.
void Link(const std::vector<LinkerInput>& objects, const std::vector<std::string>& options, const ScratchFolder& folder,
          const std::string& triple, const std::string& path) {
  const std::string linker = FindLinker(triple);
  const std::string unfinished = path + "." + std::to_string(getpid()) + ".tmp";
  std::vector<std::string> command = {linker, "-o", unfinished};
  const bool driver = IsDriver(linker);
  if (driver) command.insert(command.end(), {"-nostdlib", options.front()});
  for (size_t i = driver ? 1 : 0; i < options.size(); ++i) {
    command.push_back(driver ? "-Wl," + options[i] : options[i]);
  }
  for (const LinkerInput& object : objects) command.push_back(folder.Write(object.name, object.bytes));
  const RunResult result = Run(command);
  std::error_code problem;
  if (result.status == 0) fs::rename(unfinished, path, problem);
  if (result.status == 0 && !problem) return;
  std::error_code ignored;
  fs::remove(unfinished, ignored);
  KP_THROW(RuntimeError) << "export: " << path << ": "
                         << (problem ? problem.message() : linker + " failed: " + result.output);
}

}  // namespace

void LinkObject(const std::vector<LinkerInput>& objects, const std::string& triple, const std::string& path) {
  Link(objects, {"-r"}, ScratchFolder(), triple, path);
}

void LinkShared(const std::vector<LinkerInput>& objects, std::string_view exports, const std::string& triple,
                const std::string& path) {
  const ScratchFolder folder;
  const std::string script = folder.Write("exports.map", exports);
  std::vector<std::string> options = {"-shared",         "--gc-sections", "--hash-style=gnu",
                                      "--build-id=sha1", "--strip-all",   "--version-script=" + script};
  for (const char* const keyword : {"now", "relro", "nodelete", "noseparate-code", "noexecstack"}) {
    options.insert(options.end(), {"-z", keyword});
  }
  Link(objects, options, folder, triple, path);
}

}  // namespace kernpack::sdk
