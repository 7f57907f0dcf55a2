// Trying a load in a forked child.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include <kernpack/host/host.h>

#include "base/descriptor.h"
#include "base/loader/platform.h"

namespace kernpack::platform {
namespace {

constexpr std::chrono::seconds kPatience{60};
// The child's text begins with kRefused if the load was refused, and ends with a mark if it succeeded; the rest is its stderr.
constexpr char kRefused = '\x02';
constexpr char kGood = '\x01';

// Reads until the writer is gone or patience ends; false when it ended.
bool ReadAll(int fd, std::string* text) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wait{fd, POLLIN, 0};
    const int ready = left.count() > 0 ? poll(&wait, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    char buffer[4096];
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    if (text->size() < 16 * sizeof buffer) text->append(buffer, static_cast<size_t>(got));
  }
}

std::string Trim(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > 600) text = text.substr(0, 600) + " ...";
  return text;
}

[[noreturn]] void RunChild(int out, int (*attempt)(void*, std::string*), void* context) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) signal(number, SIG_DFL);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  std::string error;
  if (attempt(context, &error) == 0) {
    error.assign(1, kGood);
  } else {
    error.insert(error.begin(), kRefused);
  }
  const ssize_t written = write(out, error.data(), error.size());
  _exit(written >= 0 ? 0 : 1);
}

}  // namespace

int TryInChild(const char* path, int (*attempt)(void* context, std::string* error), void* context) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return kp_raise("OSError", "kernpack.load: probing '%s': no pipe: %s", path, std::strerror(errno));
  }
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const pid_t child = fork();
  if (child < 0)
    return kp_raise("OSError", "kernpack.load: probing '%s': no child process: %s", path, std::strerror(errno));
  if (child == 0) RunChild(writer.get(), attempt, context);
  close(writer.Release());
  std::string text;
  const bool finished = ReadAll(reader.get(), &text);
  if (!finished) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!finished) {
    return kp_raise("ImportError", "kernpack.load: '%s' did not finish loading within %d s in a child process (probe)",
                    path, static_cast<int>(kPatience.count()));
  }
  if (!text.empty() && text.back() == kGood) return 0;
  if (!text.empty() && text.front() == kRefused) return kp_raise("ImportError", "%s", text.c_str() + 1);
  const std::string said = text.empty() ? std::string() : ": " + Trim(text);
  if (WIFSIGNALED(status)) {
    return kp_raise(
        "ImportError",
        "kernpack.load: loading '%s' kills the process (probe: signal %d, %s)%s; look at its static constructors", path,
        WTERMSIG(status), strsignal(WTERMSIG(status)), said.c_str());
  }
  return kp_raise("ImportError", "kernpack.load: loading '%s' ends the process (probe: exit status %d)%s", path,
                  WEXITSTATUS(status), said.c_str());
}

}  // namespace kernpack::platform
