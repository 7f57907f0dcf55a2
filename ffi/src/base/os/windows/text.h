// Small helpers beside <windows.h>: texts between UTF-8, which the host uses, and wide characters; handles; functions of newer versions.
#ifndef KERNPACK_SRC_BASE_OS_WINDOWS_TEXT_H_
#define KERNPACK_SRC_BASE_OS_WINDOWS_TEXT_H_

#include <algorithm>
#include <string>
#include <string_view>

#include "shared/windows_api.h"

namespace kernpack::host::os {

inline std::wstring Wide(std::string_view text) {
  const int size = static_cast<int>(text.size());
  std::wstring wide(static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), size, nullptr, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), size, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

inline std::string Utf8(std::wstring_view wide) {
  const int size = static_cast<int>(wide.size());
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, wide.data(), size, nullptr, 0, nullptr, nullptr);
  std::string text(static_cast<size_t>(bytes), '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide.data(), size, text.data(), bytes, nullptr, nullptr);
  return text;
}

// A path as the functions of Windows that load code want it: they understand no '/'.
inline std::wstring WidePath(std::string_view path) {
  std::wstring wide = Wide(path);
  std::replace(wide.begin(), wide.end(), L'/', L'\\');
  return wide;
}

// Windows' own words for an error, in English where it has them, without the line's end; "error 126" where it has none.
inline std::string ErrorText(DWORD error) {
  wchar_t text[512];
  constexpr DWORD kFlags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
  DWORD size = FormatMessageW(kFlags, nullptr, error, MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US), text, 512, nullptr);
  if (size == 0) size = FormatMessageW(kFlags, nullptr, error, 0, text, 512, nullptr);
  while (size > 0 && (text[size - 1] == L'\n' || text[size - 1] == L'\r' || text[size - 1] == L'.')) --size;
  const std::string number = "error " + std::to_string(error);
  return size == 0 ? number : Utf8({text, size}) + " (" + number + ")";
}

// A function of kernel32.dll that not every version of Windows has; null where it is missing.
template <class Function>
Function FindKernelFunction(const char* name) {
  return reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernel32.dll"), name)));
}

// A handle that closes itself.
class Handle {
 public:
  explicit Handle(HANDLE handle) : handle_(handle) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (IsOpen()) CloseHandle(handle_);
  }
  bool IsOpen() const { return handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE; }
  HANDLE get() const { return handle_; }

 private:
  HANDLE handle_;
};

// Nanoseconds since 1970 of a time that counts 100 ns since 1601.
inline long long SinceUnixEpoch(long long hundreds) { return (hundreds - 116'444'736'000'000'000) * 100; }

}  // namespace kernpack::host::os

#endif  // KERNPACK_SRC_BASE_OS_WINDOWS_TEXT_H_
