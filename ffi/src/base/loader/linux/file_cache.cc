#include "base/loader/linux/file_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include <kernpack/host/host.h>

#include "base/hash.h"
#include "base/leaked.h"
#include "base/loader/digest.h"
#include "base/loader/linux/known_states.h"
#include "base/loader/linux/opened.h"
#include "base/loader/verify.h"
#include "base/descriptor.h"

namespace kernpack::platform {
namespace {

constexpr time_t kHour = 60 * 60;
constexpr time_t kDay = 24 * kHour;
constexpr time_t kUnused = 30 * kDay;  // after which a copy is dropped
constexpr size_t kDigestDigits = 64;

// Where load_inline keeps what it compiles, too. Empty: nowhere.
std::string Root() {
  const auto under = [](const char* variable, const char* below) {
    const char* value = secure_getenv(variable);
    return value != nullptr && *value == '/' ? std::string(value) + below : std::string();
  };
  if (std::string named = under("KERNPACK_CACHE_DIR", "/modules"); !named.empty()) return named;
  if (std::string cache = under("XDG_CACHE_HOME", "/kernpack/modules"); !cache.empty()) return cache;
  return under("HOME", "/.cache/kernpack/modules");
}

bool IsOurFile(const std::string& path, struct stat* found) {
  return lstat(path.c_str(), found) == 0 && S_ISREG(found->st_mode) && found->st_uid == geteuid() &&
         (found->st_mode & 022) == 0;
}

// With the folders above it. False when it belongs to somebody else, or cannot be made.
bool MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno == ENOENT) {
    for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
      mkdir(path.substr(0, end).c_str(), 0700);
    }
    mkdir(path.c_str(), 0700);
  }
  // The umask has its say in a new one, and an older one may be anything.
  if (IsOurFolder(path)) return true;
  struct stat found;
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
         chmod(path.c_str(), 0700) == 0;
}

bool Holds(const std::string& path, std::span<const char> content) {
  struct stat found;
  if (!IsOurFile(path, &found) || static_cast<size_t>(found.st_size) != content.size()) return false;
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  char part[1 << 15];
  for (size_t at = 0; at < content.size();) {
    const ssize_t got = read(file.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || static_cast<size_t>(got) > content.size() - at) return false;
    if (std::memcmp(part, content.data() + at, static_cast<size_t>(got)) != 0) return false;
    at += static_cast<size_t>(got);
  }
  return true;
}

template <class Visit>
void ForEachEntry(const std::string& folder, Visit&& visit) {
  DIR* open = opendir(folder.c_str());
  if (!open) return;
  while (const dirent* entry = readdir(open)) {
    if (entry->d_name[0] != '.') visit(folder + "/" + entry->d_name, entry->d_name);
  }
  closedir(open);
}

// Copies in progress. Each is locked while its writer lives, so that what killed ones left is told from the others'.
std::string Unfinished(const std::string& root) { return root + "/unfinished"; }

// A file of that kind, whose path goes to *path. -1 where none can be made.
int NewUnfinished(const std::string& root, std::string* path) {
  for (int i = 0; i < 8; ++i) {
    *path = Unfinished(root) + "/XXXXXX";
    const int fd = mkostemp(path->data(), O_CLOEXEC);
    if (fd < 0) return -1;
    struct stat found;
    // Between the two steps another process may take it for a killed one's, and remove it.
    const bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && fstat(fd, &found) == 0 && found.st_nlink == 1) return fd;
    close(fd);
  }
  return -1;
}

void DropUnfinished(const std::string& root) {
  ForEachEntry(Unfinished(root), [](const std::string& path, const char*) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() >= 0 && flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  });
}

// Once a day: drops what the index says, which is soon written again, and copies that nobody asked for in a month. What is loaded
// stays loaded.
void DropOld(const std::string& root) {
  const std::string stamp = root + "/looked_through";
  const time_t now = time(nullptr);
  // A process that loads many files looks at the stamp once an hour.
  static constinit std::atomic<uint64_t> looked{0};
  const uint64_t hour = host::HashText(root, static_cast<uint64_t>(now / kHour));
  if (looked.exchange(hour, std::memory_order_relaxed) == hour) return;
  struct stat found;
  if (stat(stamp.c_str(), &found) == 0 && now - found.st_mtime < kDay) return;
  Descriptor mark(open(stamp.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (mark.get() < 0 || futimens(mark.get(), nullptr) != 0) return;
  const auto is_older = [now](const std::string& path, time_t age) {
    struct stat state;
    return lstat(path.c_str(), &state) == 0 && now - state.st_mtime > age;
  };
  ForEachEntry(root + "/index", [&](const std::string& path, const char*) {
    if (is_older(path, kDay)) unlink(path.c_str());
  });
  ForEachEntry(root, [&](const std::string& folder, const char* name) {
    if (std::strlen(name) != kDigestDigits) return;
    ForEachEntry(folder, [&](const std::string& path, const char*) {
      if (is_older(path, kUnused)) unlink(path.c_str());
    });
    rmdir(folder.c_str());  // only when it is empty
  });
}

// The file that lists known states, of this run of the machine: after a crash, what was written last may be lost. Hosts of other majors,
// which may share the folder, have to look for their own query, and other versions may check more.
std::string IndexName(const std::string& root) {
  struct Boot {
    char id[37] = {};
    Boot() {
      Descriptor file(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
      if (file.get() < 0 || read(file.get(), id, sizeof id - 1) != sizeof id - 1) id[0] = 0;
    }
  };
  const Boot& boot = host::Leaked<Boot>();
  if (root.empty() || boot.id[0] == 0) return {};
  return root + "/index/" + boot.id + "-" KP_MODULE_QUERY_SYMBOL "-" + kp_version();
}

std::string FileName(const char* path) {
  const char* base = std::strrchr(path, '/');
  return std::string(base ? base + 1 : path).substr(0, 200);
}

}  // namespace

bool IsOurFolder(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
         (found.st_mode & 0777) == 0700;
}

std::string KeepCopy(const std::string& name, std::span<const char> content, const std::string& digest) {
  const std::string root = Root();
  if (root.empty() || !(IsOurFolder(root) || MakeFolder(root)) || !MakeFolder(root + "/" + digest)) return {};
  std::string copy = root + "/" + digest + "/" + name;
  if (Holds(copy, content)) {
    utimensat(AT_FDCWD, copy.c_str(), nullptr, 0);  // it is in use
    return copy;
  }
  if (!MakeFolder(Unfinished(root))) return {};
  DropUnfinished(root);
  // A name of its own for each writer; renaming is what other processes see.
  std::string unfinished;
  const Descriptor file(NewUnfinished(root, &unfinished));
  if (file.get() < 0) return {};
  if (!WriteAll(file.get(), content) || fchmod(file.get(), 0500) != 0 ||
      rename(unfinished.c_str(), copy.c_str()) != 0) {
    unlink(unfinished.c_str());
    return {};
  }
  DropOld(root);
  return copy;
}

// A digest, a mark and the distribution. Short: file systems keep a link's text of up to 59 bytes in the inode itself.
constexpr std::string_view kMarks =
    "-+=*~^@%";  // bits: a module was made of it alone; it was mapped in place; it has needs

std::string GetText(const Known& known) {
  const size_t mark = (known.alone ? 1 : 0) + (known.in_place ? 2 : 0) + (known.needs ? 4 : 0);
  return host::DigestText(known.digest) + kMarks[mark] + known.verified;
}

std::string LinkText(const std::string& link) {
  char text[PATH_MAX];
  const ssize_t size = readlink(link.c_str(), text, sizeof text);
  return {text, size > 0 ? static_cast<size_t>(size) : 0};
}

bool ReadText(std::string_view told, Known* out) {
  if (told.size() <= host::kDigestText || !host::ReadDigestText(told.substr(0, host::kDigestText), &out->digest)) {
    return false;
  }
  const size_t mark = kMarks.find(told[host::kDigestText]);
  out->alone = mark != std::string_view::npos && (mark & 1) != 0;
  out->in_place = mark != std::string_view::npos && (mark & 2) != 0;
  out->needs = mark != std::string_view::npos && (mark & 4) != 0;
  out->verified = told.substr(host::kDigestText + 1);
  return true;
}

// False where it can't be written; errno says why.
bool WriteLink(const std::string& link, const Known& known) {
  const std::string text = GetText(known);
  if (symlink(text.c_str(), link.c_str()) == 0) return true;
  if (errno != EEXIST) return false;
  if (LinkText(link) == text) return true;
  unlink(link.c_str());  // what was known before, or of a file that had this state before
  return symlink(text.c_str(), link.c_str()) == 0;
}

// A digest of the file's path, its size, and the second of its mtime: image formats keep no more of a file.
std::string WarmName(const std::string& root, const char* path) {
  struct stat info;
  if (root.empty() || stat(path, &info) != 0) return {};
  const std::string of_path = host::DigestText(host::Digest(RealPath(path)));
  return root + "/warm/" + of_path + "-" + std::to_string(info.st_size) + "-" + std::to_string(info.st_mtim.tv_sec);
}

bool Recall(const char* path, const FileState& state, Known* out, std::string* opened) {
  const std::string root = Root();
  const std::string index = state.settled ? IndexName(root) : std::string();
  if (index.empty() || state.text.empty()) return false;
  static constinit std::atomic<bool> dropped{false};
  if (!dropped.exchange(true, std::memory_order_relaxed) && IsOurFolder(root)) DropUnfinished(root);
  std::string text;
  if (!FindState(root, index, state.text, &text) || !ReadText(text, out)) return false;
  if (out->in_place) {
    *opened = path;
    return state.guarded && !host::CopyIsWanted();
  }
  *opened = root + "/" + out->digest + "/" + FileName(path);
  struct stat found;
  return IsOurFolder(root) && IsOurFile(*opened, &found);
}

void Remember(const char* path, const FileState& state, const Known& known) {
  const std::string root = Root();
  const std::string index = state.settled ? IndexName(root) : std::string();
  struct stat found;
  // A file that was loaded without verification must be verified once verification is on again.
  if (index.empty() || state.text.empty() || host::VerificationIsOff()) return;
  if (!known.in_place && !IsOurFile(root + "/" + known.digest + "/" + FileName(path), &found)) return;
  if (!IsOurFolder(root) && !MakeFolder(root)) return;
  if (!AddState(index, state.text, GetText(known)) && errno == ENOENT && MakeFolder(root + "/index")) {
    AddState(index, state.text, GetText(known));
  }
  if (known.in_place) DropOld(root);
}

void* OpenKnown(const std::string& opened, const FileState& state, const Known& known) {
  std::string error;
  if (!known.in_place) return Open(opened, &error);
  void* handle = nullptr;
  return OpenInPlace(opened.c_str(), {}, state, known.digest, &handle, &error) == InPlace::kOpened ? handle : nullptr;
}

int Warm(const char* path, const Known& known) {
  const std::string root = Root();
  const std::string link = WarmName(root, path);
  errno = ENOENT;
  if (!link.empty() && MakeFolder(root) && MakeFolder(root + "/warm") && WriteLink(link, known)) return 0;
  return kp_raise(
      "OSError", "kernpack verify --warm: can't write below '%s' (%s); set KERNPACK_CACHE_DIR to a folder of this user",
      root.c_str(), std::strerror(errno));
}

bool Warmed(const char* path, std::string* digest) {
  const std::string root = Root();
  const std::string link = WarmName(root, path);
  Known known;
  if (link.empty() || !IsOurFolder(root) || !ReadText(LinkText(link), &known)) return false;
  *digest = known.digest;
  return true;
}

}  // namespace kernpack::platform
