#include "system/run.h"

#include <fcntl.h>
#include <kernpack/error.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace kernpack::sdk {
namespace {

std::string ReadAll(int from) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(from, buffer, sizeof buffer);
    if (n > 0) text.append(buffer, static_cast<size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : std::string();
  const char* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    const std::string file = std::string(folder.empty() ? "." : folder) + "/" + name;
    std::error_code ignored;
    if (access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file, ignored)) return file;
  }
  return {};
}

RunResult Run(const std::vector<std::string>& command) {
  std::vector<char*> args;
  for (const std::string& part : command) args.push_back(const_cast<char*>(part.c_str()));
  args.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) KP_THROW(OSError) << args[0] << ": " << std::strerror(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  pid_t child = 0;
  const int failed = posix_spawn(&child, args[0], &actions, nullptr, args.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  RunResult result;
  if (!failed) result.output = ReadAll(ends[0]);
  close(ends[0]);
  if (failed) KP_THROW(OSError) << args[0] << ": " << std::strerror(failed);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace kernpack::sdk
