#include "base/os/files.h"

#include "base/os/path.h"
#include "base/os/windows/text.h"

namespace kernpack::host::os {
namespace {

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

// FILE_FLAG_BACKUP_SEMANTICS: folders are opened, too.
HANDLE OpenForState(const char* path) {
  return CreateFileW(WidePath(path).c_str(), FILE_READ_ATTRIBUTES, kShareAll, nullptr, OPEN_EXISTING,
                     FILE_FLAG_BACKUP_SEMANTICS, nullptr);
}

}  // namespace

std::string GetVariable(const char* name) {
  const std::wstring wide = Wide(name);
  std::wstring value(32767, L'\0');  // the most that a variable has
  value.resize(GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size())));
  return Utf8(value);
}

bool Exists(const char* path) noexcept try {
  return GetFileAttributesW(WidePath(path).c_str()) != INVALID_FILE_ATTRIBUTES;
} catch (...) {
  return false;  // no memory for a path
}

bool GetStamp(const char* path, Stamp* out) noexcept try {
  const Handle file(OpenForState(path));
  BY_HANDLE_FILE_INFORMATION info;
  FILE_BASIC_INFO times;
  if (!file.IsOpen() || !GetFileInformationByHandle(file.get(), &info) ||
      !GetFileInformationByHandleEx(file.get(), FileBasicInfo, &times, sizeof times)) {
    return false;
  }
  const auto join = [](DWORD high, DWORD low) { return static_cast<uint64_t>(high) << 32 | low; };
  *out = {info.dwVolumeSerialNumber, join(info.nFileIndexHigh, info.nFileIndexLow),
          join(info.nFileSizeHigh, info.nFileSizeLow), SinceUnixEpoch(times.LastWriteTime.QuadPart),
          SinceUnixEpoch(times.ChangeTime.QuadPart)};
  return true;
} catch (...) {
  return false;  // no memory for a path
}

int64_t GetNow() noexcept {
  FILETIME now;
  GetSystemTimeAsFileTime(&now);
  return SinceUnixEpoch(static_cast<int64_t>(static_cast<uint64_t>(now.dwHighDateTime) << 32 | now.dwLowDateTime));
}

std::string ReadText(const std::string& path) {
  const Handle file(CreateFileW(WidePath(path).c_str(), GENERIC_READ, kShareAll, nullptr, OPEN_EXISTING,
                                FILE_ATTRIBUTE_NORMAL, nullptr));
  std::string content;
  char piece[1 << 12];
  DWORD got = 0;
  while (file.IsOpen() && ReadFile(file.get(), piece, sizeof piece, &got, nullptr) && got > 0)
    content.append(piece, got);
  return content;
}

std::vector<std::string> ListNames(const std::string& path, std::string_view ending) {
  std::vector<std::string> names;
  WIN32_FIND_DATAW entry;
  const HANDLE search = FindFirstFileW(WidePath(path + "/*").c_str(), &entry);
  if (search == INVALID_HANDLE_VALUE) return names;
  do {
    std::string name = Utf8(entry.cFileName);
    if (name.ends_with(ending)) names.push_back(std::move(name));
  } while (FindNextFileW(search, &entry));
  FindClose(search);
  return names;
}

std::string GetRealPath(const char* path) {
  const Handle file(OpenForState(path));
  std::wstring real(32768, L'\0');
  if (!file.IsOpen()) return {};
  real.resize(
      GetFinalPathNameByHandleW(file.get(), real.data(), static_cast<DWORD>(real.size()), FILE_NAME_NORMALIZED));
  // "\\?\C:\folder", or "\\?\UNC\server\folder": the mark lifts the limit of 260 characters, and other programs don't know it.
  std::wstring_view rest = real;
  if (rest.starts_with(L"\\\\?\\UNC\\")) return WithSlashes("\\\\" + Utf8(rest.substr(8)));
  if (rest.starts_with(L"\\\\?\\")) rest.remove_prefix(4);
  return WithSlashes(Utf8(rest));
}

}  // namespace kernpack::host::os
