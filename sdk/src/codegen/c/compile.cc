#include "codegen/c/compile.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <kernpack/error.h>

#include "codegen/c/abi_text.h"

extern char** environ;

namespace kernpack::sdk {
namespace {

namespace fs = std::filesystem;

void WriteFile(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) KP_THROW(OSError) << path.string() << ": cannot be written";
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool IsOnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty() && access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// The words of an environment variable: "ccache gcc".
std::vector<std::string> WordsOf(const char* variable) {
  const char* text = std::getenv(variable);
  std::stringstream stream(text ? text : "");
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> FindCompiler() {
  std::vector<std::string> words = WordsOf("KERNPACK_CC");
  if (!words.empty()) return words;
  for (const char* name : {"cc", "gcc", "clang"}) {
    if (IsOnPath(name)) return {name};
  }
  KP_THROW(RuntimeError) << "the kind c needs a C compiler: KERNPACK_CC is not set, and there is no cc, gcc or clang "
                            "on PATH; install one (Debian: apt install gcc), or build for llvm";
}

// -march names what the code may use; without one the oldest processors that modules are made for.
std::vector<std::string> ProcessorFlags(const Target& target) {
  const std::string triple = target.GetAttr<std::string>("mtriple", "");
  const std::string cpu = target.GetAttr<std::string>("mcpu", "");
  const bool x86 = triple.empty() || triple.rfind("x86_64", 0) == 0;
  if (cpu.empty() || cpu == "generic")
    return x86 ? std::vector<std::string>{"-march=x86-64-v2"} : std::vector<std::string>{};
  return {(x86 ? "-march=" : "-mcpu=") + cpu};
}

// Runs a program with its output in a file; its exit status, or 127.
int Run(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code ignored;
  const fs::path base = fs::temp_directory_path(ignored);
  path_ = ((ignored ? fs::path("/tmp") : base) / "kernpack-XXXXXX").string();
  if (!mkdtemp(path_.data())) KP_THROW(OSError) << path_ << ": " << std::strerror(errno);
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void CompileC(const std::string& source, const Target& target, const std::string& path) {
  const TemporaryFolder folder;
  const fs::path at(folder.path());
  fs::create_directory(at / "kernpack");
  WriteFile(at / "kernpack" / "abi.h", kAbiHeader);
  WriteFile(at / "module.c", source);
  // Contraction is what the IR allows; that nobody looks at errno or at floating-point exceptions is what it means.
  std::vector<std::string> words = FindCompiler();
  words.insert(words.end(), {"-std=c99", "-O3", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"});
  words.insert(words.end(), {"-fPIC", "-shared", "-fvisibility=hidden", "-I", at.string()});
  for (std::string& flag : ProcessorFlags(target)) words.push_back(std::move(flag));
  for (std::string& flag : WordsOf("KERNPACK_CFLAGS")) words.push_back(std::move(flag));
  words.insert(words.end(),
               {(at / "module.c").string(), "-o", path, "-Wl,-z,now,-z,relro,-z,nodelete", "-Wl,--as-needed", "-lm"});
  const fs::path log = at / "log";
  const int status = Run(words, log.string());
  if (status == 0) return;
  if (status == 127) {
    KP_THROW(RuntimeError) << "the kind c: cannot run the C compiler '" << words[0] << "'; set KERNPACK_CC to one";
  }
  const std::string said = ReadFile(log);
  KP_THROW(RuntimeError) << "the kind c: " << words[0] << " failed (status " << status << "):\n"
                         << said.substr(0, 4000);
}

}  // namespace kernpack::sdk
