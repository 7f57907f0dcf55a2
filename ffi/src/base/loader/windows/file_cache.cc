#include "base/loader/windows/file_cache.h"

#include <algorithm>
#include <cstring>

#include <kernpack/host/host.h>

#include "base/loader/platform.h"
#include "base/loader/windows/owner.h"
#include "base/os/files.h"
#include "base/os/windows/text.h"

namespace kernpack::platform {
namespace {

using host::os::Handle;
using host::os::WidePath;

constexpr int64_t kDay = int64_t{24} * 60 * 60 * 1'000'000'000;
constexpr int64_t kUnused = 30 * kDay;  // after which a copy is dropped
constexpr size_t kDigestDigits = 64;

bool IsAbsolute(const std::string& path) { return path.size() > 2 && (path[1] == ':' || path.starts_with("\\\\")); }

// Where load_inline keeps what it compiles, too. Empty: nowhere.
std::string Root() {
  if (std::string named = host::os::GetVariable("KERNPACK_CACHE_DIR"); IsAbsolute(named)) return named + "/modules";
  const std::string local = host::os::GetVariable("LOCALAPPDATA");
  return IsAbsolute(local) ? local + "/kernpack/modules" : std::string();
}

// With the folders above it. False when others can write there, or it cannot be made.
bool MakeFolder(const std::string& path) {
  const std::wstring wide = WidePath(path);
  for (size_t end = wide.find(L'\\', 3); end != std::wstring::npos; end = wide.find(L'\\', end + 1)) {
    const std::wstring above = wide.substr(0, end);
    if (GetFileAttributesW(above.c_str()) == INVALID_FILE_ATTRIBUTES) MakePrivateFolder(above);
  }
  const DWORD found = GetFileAttributesW(wide.c_str());
  if (found == INVALID_FILE_ATTRIBUTES) MakePrivateFolder(wide);
  return OnlyWeWrite(wide);
}

bool Holds(const std::wstring& copy, std::span<const char> content) {
  if (!OnlyWeWrite(copy)) return false;
  const Handle file(CreateFileW(copy.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
  LARGE_INTEGER size;
  if (!file.IsOpen() || !GetFileSizeEx(file.get(), &size)) return false;
  if (static_cast<uint64_t>(size.QuadPart) != content.size()) return false;
  char part[1 << 15];
  DWORD got = 0;
  for (; !content.empty(); content = content.subspan(got)) {
    const auto most = static_cast<DWORD>(std::min(content.size(), sizeof part));
    if (!ReadFile(file.get(), part, most, &got, nullptr) || got == 0) return false;
    if (std::memcmp(part, content.data(), got) != 0) return false;
  }
  return true;
}

bool WriteNew(const std::wstring& path, std::span<const char> content) {
  const Handle file(CreateFileW(path.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, 0, nullptr));
  while (file.IsOpen() && !content.empty()) {
    DWORD written = 0;
    const auto most = static_cast<DWORD>(std::min(content.size(), size_t{1} << 30));
    if (!WriteFile(file.get(), content.data(), most, &written, nullptr) || written == 0) return false;
    content = content.subspan(written);
  }
  return file.IsOpen();
}

// So that the day's tidying leaves it.
void MarkAsUsed(const std::wstring& copy) {
  const Handle file(CreateFileW(copy.c_str(), FILE_WRITE_ATTRIBUTES,
                                FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING, 0,
                                nullptr));
  FILETIME now;
  GetSystemTimeAsFileTime(&now);
  if (file.IsOpen()) SetFileTime(file.get(), nullptr, nullptr, &now);
}

int64_t GetAge(const std::string& path) {
  host::os::Stamp stamp;
  return host::os::GetStamp(path.c_str(), &stamp) ? host::os::GetNow() - stamp.written : -1;
}

// Once a day: drops copies that nobody asked for in a month. Windows keeps what is loaded.
void DropOld(const std::string& root) {
  const std::string stamp = root + "/looked_through";
  const int64_t age = GetAge(stamp);
  if ((age >= 0 && age < kDay) || !WriteNew(WidePath(stamp), std::span("x", 1))) return;
  for (const std::string& name : host::os::ListNames(root, "")) {
    if (name.size() != kDigestDigits) continue;
    const std::string folder = root + "/" + name;
    for (const std::string& file : host::os::ListNames(folder, "")) {
      const std::string copy = folder + "/" + file;
      if (GetAge(copy) > kUnused) DeleteFileW(WidePath(copy).c_str());
    }
    RemoveDirectoryW(WidePath(folder).c_str());  // only when it is empty
  }
}

}  // namespace

std::wstring KeepCopy(std::string_view name, std::span<const char> content, const std::string& digest) {
  const std::string root = Root();
  std::string folder = root;
  folder.append("/").append(digest);
  if (root.empty() || !MakeFolder(root) || !MakeFolder(folder)) return {};
  std::wstring copy = WidePath(folder.append("/").append(name));
  if (Holds(copy, content)) {
    MarkAsUsed(copy);
    return copy;
  }
  // A name of its own for each writer; renaming is what other processes see.
  const std::wstring unfinished =
      copy + L"." + std::to_wstring(GetCurrentProcessId()) + L"-" + std::to_wstring(GetCurrentThreadId());
  const bool made =
      WriteNew(unfinished, content) && MoveFileExW(unfinished.c_str(), copy.c_str(), MOVEFILE_REPLACE_EXISTING) != 0;
  if (!made) DeleteFileW(unfinished.c_str());
  DropOld(root);
  return Holds(copy, content) ? copy : std::wstring();
}

// Files are read and hashed in every process: nothing is remembered of them yet.
bool Recall(const char*, const FileState&, Known*, std::string*) { return false; }
void Remember(const char*, const FileState&, const Known&) {}
void* OpenKnown(const std::string&, const FileState&, const Known&) { return nullptr; }
bool Warmed(const char*, std::string*) { return false; }

int Warm(const char* path, const Known&) {
  return kp_raise(
      "NotImplementedError",
      "kernpack verify --warm: '%s': Windows' host keeps no digests between processes yet; leave --warm out", path);
}

}  // namespace kernpack::platform
