#include "backends/cuda/jit_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "backends/cuda/jit_jobs.h"
#include "backends/cuda/text.h"
#include "backends/disk_cache.h"

namespace kernpack::cuda {
namespace {

constexpr std::string_view kEntryMagic = "kernpack.jit.1\n";
constexpr std::string_view kEntrySuffix = ".bin";

std::atomic<bool> said_not_kept{false};

std::string EntryPath(const std::string& folder, const std::string& compiler) {
  return folder + "/" + compiler + std::string(kEntrySuffix);
}

bool ReadCode(const std::string& path, JitCode* out) {
  const std::string content = disk_cache::ReadEntry(path, kEntryMagic);
  const size_t end = content.find('\n');
  if (end == std::string::npos || end + 1 == content.size()) return false;
  out->kernel = content.substr(0, end);
  out->image = content.substr(end + 1);
  return true;
}

}  // namespace

JitCache::JitCache(const std::string& key) : folder_(disk_cache::Folder("cuda")) {
  if (!folder_.empty()) folder_ += "/" + key;
}

bool JitCache::Read(const std::string& compiler, JitCode* out) const {
  return disk_cache::IsPrivateFolder(folder_) && ReadCode(EntryPath(folder_, compiler), out);
}

bool JitCache::ReadAny(JitCode* out) const {
  if (!disk_cache::IsPrivateFolder(folder_)) return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder_.c_str()), [](DIR* dir) { return closedir(dir); });
  while (const dirent* entry = open ? readdir(open.get()) : nullptr) {
    if (std::string_view(entry->d_name).ends_with(kEntrySuffix) && ReadCode(folder_ + "/" + entry->d_name, out))
      return true;
  }
  return false;
}

std::string JitCache::Write(const std::string& compiler, const JitCode& code) const {
  errno = ENOENT;
  if (!folder_.empty() && disk_cache::MakeFolder(folder_) &&
      disk_cache::WriteEntry(EntryPath(folder_, compiler), kEntryMagic, code.kernel + "\n" + code.image)) {
    return {};
  }
  const std::string folder = folder_.empty() ? "~/.cache" : folder_.substr(0, folder_.rfind('/'));
  return Format("can't keep compiled CUDA code below '%s' (%s)", folder.c_str(), std::strerror(errno));
}

void SayNotKept(const std::string& why) {
  if (said_not_kept.exchange(true)) return;
  const std::string line = Format("kernpack: %s, so every process compiles it again; %s\n", why.c_str(), kOtherCache);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool IsNotKept() { return said_not_kept.load(); }

JitLock::JitLock(const JitCache& cache) {
  if (cache.folder().empty() || !disk_cache::MakeFolder(cache.folder())) return;
  descriptor_ = open((cache.folder() + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

JitLock::~JitLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

int JitLock::Take(const KpHost* host) {
  while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return 0;  // a file system without locks
    if (host == nullptr ? JitEnds() : host->check_interrupts(host) != 0) return -1;
    usleep(10 * 1000);
  }
  return 0;
}

}  // namespace kernpack::cuda
