#include "base/os/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "base/descriptor.h"

namespace kernpack::host::os {

namespace {

constexpr int64_t kSecond = 1'000'000'000;

}  // namespace

std::string GetVariable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool Exists(const char* path) noexcept { return access(path, F_OK) == 0; }

bool GetStamp(const char* path, Stamp* out) noexcept {
  struct stat state;
  if (stat(path, &state) != 0) return false;
  *out = {state.st_dev, state.st_ino, static_cast<uint64_t>(state.st_size),
          state.st_mtim.tv_sec * kSecond + state.st_mtim.tv_nsec,
          state.st_ctim.tv_sec * kSecond + state.st_ctim.tv_nsec};
  return true;
}

int64_t GetNow() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

std::string ReadText(const std::string& path) {
  const platform::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string content;
  char piece[1 << 15];  // in pieces: what a size says need not be true
  while (file.get() >= 0) {
    const ssize_t got = read(file.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    content.append(piece, static_cast<size_t>(got));
  }
  return content;
}

std::vector<std::string> ListNames(const std::string& path, std::string_view ending) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    if (std::string_view(entry->d_name).ends_with(ending)) names.emplace_back(entry->d_name);
  }
  closedir(folder);
  return names;
}

std::string GetRealPath(const char* path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path, nullptr), &std::free);
  return real ? real.get() : "";
}

}  // namespace kernpack::host::os
