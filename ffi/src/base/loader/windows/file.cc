// Reading a shared object's bytes.
#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cstdint>

#include <kernpack/host/host.h>

#include "base/loader/platform.h"
#include "base/loader/windows/owner.h"
#include "base/os/files.h"
#include "base/os/path.h"
#include "base/os/windows/text.h"
#include "shared/sha256.h"

namespace kernpack::platform {
namespace {

using host::os::WidePath;

int RaiseOpen(const char* path, DWORD error) {
  if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND || error == ERROR_INVALID_NAME) {
    return kp_raise("FileNotFoundError", "kernpack.load: no such file: '%s'", path);
  }
  if (error == ERROR_ACCESS_DENIED) {
    return kp_raise("OSError", "kernpack.load: no permission to read '%s'; check its permissions and its folders'",
                    path);
  }
  return kp_raise("OSError", "kernpack.load: cannot open '%s': %s", path, host::os::ErrorText(error).c_str());
}

struct Facts {
  BY_HANDLE_FILE_INFORMATION info;
  int64_t written = 0, changed = 0;  // nanoseconds since 1970; a rename changes only the second
  uint64_t size = 0;
};

bool ReadFacts(HANDLE file, Facts* out) {
  FILE_BASIC_INFO times;
  if (!GetFileInformationByHandle(file, &out->info) ||
      !GetFileInformationByHandleEx(file, FileBasicInfo, &times, sizeof times)) {
    return false;
  }
  out->written = host::os::SinceUnixEpoch(times.LastWriteTime.QuadPart);
  out->changed = host::os::SinceUnixEpoch(times.ChangeTime.QuadPart);
  out->size = static_cast<uint64_t>(out->info.nFileSizeHigh) << 32 | out->info.nFileSizeLow;
  return true;
}

// Volume, number, size and times; that of a rename is last.
std::string StateText(const Facts& facts) {
  const uint64_t number = static_cast<uint64_t>(facts.info.nFileIndexHigh) << 32 | facts.info.nFileIndexLow;
  const uint64_t parts[] = {facts.info.dwVolumeSerialNumber, number, facts.size, static_cast<uint64_t>(facts.written),
                            static_cast<uint64_t>(facts.changed)};
  return JoinState(parts);
}

// True if every later change must show in the file's times.
bool IsSettled(const Facts& facts) {
  constexpr int64_t kSettling = 2'000'000'000;
  return host::os::GetNow() - std::max(facts.written, facts.changed) > kSettling;
}

// The folder counts, too: who can write there can put another file at the path.
bool IsGuarded(const char* path) {
  const std::string_view whole = path;
  const size_t before = whole.size() - host::os::FileName(whole).size();
  const std::wstring folder = before == 0 ? std::wstring(L".") : WidePath(whole.substr(0, before));
  return OnlyWeWrite(WidePath(path)) && OnlyWeWrite(folder);
}

FileState GetState(const char* path, const Facts& facts) {
  return {StateText(facts), IsSettled(facts), IsGuarded(path)};
}

// Of a regular file.
bool FactsAt(const char* path, Facts* out) {
  const host::os::Handle file(CreateFileW(WidePath(path).c_str(), FILE_READ_ATTRIBUTES,
                                          FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                          OPEN_EXISTING, 0, nullptr));
  return file.IsOpen() && GetFileType(file.get()) == FILE_TYPE_DISK && ReadFacts(file.get(), out);
}

HANDLE HandleOf(int fd) { return reinterpret_cast<HANDLE>(_get_osfhandle(fd)); }  // NOLINT(*-no-int-to-ptr)

}  // namespace

FileState StateOfFile(const char* path) {
  Facts facts;
  return FactsAt(path, &facts) ? GetState(path, facts) : FileState();
}

bool HasContentOf(const char* path, const FileState& state) {
  Facts facts;
  const size_t changed = state.text.rfind('-');
  if (changed == std::string::npos || !FactsAt(path, &facts)) return false;
  const std::string now = StateText(facts);
  return state.text.compare(0, changed, now, 0, now.rfind('-')) == 0;
}

void SourceFile::Free::operator()(char* data) const { delete[] data; }

SourceFile::~SourceFile() {
  if (fd_ >= 0) _close(fd_);
}

int SourceFile::Open(const char* path, const FileState&) {
  path_ = path;
  const std::wstring wide = WidePath(path);
  const DWORD attributes = GetFileAttributesW(wide.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return kp_raise("OSError", "kernpack.load: expected a shared object, got the directory '%s'", path);
  }
  // Others can't write to the file while it is open here, but may rename or delete it.
  HANDLE file = CreateFileW(wide.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                            FILE_FLAG_SEQUENTIAL_SCAN, nullptr);
  if (file == INVALID_HANDLE_VALUE) return RaiseOpen(path, GetLastError());
  fd_ = _open_osfhandle(reinterpret_cast<intptr_t>(file), _O_RDONLY | _O_BINARY);
  if (fd_ < 0) {
    CloseHandle(file);
    return RaiseOpen(path, ERROR_TOO_MANY_OPEN_FILES);
  }
  if (GetFileType(file) != FILE_TYPE_DISK) {
    return kp_raise("OSError", "kernpack.load: expected a shared object, got '%s', which isn't a regular file", path);
  }
  Facts facts;
  if (!ReadFacts(file, &facts)) return RaiseOpen(path, GetLastError());
  size_ = static_cast<size_t>(facts.size);
  written_ = facts.written;
  state_ = GetState(path, facts);
  return 0;
}

template <class Use>
int SourceFile::ReadThrough(std::span<char> room, const Use& use) {
  LARGE_INTEGER begin{};
  if (!SetFilePointerEx(HandleOf(fd_), begin, nullptr, FILE_BEGIN)) return RaiseOpen(path_, GetLastError());
  for (size_t at = 0; at < size_;) {
    const size_t most = std::min<size_t>({room.size(), size_ - at, size_t{1} << 30});
    DWORD got = 0;
    if (!ReadFile(HandleOf(fd_), room.data(), static_cast<DWORD>(most), &got, nullptr)) {
      return RaiseOpen(path_, GetLastError());
    }
    if (got == 0) {
      return kp_raise("OSError",
                      "kernpack.load: '%s' was written while it was read; load it again when that is done, and replace "
                      "files by renaming a whole one",
                      path_);
    }
    room = use(room, static_cast<size_t>(got));
    at += got;
  }
  return 0;
}

int SourceFile::Read() {
  data_ = {new char[size_], Free{0}};
  return ReadThrough({data_.get(), size_}, [](std::span<char> room, size_t got) { return room.subspan(got); });
}

int SourceFile::Map() { return Read(); }

int SourceFile::Hash(std::string* digest) {
  constexpr size_t kPiece = 1 << 18;
  const auto room = std::make_unique_for_overwrite<char[]>(kPiece);
  Sha256Stream stream;
  const auto add = [&stream](std::span<char> piece, size_t got) {
    stream.Add(piece.data(), got);
    return piece;
  };
  if (ReadThrough({room.get(), kPiece}, add) != 0) return -1;
  *digest = Sha256Hex(stream.Finish());
  return 0;
}

}  // namespace kernpack::platform
