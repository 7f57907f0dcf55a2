#include "base/loader/linux/known_states.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/leaked.h"
#include "base/loader/linux/file_cache.h"

namespace kernpack::platform {
namespace {

constexpr off_t kFull = 1 << 17;  // bytes, after which the file is begun anew

// A line of the file, without its end.
struct Line {
  uint64_t hash;  // of the state
  size_t begin, size;
};

// The file as this process read it last.
struct Lines {
  host::ForkMutex mutex{host::LockRank::kNames};
  std::string path;
  dev_t device = 0;
  ino_t number = 0;
  std::string content;
  std::vector<Line> list;
  size_t listed = 0;  // bytes of the content
  std::string missing;  // the state that was looked for last, and isn't there
};

// A line ends with a check of its other words: writers on file systems of other machines may mix up what they append.
constexpr size_t kCheckDigits = 16;
std::string Check(std::string_view words) {
  char digits[kCheckDigits];
  const char* end = std::to_chars(digits, digits + kCheckDigits, host::HashText(words), 16).ptr;
  const auto written = static_cast<size_t>(end - digits);
  return std::string(kCheckDigits - written, '0').append(digits, written);
}

// A line that is being written has no end.
void ListNewLines(Lines* lines) {
  const std::string_view content = lines->content;
  while (lines->listed < content.size()) {
    const std::string_view rest = content.substr(lines->listed);
    const size_t end = rest.find('\n');
    if (end == rest.npos) return;
    const size_t state = rest.substr(0, end).find(' ');
    if (state != rest.npos) lines->list.push_back({host::HashText(rest.substr(0, state)), lines->listed, end});
    lines->listed += end + 1;
  }
}

// The last sound line of the state: what was written later counts.
bool Search(Lines* lines, const std::string& state, std::string* text) {
  ListNewLines(lines);
  const uint64_t hash = host::HashText(state);
  for (auto found = lines->list.rbegin(); found != lines->list.rend(); ++found) {
    if (found->hash != hash || found->size <= state.size() + 1 + kCheckDigits) continue;
    const std::string_view line(lines->content.data() + found->begin, found->size);
    const std::string_view words = line.substr(0, line.size() - 1 - kCheckDigits);
    if (!words.starts_with(state + " ") || line.substr(line.size() - kCheckDigits) != Check(words)) continue;
    text->assign(words.substr(state.size() + 1));
    return true;
  }
  return false;
}

bool IsOurs(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & 077) == 0;
}

bool IsAsRead(const Lines& lines, const struct stat& info) {
  return info.st_dev == lines.device && info.st_ino == lines.number;
}

void Forget(Lines* lines, const std::string& path) {
  lines->path = path;
  lines->missing.clear();
  lines->content.clear();
  lines->list.clear();
  lines->listed = 0;
  lines->device = 0;
  lines->number = 0;
}

// Reads what was added since it was read last. False where there is nothing new.
bool ReadOn(Lines* lines) {
  struct stat now;
  if (stat(lines->path.c_str(), &now) != 0) return false;
  if (IsAsRead(*lines, now) && static_cast<size_t>(now.st_size) == lines->content.size()) return false;
  const Descriptor file(open(lines->path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  // Writers that meet the end at once may add a little more than a full file has.
  if (file.get() < 0 || fstat(file.get(), &now) != 0 || !IsOurs(now) || now.st_size > 2 * kFull) return false;
  if (!IsAsRead(*lines, now) || static_cast<size_t>(now.st_size) < lines->content.size()) {
    Forget(lines, lines->path);
  }
  lines->device = now.st_dev;
  lines->number = now.st_ino;
  const size_t before = lines->content.size();
  lines->content.resize(static_cast<size_t>(now.st_size));
  size_t at = before;
  while (at < lines->content.size()) {
    const ssize_t got = pread(file.get(), &lines->content[at], lines->content.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    at += static_cast<size_t>(got);
  }
  lines->content.resize(at);
  return at > before;
}

// A program whose files may not become that large is killed if it writes on.
bool MayGrow(int fd, size_t size) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  struct stat now;
  return limit.rlim_cur == RLIM_INFINITY ||
         (fstat(fd, &now) == 0 && static_cast<size_t>(now.st_size) + size <= limit.rlim_cur);
}

}  // namespace

bool FindState(const std::string& root, const std::string& path, const std::string& state, std::string* text) {
  Lines& lines = host::Leaked<Lines>();
  const std::lock_guard lock(lines.mutex);
  if (lines.path != path) Forget(&lines, path);
  if (Search(&lines, state, text)) return true;
  if (IsOurFolder(root) && ReadOn(&lines) && Search(&lines, state, text)) return true;
  lines.missing = state;
  return false;
}

bool AddState(const std::string& path, const std::string& state, const std::string& text) {
  Lines& lines = host::Leaked<Lines>();
  const std::lock_guard lock(lines.mutex);
  if (lines.path != path) Forget(&lines, path);
  std::string known;
  if (lines.missing != state && Search(&lines, state, &known) && known == text) return true;
  const std::string words = state + " " + text;
  errno = EINVAL;
  if (words.find_first_of(std::string_view("\n\0", 2)) != std::string::npos) return false;
  const std::string line = "\n" + words + " " + Check(words) + "\n";
  const Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (file.get() < 0 || !MayGrow(file.get(), line.size())) return false;
  // In one step: a line that is torn, because a disk is full, has no check.
  if (write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) return false;
  struct stat now;
  if (fstat(file.get(), &now) != 0) return true;
  if (now.st_size > kFull) unlink(path.c_str());
  // Where nobody else has written meanwhile, there is nothing to read.
  if (static_cast<size_t>(now.st_size) == lines.content.size() + line.size() &&
      (lines.content.empty() || IsAsRead(lines, now))) {
    lines.device = now.st_dev;
    lines.number = now.st_ino;
    lines.content += line;
    lines.missing.clear();
  }
  return true;
}

}  // namespace kernpack::platform
